/* sim_figures.c - the figures of a run, which the workers of a sweep send with each point. */
#include "sim_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* No run counts further; sums of some thousand such counts still fit. */
static const int64_t most = (int64_t)1 << 50;

/* a += sign b */
static void add(sim_stat *a, const sim_stat *b, int sign)
{
#define X(name) a->s.name += sign * b->s.name;
    SIM_SECONDS(X)
#undef X
#define X(name) a->name += sign * b->name;
    SIM_COUNTS(X)
#undef X
}

void sim_figures_now(const sim *s, sim_figures *f)
{
    const jit_stat *js = mdl_jit_stats(s->opt.lib);
    memset(f, 0, sizeof *f);
    f->st = s->st;
    f->st.op_method = NULL;
    snprintf(f->op_method, sizeof f->op_method, "%s", s->st.op_method ? s->st.op_method : "");
    for (gen_kind k = 0; k < GEN_N_KIND; k++)
        f->gen[k] = sim_gen_count(s, k);
    f->n_compiled = js->n_compiled;
    f->n_from_cache = js->n_from_cache;
}

void sim_figures_less(sim_figures *f, const sim_figures *before)
{
    add(&f->st, &before->st, -1);
    for (int k = 0; k < GEN_N_KIND; k++) {
        f->gen[k].lookups -= before->gen[k].lookups;
        f->gen[k].invalid -= before->gen[k].invalid;
        f->gen[k].rebuilt -= before->gen[k].rebuilt;
    }
    f->n_compiled -= before->n_compiled;
    f->n_from_cache -= before->n_from_cache;
}

static bool sane(int64_t count) { return count >= -most && count <= most; }
static bool sane_kernels(int n) { return n >= 0 && n <= 1 << 20; }

bool sim_figures_sane(const sim_figures *f)
{
    bool ok = sane(f->st.small_steps) && sane(f->st.small_harmonics) && f->st.unknowns >= 0 &&
              sane_kernels(f->n_compiled) && sane_kernels(f->n_from_cache) &&
              sane_kernels(f->st.n_compiled) && sane_kernels(f->st.n_from_cache);
#define X(name) ok = ok && isfinite(f->st.s.name);
    SIM_SECONDS(X)
#undef X
#define X(name) ok = ok && sane(f->st.name);
    SIM_COUNTS(X)
#undef X
    for (int k = 0; k < GEN_N_KIND; k++)
        ok = ok && sane(f->gen[k].lookups) && sane(f->gen[k].invalid) && sane(f->gen[k].rebuilt);
    return ok;
}

void sim_figures_add(sim *s, const sim_figures *f)
{
    add(&s->st, &f->st, 1);
    for (int k = 0; k < GEN_N_KIND; k++) {
        s->others[k].lookups += f->gen[k].lookups;
        s->others[k].invalid += f->gen[k].invalid;
        s->others[k].rebuilt += f->gen[k].rebuilt;
    }
    s->st.n_compiled += f->n_compiled;
    s->st.n_from_cache += f->n_from_cache;
    if (*f->op_method)
        s->st.op_method =
            str_intern(s->names, f->op_method, strnlen(f->op_method, sizeof f->op_method));
    s->st.unknowns = f->st.unknowns ? f->st.unknowns : s->st.unknowns;
}

void sim_figures_hired(sim *s) { s->st.workers++; }
