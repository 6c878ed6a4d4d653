/* sim_memo.c - operating points that are taken over: while nothing that one depends on changes, the
 * next analysis and the next point of a sweep have it already. A change that sim_redo.c carried out
 * need not reach an operating point: a row whose static setup gives the same values, an ac value, a
 * waveform that begins as before. ckt_redo_end tells what a change reaches, and generation counters
 * (gen.h) mark what depends on that. An operating point is x and what devices remember (ana_memo),
 * so that what follows has the same bits. */
#include "sim_priv.h"

#include <string.h>

#include "vec.h"

void sim_memo_init(sim *s)
{
    gen *g = &s->numbers;
    gen_init(g);
    for (int k = 0; k < SIM_N_NUMBER; k++)
        s->number_node[k] = gen_node(g, GEN_INPUT);
    s->linear_node = gen_node(g, GEN_LINEAR);
    const int32_t *n = s->number_node;
    gen_edge(g, n[SIM_OF_CIRCUIT], s->linear_node);
    gen_edge(g, n[SIM_OF_LINEAR], s->linear_node);
    for (int tran = 0; tran < 2; tran++) {
        const int32_t op = s->op_node[tran] = gen_node(g, GEN_OP);
        gen_edge(g, n[SIM_OF_CIRCUIT], op);
        gen_edge(g, n[SIM_OF_DEVICES], op);
        gen_edge(g, n[tran ? SIM_OF_START : SIM_OF_DC], op);
        gen_edge(g, n[SIM_OF_ICS], op);
        gen_edge(g, n[SIM_OF_OPTIONS], op);
    }
    gen_seal(g);
}

void sim_memo_fini(sim *s)
{
    ana_memo_fini(&s->memo[0]);
    ana_memo_fini(&s->memo[1]);
    ana_memo_fini(&s->first[0]);
    ana_memo_fini(&s->first[1]);
    gen_fini(&s->numbers);
}

void sim_number_changed(sim *s, sim_number k)
{
    gen_change(&s->numbers, s->number_node[k]);
    while (gen_next(&s->numbers) >= 0)
        continue;
    for (int tran = 0; tran < 2; tran++) {
        const gen_node_data *n = &s->numbers.node[s->op_node[tran]];
        s->memo[tran].valid &= n->made >= n->due;
    }
}

void sim_numbers_redone(sim *s, const ckt_redone *what)
{
    static const struct {
        unsigned bit;
        sim_number number;
    } reach[] = {{CKT_OTHER_STATIC, SIM_OF_DEVICES},
                 {CKT_OTHER_DC, SIM_OF_DC},
                 {CKT_OTHER_START, SIM_OF_START},
                 {CKT_OTHER_LINEAR, SIM_OF_LINEAR}};
    for (size_t i = 0; i < VS_COUNT(reach); i++)
        if (what->other & reach[i].bit)
            sim_number_changed(s, reach[i].number);
    if (what->other & CKT_OTHER_LINEAR)
        gen_rebuilt(&s->numbers, s->linear_node);
}

/* -- what operating points begin from -- */

/* A hash of all unknowns' names: a circuit with other unknowns takes over no start. */
static uint64_t names_of(sim *s)
{
    const ckt_unknown *u = ckt_unknowns(s->ckt);
    uint64_t h = 0;
    if (s->names_built == s->st.built)
        return s->names_now;
    for (int32_t i = 1; i <= ckt_n(s->ckt); i++)
        h = h * 0x100000001b3u ^ str_hash(u[i].name, strlen(u[i].name));
    s->names_built = s->st.built;
    return s->names_now = h;
}

const double *sim_begin(sim *s, bool tran)
{
    const ana_memo *k = &s->first[tran];
    return k->valid && k->n == ckt_n(s->ckt) && s->first_names == names_of(s) ? k->x : NULL;
}

void sim_find_first(sim *s, bool tran)
{
    ana_memo *k = &s->first[tran];
    k->valid = false;
    sim_fresh(s);
    if (sim_start(s))
        return;
    vs_free(k->x);
    k->n = ckt_n(s->ckt);
    k->x = vs_calloc((size_t)k->n + 1, sizeof *k->x);
    k->valid = k->x && ana_op(s->ana, k->x, false, tran) == VS_OK;
    s->first_names = names_of(s);
    sim_count(s);
    ana_free(&s->ana);
    sim_fresh(s);
    sim_number_changed(s, SIM_OF_OPTIONS);
}

vs_status sim_start_op(sim *s, bool tran)
{
    const vs_status st = sim_start(s);
    if (st)
        return st;
    (void)gen_current(&s->numbers, s->op_node[tran]);
    ana_begin_from(s->ana, sim_begin(s, false), sim_begin(s, true));
    ana_set_memo(s->ana, tran ? NULL : &s->memo[0], tran ? &s->memo[1] : NULL);
    return VS_OK;
}

vs_status sim_start_both(sim *s)
{
    const vs_status st = sim_start_op(s, false);
    if (!st)
        ana_set_memo(s->ana, &s->memo[0], &s->memo[1]);
    return st;
}

void sim_memo_count(sim *s, const ana_stat *a)
{
    gen_count *c = s->numbers.count;
    s->st.ops += a->n_op;
    s->st.ops_taken += a->n_op_taken;
    c[GEN_OP].rebuilt += a->n_op;
    for (int k = 0; k < 2; k++)
        if (s->memo[k].valid)
            s->numbers.node[s->op_node[k]].made = s->numbers.tick;
    c[GEN_FACTORS].lookups += a->n_factor + a->n_refactor + a->n_reuse;
    c[GEN_FACTORS].invalid += a->n_factor + a->n_refactor;
    c[GEN_FACTORS].rebuilt += a->n_factor + a->n_refactor;
}

gen_count sim_gen_count(const sim *s, gen_kind k)
{
    const gen_count a = s->gen.count[k], b = k == GEN_INPUT ? (gen_count){0} : s->numbers.count[k],
                    c = s->others[k];
    return (gen_count){a.lookups + b.lookups + c.lookups, a.invalid + b.invalid + c.invalid,
                       a.rebuilt + b.rebuilt + c.rebuilt};
}
