/* run_other.c - what clients ask for without a deck: models, compiled files, the cache, the
 * machine, parts of a sweep; and words that their options take. */
#include <string.h>

#include "lu.h"
#include "run_priv.h"
#include "swp.h"
#include "vec.h"

/* -- streams and models -- */

void run_tell(diag *d, const vsim_inside_streams *s)
{
    fflush(s->log);
    if (s->quiet)
        diag_keep_errors(d);
    if (s->say)
        diag_render(d, s->say, s->color);
    if (s->say_in_log)
        diag_render(d, s->log, false);
    diag_clear(d);
}

static void print_note(void *user, const char *text) { fprintf(user, "note: %s\n", text); }

vs_status run_open_models(mdl_lib **lib, diag *d, str_pool *names, const vsim_settings *set,
                          const vsim_inside_streams *s, const vsim_inside_debug *debug,
                          rank_link *link)
{
    mdl_opt mo = {.include = set->include,
                  .n_include = set->n_include,
                  .macro = set->macro,
                  .n_macro = set->n_macro,
                  .model_dir = set->models,
                  .interpret = set->interpret,
                  .no_specialize = set->no_specialize,
                  .jit = {.cache_dir = set->cache,
                          .no_cache = !set->cache,
                          .plugin_dir = set->plugins,
                          .lanes = set->lanes,
                          .cpu = set->cpu,
                          .opt_level = 2,
                          .verbose = s->notes,
                          .note = s->notes ? print_note : NULL,
                          .user = s->log}};
    if (debug)
        mo.check_kernels = debug->check_kernels;
    if (debug && debug->dump_ir) {
        mo.dump = s->log;
        mo.dump_pass = *debug->dump_ir ? mdl_pass_find(debug->dump_ir) : MDL_DUMP_LAST;
    }
    if (link && link->rank > 0) { /* what is not on disk rank 0 makes */
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

static vsim_status bench_end(bench *b, vs_status st, const vsim_inside_streams *s)
{
    run_tell(&b->d, s);
    mdl_lib_free(&b->lib);
    str_pool_fini(&b->names);
    diag_fini(&b->d);
    return (vsim_status)st;
}

vsim_status vsim_inside_models(const vsim_settings *set, const vsim_inside_streams *s,
                               const char *name)
{
    bench b;
    vs_status st = bench_begin(&b, set, s, NULL);
    if (!st && name)
        st = rep_model(b.lib, &b.d, name, s->log);
    else if (!st)
        rep_models(b.lib, s->log);
    return bench_end(&b, st, s);
}

vsim_status vsim_inside_branches(const vsim_settings *set, const vsim_inside_streams *s, bool json)
{
    bench b;
    vs_status st = bench_begin(&b, set, s, NULL);
    if (!st)
        st = rep_branches(b.lib, &b.d, json, s->log);
    return bench_end(&b, st, s);
}

const char *vsim_inside_pass(size_t i) { return mdl_pass_name(i < MDL_N_PASS ? (int)i : -1); }

/* What a deck makes of an instance without parameters: for those who look at the passes. */
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

vsim_status vsim_inside_compile(const vsim_settings *set, const vsim_inside_streams *s,
                                const char *path, bool strict, const vsim_inside_debug *debug)
{
    bench b;
    const double t0 = vs_seconds();
    vs_status st = bench_begin(&b, set, s, debug);
    const size_t n_before = st ? 0 : mdl_n_loaded(b.lib);
    if (!st)
        st = mdl_load(b.lib, path);
    const double t1 = vs_seconds();
    for (size_t i = n_before; !st && i < mdl_n_loaded(b.lib); i++)
        rep_module(mdl_loaded(b.lib, i), s->log);
    for (size_t i = n_before; !st && debug->dump_ir && i < mdl_n_loaded(b.lib); i++)
        st = make_variants(mdl_loaded(b.lib, i));
    if (!st)
        fprintf(s->log, "compiled in %.1f ms\n", 1e3 * (t1 - t0));
    if (!st && strict && b.d.n_warning)
        st = VS_EINPUT;
    return bench_end(&b, st, s);
}

/* -- files of other runs -- */

vsim_status vsim_inside_cache(const char *dir, const char *what, FILE *out, const char **why)
{
    return (vsim_status)rep_cache(dir, what, out, why);
}

vsim_status vsim_inside_tune(const char *dir, FILE *out, char *why, size_t size)
{
    return (vsim_status)rep_tune(dir, out, why, size);
}

vsim_status vsim_inside_merge(const char *out, const char *measures, const char *const *part,
                              size_t n, FILE *log, FILE *say, vsim_status *worst, char why[300])
{
    vs_status bad = VS_OK;
    const vs_status st = swp_merge(out, measures, part, n, log, say, &bad, why);
    *worst = (vsim_status)bad;
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
bool vsim_inside_same_file(const char *a, const char *b) { return rep_same_file(a, b); }
