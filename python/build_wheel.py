#!/usr/bin/env python3
"""Builds the wheel: pip's build backend (PEP 517), and a command.

    pip wheel ./python                                 builds the library first, in ../build
    python3 python/build_wheel.py FOLDER [BUILD]       the same without pip, from build folder BUILD
                                                       (--no-rebuild: as it is)

The wheel is an installation as `meson install` makes it, inside the package: vsim/_dist with the
command, the library, ngspice's interface on it, the code generator with LLVM inside, the models,
and those libraries of other packages that a plain machine may lack. These get names of their own,
so that another package's copy of them in the same process is not taken for ours, and everything is
found from the place of the file that needs it ($ORIGIN). Needed: what the build of vsim needs,
binutils, patchelf."""
import base64
import csv
import hashlib
import io
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
# What every Linux system of the wheel's tag has (PEP 600).
SYSTEM = re.compile(r'(libc|libm|libdl|librt|libpthread|libgcc_s|libz|ld-linux[\w-]*)\.so\.\d+')


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


# -- the build --

def ng_target(targets):
    """libngspice.so.0.0.N, whose number is that of an ngspice."""
    return re.search(r'^(libngspice\.so\.0\.[\d.]+):', targets, re.M)[1]


def configured(build, rebuild):
    """The build folder, with all that the wheel holds built in it, and meson's options."""
    if not build:
        build = os.path.join(ROOT, 'build')
    if not os.path.exists(os.path.join(build, 'build.ninja')):
        run('meson', 'setup', build, ROOT)
    option = {o['name']: o['value'] for o in json.loads(run('meson', 'introspect', '--buildoptions',
                                                           build))}
    version = json.loads(run('meson', 'introspect', '--projectinfo', build))['version']
    targets = run('ninja', '-C', build, '-t', 'targets', 'all')
    if 'libvsim-llvm-alone.so:' not in targets:
        sys.exit('build_wheel: static libraries of LLVM or g++ are missing '
                 '(Debian: llvm-19-dev, g++)')
    if rebuild:
        run('ninja', '-C', build, 'vsim', 'libvsim.so.' + version, ng_target(targets),
            'src/jit/libvsim-llvm-alone.so')
    return build, option, version


# -- libraries of others --

def needed(path):
    """name: file, of the libraries that a file needs."""
    found = {}
    for line in run('ldd', path).splitlines():
        m = re.match(r'\s*(\S+) => (/\S+)', line)
        if m:
            found[m[1]] = m[2]
    own = re.findall(r'NEEDED.*\[(.+)\]', run('readelf', '-d', path))
    return {name: found[name] for name in own if name in found}


def foreign(path):
    return {name: file for name, file in needed(path).items()
            if not SYSTEM.fullmatch(name) and name != 'libvsim.so.0'}


def own_name(name, file):
    """libklu.so.1 -> libklu-1a2b3c4d.so.1: nobody else's copy has this name."""
    with open(file, 'rb') as f:
        digest = hashlib.sha256(f.read()).hexdigest()[:8]
    return name.replace('.so', '-' + digest + '.so', 1)


def bundle(files, folder):
    """Copies what `files` (path: the folder of libraries from there) need into folder, lets them
    find it there, and gives the original files back."""
    names, todo = {}, [foreign(f) for f in files]
    while todo:
        for name, file in todo.pop().items():
            if name not in names:
                names[name] = (own_name(name, file), os.path.realpath(file))
                todo.append(foreign(file))
    for name, (own, file) in names.items():
        to = os.path.join(folder, own)
        shutil.copyfile(file, to)
        os.chmod(to, 0o755)
        run('patchelf', '--set-soname', own, to)
        files[to] = '$ORIGIN'
    for path, where in files.items():
        pairs = [w for name in needed(path) if name in names
                 for w in ('--replace-needed', name, names[name][0])]
        run('patchelf', *pairs, '--set-rpath', where, path)
    return [file for _, file in names.values()]


def copyright_of(file):
    """Debian's record of the licences of the package that a file comes from."""
    for name in (file, re.sub('^/usr', '', file), '/usr' + file):
        p = subprocess.run(['dpkg-query', '-S', name], capture_output=True, text=True)
        if p.returncode == 0:
            package = p.stdout.split(':')[0]
            path = '/usr/share/doc/%s/copyright' % package
            if os.path.exists(path):
                return package, path
    return None


# -- the wheel --

def glibc(paths):
    """The oldest C library that has all names that these files need: (2, 35)."""
    text = ''.join(run('objdump', '-T', p) for p in paths)
    return max(tuple(map(int, v.split('.'))) for v in re.findall(r'GLIBC_(\d+\.\d+)', text))


def lay_out(stage, build, option, version):
    """The installation in stage/vsim/_dist; gives the files that have licences of others."""
    dist = os.path.join(stage, 'vsim', '_dist')
    libdir = os.path.join(dist, option['libdir'])
    bindir = os.path.join(dist, option['bindir'])
    os.makedirs(os.path.join(libdir, 'vsim'))
    os.makedirs(bindir)
    exe, lib, ng, llvm = (os.path.join(bindir, 'vsim'), os.path.join(libdir, 'libvsim.so.0'),
                          os.path.join(libdir, 'libngspice.so.0'),
                          os.path.join(libdir, 'vsim', 'libvsim-llvm.so'))
    for source, to in (('vsim', exe), ('libvsim.so.' + version, lib), ('libngspice.so.0', ng),
                       ('src/jit/libvsim-llvm-alone.so', llvm)):
        shutil.copyfile(os.path.join(build, source), to)
        os.chmod(to, 0o755)
        run('strip', '--strip-unneeded', to)
    shutil.copytree(os.path.join(ROOT, 'models'),
                    os.path.join(dist, option['datadir'], 'vsim', 'models'))
    to_lib = os.path.relpath(libdir, bindir)
    others = bundle({exe: '$ORIGIN/' + to_lib, lib: '$ORIGIN', ng: '$ORIGIN', llvm: '$ORIGIN/..'},
                    libdir)
    with open(os.path.join(stage, 'vsim', '_where.py'), 'w', encoding='utf-8') as f:
        f.write('"""Made with the wheel: places from the package."""\n'
                'COMMAND = %r\nLIBRARY = %r\nNGSPICE = %r\n' % tuple(
                    os.path.relpath(p, os.path.join(stage, 'vsim')) for p in (exe, lib, ng)))
    return others


def metadata(version):
    with open(os.path.join(HERE, 'pyproject.toml'), encoding='utf-8') as f:
        text = f.read()
    with open(os.path.join(HERE, 'README.md'), encoding='utf-8') as f:
        readme = f.read()

    def value(key):
        return re.search(r'^%s = (.+)$' % key, text, re.M)[1]
    lines = ['Metadata-Version: 2.1', 'Name: vsim', 'Version: ' + version,
             'Summary: ' + value('description').strip('"'),
             'License: ' + value('license').strip('"'),
             'Requires-Python: ' + value('requires-python').strip('"'),
             'Description-Content-Type: text/markdown', 'Provides-Extra: all']
    lines += ['Requires-Dist: ' + d for d in json.loads(value('dependencies'))]
    lines += ['Requires-Dist: %s ; extra == "all"' % d for d in json.loads(value('all'))]
    return '\n'.join(lines) + '\n\n' + readme


def write_info(stage, version, tag, others):
    info = os.path.join(stage, 'vsim-%s.dist-info' % version)
    os.makedirs(os.path.join(info, 'licenses'))
    texts = {'METADATA': metadata(version),
             'WHEEL': 'Wheel-Version: 1.0\nGenerator: build_wheel\nRoot-Is-Purelib: false\n'
                      'Tag: %s\n' % tag,
             'entry_points.txt': '[console_scripts]\nvsim = vsim.__main__:main\n'}
    for name, text in texts.items():
        with open(os.path.join(info, name), 'w', encoding='utf-8') as f:
            f.write(text)
    shutil.copy(os.path.join(ROOT, 'LICENSE'), os.path.join(info, 'licenses', 'LICENSE'))
    for found in filter(None, map(copyright_of, others)):
        shutil.copyfile(found[1], os.path.join(info, 'licenses', found[0] + '.txt'))
    return os.path.basename(info)


def pack(stage, info, path):
    """A zip file with a list of its files; the same input gives the same bytes."""
    record = io.StringIO()
    rows = csv.writer(record, lineterminator='\n')
    files = sorted(os.path.relpath(os.path.join(d, f), stage)
                   for d, _, names in os.walk(stage) for f in names)
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED, compresslevel=6) as z:
        def add(name, data, mode):
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(entry, data)
        for name in files:
            full = os.path.join(stage, name)
            with open(full, 'rb') as f:
                data = f.read()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()
            rows.writerow([name, 'sha256=' + digest, len(data)])
            add(name, data, 0o755 if os.access(full, os.X_OK) else 0o644)
        rows.writerow([info + '/RECORD', '', ''])
        add(info + '/RECORD', record.getvalue(), 0o644)


def make(folder, build=None, rebuild=True):
    """The wheel in `folder`; its name."""
    build, option, version = configured(build, rebuild)
    with tempfile.TemporaryDirectory(prefix='vsim-wheel-') as stage:
        shutil.copytree(os.path.join(HERE, 'src', 'vsim'), os.path.join(stage, 'vsim'),
                        ignore=shutil.ignore_patterns('__pycache__', '*.pyc', '_where.py'))
        others = lay_out(stage, build, option, version)
        # what is inside the code generator, besides what is beside it
        with open(os.path.join(build, 'build.ninja'), encoding='utf-8') as f:
            llvm = re.search(r'-L(\S+) .*-lLLVMCore', f.read())[1]
        inside = [run('cc', '-print-file-name=libstdc++.a').strip(), llvm + '/libLLVMCore.a']
        binaries = [os.path.join(d, f) for d, _, names in os.walk(os.path.join(stage, 'vsim'))
                    for f in names if f == 'vsim' or '.so' in f]
        tag = 'py3-none-manylinux_%d_%d_%s' % (*glibc(binaries), platform.machine())
        info = write_info(stage, version, tag, others + [os.path.realpath(f) for f in inside])
        name = 'vsim-%s-%s.whl' % (version, tag)
        os.makedirs(folder, exist_ok=True)
        pack(stage, info, os.path.join(folder, name))
    return name


# -- what pip calls --

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return make(wheel_directory, (config_settings or {}).get('build'))


def build_sdist(sdist_directory, config_settings=None):
    raise RuntimeError('vsim is built from its repository: there is no source distribution')


if __name__ == '__main__':
    arguments = [a for a in sys.argv[1:] if a != '--no-rebuild']
    if len(arguments) not in (1, 2):
        sys.exit(__doc__)
    print(os.path.join(arguments[0], make(*arguments, rebuild='--no-rebuild' not in sys.argv)))
