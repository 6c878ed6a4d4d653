/* jit_obj.c - a loader for relocatable ELF objects, x86-64: what LLVM wrote becomes callable code.
 * Use:    jit_obj_load, call the kernel, jit_obj_unload.
 * Method: one mapping with two parts, each whole pages:
 *             text sections, then a stub "jmp *slot" per external function      read + execute
 *             other sections, then a table of addresses (GOT)                   read only
 *         so that every reference inside it fits in 32 bits. Written first, protected afterwards:
 *         no page is writable and executable at the same time.
 *         External symbols come from a fixed table; anything else refuses the object. The object is
 *         read with bounds checks throughout: it may come from a damaged cache.
 * Source: System V ABI, AMD64 supplement 1.0, section 4.4 (relocation). */
#include "io.h"
#include "jit_priv.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__) && defined(__ELF__)
#include <elf.h>

static const struct {
    const char *name;
    void *addr;
} EXTERNAL[] = {
#define X(op, f, n) {"vm_" #f, (void *)f},
    JIT_MATH_LIST(X)
#undef X
    /* what LLVM makes of its intrinsics on older processors */
    {"floor", (void *)floor},
    {"ceil", (void *)ceil},
    {"round", (void *)round},
    {"sqrt", (void *)sqrt},
    {"memcpy", (void *)memcpy},
    {"memset", (void *)memset},
};

typedef struct loader {
    const unsigned char *obj;
    size_t size;
    const Elf64_Shdr *sec;
    size_t n_sec;
    const Elf64_Sym *sym;
    size_t n_sym;
    const char *str;
    size_t str_size;
    uint64_t *at;  /* vec [n_sec] offset of a section in the mapping, or NOT_LOADED */
    int32_t *slot; /* vec [n_sym] GOT entry of a symbol, -1: none */
    size_t n_slot;
    size_t text;            /* bytes of text, at 0; the stubs stand behind it */
    size_t stub, data, got; /* offsets of the stubs, of the read-only pages, of the GOT in them */
    size_t total;           /* whole pages */
    jit_symbol *known;      /* vec: pieces in other objects */
    unsigned char *base;
    const char *why;
} loader;
#define NOT_LOADED UINT64_MAX

static bool fail(loader *l, const char *why)
{
    l->why = why;
    return false;
}

static bool inside(const loader *l, uint64_t off, uint64_t bytes)
{
    return off <= l->size && bytes <= l->size - off;
}

static bool read_header(loader *l)
{
    const Elf64_Ehdr *h = (const void *)l->obj;
    if (!inside(l, 0, sizeof *h) || memcmp(h->e_ident, ELFMAG, SELFMAG) ||
        h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_type != ET_REL || h->e_machine != EM_X86_64)
        return fail(l, "not an x86-64 object file");
    l->n_sec = h->e_shnum;
    if (h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shoff % 8 || !l->n_sec ||
        !inside(l, h->e_shoff, l->n_sec * sizeof(Elf64_Shdr)))
        return fail(l, "section table out of bounds");
    l->sec = (const void *)(l->obj + h->e_shoff);
    for (size_t i = 1; i < l->n_sec; i++)
        if (l->sec[i].sh_type != SHT_NOBITS && !inside(l, l->sec[i].sh_offset, l->sec[i].sh_size))
            return fail(l, "section out of bounds");
    return true;
}

static bool read_symbols(loader *l)
{
    for (size_t i = 1; i < l->n_sec; i++) {
        const Elf64_Shdr *s = &l->sec[i];
        if (s->sh_type != SHT_SYMTAB)
            continue;
        if (s->sh_link >= l->n_sec || l->sec[s->sh_link].sh_type != SHT_STRTAB || !s->sh_link ||
            s->sh_offset % 8)
            return fail(l, "bad symbol table");
        l->sym = (const void *)(l->obj + s->sh_offset);
        l->n_sym = s->sh_size / sizeof(Elf64_Sym);
        l->str = (const char *)l->obj + l->sec[s->sh_link].sh_offset;
        l->str_size = l->sec[s->sh_link].sh_size;
        if (!l->str_size || l->str[l->str_size - 1])
            return fail(l, "bad string table");
    }
    return l->sym || fail(l, "no symbol table");
}

static const char *symbol_name(const loader *l, size_t k)
{
    uint32_t at = l->sym[k].st_name;
    return at < l->str_size ? l->str + at : "";
}

static bool wanted(const Elf64_Shdr *s)
{
    return (s->sh_flags & SHF_ALLOC) && s->sh_type != SHT_X86_64_UNWIND && s->sh_size;
}

static bool place(loader *l, bool text, size_t *end)
{
    for (size_t i = 1; i < l->n_sec; i++) {
        const Elf64_Shdr *s = &l->sec[i];
        if (!wanted(s) || !!(s->sh_flags & SHF_EXECINSTR) != text)
            continue;
        if (s->sh_flags & SHF_WRITE)
            return fail(l, "object has writable data");
        uint64_t align = s->sh_addralign ? s->sh_addralign : 1;
        if (align > 4096 || (align & (align - 1)) || s->sh_size > UINT32_MAX / 4)
            return fail(l, "section with a bad alignment or size");
        *end = (*end + align - 1) & ~(align - 1);
        l->at[i] = *end;
        *end += s->sh_size;
    }
    return true;
}

/* The relocation sections that apply to loaded sections, one at a time. */
static const Elf64_Rela *relocations(const loader *l, size_t i, size_t *n, size_t *target)
{
    const Elf64_Shdr *s = &l->sec[i];
    if (s->sh_type != SHT_RELA || s->sh_info >= l->n_sec || l->at[s->sh_info] == NOT_LOADED ||
        s->sh_offset % 8)
        return NULL;
    *n = s->sh_size / sizeof(Elf64_Rela);
    *target = s->sh_info;
    return (const void *)(l->obj + s->sh_offset);
}

static bool uses_got(uint32_t type)
{
    return type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX ||
           type == R_X86_64_REX_GOTPCRELX;
}

/* A slot, and a stub, for each symbol that is external or reached through the GOT. */
static bool number_slots(loader *l)
{
    for (size_t i = 1; i < l->n_sec; i++) {
        size_t n, target;
        const Elf64_Rela *r = relocations(l, i, &n, &target);
        for (size_t k = 0; r && k < n; k++) {
            size_t s = ELF64_R_SYM(r[k].r_info);
            if (s >= l->n_sym)
                return fail(l, "relocation of an unknown symbol");
            bool external = l->sym[s].st_shndx == SHN_UNDEF && s != 0;
            if ((external || uses_got(ELF64_R_TYPE(r[k].r_info))) && l->slot[s] < 0)
                l->slot[s] = (int32_t)l->n_slot++;
        }
    }
    return true;
}

static bool external_address(loader *l, size_t k, uint64_t *addr)
{
    for (size_t i = 0; i < VS_COUNT(EXTERNAL); i++)
        if (!strcmp(EXTERNAL[i].name, symbol_name(l, k))) {
            *addr = (uint64_t)(uintptr_t)EXTERNAL[i].addr;
            return true;
        }
    for (size_t i = 0; i < vec_len(l->known); i++)
        if (!strcmp(l->known[i].name, symbol_name(l, k))) {
            *addr = (uint64_t)(uintptr_t)l->known[i].addr;
            return true;
        }
    return fail(l, "object refers to an unknown function");
}

static bool symbol_address(loader *l, size_t k, uint64_t *addr)
{
    const Elf64_Sym *s = &l->sym[k];
    if (s->st_shndx == SHN_UNDEF)
        return external_address(l, k, addr);
    if (s->st_shndx >= l->n_sec || l->at[s->st_shndx] == NOT_LOADED ||
        s->st_value > l->sec[s->st_shndx].sh_size)
        return fail(l, "symbol in a section that is not loaded");
    *addr = (uint64_t)(uintptr_t)(l->base + l->at[s->st_shndx]) + s->st_value;
    return true;
}

enum { STUB_BYTES = 8 }; /* ff 25 disp32: jmp *disp(%rip); two bytes of int3 */

static bool fill_slots(loader *l)
{
    for (size_t k = 1; k < l->n_sym; k++) {
        if (l->slot[k] < 0)
            continue;
        uint64_t addr;
        if (!symbol_address(l, k, &addr))
            return false;
        size_t slot = l->got + 8 * (size_t)l->slot[k];
        size_t stub = l->stub + STUB_BYTES * (size_t)l->slot[k];
        int32_t disp = (int32_t)(slot - (stub + 6));
        memcpy(l->base + slot, &addr, 8);
        memcpy(l->base + stub, "\xff\x25\0\0\0\0\xcc\xcc", STUB_BYTES);
        memcpy(l->base + stub + 2, &disp, 4);
    }
    return true;
}

static bool put32(loader *l, unsigned char *p, int64_t v, bool is_signed)
{
    if (is_signed ? v != (int32_t)v : v != (int64_t)(uint32_t)v)
        return fail(l, "relocation out of range");
    uint32_t w = (uint32_t)v;
    memcpy(p, &w, 4);
    return true;
}

static bool relocate(loader *l, size_t target, const Elf64_Rela *r)
{
    uint32_t type = ELF64_R_TYPE(r->r_info);
    size_t k = ELF64_R_SYM(r->r_info);
    uint64_t width = type == R_X86_64_64 ? 8 : 4, s = 0, size = l->sec[target].sh_size;
    if (type == R_X86_64_NONE)
        return true;
    if (l->sec[target].sh_type == SHT_NOBITS || r->r_offset > size || size - r->r_offset < width)
        return fail(l, "relocation out of bounds");
    unsigned char *p = l->base + l->at[target] + r->r_offset;
    const uint64_t pc = (uintptr_t)p;
    if (uses_got(type))
        s = (uint64_t)(uintptr_t)(l->base + l->got + 8 * (size_t)l->slot[k]);
    else if (k && l->slot[k] >= 0 && type != R_X86_64_64) /* a call out: through the stub */
        s = (uint64_t)(uintptr_t)(l->base + l->stub + STUB_BYTES * (size_t)l->slot[k]);
    else if (k && !symbol_address(l, k, &s))
        return false;
    const uint64_t v = s + (uint64_t)r->r_addend; /* wraps if the file is damaged */
    switch (type) {
    case R_X86_64_64: memcpy(p, &v, 8); return true;
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX: return put32(l, p, (int64_t)(v - pc), true);
    case R_X86_64_32: return put32(l, p, (int64_t)v, false);
    case R_X86_64_32S: return put32(l, p, (int64_t)v, true);
    default: return fail(l, "unknown kind of relocation");
    }
}

static bool relocate_all(loader *l)
{
    for (size_t i = 1; i < l->n_sec; i++) {
        size_t n, target;
        const Elf64_Rela *r = relocations(l, i, &n, &target);
        for (size_t k = 0; r && k < n; k++)
            if (!relocate(l, target, &r[k]))
                return false;
    }
    return true;
}

static bool lay_out(loader *l)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    vec_extend(l->at, l->n_sec);
    for (size_t i = 0; i < l->n_sec; i++)
        l->at[i] = NOT_LOADED;
    vec_extend(l->slot, l->n_sym);
    for (size_t k = 0; k < l->n_sym; k++)
        l->slot[k] = -1;
    if (!place(l, true, &l->text))
        return false;
    l->stub = (l->text + 15) & ~(size_t)15;
    size_t end = 0;
    if (!place(l, false, &end) || !number_slots(l))
        return false;
    l->data = (l->stub + STUB_BYTES * l->n_slot + page - 1) & ~(page - 1);
    for (size_t i = 1; i < l->n_sec; i++)
        if (l->at[i] != NOT_LOADED && !(l->sec[i].sh_flags & SHF_EXECINSTR))
            l->at[i] += l->data;
    l->got = l->data + ((end + 15) & ~(size_t)15);
    l->total = (l->got + 8 * l->n_slot + page) & ~(page - 1);
    return l->total < INT32_MAX || fail(l, "object too large");
}

static void copy_sections(loader *l)
{
    for (size_t i = 1; i < l->n_sec; i++)
        if (l->at[i] != NOT_LOADED && l->sec[i].sh_type != SHT_NOBITS)
            memcpy(l->base + l->at[i], l->obj + l->sec[i].sh_offset, l->sec[i].sh_size);
}

static bool find_kernel(loader *l, jit_kernel *kernel)
{
    for (size_t k = 1; k < l->n_sym; k++) {
        uint64_t addr;
        if (l->sym[k].st_shndx == SHN_UNDEF || strcmp(symbol_name(l, k), JIT_KERNEL_SYMBOL))
            continue;
        if (!symbol_address(l, k, &addr))
            return false;
        *kernel = (jit_kernel)(uintptr_t)addr;
        return true;
    }
    return fail(l, "object has no kernel");
}

/* Pieces that other objects may call. */
static bool list_pieces(loader *l)
{
    for (size_t k = 1; k < l->n_sym; k++) {
        const char *name = symbol_name(l, k);
        uint64_t addr;
        if (l->sym[k].st_shndx == SHN_UNDEF || ELF64_ST_BIND(l->sym[k].st_info) != STB_GLOBAL ||
            strncmp(name, JIT_PIECE_SYMBOL, sizeof JIT_PIECE_SYMBOL - 1))
            continue;
        if (!symbol_address(l, k, &addr))
            return false;
        vec_push(l->known, ((jit_symbol){name, (void *)(uintptr_t)addr}));
    }
    return true;
}

static bool map_and_link(loader *l, jit_kernel *kernel)
{
    void *p = io_map(-1, l->total);
    if (!p)
        vs_no_memory();
    l->base = p;
    copy_sections(l);
    if (!fill_slots(l) || !relocate_all(l) || (kernel && !find_kernel(l, kernel)))
        return false;
    if (mprotect(l->base, l->data, PROT_READ | PROT_EXEC) ||
        mprotect(l->base + l->data, l->total - l->data, PROT_READ))
        return fail(l, "the system refuses executable memory");
    return true;
}

vs_status jit_obj_load(const void *obj, size_t size, jit_symbol **known, jit_code *code,
                       jit_kernel *kernel, const char **why)
{
    loader l = {.obj = obj, .size = size, .known = known ? *known : NULL};
    bool ok = (uintptr_t)obj % 8 == 0 && read_header(&l) && read_symbols(&l) && lay_out(&l) &&
              map_and_link(&l, kernel) && (!known || list_pieces(&l));
    if (known)
        *known = l.known;
    if (ok)
        *code =
            (jit_code){.base = l.base, .bytes = l.total, .text_bytes = l.text, .data_at = l.data};
    else if (l.base)
        io_unmap(l.base, l.total);
    *why = ok ? NULL : l.why ? l.why : "object is not aligned";
    vec_free(l.at);
    vec_free(l.slot);
    return ok ? VS_OK : VS_EUNSUPPORTED;
}

bool jit_obj_own(const jit_code *code)
{
    const long page = sysconf(_SC_PAGESIZE);
    if (page <= 0 || mprotect(code->base, code->bytes, PROT_READ | PROT_WRITE))
        return true;
    for (size_t at = 0; at < code->bytes; at += (size_t)page) {
        volatile char *p = (char *)code->base + at;
        *p = *p; /* written: copied */
    }
    return !mprotect(code->base, code->data_at, PROT_READ | PROT_EXEC) &&
           !mprotect((char *)code->base + code->data_at, code->bytes - code->data_at, PROT_READ);
}

void jit_obj_unload(jit_code *code)
{
    if (code->base)
        io_unmap(code->base, code->bytes);
    *code = (jit_code){0};
}

const char *jit_obj_unsupported(void) { return NULL; }

#else

bool jit_obj_own(const jit_code *code)
{
    (void)code;
    return true;
}

const char *jit_obj_unsupported(void) { return "the loader of machine code knows x86-64 ELF only"; }

vs_status jit_obj_load(const void *obj, size_t size, jit_symbol **known, jit_code *code,
                       jit_kernel *kernel, const char **why)
{
    (void)obj, (void)size, (void)known, (void)code, (void)kernel;
    *why = jit_obj_unsupported();
    return VS_EUNSUPPORTED;
}

void jit_obj_unload(jit_code *code) { *code = (jit_code){0}; }

#endif
