"""hash.py OUT NAME FOLDER... - a header that defines NAME as the hash of the sources in these folders."""
import glob, hashlib, os, sys

out, name, folders = sys.argv[1], sys.argv[2], sys.argv[3:]
h = hashlib.sha256()
for path in sorted(f for d in folders for e in ("c", "h", "vams") for f in glob.glob(f"{d}/*.{e}")):
    h.update(open(path, "rb").read())
text = f'#define {name} "{h.hexdigest()[:24]}"\n'
if not os.path.exists(out) or open(out).read() != text:
    open(out, "w").write(text)
