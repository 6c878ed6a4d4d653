"""hash.py OUT FOLDER... - a header with the hash of all that turns Verilog-A text into prepared models."""
import glob, hashlib, os, sys

out, folders = sys.argv[1], sys.argv[2:]
h = hashlib.sha256()
for path in sorted(f for d in folders for e in ("c", "h", "vams") for f in glob.glob(f"{d}/*.{e}")):
    h.update(open(path, "rb").read())
text = f'#define MDL_BUILD "{h.hexdigest()[:24]}"\n'
if not os.path.exists(out) or open(out).read() != text:
    open(out, "w").write(text)
