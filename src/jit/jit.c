/* jit.c - the interface of the code generator: memory, cache on disk, LLVM, in this order.
 * The module with LLVM is opened when the first kernel must be compiled, and not before. Kernels
 * that are new are compiled by as many threads as there are processors, the largest first, each in
 * an LLVM context of its own; everything else is done by the caller's thread, in the order of the
 * jobs. */
#define _GNU_SOURCE
#include "jit_priv.h"
#include "jit_build.h"
#include "heap.h"
#include "pool.h"
#include "store.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

typedef struct unit { /* one kernel in memory */
    hash128 key;
    jit_code *code; /* vec: its objects */
    jit_kernel kernel;
} unit;

struct jit {
    jit_opt opt;
    jit_stat stat;
    store cache;
    unit *unit; /* vec */
    void *llvm; /* handle of the module, NULL: not open */
    bool llvm_failed;
    jit_emit_fn emit;
    char *why; /* last text handed out, owned */
    int lanes;
    bool fma;      /* what kernels are made for has fused multiply-add */
    bool scalef;   /* and AVX-512 for all widths */
    char cpu[256]; /* jit_cpu_text: asking the processor is slow in a virtual machine */
};

#define MODULE_FILE "libvsim-llvm.so"

static void note(const jit *j, const char *fmt, ...) VS_PRINTF(2, 3);
static void note(const jit *j, const char *fmt, ...)
{
    char text[600];
    va_list ap;
    if (!j->opt.note)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    j->opt.note(j->opt.user, text);
}

static const char *keep_why(jit *j, const char *fmt, ...) VS_PRINTF(2, 3);
static const char *keep_why(jit *j, const char *fmt, ...)
{
    va_list ap;
    vs_free(j->why);
    va_start(ap, fmt);
    j->why = vs_vtext(fmt, ap);
    va_end(ap);
    return j->why;
}

/* -- the machine -- */

/* Lanes of the widest registers; AVX-512 is taken where its doubles are as fast as AVX2's. */
static int lanes_of_machine(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        return 8;
    if (__builtin_cpu_supports("avx2"))
        return 4;
#endif
    return 2;
}

static bool lanes_allowed(int n) { return n == 1 || n == 2 || n == 4 || n == 8; }

/* A processor named by its level (x86-64-v3) has what the level asks for; of others without this
 * list only the baseline is assumed. */
static bool has_fma(const char *cpu)
{
    if (cpu)
        return !strcmp(cpu, "x86-64-v3") || !strcmp(cpu, "x86-64-v4");
#ifdef __x86_64__
    return __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

static bool has_scalef(const char *cpu)
{
    if (cpu)
        return !strcmp(cpu, "x86-64-v4");
#ifdef __x86_64__
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}

static void choose_machine(jit *j)
{
    j->lanes = lanes_allowed(j->opt.lanes) ? j->opt.lanes : lanes_of_machine();
    j->fma = has_fma(j->opt.cpu);
    j->scalef = has_scalef(j->opt.cpu);
}

int jit_lanes(const jit *j) { return j->lanes; }

jit *jit_open(const jit_opt *opt)
{
    static const jit_opt standard = {.opt_level = 2};
    const char *why = NULL;
    jit *j = vs_calloc(1, sizeof *j);
    j->opt = opt ? *opt : standard;
    choose_machine(j);
    jit_cpu_text(j->cpu, sizeof j->cpu);
    if (!j->opt.no_cache)
        store_open(&j->cache, j->opt.cache_dir, &why);
    if (why)
        note(j, "kernels are not kept on disk: %s", why);
    return j;
}

/* The LLVM module stays open: unloading it would run LLVM's destructors under other users of it. */
void jit_close(jit **pj)
{
    jit *j = *pj;
    if (!j)
        return;
    for (size_t i = 0; i < vec_len(j->unit); i++)
        jit_pack_unload(&j->unit[i].code);
    vec_free(j->unit);
    store_close(&j->cache);
    vs_free(j->why);
    vs_free(j);
    *pj = NULL;
}

bool jit_own_code(const jit *j)
{
    bool ok = true;
    for (size_t i = 0; i < vec_len(j->unit); i++)
        for (size_t k = 0; k < vec_len(j->unit[i].code); k++)
            ok &= jit_obj_own(&j->unit[i].code[k]);
    return ok;
}

const jit_stat *jit_stats(const jit *j) { return &j->stat; }

/* -- the key -- */

void jit_cpu_text(char *buf, size_t size)
{
    unsigned a = 0, b = 0, c = 0, d = 0, w[16] = {0};
#ifdef __x86_64__
    __get_cpuid(0, &a, &w[0], &w[1], &w[2]); /* vendor */
    if (__get_cpuid(1, &a, &b, &c, &d))
        w[3] = a, w[4] = c, w[5] = d; /* family and model, features */
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d))
        w[6] = b, w[7] = c, w[8] = d;
    if (__get_cpuid_count(7, 1, &a, &b, &c, &d))
        w[9] = a, w[10] = d;
    if (__get_cpuid(0x80000001, &a, &b, &c, &d))
        w[11] = c, w[12] = d;
    if (w[4] & bit_OSXSAVE) /* which registers the system keeps */
        __asm__("xgetbv" : "=a"(w[13]), "=d"(w[14]) : "c"(0));
#else
    (void)a, (void)b, (void)c, (void)d;
#endif
    int n = 0;
    for (size_t i = 0; i < VS_COUNT(w) && n < (int)size; i++)
        n += snprintf(buf + n, size - (size_t)n, "%x ", w[i]);
}

static void add_bytes(unsigned char **v, const void *p, size_t n)
{
    const size_t at = vec_len(*v);
    vec_extend(*v, n);
    if (n)
        memcpy(*v + at, p, n);
}

static void add_i32(unsigned char **v, int32_t x) { add_bytes(v, &x, sizeof x); }

static void add_fn(unsigned char **v, const ir_fn *fn)
{
    add_i32(v, (int32_t)vec_len(fn->inst));
    for (size_t k = 0; k < vec_len(fn->inst); k++) {
        const ir_inst *in = &fn->inst[k];
        const int32_t w[4] = {in->op | in->type << 8, in->a, in->b, in->c};
        add_bytes(v, w, sizeof w);
    }
    add_i32(v, (int32_t)vec_len(fn->con));
    add_bytes(v, fn->con, vec_len(fn->con) * sizeof *fn->con);
    add_i32(v, (int32_t)vec_len(fn->in));
    for (size_t k = 0; k < vec_len(fn->in); k++) {
        const int32_t w[2] = {fn->in[k].kind | fn->in[k].type << 8, fn->in[k].k};
        add_bytes(v, w, sizeof w);
    }
    add_i32(v, (int32_t)vec_len(fn->out));
    for (size_t k = 0; k < vec_len(fn->out); k++) {
        const int32_t w[2] = {fn->out[k].kind, fn->out[k].v};
        add_bytes(v, w, sizeof w);
    }
}

/* Kernels narrower than the machine allows, and narrow ones with a row per lane, are for small
 * groups. */
static bool for_small_groups(const jit *j, const jit_layout *lay)
{
    return lay->lanes < 8 && (lay->row_per_lane || lay->lanes < jit_lanes(j));
}

/* Instructions in a piece, and whether chains are interleaved, if the caller asks for neither: the
 * best ones measured (bench/RESULTS.md). Divisions of 8 doubles take so long that it pays to put
 * other work beside them. */
static jit_cut_opt cut_of(const jit *j, const ir_fn *fn, const jit_layout *lay)
{
    const bool one_pack = for_small_groups(j, lay) && vec_len(fn->inst) >= JIT_LONG;
    const int best = lay->lanes == 8 ? JIT_PIECE_WIDE
                     : one_pack      ? JIT_PIECE_ONE_PACK
                                     : JIT_PIECE_NARROW;
    return (jit_cut_opt){.fuse = j->fma && !j->opt.exact,
                         .interleave = lay->lanes == 8 || one_pack || j->opt.piece > 0,
                         .one_pack = one_pack,
                         .limit = j->opt.piece ? j->opt.piece : best};
}

hash128 jit_fn_key(const ir_fn *fn)
{
    unsigned char *v = NULL;
    add_fn(&v, fn);
    const hash128 key = hash128_of(v, vec_len(v));
    vec_free(v);
    return key;
}

static hash128 key_of(const jit *j, hash128 fn_key, size_t n_out, const jit_layout *lay)
{
    unsigned char *v = NULL;
    add_bytes(&v, JIT_GENERATOR, sizeof JIT_GENERATOR);
    add_bytes(&v, j->cpu, strlen(j->cpu) + 1);
    if (j->opt.cpu)
        add_bytes(&v, j->opt.cpu, strlen(j->opt.cpu) + 1);
    const int32_t w[] = {j->opt.opt_level, j->opt.exact,      j->fma,
                         j->scalef,        j->opt.piece,      for_small_groups(j, lay),
                         lay->lanes,       lay->row_per_lane, IR_N_OP,
                         IR_N_DYN,         lay->n_u,          lay->n_cache,
                         lay->n_state,     lay->n_lim,        lay->n_out,
                         lay->n_probe};
    add_bytes(&v, w, sizeof w);
    add_bytes(&v, lay->probe_hi, (size_t)lay->n_probe * sizeof(int32_t));
    add_bytes(&v, lay->probe_lo, (size_t)lay->n_probe * sizeof(int32_t));
    add_bytes(&v, lay->out_slot, n_out * sizeof(int32_t));
    add_bytes(&v, &fn_key, sizeof fn_key);
    hash128 key = hash128_of(v, vec_len(v));
    vec_free(v);
    return key;
}

/* -- the module with LLVM -- */

static bool load_llvm(jit *j, const char **why)
{
    if (j->llvm)
        return true;
    *why = "the code generator (" MODULE_FILE ") was not found";
    if (j->llvm_failed)
        return false;
    j->llvm = jit_load(&j->opt);
    j->llvm_failed = true;
    if (!j->llvm)
        return false;
    const char *version = dlsym(j->llvm, JIT_VERSION_SYMBOL);
    *(void **)&j->emit = dlsym(j->llvm, JIT_EMIT_SYMBOL);
    if (version && j->emit && !strcmp(version, JIT_GENERATOR)) {
        j->llvm_failed = false;
        return true;
    }
    *why = MODULE_FILE " is of another version";
    dlclose(j->llvm);
    j->llvm = NULL;
    return false;
}

/* -- compiling -- */

static bool input_allowed(int kind)
{
    return kind == IR_IN_CACHE || kind == IR_IN_PROBE || kind == IR_IN_DYN ||
           kind == IR_IN_ABSTIME || kind == IR_IN_STATE || kind == IR_IN_LIMOLD;
}

static vs_status check_inputs(jit *j, const ir_fn *fn, const char **why)
{
    static const char *const name[] = {
#define X(kind, text, cls) text,
        IR_IN_LIST(X)
#undef X
    };
    for (size_t k = 0; k < vec_len(fn->in); k++)
        if (!input_allowed(fn->in[k].kind)) {
            *why = keep_why(j, "a kernel cannot read '%s'", name[fn->in[k].kind]);
            return VS_EINPUT;
        }
    return VS_OK;
}

static bool find_unit(const jit *j, hash128 key, const unit **found)
{
    for (size_t i = 0; i < vec_len(j->unit); i++)
        if (!memcmp(&j->unit[i].key, &key, sizeof key)) {
            *found = &j->unit[i];
            return true;
        }
    return false;
}

static size_t text_bytes(const unit *u)
{
    size_t n = 0;
    for (size_t i = 0; i < vec_len(u->code); i++)
        n += u->code[i].text_bytes;
    return n;
}

static vs_status add_unit(jit *j, hash128 key, const void *pack, size_t size, const char **why)
{
    unit u = {.key = key};
    vs_status st = jit_pack_load(pack, size, &u.code, &u.kernel, why);
    if (st == VS_OK) {
        j->stat.code_bytes += text_bytes(&u);
        vec_push(j->unit, u);
    } else {
        jit_pack_unload(&u.code);
    }
    return st;
}

/* A file that does not hold what its name says counts as absent. */
static bool look_in_cache(jit *j, hash128 key)
{
    store_item obj;
    const char *why = NULL;
    store_found found = store_get(&j->cache, STORE_KERNEL, key, &obj, &why);
    if (found == STORE_HIT && add_unit(j, key, obj.data, obj.size, &why) != VS_OK)
        found = STORE_BAD;
    store_release(&obj);
    if (found == STORE_BAD) {
        j->stat.n_cache_bad++;
        note(j, "a file in the kernel cache is not used: it %s; compiling again", why);
    } else if (found == STORE_HIT) {
        j->stat.n_from_cache++;
        if (j->opt.verbose)
            note(j, "kernel %016llx from the cache", (unsigned long long)key.w[0]);
    }
    return found == STORE_HIT;
}

static bool from_cache(jit *j, hash128 key)
{
    if (look_in_cache(j, key))
        return true;
    if (!j->opt.missing)
        return false;
    j->opt.missing(j->opt.missing_user);
    return look_in_cache(j, key);
}

/* -- compiling several at once -- */

enum { LLVM_BYTES = 64 << 20 }; /* must be there for a thread in LLVM to begin */

typedef struct emit_task { /* a job that LLVM must do */
    jit_job *job;
    hash128 key;
    ir_fn code;
    jit_cut cut;
} emit_task;

typedef struct object_task { /* an object of it */
    const emit_task *of;
    int32_t q;
    jit_object made;
    double seconds;
    char *err;
    int failed; /* as jit_emit_fn returns */
} object_task;

typedef struct team {
    const jit *j;
    emit_task *task;     /* vec, in the order in which they are taken */
    object_task *object; /* vec, those of a task together */
} team;

static void cut_one(void *user, int32_t i, int worker)
{
    const team *t = user;
    emit_task *k = &t->task[i];
    (void)worker;
    const jit_cut_opt opt = cut_of(t->j, k->job->eval, k->job->lay);
    ir_skip(&k->code, k->job->eval);
    jit_cut_init(&k->cut, &k->code, opt);
}

static void emit_one(void *user, int32_t i, int worker)
{
    const team *t = user;
    const jit_opt *o = &t->j->opt;
    const jit_emit_opt opt = {.opt_level = o->opt_level,
                              .cpu = o->cpu,
                              .exact = o->exact,
                              .fma = t->j->fma,
                              .scalef = t->j->scalef,
                              .room = vs_try_realloc};
    object_task *p = &t->object[i];
    const emit_task *k = p->of;
    const double t0 = vs_seconds();
    (void)worker;
    if (heap_asked())
        p->failed = JIT_NO_MEMORY; /* heap_poll behind the last piece says why */
    else if (!heap_room(LLVM_BYTES))
        p->failed = JIT_NO_MEMORY;
    else
        p->failed = t->j->emit(&k->code, k->job->lay, &k->cut, p->q, &opt, &p->made.obj,
                               &p->made.size, &p->err);
    p->seconds = vs_seconds() - t0;
}

static int larger_first(const void *a, const void *b)
{
    const emit_task *s = a, *t = b;
    const size_t ns = vec_len(s->job->eval->inst), nt = vec_len(t->job->eval->inst);
    return ns != nt ? (ns < nt ? 1 : -1) : s->job < t->job ? -1 : s->job > t->job;
}

/* The objects of a kernel as one; NULL: one of them is missing (*err, that one's text or NULL).
 */
static void *join_objects(const object_task *object, int32_t n, size_t *size, const char **err)
{
    jit_object *made = NULL;
    void *pack = NULL;
    int32_t q = 0;
    *err = NULL;
    for (; q < n && !object[q].failed; q++)
        vec_push(made, object[q].made);
    if (q == n)
        pack = jit_pack_make(made, n, size);
    else
        *err = object[q].err;
    vec_free(made);
    return pack;
}

/* Loads the objects of a task, and stores them on disk. */
static void finish_task(jit *j, const emit_task *k, const object_task *object, const char **why)
{
    jit_job *job = k->job;
    const char *trouble = NULL;
    size_t size = 0;
    void *pack = join_objects(object, k->cut.n_object, &size, &trouble);
    for (int32_t q = 0; q < k->cut.n_object; q++)
        job->seconds += object[q].seconds;
    if (!pack) {
        *why = keep_why(j, "code generator: %s", trouble ? trouble : "out of memory");
        job->st = VS_EUNSUPPORTED;
    } else {
        j->stat.n_compiled++;
        job->st = add_unit(j, k->key, pack, size, why);
    }
    if (job->st == VS_OK) {
        job->kernel = vec_last(j->unit).kernel;
        job->code_bytes = text_bytes(&vec_last(j->unit));
        if (j->cache.dir &&
            store_put(&j->cache, STORE_KERNEL, k->key, pack, size, &trouble) != VS_OK)
            note(j, "kernel not kept on disk: %s", trouble);
        else if (j->opt.verbose)
            note(j, "kernel %016llx compiled, %zu bytes", (unsigned long long)k->key.w[0], size);
    }
    vs_free(pack);
}

static void free_tasks(team *t)
{
    for (size_t i = 0; i < vec_len(t->object); i++) {
        vs_free(t->object[i].err);
        vs_free(t->object[i].made.obj);
    }
    for (size_t i = 0; i < vec_len(t->task); i++) {
        jit_cut_fini(&t->task[i].cut);
        ir_fn_fini(&t->task[i].code);
    }
    vec_free(t->object);
}

static void from_llvm(jit *j, emit_task *task, const char **why)
{
    team t = {.j = j, .task = task};
    const int n = (int)vec_len(task),
              threads = j->opt.threads > 0 ? j->opt.threads : pool_processors();
    int32_t first = 0;
    if (!j->llvm && !heap_room(LLVM_BYTES))
        vs_no_memory();
    if (!load_llvm(j, why)) {
        for (int i = 0; i < n; i++)
            task[i].job->st = VS_EUNSUPPORTED;
        return;
    }
    const double t0 = vs_seconds();
    qsort(task, (size_t)n, sizeof *task, larger_first);
    pool *p = pool_new(threads);
    pool_run(p, POOL_OTHER, n, cut_one, &t);
    for (int i = 0; i < n; i++)
        for (int32_t q = 0; q < task[i].cut.n_object; q++)
            vec_push(t.object, ((object_task){.of = &task[i], .q = q}));
    pool_run(p, POOL_OTHER, (int32_t)vec_len(t.object), emit_one, &t);
    pool_free(&p);
    heap_poll();
    for (size_t i = 0; i < vec_len(t.object); i++)
        if (t.object[i].failed == JIT_NO_MEMORY)
            vs_no_memory();
    j->stat.seconds_compile += vs_seconds() - t0;
    for (int i = 0; i < n; first += task[i].cut.n_object, i++)
        finish_task(j, &task[i], &t.object[first], why);
    free_tasks(&t);
}

/* Takes a kernel from memory or disk; false: it is to be compiled. */
static bool take_ready(jit *j, hash128 key, jit_job *job)
{
    const unit *u = NULL;
    if (!find_unit(j, key, &u)) {
        if (!from_cache(j, key))
            return false;
        u = &vec_last(j->unit);
        job->from_cache = true;
    }
    job->kernel = u->kernel;
    job->code_bytes = text_bytes(u);
    return true;
}

static bool is_asked_for(const emit_task *task, hash128 key)
{
    for (size_t i = 0; i < vec_len(task); i++)
        if (!memcmp(&task[i].key, &key, sizeof key))
            return true;
    return false;
}

void jit_compile_all(jit *j, jit_job *job, size_t n, const char **why)
{
    emit_task *new = NULL;
    hash128 *key = NULL;
    *why = NULL;
    vec_extend(key, n);
    for (size_t i = 0; i < n; i++) {
        jit_job *b = &job[i];
        *b = (jit_job){.eval = b->eval,
                       .lay = b->lay,
                       .get = b->get,
                       .user = b->user,
                       .fn_key = b->fn_key,
                       .n_out = b->n_out};
        assert(lanes_allowed(b->lay->lanes));
        if (jit_obj_unsupported()) {
            b->st = VS_EUNSUPPORTED;
            *why = jit_obj_unsupported();
            continue;
        }
        if (b->eval) {
            b->fn_key = jit_fn_key(b->eval);
            b->n_out = vec_len(b->eval->out);
        }
        key[i] = key_of(j, b->fn_key, b->n_out, b->lay);
        if (take_ready(j, key[i], b) || is_asked_for(new, key[i]))
            continue;
        if (!b->eval)
            b->eval = b->get(b->user);
        b->st = check_inputs(j, b->eval, why);
        if (b->st == VS_OK)
            vec_push(new, (emit_task){.job = b, .key = key[i]});
    }
    if (vec_len(new))
        from_llvm(j, new, why);
    for (size_t i = 0; i < n; i++) /* twice in one call */
        if (job[i].st == VS_OK && !job[i].kernel && !take_ready(j, key[i], &job[i]))
            job[i].st = VS_EUNSUPPORTED;
    vec_free(new);
    vec_free(key);
}

vs_status jit_compile(jit *j, const ir_fn *eval, const jit_layout *lay, jit_kernel *kernel,
                      size_t *code_bytes, const char **why)
{
    jit_job job = {.eval = eval, .lay = lay};
    jit_compile_all(j, &job, 1, why);
    *kernel = job.kernel;
    if (code_bytes && job.st == VS_OK)
        *code_bytes = job.code_bytes;
    return job.st;
}
