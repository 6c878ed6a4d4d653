#!/usr/bin/env python3
"""Declarations of src/*/*.h that nobody needs.   tools/dead.py

A function, type, macro, constant or member of a struct that no other place names is dead; members
of an enumeration with a name belong to its values, used or not. A function that
only its own file names should be static there. Comments and strings do not count as naming; tests,
benchmarks and the command do. A name that a macro puts together with ## is not seen: EXCEPT lists
such; *_abi.h list what others defined. Exit status 1 if there is anything to report."""
import collections
import glob
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
PLACES = ('src/*/*.[ch]', 'include/**/*.h', 'examples/*', 'tests/**/*.[ch]', 'bench/*.c')
WORD = re.compile(r'[A-Za-z_]\w*')
# Name: why it stays although nothing names it.
EXCEPT = {
    'pad': 'fills a struct up to its alignment',
}


def code_of(path):
    with open(path, encoding='utf-8') as f:
        text = f.read()
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', ' ', text, flags=re.S)


def outside_of_braces(text):
    depth, out = 0, []
    for c in text:
        if c == '}':
            depth -= 1
        out.append(c if depth == 0 else ' ')
        if c == '{':
            depth += 1
    return ''.join(out)


def declared(code):
    """(kind, name) of what a header declares."""
    text = re.sub(r'\\\n', ' ', code)
    for m in re.finditer(r'^[ \t]*#[ \t]*define[ \t]+(\w+)', text, re.M):
        yield 'macro', m.group(1)
    text = re.sub(r'^[ \t]*#.*$', '', text, flags=re.M)
    flat = re.sub(r'__attribute__\s*\(\(.*?\)\)', '', outside_of_braces(text))
    for part in flat.split(';'):
        part = part.strip()
        if part.startswith('typedef'):
            if re.match(r'typedef\s+enum\b', part):
                continue
            m = re.search(r'\(\s*\*\s*(\w+)\s*\)', part) or re.search(r'(\w+)\s*(\[[^]]*\]\s*)?$', part)
            if m:
                yield 'type', m.group(1)
            continue
        m = re.search(r'\b([a-z_]\w*)\s*\(', re.sub(r'\b(VS_\w+|_Static_assert|static_assert)\b', '', part))
        if m and 'static' not in part.split('(')[0]:
            yield 'function', m.group(1)
    for m in re.finditer(r'\benum\s*\{([^}]*)\}\s*;', text):
        for item in m.group(1).split(','):
            name = WORD.match(item.strip())
            if name and '##' not in item:
                yield 'constant', name.group(0)


def members(code):
    """Names of the members of structs and unions."""
    for m in re.finditer(r'\b(?:struct|union)\s*\w*\s*\{([^{}]*)\}', code):
        body = re.sub(r'^[ \t]*#.*$', '', m.group(1), flags=re.M)
        for part in body.split(';'):
            pointer = re.search(r'\(\s*\*\s*(\w+)\s*\)\s*\(', part)
            if pointer:
                yield pointer.group(1)
                continue
            for item in part.split(','):
                name = re.search(r'(\w+)\s*(\[[^]]*\]\s*)*(:\s*\d+\s*)?$', item.strip())
                if name and not name.group(1).isdigit() and len(item.split()) + part.count(',') > 1:
                    yield name.group(1)


def report():
    files = [f for p in PLACES for f in glob.glob(os.path.join(ROOT, p), recursive=True)
             if f.endswith(('.c', '.h', '.cc'))]
    assert len(files) > 300, 'the sources were not found'
    code = {f: code_of(f) for f in files}
    count = {f: collections.Counter(WORD.findall(text)) for f, text in code.items()}
    where = collections.defaultdict(set)
    for f, words in count.items():
        for w in words:
            where[w].add(f)
    for header in sorted(f for f in files if f.endswith('.h') and os.sep + 'src' + os.sep in os.path.abspath(f)):
        short = os.path.relpath(header, ROOT)
        for kind, name in dict.fromkeys(declared(code[header])):
            if name in EXCEPT or name.endswith('_H') or short.endswith('_abi.h'):
                continue
            others = where[name] - {header}
            own = count[header][name]
            if kind == 'function':
                if not others and own < 2:
                    yield '%s: %s is declared and neither defined nor named' % (short, name)
                elif len(others) == 1 and own < 2:
                    (only,) = others
                    if count[only][name] < 2:
                        yield '%s: nobody calls %s' % (short, name)
                    elif only.endswith('.c') and '/src/' in os.path.abspath(only):
                        yield '%s: only %s calls %s: make it static' % (
                            short, os.path.relpath(only, ROOT), name)
            elif not others and own < (3 if kind == 'type' and
                                       re.search(r'\b(struct|enum|union) %s\b' % name, code[header]) else 2):
                yield '%s: nobody uses the %s %s' % (short, kind, name)


def dead_members():
    files = [f for p in PLACES for f in glob.glob(os.path.join(ROOT, p), recursive=True)
             if f.endswith(('.c', '.h', '.cc'))]
    code = {f: code_of(f) for f in files}
    used = set()
    for text in code.values():
        used.update(re.findall(r'(?:\.|->)\s*([A-Za-z_]\w*)', text))
    for f in sorted(files):
        if os.path.join('src', '') in os.path.relpath(f, ROOT) and not f.endswith('_abi.h'):
            for name in dict.fromkeys(members(code[f])):
                if name not in used and name not in EXCEPT:
                    yield '%s: nobody reads the member %s' % (os.path.relpath(f, ROOT), name)


def main():
    found = list(report()) + list(dead_members())
    print('\n'.join(found))
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
