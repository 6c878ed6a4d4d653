/* sim_figures.c - the figures of a run, which the workers of a sweep send with each point. */
#include "sim_priv.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const size_t second[] = {
    offsetof(sim_stat, s.parse), offsetof(sim_stat, s.elaborate), offsetof(sim_stat, s.compile), offsetof(sim_stat, s.op),
    offsetof(sim_stat, s.tran), offsetof(sim_stat, s.evaluate), offsetof(sim_stat, s.stamp), offsetof(sim_stat, s.factor),
    offsetof(sim_stat, s.solve), offsetof(sim_stat, s.output)};
static const size_t number[] = {
    offsetof(sim_stat, accepted), offsetof(sim_stat, rejected), offsetof(sim_stat, iterations), offsetof(sim_stat, evaluations),
    offsetof(sim_stat, bypasses), offsetof(sim_stat, written), offsetof(sim_stat, expanded), offsetof(sim_stat, built),
    offsetof(sim_stat, redone), offsetof(sim_stat, rows), offsetof(sim_stat, sources), offsetof(sim_stat, symbolic),
    offsetof(sim_stat, ops), offsetof(sim_stat, ops_taken)};

/* a += sign b */
static void add(sim_stat *a, const sim_stat *b, int sign)
{
    for (size_t i = 0; i < VS_COUNT(second); i++)
        *(double *)((char *)a + second[i]) += sign * *(const double *)((const char *)b + second[i]);
    for (size_t i = 0; i < VS_COUNT(number); i++)
        *(int64_t *)((char *)a + number[i]) += sign * *(const int64_t *)((const char *)b + number[i]);
}

void sim_figures_now(const sim *s, sim_figures *f)
{
    const jit_stat *js = mdl_jit_stats(s->lib);
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
        s->st.op_method = str_intern(s->names, f->op_method, strnlen(f->op_method, sizeof f->op_method));
    s->st.unknowns = f->st.unknowns ? f->st.unknowns : s->st.unknowns;
}
