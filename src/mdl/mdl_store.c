/* mdl_store.c - prepared models on disk, in the folder of the kernels (store.h). See mdl_priv.h.
 * Records, each a file:
 *   unit      what came of one Verilog-A file: the texts that were read (lengths and hashes), paths
 *             where an included file was looked for in vain, the messages, the modules with their
 *             functions and, for those that were used, the equation form. Found by the path and the
 *             include folders; good only if each text is still the same and nothing has appeared
 *             where nothing was.
 *   form      the function of one analysis form of a module, its classes and its border.
 *   variant   setup, evaluation and kernel function for one vector of decisions. Form and variant
 *             are found by the hash of the texts themselves, and what they belong to.
 *   index     the names in the files of the standard folder; found by their sizes and times.
 * All keys contain a hash of the code that makes models (hash.py), of the macros that were set from
 * outside, and of the processor, since its C library may round in its own way. A record that does
 * not fit counts as absent: the model is made from its source.
 *   row       what a parameter set leads to: parameters after defaults, topology, decisions. Found
 *             by the hash of the set and of the texts. Of each model in a run only the first few
 *             sets.
 * Format: one sequence of integers, texts and arrays; an array stands at a multiple of 16 with the
 * head of a vec before it, so that the instructions of a function are used where they are mapped.
 * Functions are parts behind the rest, with sums of their own: they are summed and checked when
 * they are needed. Every length, and every operand, is checked when it is read. */
#define _GNU_SOURCE
#include "files.h"
#include "mdl_hash.h"
#include "mdl_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NO_TEXT = -1, ALIGN = 16 };

/* -- writing -- */

typedef struct writer {
    char *buf;          /* vec */
    char *later;        /* vec: parts, behind it */
    int32_t first_file; /* of the unit: files of spans count from here */
} writer;

static void put(writer *w, const void *bytes, size_t n)
{
    const size_t at = vec_len(w->buf);
    vec_extend(w->buf, n);
    if (n)
        memcpy(w->buf + at, bytes, n);
}

static void put_int(writer *w, int64_t x) { put(w, &x, sizeof x); }

static void put_real(writer *w, double x) { put(w, &x, sizeof x); }

static void put_text(writer *w, const char *s)
{
    put_int(w, s ? (int64_t)strlen(s) : NO_TEXT);
    if (s)
        put(w, s, strlen(s) + 1);
}

static void put_array(writer *w, const void *v, size_t n, size_t elem)
{
    static const char zero[ALIGN];
    const vec_head head = {n, n};
    put(w, zero, -vec_len(w->buf) % ALIGN);
    put(w, &head, sizeof head);
    put(w, v, n * elem);
}
_Static_assert(sizeof(vec_head) == ALIGN, "data behind the head are aligned to 16");

#define put_vec(w, v) put_array(w, v, vec_len(v), sizeof *(v))

/* Writes inputs by their members: padding would make the bytes of a record differ from run to
 * run. */
static void put_inputs(writer *w, const ir_input *v)
{
    const size_t n = vec_len(v);
    ir_input *in = vs_calloc(n + 1, sizeof *in);
    for (size_t i = 0; i < n; i++)
        in[i].kind = v[i].kind, in[i].type = v[i].type, in[i].inst = v[i].inst, in[i].k = v[i].k,
        in[i].by_gmin = v[i].by_gmin;
    put_array(w, in, n, sizeof *in);
    vs_free(in);
}

static void put_outs(writer *w, const ir_out *v)
{
    const size_t n = vec_len(v);
    ir_out *out = vs_calloc(n + 1, sizeof *out);
    for (size_t i = 0; i < n; i++)
        out[i].kind = v[i].kind, out[i].still = v[i].still, out[i].by_gmin = v[i].by_gmin,
        out[i].a = v[i].a, out[i].b = v[i].b, out[i].v = v[i].v;
    put_array(w, out, n, sizeof *out);
    vs_free(out);
}

static void put_span(writer *w, diag_span at)
{
    put_int(w, at.file < 0 ? -1 : at.file - w->first_file);
    put_int(w, at.off);
    put_int(w, at.len);
}

static void put_fn(writer *w, const ir_fn *fn)
{
    put_text(w, fn->name);
    put_vec(w, fn->inst);
    put_vec(w, fn->con);
    put_inputs(w, fn->in);
    put_outs(w, fn->out);
    put_int(w, (int64_t)vec_len(fn->eff));
    for (size_t i = 0; i < vec_len(fn->eff); i++) {
        put_int(w, fn->eff[i].kind);
        put_int(w, fn->eff[i].where);
        put_text(w, fn->eff[i].format);
        put_vec(w, fn->eff[i].arg);
    }
}

/* Appends the part and frees it. */
static void put_later(writer *w, writer *part)
{
    const size_t n = vec_len(part->buf);
    const hash128 sum = store_sum(part->buf, n);
    vec_extend(w->later, -vec_len(w->later) % ALIGN);
    put_int(w, (int64_t)vec_len(w->later));
    put_int(w, (int64_t)n);
    put(w, &sum, sizeof sum);
    vec_extend(w->later, n);
    memcpy(w->later + vec_len(w->later) - n, part->buf, n);
    vec_free(part->buf);
}

static void put_fn_later(writer *w, const ir_fn *fn)
{
    writer part = {.first_file = w->first_file};
    put_fn(&part, fn);
    put_later(w, &part);
}

/* -- reading -- */

typedef struct reader {
    const char *data;
    size_t size, at;
    size_t all; /* with the parts behind size */
    bool bad;   /* a length or an index does not fit; what was read from there on is empty */
    str_pool *names;
    int32_t first_file, n_file;
} reader;

static const void *take(reader *r, size_t n)
{
    if (r->bad || n > r->size - r->at) {
        r->bad = true;
        return NULL;
    }
    r->at += n;
    return r->data + r->at - n;
}

static int64_t get_int(reader *r)
{
    int64_t x = 0;
    const void *p = take(r, sizeof x);
    if (p)
        memcpy(&x, p, sizeof x);
    return x;
}

static int32_t get_i32(reader *r)
{
    const int64_t x = get_int(r);
    r->bad |= x < INT32_MIN || x > INT32_MAX;
    return r->bad ? 0 : (int32_t)x;
}

/* A number of things that follow, each of at least 8 bytes. */
static size_t get_count(reader *r)
{
    const int64_t x = get_int(r);
    r->bad |= x < 0 || (uint64_t)x > (r->size - r->at) / 8;
    return r->bad ? 0 : (size_t)x;
}

static double get_real(reader *r)
{
    double x = 0;
    const void *p = take(r, sizeof x);
    if (p)
        memcpy(&x, p, sizeof x);
    return x;
}

/* A text; it lies in the mapped file. */
static const char *get_text(reader *r)
{
    const int64_t n = get_int(r);
    if (n == NO_TEXT || r->bad)
        return NULL;
    const char *s =
        n < 0 || (uint64_t)n >= r->size ? (r->bad = true, NULL) : take(r, (size_t)n + 1);
    r->bad |= s && s[n];
    return r->bad ? NULL : s;
}

/* "" for none. */
static const char *get_words(reader *r)
{
    const char *s = get_text(r);
    return s ? s : "";
}

static const char *get_name(reader *r)
{
    const char *s = get_text(r);
    return s ? str_intern0(r->names, s) : NULL;
}

static const char *get_known_name(reader *r) { return str_intern0(r->names, get_words(r)); }

/* A vec in the mapped file: not to be changed or freed. */
static const void *get_array(reader *r, size_t elem)
{
    (void)take(r, -r->at % ALIGN);
    const vec_head *head = take(r, sizeof *head);
    if (!head || head->len != head->cap || head->len > (r->size - r->at) / elem) {
        r->bad = true;
        return NULL;
    }
    return head->len ? take(r, head->len * elem) : NULL;
}

/* Copies an array to a vec. */
#define get_vec(r, v)                                       \
    do {                                                    \
        const void *from_ = get_array(r, sizeof *(v));      \
        if (from_) {                                        \
            vec_extend(v, vec_len(from_));                  \
            memcpy(v, from_, vec_len(from_) * sizeof *(v)); \
        }                                                   \
    } while (0)

static diag_span get_span(reader *r)
{
    const int32_t file = get_i32(r);
    const int64_t off = get_int(r), len = get_int(r);
    r->bad |= file < -1 || file >= r->n_file || off < 0 || off > UINT32_MAX || len < 0 ||
              len > UINT32_MAX;
    return r->bad || file < 0 ? DIAG_NOWHERE
                              : (diag_span){r->first_file + file, (uint32_t)off, (uint32_t)len};
}

/* Operands are in [-1, n), as unsigned numbers after 1 was added at most n. Those of a few
 * operations are not values. */
static bool insts_fit(const ir_fn *fn)
{
    const uint32_t n = (uint32_t)vec_len(fn->inst);
    const size_t count[IR_N_OP] = {
        [IR_CONST] = vec_len(fn->con), [IR_IN] = vec_len(fn->in), [IR_EFFECT] = vec_len(fn->eff)};
    static const bool table[IR_N_OP] = {[IR_CONST] = true, [IR_IN] = true, [IR_EFFECT] = true};
    bool bad = false;
    for (const ir_inst *in = fn->inst, *end = in + n; in < end; in++) {
        const uint32_t a = (uint32_t)in->a + 1, b = (uint32_t)in->b + 1, c = (uint32_t)in->c + 1;
        if (in->op >= IR_N_OP)
            return false;
        bad |= in->type > IR_BOOL;
        if (table[in->op])
            bad |= in->a < 0 || (size_t)in->a >= count[in->op];
        else
            bad |= (a > n) | (c > n) | (in->op != IR_LIMIT && b > n);
    }
    return !bad;
}

static bool fn_fits(const ir_fn *fn)
{
    const ir_val n = (ir_val)vec_len(fn->inst);
    bool fits = insts_fit(fn);
    for (size_t k = 0; k < vec_len(fn->in); k++)
        fits &= fn->in[k].kind < IR_N_IN && fn->in[k].type <= IR_BOOL;
    for (size_t k = 0; k < vec_len(fn->out); k++)
        fits &= fn->out[k].kind < IR_N_OUT && fn->out[k].v >= 0 && fn->out[k].v < n;
    for (size_t e = 0; e < vec_len(fn->eff); e++)
        for (size_t k = 0; k < vec_len(fn->eff[e].arg); k++)
            fits &= fn->eff[e].arg[k] >= 0 && fn->eff[e].arg[k] < n;
    return fits;
}

static void get_fn(reader *r, ir_fn *fn)
{
    ir_fn_init(fn, get_text(r));
    fn->inst = (ir_inst *)(uintptr_t)get_array(r, sizeof *fn->inst);
    fn->con = (double *)(uintptr_t)get_array(r, sizeof *fn->con);
    fn->in = (ir_input *)(uintptr_t)get_array(r, sizeof *fn->in);
    fn->out = (ir_out *)(uintptr_t)get_array(r, sizeof *fn->out);
    for (size_t i = 0, n = get_count(r); i < n && !r->bad; i++) {
        ir_effect e = {.kind = (uint8_t)get_int(r)};
        e.where = get_i32(r);
        e.format = get_name(r);
        get_vec(r, e.arg);
        vec_push(fn->eff, e);
    }
    r->bad |= vec_len(fn->inst) > INT32_MAX || !fn_fits(fn);
}

static stored_part get_part(reader *r)
{
    const int64_t at = get_int(r), n = get_int(r);
    const void *sum = take(r, sizeof(hash128));
    const size_t room = r->all - r->size;
    r->bad |=
        at < 0 || n < 0 || at % ALIGN || (uint64_t)at > room || (uint64_t)n > room - (size_t)at;
    if (r->bad)
        return (stored_part){0};
    stored_part p = {.data = r->data + r->size + at, .size = (size_t)n};
    memcpy(&p.sum, sum, sizeof p.sum);
    return p;
}

static bool part_is_whole(const stored_part *p)
{
    store_expect(p->data, p->size);
    const hash128 sum = store_sum(p->data, p->size);
    return !memcmp(&sum, &p->sum, sizeof sum);
}

/* A function; false: it is damaged. */
static bool get_part_fn(const mdl_lib *lib, const stored_part *p, ir_fn *fn)
{
    reader r = {.data = p->data, .size = p->size, .all = p->size, .names = lib->names};
    if (!part_is_whole(p))
        return false;
    get_fn(&r, fn);
    if (r.bad)
        mdl_store_drop_fn(fn);
    return !r.bad;
}

void mdl_store_drop_fn(ir_fn *fn)
{
    for (size_t i = 0; i < vec_len(fn->eff); i++)
        vec_free(fn->eff[i].arg);
    vec_free(fn->eff);
    *fn = (ir_fn){0};
}

/* -- keys and files -- */

static void note(const mdl_lib *lib, const char *fmt, ...) VS_PRINTF(2, 3);
static void note(const mdl_lib *lib, const char *fmt, ...)
{
    char text[600];
    va_list ap;
    if (!lib->opt.jit.note)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    lib->opt.jit.note(lib->opt.jit.user, text);
}

static void begin_key(writer *w, const mdl_lib *lib, const char *what)
{
    *w = (writer){0};
    put_text(w, MDL_BUILD);
    put_text(w, lib->cpu);
    put_int(w, sizeof(void *));
    put_int(w, (int64_t)lib->opt.n_macro);
    for (size_t i = 0; i < lib->opt.n_macro; i++)
        put_text(w, lib->opt.macro[i]);
    put_text(w, what);
}

static hash128 end_key(writer *w)
{
    hash128 key = hash128_of(w->buf, vec_len(w->buf));
    vec_free(w->buf);
    return key;
}

static hash128 unit_key(const mdl_lib *lib, const char *path, const char *const *dir, size_t n_dir)
{
    writer w;
    begin_key(&w, lib, "unit");
    char here[4096];
    put_text(&w, path[0] == '/' ? NULL : getcwd(here, sizeof here));
    put_text(&w, path);
    for (size_t i = 0; i < n_dir; i++)
        put_text(&w, dir[i]);
    return end_key(&w);
}

/* Forms and variants of small models are made faster than read. */
static bool stored_on_disk(const mdl_model *m)
{
    enum { SMALL = 300 };
    return m->home && m->home->keep && m->n_full > SMALL;
}

static int64_t index_of(const mdl_model *m)
{
    for (size_t i = 0; i < vec_len(m->home->u.module); i++)
        if (m->home->u.module[i] == m->mod)
            return (int64_t)i;
    return -1;
}

static hash128 part_key(const mdl_model *m, const char *what, int form, const void *more, size_t n)
{
    writer w;
    const mdl_opt *o = &m->lib->opt;
    begin_key(&w, m->lib, what);
    put(&w, &m->home->text, sizeof m->home->text);
    put_int(&w, index_of(m));
    put_int(&w, form);
    put_int(&w, o->no_specialize | o->exact_division << 1);
    put(&w, more, n);
    return end_key(&w);
}

/* Opens a record; false: there is none to use. */
static bool open_record(mdl_lib *lib, hash128 key, store_item *item, reader *r)
{
    const char *why = NULL;
    const jit_opt *o = &lib->opt.jit;
    store_found found = store_get(&lib->cache, STORE_MODEL, key, item, &why);
    if (found != STORE_HIT && o->missing) {
        store_release(item);
        o->missing(o->missing_user);
        found = store_get(&lib->cache, STORE_MODEL, key, item, &why);
    }
    if (found == STORE_BAD)
        note(lib, "a file in the cache is not used: it %s; preparing the model again", why);
    *r = (reader){.data = item->data, .size = item->now, .all = item->size, .names = lib->names};
    return found == STORE_HIT;
}

/* Stores the record under the key and frees the writer. */
static void close_record(mdl_lib *lib, hash128 key, writer *w)
{
    const char *why = NULL;
    vec_extend(w->buf, -vec_len(w->buf) % ALIGN);
    const size_t now = vec_len(w->buf);
    put(w, w->later, vec_len(w->later));
    if (store_put_now(&lib->cache, STORE_MODEL, key, w->buf, vec_len(w->buf), now, &why) != VS_OK)
        note(lib, "model not kept on disk: %s", why);
    vec_free(w->buf);
    vec_free(w->later);
}

void mdl_store_note_damage(const mdl_lib *lib)
{
    note(lib, "a file in the cache is not used: it is damaged; preparing the model again");
}

static void refuse_record(mdl_lib *lib, store_item *item)
{
    mdl_store_note_damage(lib);
    store_release(item);
}

/* -- modules -- */

static void put_unknowns(writer *w, const va_unknown *v)
{
    put_int(w, (int64_t)vec_len(v));
    for (size_t i = 0; i < vec_len(v); i++) {
        put_text(w, v[i].name);
        put_int(w, v[i].kind);
        put_text(w, v[i].discipline);
        put_text(w, v[i].unit);
        put_real(w, v[i].abstol);
        put_real(w, v[i].res_abstol);
    }
}

static va_unknown *get_unknowns(reader *r)
{
    va_unknown *v = NULL;
    for (size_t i = 0, n = get_count(r); i < n && !r->bad; i++) {
        va_unknown u = {.name = get_known_name(r)};
        u.kind = (va_unknown_kind)get_int(r);
        u.discipline = get_name(r);
        u.unit = get_name(r);
        u.abstol = get_real(r);
        u.res_abstol = get_real(r);
        vec_push(v, u);
    }
    return v;
}

static void put_params(writer *w, const va_param *p, size_t n)
{
    put_int(w, (int64_t)n);
    for (; n-- > 0; p++) {
        put_text(w, p->name);
        put_int(w, (int64_t)vec_len(p->alias));
        for (size_t k = 0; k < vec_len(p->alias); k++)
            put_text(w, p->alias[k]);
        put_int(w, p->type | p->inst << 8 | p->local << 9);
        put_text(w, p->desc);
        put_text(w, p->unit);
        put_text(w, p->dflt);
        put_text(w, p->range);
        put_span(w, p->span);
    }
}

static va_param *get_params(reader *r)
{
    va_param *v = NULL;
    for (size_t i = 0, n = get_count(r); i < n && !r->bad; i++) {
        va_param p = {.name = get_known_name(r)};
        for (size_t k = 0, m = get_count(r); k < m && !r->bad; k++)
            vec_push(p.alias, get_known_name(r));
        const int64_t bits = get_int(r);
        p.type = (va_type)(bits & 0xff);
        p.inst = bits >> 8 & 1;
        p.local = bits >> 9 & 1;
        r->bad |= p.type > VA_STRING;
        p.desc = get_words(r);
        p.unit = get_words(r);
        p.dflt = get_words(r);
        p.range = get_words(r);
        p.span = get_span(r);
        vec_push(v, p);
    }
    return v;
}

static void put_module(writer *w, const va_module *m)
{
    put_text(w, m->name);
    put_span(w, m->span);
    put_text(w, m->desc);
    put_int(w, m->n_port);
    put_int(w, m->n_ddt);
    put_int(w, m->n_state);
    put_unknowns(w, m->unknown);
    put_vec(w, m->probe);
    put_int(w, (int64_t)vec_len(m->branch));
    for (size_t i = 0; i < vec_len(m->branch); i++) {
        const va_branch *b = &m->branch[i];
        const int32_t place[3] = {b->hi, b->lo, b->current};
        put_text(w, b->name);
        put_array(w, place, 3, sizeof *place);
    }
    put_params(w, m->param, vec_len(m->param));
    put_int(w, (int64_t)vec_len(m->opvar));
    for (size_t i = 0; i < vec_len(m->opvar); i++) {
        put_text(w, m->opvar[i].name);
        put_text(w, m->opvar[i].desc);
        put_text(w, m->opvar[i].unit);
        put_int(w, m->opvar[i].type);
    }
    put_int(w, (int64_t)vec_len(m->noise));
    for (size_t i = 0; i < vec_len(m->noise); i++) {
        put_text(w, m->noise[i].name);
        put_int(w, m->noise[i].kind | m->noise[i].log_table << 8);
        put_vec(w, m->noise[i].table);
    }
    put_vec(w, m->lim_probe);
    put_vec(w, m->native);
}

static void get_branches(reader *r, va_module *m)
{
    const int64_t n_unknown = (int64_t)vec_len(m->unknown);
    for (size_t i = 0, n = get_count(r); i < n && !r->bad; i++) {
        va_branch b = {.name = get_known_name(r)};
        const int32_t *place = get_array(r, sizeof *place);
        r->bad |= vec_len(place) != 3;
        if (r->bad)
            return;
        b.hi = place[0], b.lo = place[1], b.current = place[2];
        for (int k = 0; k < 3; k++)
            r->bad |= place[k] < -1 || place[k] >= n_unknown;
        vec_push(m->branch, b);
    }
}

static bool probes_fit(const va_probe *p, size_t n, size_t n_unknown)
{
    bool fit = true;
    for (size_t i = 0; i < n; i++)
        fit &= p[i].hi >= -1 && p[i].lo >= -1 && p[i].hi < (int64_t)n_unknown &&
               p[i].lo < (int64_t)n_unknown;
    return fit;
}

static void get_module(reader *r, va_module *m)
{
    m->name = get_known_name(r);
    m->span = get_span(r);
    m->desc = get_words(r);
    m->n_port = get_i32(r);
    m->n_ddt = get_i32(r);
    m->n_state = get_i32(r);
    m->unknown = get_unknowns(r);
    get_vec(r, m->probe);
    get_branches(r, m);
    m->param = get_params(r);
    for (size_t i = 0, n = get_count(r); i < n && !r->bad; i++) {
        va_opvar v = {.name = get_known_name(r)};
        v.desc = get_words(r);
        v.unit = get_words(r);
        v.type = (va_type)get_int(r);
        vec_push(m->opvar, v);
    }
    for (size_t i = 0, n = get_count(r); i < n && !r->bad; i++) {
        va_noise v = {.name = get_known_name(r)};
        const int64_t bits = get_int(r);
        v.kind = (va_noise_kind)(bits & 0xff);
        v.log_table = bits >> 8 & 1;
        get_vec(r, v.table);
        vec_push(m->noise, v);
    }
    get_vec(r, m->lim_probe);
    for (size_t i = 0; i < vec_len(m->lim_probe); i++)
        r->bad |= m->lim_probe[i] < 0 || (size_t)m->lim_probe[i] >= vec_len(m->probe);
    get_vec(r, m->native);
    for (size_t i = 0; i < vec_len(m->native); i++)
        for (int k = 0; k < VA_NATIVE_UNKNOWNS; k++)
            r->bad |= m->native[i].unknown[k] < -1 ||
                      m->native[i].unknown[k] >= (int64_t)vec_len(m->unknown);
    r->bad |= m->n_port < 0 || (size_t)m->n_port > vec_len(m->unknown) || m->n_ddt < 0 ||
              m->n_state < 0 || !probes_fit(m->probe, vec_len(m->probe), vec_len(m->unknown));
}

static void put_equations(writer *w, const mdl_model *m)
{
    put_unknowns(w, m->unknown);
    put_vec(w, m->probe);
    put_vec(w, m->quiet);
    put_int(w, m->n_derivative);
}

static void get_equations(reader *r, mdl_model *m)
{
    m->unknown = get_unknowns(r);
    get_vec(r, m->probe);
    get_vec(r, m->quiet);
    m->n_derivative = get_i32(r);
    r->bad |= vec_len(m->quiet) != vec_len(m->unknown) ||
              !probes_fit(m->probe, vec_len(m->probe), vec_len(m->unknown));
}

/* -- units -- */

static bool is_regular(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISREG(st.st_mode);
}

static bool is_option(const char *name) { return !strcmp(name, VA_OPTIONS_FILE); }

static bool is_builtin(const char *name)
{
    size_t len;
    return name[0] == '<' && va_builtin_text(name, &len);
}

/* What the file system says of a file: it changes with the contents. A change may leave the time of
 * a file as it is if both fall into one tick of the clock, so only files that were left alone for
 * some seconds are known by it. */
typedef struct file_state {
    int64_t regular, dev, ino, size, mtime, mtime_ns, ctime, ctime_ns;
} file_state;
enum { YOUNG = 2 }; /* seconds */

static file_state state_of(const char *path)
{
    struct stat st;
    if (stat(path, &st))
        return (file_state){0};
    return (file_state){.regular = S_ISREG(st.st_mode) != 0,
                        .dev = (int64_t)st.st_dev,
                        .ino = (int64_t)st.st_ino,
                        .size = (int64_t)st.st_size,
                        .mtime = (int64_t)st.st_mtim.tv_sec,
                        .mtime_ns = st.st_mtim.tv_nsec,
                        .ctime = (int64_t)st.st_ctim.tv_sec,
                        .ctime_ns = st.st_ctim.tv_nsec};
}

static bool is_old(const file_state *s, int64_t now)
{
    return s->mtime + YOUNG < now && s->ctime + YOUNG < now;
}

static hash128 states_key(const mdl_lib *lib, const lib_unit *lu)
{
    writer w;
    begin_key(&w, lib, "states");
    put(&w, &lu->key, sizeof lu->key);
    put(&w, &lu->text, sizeof lu->text);
    return end_key(&w);
}

/* The states of a unit's files, a vec, taken at `now` or later; the texts were read after `now`.
 * Written if all were left alone for long enough then. Texts that are not files have no state. */
static void keep_states(mdl_lib *lib, const lib_unit *lu, const file_state *state, int64_t now)
{
    writer w = {0};
    bool old = true;
    for (size_t i = 0; i < vec_len(state); i++)
        old &= !state[i].regular || is_old(&state[i], now);
    if (!old)
        return;
    put_vec(&w, state);
    close_record(lib, states_key(lib, lu), &w);
}

static bool is_file(const char *name, const char *built_in)
{
    return !built_in && !is_option(name) && !is_builtin(name);
}

void mdl_store_note_unit(mdl_lib *lib, lib_unit *lu)
{
    const diag *d = lib->d;
    int32_t n_warning = 0;
    file_state *state = NULL;
    bool keep = lu->path && !lu->client && lib->cache.dir && !lib->names->id_clash;
    lu->n_file = (int32_t)vec_len(d->file) - lu->first_file;
    lu->n_msg = (int32_t)vec_len(d->msg) - lu->first_msg;
    for (int32_t i = lu->first_file; keep && i < lu->first_file + lu->n_file; i++) {
        const hash128 h = hash128_of(d->file[i].text, d->file[i].len);
        vec_push(lu->file, ((stored_text){(int64_t)d->file[i].len, h}));
        const bool file = is_file(d->file[i].name, NULL);
        vec_push(state, file ? state_of(d->file[i].name) : (file_state){0});
        keep = !file || vec_last(state).regular;
    }
    for (int32_t i = lu->first_msg; i < lu->first_msg + lu->n_msg; i++) {
        const diag_msg *m = &d->msg[i];
        n_warning += m->level == DIAG_WARNING;
        keep &= m->level != DIAG_ERROR && (m->span.file < 0 || m->span.file >= lu->first_file);
    }
    lu->keep = keep && n_warning == d->n_warning - lu->n_warning_before;
    lu->text = hash128_of(lu->file, vec_len(lu->file) * sizeof *lu->file);
    if (lu->keep)
        keep_states(lib, lu, state, lu->begun);
    vec_free(state);
}

static void put_source(writer *w, const mdl_lib *lib, const lib_unit *lu)
{
    const diag *d = lib->d;
    put_int(w, (int64_t)vec_len(lib->names->by_id));
    for (size_t i = 0; i < vec_len(lib->names->by_id); i++) {
        put_text(w, lib->names->by_id[i]);
        put_int(w, str_id(lib->names, lib->names->by_id[i]));
    }
    put_int(w, lu->n_file);
    for (int32_t i = 0; i < lu->n_file; i++) {
        const diag_file *f = &d->file[lu->first_file + i];
        put_text(w, f->name);
        put_text(w, is_option(f->name) ? f->text : NULL);
        put(w, &lu->file[i], sizeof lu->file[i]);
        put_span(w, f->from);
    }
    put_int(w, (int64_t)vec_len(lu->u.absent));
    for (size_t i = 0; i < vec_len(lu->u.absent); i++)
        put_text(w, lu->u.absent[i]);
    put_int(w, lu->n_msg);
    for (int32_t i = lu->first_msg; i < lu->first_msg + lu->n_msg; i++) {
        put_int(w, d->msg[i].level);
        put_span(w, d->msg[i].span);
        put_text(w, d->msg[i].text);
    }
}

/* Copies a part with its sum from the record that it was read from. */
static void put_part_again(writer *w, const stored_part *p)
{
    vec_extend(w->later, -vec_len(w->later) % ALIGN);
    put_int(w, (int64_t)vec_len(w->later));
    put_int(w, (int64_t)p->size);
    put(w, &p->sum, sizeof p->sum);
    vec_extend(w->later, p->size);
    memcpy(w->later + vec_len(w->later) - p->size, p->data, p->size);
}

static void put_mod_part(writer *w, const mdl_model *m, int part)
{
    writer to = {.first_file = w->first_file};
    if (m->part_state[part] == FN_ON_DISK ||
        (m->part_state[part] == FN_MAPPED && part != MOD_INTERFACE)) {
        put_part_again(w, &m->part[part]);
        return;
    }
    if (part == MOD_INTERFACE) {
        put_module(&to, m->mod);
        put_int(&to, vec_len(m->unknown) > 0);
        if (vec_len(m->unknown))
            put_equations(&to, m);
    } else {
        put_fn(&to, part == MOD_PARAMS ? &m->mod->params
                    : part == MOD_EVAL ? &m->mod->eval
                                       : &m->full);
    }
    put_later(w, &to);
}

void mdl_store_unit(mdl_lib *lib, lib_unit *lu)
{
    if (!lu->keep || lib->names->id_clash)
        return;
    writer w = {.first_file = lu->first_file};
    put_source(&w, lib, lu);
    put_int(&w, (int64_t)vec_len(lu->u.module));
    for (size_t i = 0; i < vec_len(lu->u.module); i++) {
        const mdl_model *m = lib->model[lu->first_model + i];
        put_text(&w, m->mod->name);
        put_span(&w, m->mod->span);
        put_int(&w, m->temp_used);
        put_int(&w, m->simparam_used);
        put_int(&w, (int64_t)m->n_full);
        for (int p = 0; p < N_MOD; p++)
            put_mod_part(&w, m, p);
    }
    close_record(lib, lu->key, &w);
    lu->kept = true;
}

/* The numbers of strings are part of the functions. */
static bool same_strings(reader *r)
{
    bool same = true;
    for (size_t i = 0, n = get_count(r); i < n && !r->bad; i++) {
        const char *s = get_known_name(r);
        same &= str_id(r->names, s) == get_i32(r);
    }
    return same && !r->names->id_clash;
}

typedef struct source { /* one text of a unit */
    const char *name;
    char *text; /* vec, zero-terminated; NULL: built in, an option, or not read since it did not
                   change */
    const char *built_in;
    stored_text was;
    diag_span from;
} source;

/* The texts that a unit was made of, from its record. */
static source *get_sources(reader *r, lib_unit *lu)
{
    source *all = NULL;
    r->n_file = (int32_t)get_count(r);
    for (int32_t i = 0; i < r->n_file && !r->bad; i++) {
        source s = {.name = get_words(r), .built_in = get_text(r)};
        const void *was = take(r, sizeof s.was);
        if (was)
            memcpy(&s.was, was, sizeof s.was);
        s.from = get_span(r);
        vec_push(all, s);
        vec_push(lu->file, s.was);
    }
    lu->n_file = r->n_file;
    lu->text = hash128_of(lu->file, vec_len(lu->file) * sizeof *lu->file);
    return all;
}

/* The states in which the files were found to be what the unit was made of; NULL: that was not
 * written down. */
static file_state *get_states(mdl_lib *lib, const lib_unit *lu)
{
    store_item item;
    reader r;
    file_state *all = NULL;
    if (!open_record(lib, states_key(lib, lu), &item, &r))
        return NULL;
    get_vec(&r, all);
    store_release(&item);
    if (r.bad || vec_len(all) != (size_t)lu->n_file)
        vec_free(all);
    return all;
}

/* Reads a file, or takes a text that is not one. */
static bool same_text(source *s, bool regular)
{
    size_t len = s->built_in ? strlen(s->built_in) : 0;
    if (is_builtin(s->name)) {
        s->built_in = va_builtin_text(s->name, &len);
    } else if (!s->built_in && regular) {
        s->text = mdl_read_text(s->name);
        len = vec_len(s->text) - 1;
    }
    const char *text = s->text ? s->text : s->built_in;
    if (!text || (int64_t)len != s->was.len)
        return false;
    const hash128 h = hash128_of(text, len);
    return !memcmp(&h, &s->was.sum, sizeof h);
}

/* Do all texts have their contents of when the unit was made? */
static bool same_texts(mdl_lib *lib, const lib_unit *lu, source *text)
{
    file_state *known = get_states(lib, lu), *state = NULL;
    const int64_t now = (int64_t)time(NULL);
    bool same = true, all_known = true;
    for (size_t i = 0; i < vec_len(text) && same; i++) {
        source *s = &text[i];
        const bool file = is_file(s->name, s->built_in);
        vec_push(state, file ? state_of(s->name) : (file_state){0});
        if (file && known && !memcmp(&known[i], &state[i], sizeof *state))
            continue;
        same = same_text(s, state[i].regular);
        all_known &= !file;
    }
    if (same && !all_known)
        keep_states(lib, lu, state, now);
    vec_free(known);
    vec_free(state);
    return same;
}

static bool still_absent(reader *r, lib_unit *lu)
{
    bool absent = true;
    for (size_t i = 0, n = get_count(r); i < n && !r->bad; i++) {
        vec_push(lu->u.absent, get_known_name(r));
        absent = absent && !is_regular(vec_last(lu->u.absent));
    }
    return absent;
}

static void take_messages(reader *r, mdl_lib *lib)
{
    for (size_t i = 0, n = get_count(r); i < n && !r->bad; i++) {
        const int64_t level = get_int(r);
        const diag_span at = get_span(r);
        const char *text = get_words(r);
        if (r->bad)
            return;
        if (level == DIAG_WARNING)
            diag_warning(lib->d, at, "%s", text);
        else
            diag_note(lib->d, at, "%s", text);
    }
}

static void skip_messages(reader *r)
{
    for (size_t i = 0, n = get_count(r); i < n && !r->bad; i++) {
        const int64_t level = get_int(r);
        (void)get_span(r);
        r->bad |= !get_text(r) || (level != DIAG_WARNING && level != DIAG_NOTE);
    }
}

static void get_modules(reader *r, mdl_lib *lib, lib_unit *lu)
{
    for (size_t i = 0, n = get_count(r); i < n && !r->bad; i++) {
        va_module *mod = arena_new(&lu->u.mem, va_module);
        mod->name = get_known_name(r);
        mod->span = get_span(r);
        vec_push(lu->u.module, mod);
        mdl_model *m = mdl_add_module(lib, mod);
        m->home = lu;
        m->temp_used = get_int(r) != 0;
        m->simparam_used = (uint32_t)get_int(r);
        m->n_full = (size_t)get_i32(r);
        for (int p = 0; p < N_MOD; p++) {
            m->part[p] = get_part(r);
            m->part_state[p] = p == MOD_FULL && !m->n_full ? FN_MADE : FN_ON_DISK;
        }
    }
}

/* Everything of a module that is not a function; what was read of a bad part is given back. */
static bool load_interface(mdl_model *m, reader *r)
{
    va_module *mod = (va_module *)(uintptr_t)m->mod, got = {0};
    get_module(r, &got);
    const bool equations = get_int(r) != 0;
    if (equations && !r->bad)
        get_equations(r, m);
    r->bad |= equations != (m->n_full > 0);
    if (r->bad) {
        va_unit u = {0};
        vec_push(u.module, &got);
        arena_init(&u.mem);
        va_unit_fini(&u);
        vec_free(m->unknown);
        vec_free(m->probe);
        vec_free(m->quiet);
        return false;
    }
    got.name = mod->name;
    *mod = got;
    return true;
}

bool mdl_store_load_part(mdl_model *m, int part)
{
    const stored_part *p = &m->part[part];
    va_module *mod = (va_module *)(uintptr_t)m->mod;
    reader r = {.data = p->data,
                .size = p->size,
                .all = p->size,
                .names = m->lib->names,
                .first_file = m->home->first_file,
                .n_file = m->home->n_file};
    const bool ok = part == MOD_INTERFACE ? part_is_whole(p) && load_interface(m, &r)
                                          : get_part_fn(m->lib, p,
                                                        part == MOD_PARAMS ? &mod->params
                                                        : part == MOD_EVAL ? &mod->eval
                                                                           : &m->full);
    if (ok)
        m->part_state[part] = FN_MAPPED;
    return ok;
}

static void take_files(mdl_lib *lib, const source *text)
{
    for (size_t i = 0; i < vec_len(text); i++) {
        const source *s = &text[i];
        const char *known = s->text ? s->text : s->built_in;
        if (!s->built_in)
            (void)files_input(s->name); /* the run tells if it cannot be one */
        if (known)
            (void)diag_add_file(lib->d, s->name, known, (size_t)s->was.len, s->from);
        else
            (void)diag_add_file_later(lib->d, s->name, (size_t)s->was.len, s->from);
    }
}

bool mdl_store_load_unit(mdl_lib *lib, lib_unit *lu, const char *const *dir, size_t n_dir)
{
    reader r;
    source *text = NULL;
    if (!lib->cache.dir || !lu->path)
        return false;
    lu->key = unit_key(lib, lu->path, dir, n_dir);
    if (!open_record(lib, lu->key, &lu->item, &r))
        return false;
    r.first_file = lu->first_file;
    bool ok = same_strings(&r);
    text = ok ? get_sources(&r, lu) : NULL;
    ok = ok && still_absent(&r, lu) && !r.bad && same_texts(lib, lu, text);
    reader messages = r;
    if (ok) {
        skip_messages(&r);
        get_modules(&r, lib, lu);
        ok = !r.bad;
    }
    if (ok) {
        take_files(lib, text);
        take_messages(&messages, lib);
        lu->n_msg = (int32_t)vec_len(lib->d->msg) - lu->first_msg;
        lu->keep = lu->kept = true;
        if (lib->opt.jit.verbose)
            note(lib, "model file '%s' from the cache", lu->path);
    } else {
        mdl_drop_unit(lib, lu);
        if (r.bad)
            note(lib, "a file in the cache is not used: it is damaged; preparing the model again");
    }
    for (size_t i = 0; i < vec_len(text); i++)
        vec_free(text[i].text);
    vec_free(text);
    return ok;
}

/* -- the index of the standard folder -- */

/* Found by the sizes and times of the files. Not kept while a file is so young that its next change
 * may have the same time. */
static bool key_of_index(mdl_lib *lib, const char *const *list)
{
    writer w;
    bool old = true;
    char *path = NULL; /* vec */
    const size_t n_dir = strlen(lib->dir);
    begin_key(&w, lib, "index");
    put_text(&w, lib->dir);
    for (size_t i = 0; i < vec_len(list); i++) {
        struct stat st;
        const size_t n = strlen(list[i]);
        vec_clear(path);
        vec_extend(path, n_dir + 1 + n + 1);
        memcpy(path, lib->dir, n_dir);
        path[n_dir] = '/';
        memcpy(path + n_dir + 1, list[i], n);
        const bool found = !stat(path, &st) && S_ISREG(st.st_mode);
        put_text(&w, list[i]);
        put_int(&w, found ? (int64_t)st.st_size : -1);
        put_int(&w, found ? (int64_t)st.st_ino : 0);
        put_int(&w, found ? (int64_t)st.st_mtim.tv_sec : 0);
        put_int(&w, found ? st.st_mtim.tv_nsec : 0);
        old &= !found || st.st_mtim.tv_sec + YOUNG < time(NULL);
    }
    vec_free(path);
    lib->index_key = end_key(&w);
    return old;
}

bool mdl_store_load_index(mdl_lib *lib, const char *const *list)
{
    store_item item;
    reader r;
    if (!lib->cache.dir)
        return false;
    lib->store_index = key_of_index(lib, list);
    if (!lib->store_index || !open_record(lib, lib->index_key, &item, &r))
        return false;
    for (size_t i = 0, n_file = get_count(&r); i < n_file && !r.bad; i++) {
        lib_file f = {.path = get_known_name(&r)};
        for (size_t k = 0, n_name = get_count(&r); k < n_name && !r.bad; k++)
            vec_push(f.name, get_known_name(&r));
        vec_push(lib->file, f);
    }
    store_release(&item);
    for (size_t i = 0; r.bad && i < vec_len(lib->file); i++)
        vec_free(lib->file[i].name);
    if (r.bad)
        vec_clear(lib->file);
    return !r.bad;
}

void mdl_store_index(mdl_lib *lib)
{
    writer w = {0};
    if (!lib->store_index)
        return;
    put_int(&w, (int64_t)vec_len(lib->file));
    for (size_t i = 0; i < vec_len(lib->file); i++) {
        put_text(&w, lib->file[i].path);
        put_int(&w, (int64_t)vec_len(lib->file[i].name));
        for (size_t k = 0; k < vec_len(lib->file[i].name); k++)
            put_text(&w, lib->file[i].name[k]);
    }
    close_record(lib, lib->index_key, &w);
}

/* -- forms and variants -- */

bool mdl_store_load_form(mdl_model *m, int form, form_fn *f)
{
    mdl_lib *lib = m->lib;
    store_item item;
    reader r;
    if (!stored_on_disk(m) || !open_record(lib, part_key(m, "form", form, NULL, 0), &item, &r))
        return false;
    get_fn(&r, &f->fn);
    f->cls = (uint8_t *)(uintptr_t)get_array(&r, 1);
    f->decide = (ir_val *)(uintptr_t)get_array(&r, sizeof *f->decide);
    f->how = (uint8_t *)(uintptr_t)get_array(&r, 1);
    r.bad |= vec_len(f->cls) != vec_len(f->fn.inst) || vec_len(f->decide) != vec_len(f->how);
    for (size_t i = 0; i < vec_len(f->decide); i++)
        r.bad |= f->decide[i] < 0 || (size_t)f->decide[i] >= vec_len(f->fn.inst);
    if (r.bad) {
        mdl_store_drop_fn(&f->fn);
        refuse_record(lib, &item);
        *f = (form_fn){0};
        return false;
    }
    vec_push(lib->item, item);
    f->made = f->kept = true;
    return true;
}

void mdl_store_form(mdl_model *m, int form, const form_fn *f)
{
    writer w = {0};
    if (!stored_on_disk(m))
        return;
    put_fn(&w, &f->fn);
    put_array(&w, f->cls, vec_len(f->fn.inst), 1);
    put_vec(&w, f->decide);
    put_vec(&w, f->how);
    close_record(m->lib, part_key(m, "form", form, NULL, 0), &w);
}

static ir_fn *fn_of(variant_data *d, int k)
{
    return k == FN_SETUP ? &d->v.setup : k == FN_EVAL ? &d->v.eval : &d->kernel_fn;
}

bool mdl_store_load_variant(mdl_model *m, const uint8_t *decisions, variant_data *d, int *n_cache)
{
    mdl_lib *lib = m->lib;
    store_item item;
    reader r;
    if (!stored_on_disk(m) ||
        !open_record(lib, part_key(m, "variant", (int)d->v.form, decisions, vec_len(decisions)),
                     &item, &r))
        return false;
    d->n_eval = (size_t)get_i32(&r);
    d->v.has_effects = get_int(&r) != 0;
    *n_cache = get_i32(&r);
    const void *stats = take(&r, sizeof d->v.stats), *ifconv = take(&r, sizeof d->v.ifconv);
    const void *id = take(&r, sizeof d->id), *kernel_key = take(&r, sizeof d->kernel_key);
    ir_fn *eval = &d->v.eval;
    eval->in = (ir_input *)(uintptr_t)get_array(&r, sizeof *eval->in);
    eval->out = (ir_out *)(uintptr_t)get_array(&r, sizeof *eval->out);
    for (int k = 0; k < N_FN; k++)
        d->part[k] = get_part(&r);
    for (size_t k = 0; k < vec_len(eval->in); k++)
        r.bad |= eval->in[k].kind >= IR_N_IN || eval->in[k].type > IR_BOOL;
    for (size_t k = 0; k < vec_len(eval->out); k++)
        r.bad |= eval->out[k].kind >= IR_N_OUT;
    if (r.bad || *n_cache < 0) {
        *eval = (ir_fn){0};
        refuse_record(lib, &item);
        return false;
    }
    memcpy(&d->v.stats, stats, sizeof d->v.stats);
    memcpy(&d->v.ifconv, ifconv, sizeof d->v.ifconv);
    memcpy(&d->id, id, sizeof d->id);
    memcpy(&d->kernel_key, kernel_key, sizeof d->kernel_key);
    for (int k = 0; k < N_FN; k++)
        d->fn[k] = FN_ON_DISK;
    vec_push(lib->item, item);
    return true;
}

static bool setup_fits(const ir_fn *setup, int n_cache)
{
    bool fits = true;
    for (size_t o = 0; o < vec_len(setup->out); o++)
        fits &= setup->out[o].kind != IR_OUT_CACHE ||
                (setup->out[o].a >= 0 && setup->out[o].a < n_cache);
    return fits;
}

static bool same_border(const ir_fn *eval, const ir_fn *was)
{
    bool same = vec_len(eval->in) == vec_len(was->in) && vec_len(eval->out) == vec_len(was->out);
    for (size_t k = 0; same && k < vec_len(eval->in); k++)
        same = eval->in[k].kind == was->in[k].kind && eval->in[k].k == was->in[k].k;
    for (size_t k = 0; same && k < vec_len(eval->out); k++)
        same = eval->out[k].kind == was->out[k].kind && eval->out[k].a == was->out[k].a &&
               eval->out[k].b == was->out[k].b;
    return same;
}

bool mdl_store_load_fn(variant_data *d, int k)
{
    ir_fn fn = {0};
    if (d->fn[k] != FN_ON_DISK || !get_part_fn(d->v.model->lib, &d->part[k], &fn))
        return false;
    const bool fits =
        k == FN_SETUP
            ? setup_fits(&fn, d->v.lay.n_cache)
            : vec_len(fn.out) == vec_len(d->v.eval.out) &&
                  (k != FN_EVAL || (vec_len(fn.inst) == d->n_eval && same_border(&fn, &d->v.eval)));
    if (!fits) {
        mdl_store_drop_fn(&fn);
        return false;
    }
    *fn_of(d, k) = fn;
    d->fn[k] = FN_MAPPED;
    return true;
}

void mdl_store_variant(mdl_model *m, const uint8_t *decisions, const variant_data *d)
{
    writer w = {0};
    if (!stored_on_disk(m))
        return;
    put_int(&w, (int64_t)d->n_eval);
    put_int(&w, d->v.has_effects);
    put_int(&w, d->v.lay.n_cache);
    put(&w, &d->v.stats, sizeof d->v.stats);
    put(&w, &d->v.ifconv, sizeof d->v.ifconv);
    put(&w, &d->id, sizeof d->id);
    put(&w, &d->kernel_key, sizeof d->kernel_key);
    put_inputs(&w, d->v.eval.in);
    put_outs(&w, d->v.eval.out);
    put_fn_later(&w, &d->v.setup);
    put_fn_later(&w, &d->v.eval);
    put_fn_later(&w, &d->kernel_fn);
    close_record(m->lib, part_key(m, "variant", (int)d->v.form, decisions, vec_len(decisions)), &w);
}

/* -- rows -- */

enum {
    KEEP_ROWS = 16
}; /* of a model in a run: a circuit's sets, not those of all points of a sweep */

static hash128 row_key(const mdl_model *m, const row_data *r)
{
    const size_t n = key_len(m);
    double *key = vs_malloc((n + 1) * sizeof *key);
    mdl_key_of(m, r, key);
    const hash128 id = part_key(m, "row", 0, key, n * sizeof *key);
    vs_free(key);
    return id;
}

bool mdl_store_load_row(mdl_model *m, row_data *r)
{
    store_item item;
    reader rd;
    const size_t n_unknown = vec_len(m->unknown), n_param = vec_len(m->mod->param);
    if (!stored_on_disk(m) || m->n_kept_row >= KEEP_ROWS || m->lib->names->id_clash)
        return false;
    m->n_kept_row++;
    r->keep = true;
    if (!open_record(m->lib, row_key(m, r), &item, &rd))
        return false;
    const double *param = get_array(&rd, sizeof *param);
    const int32_t *topology = get_array(&rd, sizeof *topology);
    rd.bad |= vec_len(param) != n_param || vec_len(topology) != n_unknown;
    for (size_t u = 0; u < n_unknown && !rd.bad; u++)
        rd.bad |= topology[u] < MDL_HELD || topology[u] >= (int64_t)n_unknown;
    uint8_t *key[MDL_N_FORM] = {NULL};
    for (int f = 0; f < MDL_N_FORM && !rd.bad; f++) {
        get_vec(&rd, key[f]);
        rd.bad |= vec_len(key[f]) && vec_len(key[f]) < n_unknown * sizeof *topology;
    }
    if (rd.bad) {
        for (int f = 0; f < MDL_N_FORM; f++)
            vec_free(key[f]);
        refuse_record(m->lib, &item);
        return false;
    }
    for (int f = 0; f < MDL_N_FORM; f++)
        r->decisions[f] = mdl_known_key(m, key[f]);
    if (n_param)
        memcpy(r->param, param, n_param * sizeof *param);
    if (n_unknown)
        memcpy(r->topology, topology, n_unknown * sizeof *topology);
    for (int f = 0; f < MDL_N_FORM; f++)
        r->stored_forms |= (vec_len(r->decisions[f]) > 0) << f;
    r->on_disk = true;
    store_release(&item);
    return true;
}

static void store_row(mdl_model *m, row_data *r)
{
    writer w = {0};
    unsigned forms = 0;
    for (int f = 0; f < MDL_N_FORM; f++)
        forms |= (unsigned)(vec_len(r->decisions[f]) > 0) << f;
    if (!r->keep || vec_len(r->message) || (r->on_disk && forms == r->stored_forms) ||
        m->lib->names->id_clash)
        return;
    put_array(&w, r->param, vec_len(m->mod->param), sizeof *r->param);
    put_array(&w, r->topology, vec_len(m->unknown), sizeof *r->topology);
    for (int f = 0; f < MDL_N_FORM; f++)
        put_vec(&w, r->decisions[f]);
    close_record(m->lib, row_key(m, r), &w);
    r->stored_forms = forms;
    r->on_disk = true;
}

void mdl_store_rows(mdl_lib *lib)
{
    for (size_t i = 0; i < vec_len(lib->model); i++) {
        mdl_model *m = lib->model[i];
        for (size_t k = 0; m->n_kept_row && k < vec_len(m->row) && stored_on_disk(m); k++)
            if (!m->row[k].is_number && m->row[k].full)
                store_row(m, m->row[k].full);
    }
}
