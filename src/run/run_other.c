/* run_other.c - what clients ask for without a deck: models, compiled files, the cache, the
 * machine, parts of a sweep; and words that their options take. */
#include <string.h>

#include "api_models.h"
#include "lu.h"
#include "run_priv.h"
#include "swp.h"
#include "vec.h"

/* -- streams and models -- */

void run_tell(diag *d, const vsim_inside_streams *s)
{
    if (s->begin && !files_refused(FILES_REPORT))
        s->begin(s->user);
    fflush(s->log);
    if (s->quiet && !s->warnings)
        diag_keep_errors(d);
    if (s->say && s->ngspice)
        run_ng_messages(d, s->say);
    else if (s->say)
        diag_render(d, s->say, s->color);
    if (s->say_in_log && s->ngspice)
        run_ng_messages(d, s->log);
    else if (s->say_in_log)
        diag_render(d, s->log, false);
    diag_clear(d);
}

static void print_note(void *user, const char *text) { fprintf(user, "note: %s\n", text); }

vs_status run_open_models(mdl_lib **lib, diag *d, str_pool *names, const vsim_settings *set,
                          const vsim_inside_streams *s, const vsim_inside_debug *debug,
                          rank_link *link)
{
    mdl_opt mo = api_model_options(set);
    mo.jit.verbose = s->notes;
    mo.jit.note = s->notes ? print_note : NULL;
    mo.jit.user = s->log;
    mo.jit.apart = run_apart;
    mo.jit.on_abort = run_on_abort;
    if (debug)
        mo.check_kernels = debug->check_kernels;
    if (debug && debug->dump_ir) {
        mo.dump = s->log;
        mo.dump_pass = *debug->dump_ir ? mdl_pass_find(debug->dump_ir) : MDL_DUMP_LAST;
    }
    if (link && link->rank > 0) { /* rank 0 compiles what the cache lacks */
        mo.jit.missing = run_wait_for_go;
        mo.jit.missing_user = link;
    }
    return mdl_lib_new(lib, d, names, &mo);
}

typedef struct bench {
    diag d;
    str_pool names;
    mdl_lib *lib;
} bench;

static vs_status bench_begin(bench *b, const vsim_settings *set, const vsim_inside_streams *s,
                             const vsim_inside_debug *debug)
{
    b->lib = NULL;
    diag_init(&b->d);
    b->d.variable = set->variable;
    b->d.variable_user = set->user;
    str_pool_init(&b->names);
    return run_open_models(&b->lib, &b->d, &b->names, set, s, debug, NULL);
}

static vs_status bench_end(bench *b, vs_status st, const vsim_inside_streams *s)
{
    run_tell(&b->d, s);
    mdl_lib_free(&b->lib);
    str_pool_fini(&b->names);
    diag_fini(&b->d);
    return st;
}

/* A client's request, with the arguments of its call. */
typedef struct question {
    const vsim_settings *set;
    const vsim_inside_streams *s;
    const vsim_inside_debug *debug;
    const char *name; /* of a model, a file, a folder */
    bool flag;
} question;

static vsim_status answer(vs_status (*body)(void *), question *q)
{
    const run_guard g = {.memory = q->set->memory, .streams = q->s, .body = body};
    return (vsim_status)run_guarded(&g, q);
}

static vs_status list_models(void *arg)
{
    const question *q = arg;
    bench b;
    vs_status st = bench_begin(&b, q->set, q->s, NULL);
    if (!st && q->name)
        st = rep_model(b.lib, &b.d, q->name, q->s->log);
    else if (!st)
        rep_models(b.lib, q->s->log);
    return bench_end(&b, st, q->s);
}

vsim_status vsim_inside_models(const vsim_settings *set, const vsim_inside_streams *s,
                               const char *name)
{
    return answer(list_models, &(question){.set = set, .s = s, .name = name});
}

static vs_status list_branches(void *arg)
{
    const question *q = arg;
    bench b;
    vs_status st = bench_begin(&b, q->set, q->s, NULL);
    if (!st)
        st = rep_branches(b.lib, &b.d, q->flag, q->s->log);
    return bench_end(&b, st, q->s);
}

vsim_status vsim_inside_branches(const vsim_settings *set, const vsim_inside_streams *s, bool json)
{
    return answer(list_branches, &(question){.set = set, .s = s, .flag = json});
}

const char *vsim_inside_pass(size_t i) { return mdl_pass_name(i < MDL_N_PASS ? (int)i : -1); }

/* Compiles the variants that an instance without parameters needs, so that --dump-ir shows their
 * passes. */
static vs_status make_variants(mdl_model *m)
{
    static const mdl_form_kind form[] = {MDL_DC, MDL_TRAN, MDL_AC};
    const mdl_env env = {.temp = 300.15, .mfactor = 1, .simparam = ir_simparam_default};
    int32_t row;
    vs_status st = mdl_row(m, NULL, 0, &env, mdl_module(m)->span, mdl_module(m)->name, &row);
    for (size_t i = 0; !st && i < VS_COUNT(form); i++) {
        mdl_variant *v;
        st = mdl_variant_get(m, row, form[i], &v);
    }
    return st;
}

static vs_status compile(void *arg)
{
    const question *q = arg;
    bench b;
    const double t0 = vs_seconds();
    vs_status st = bench_begin(&b, q->set, q->s, q->debug);
    const size_t n_before = st ? 0 : mdl_n_loaded(b.lib);
    if (!st)
        st = mdl_load(b.lib, q->name);
    const double t1 = vs_seconds();
    for (size_t i = n_before; !st && i < mdl_n_loaded(b.lib); i++)
        rep_module(mdl_loaded(b.lib, i), q->s->log);
    for (size_t i = n_before; !st && q->debug->dump_ir && i < mdl_n_loaded(b.lib); i++)
        st = make_variants(mdl_loaded(b.lib, i));
    if (!st)
        fprintf(q->s->log, "compiled in %.1f ms\n", 1e3 * (t1 - t0));
    if (!st && q->flag && b.d.n_warning)
        st = VS_EINPUT;
    return bench_end(&b, st, q->s);
}

vsim_status vsim_inside_compile(const vsim_settings *set, const vsim_inside_streams *s,
                                const char *path, bool strict, const vsim_inside_debug *debug)
{
    return answer(compile,
                  &(question){.set = set, .s = s, .debug = debug, .name = path, .flag = strict});
}

/* -- files of other runs -- */

/* The arguments of a call without streams, whose caller tells of missing memory himself. */
typedef struct file_question {
    const char *dir, *what;
    const char *const *part;
    size_t n;
    FILE *out, *say;
    const char **reason;
    char *why;
    vs_status worst;
} file_question;

static vs_status look_at_cache(void *arg)
{
    const file_question *q = arg;
    return rep_cache(q->dir, q->what, q->out, q->reason);
}

vsim_status vsim_inside_cache(const char *dir, const char *what, FILE *out, const char **why)
{
    const run_guard g = {.body = look_at_cache};
    file_question q = {.dir = dir, .what = what, .out = out, .reason = why};
    const vs_status st = run_guarded(&g, &q);
    if (st == VS_ENOMEM)
        *why = vs_status_text(st);
    return (vsim_status)st;
}

static vs_status tune(void *arg)
{
    const file_question *q = arg;
    return rep_tune(q->dir, q->out, q->why, q->n);
}

vsim_status vsim_inside_tune(const char *dir, FILE *out, char *why, size_t size)
{
    const run_guard g = {.body = tune};
    file_question q = {.dir = dir, .out = out, .why = why, .n = size};
    return (vsim_status)run_guarded(&g, &q);
}

static vs_status merge(void *arg)
{
    file_question *q = arg;
    return swp_merge(q->dir, q->what, q->part, q->n, q->out, q->say, &q->worst, q->why);
}

vsim_status vsim_inside_merge(const char *out, const char *measures, const char *const *part,
                              size_t n, FILE *log, FILE *say, vsim_status *worst, char why[300])
{
    const run_guard g = {.body = merge};
    file_question q = {
        .dir = out, .what = measures, .part = part, .n = n, .out = log, .say = say, .why = why};
    const vs_status st = run_guarded(&g, &q);
    if (st == VS_ENOMEM)
        snprintf(why, 300, "%s", vs_status_text(st));
    *worst = (vsim_status)q.worst;
    return (vsim_status)st;
}

/* -- words -- */

bool vsim_inside_is_matrix(const char *path) { return rep_is_matrix(path); }
bool vsim_inside_is_lu(const char *name) { return lu_kind_of(name) >= 0; }

const char *vsim_inside_nearest(const char *word, const char *const *candidate, size_t n)
{
    return str_nearest(word, candidate, n);
}

const char *vsim_inside_si(char buf[16], double x, const char *unit)
{
    return rep_si(buf, x, unit);
}

double vsim_inside_seconds(void) { return vs_seconds(); }
