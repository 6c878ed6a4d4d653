/* osdi_elf.c - is a library's file whole? The loader maps segments without asking how long the file
 * is, so that a file that was cut off ends the program (SIGBUS) where its code or data is touched
 * first.
 * Source: System V ABI, ELF-64 object file format. */
#include "osdi_priv.h"

#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "stream.h"

static bool lies_within(uint64_t from, uint64_t len, uint64_t size)
{
    return from <= size && len <= size - from;
}

static bool read_at(FILE *f, uint64_t at, void *to, size_t n)
{
    return !fseeko(f, (off_t)at, SEEK_SET) && fread(to, n, 1, f) == 1;
}

static const char *check(FILE *f, uint64_t size)
{
    static const char cut[] = "the file ends before what its head tells of";
    ElfW(Ehdr) h;
    if (size < sizeof h || !read_at(f, 0, &h, sizeof h) || memcmp(h.e_ident, ELFMAG, SELFMAG))
        return "it does not begin as a library does";
    if (h.e_phentsize != sizeof(ElfW(Phdr)) || !h.e_phnum)
        return "it has no segments";
    if (!lies_within(h.e_phoff, (uint64_t)h.e_phnum * h.e_phentsize, size) ||
        !lies_within(h.e_shoff, (uint64_t)h.e_shnum * h.e_shentsize, size))
        return cut;
    for (uint32_t i = 0; i < h.e_phnum; i++) {
        ElfW(Phdr) p;
        if (!read_at(f, h.e_phoff + i * sizeof p, &p, sizeof p) ||
            !lies_within(p.p_offset, p.p_filesz, size))
            return cut;
        if (p.p_type == PT_LOAD && p.p_filesz > p.p_memsz)
            return "a segment is larger in the file than in memory";
    }
    return NULL;
}

const char *osdi_elf_fault(const char *path)
{
    struct stat sb;
    if (stat(path, &sb) || !S_ISREG(sb.st_mode))
        return "it is not a regular file";
    FILE *f = stream_open(path);
    const char *why = f ? check(f, (uint64_t)sb.st_size) : "it cannot be opened";
    if (f)
        stream_close(f);
    return why;
}
