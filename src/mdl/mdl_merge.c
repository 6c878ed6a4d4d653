/* mdl_merge.c - one output a place of the matrix.
 * Requires: G, C, J, gains.  Keeps: what else there is, in order.  Breaks: small.
 * Rows and columns of nodes that are one are added up; those of unknowns not in use, and certain
 * zeros, are left out, and so is the noise power of a source that reaches no row. */
#include "mdl_pass.h"

static bool has_row(int kind)
{
    return kind == IR_OUT_RES || kind == IR_OUT_REACT || kind == IR_OUT_G || kind == IR_OUT_C ||
           kind == IR_OUT_J;
}

static bool has_column(int kind)
{
    return kind == IR_OUT_G || kind == IR_OUT_C || kind == IR_OUT_J;
}

static bool is_gain(int kind) { return kind == IR_OUT_NOISE_GAIN || kind == IR_OUT_NOISE_GAINC; }

static bool is_zero(const ir_fn *fn, ir_val v)
{
    return fn->inst[v].op == IR_CONST && fn->con[fn->inst[v].a] == 0;
}

/* Moves an output to the rows and columns that its unknowns are one with; false: it has none. */
static bool move_output(const int32_t *topology, ir_out *w)
{
    if (has_column(w->kind) && w->a == w->b && topology[w->a] == MDL_HELD)
        return true; /* what holds it */
    if (has_row(w->kind))
        w->a = topology[w->a];
    if (has_column(w->kind) || is_gain(w->kind))
        w->b = topology[w->b];
    return !(has_row(w->kind) && w->a < 0) &&
           !((has_column(w->kind) || is_gain(w->kind)) && w->b < 0);
}

static int64_t place_key(const ir_out *w)
{
    return (int64_t)w->kind << 56 | (int64_t)w->a << 28 | w->b;
}

void mdl_merge(ir_fn *fn, const int32_t *topology, size_t n_noise)
{
    ir_out *out = NULL;
    map at = {0};
    uint8_t *heard = vs_calloc(n_noise + 1, 1);
    for (size_t o = 0; o < vec_len(fn->out); o++) {
        ir_out w = fn->out[o];
        bool placed = has_row(w.kind) || is_gain(w.kind);
        if (placed && (is_zero(fn, w.v) || (topology && !move_output(topology, &w))))
            continue;
        int32_t k = placed ? map_get(&at, (uint64_t)place_key(&w), -1) : -1;
        if (is_gain(w.kind))
            heard[w.a] = 1;
        if (k >= 0) {
            out[k].v = ir_bin(fn, IR_ADD, out[k].v, w.v);
            continue;
        }
        if (placed)
            map_set(&at, (uint64_t)place_key(&w), (int32_t)vec_len(out));
        vec_push(out, w);
    }
    vec_free(fn->out);
    for (size_t o = 0; o < vec_len(out); o++)
        if ((out[o].kind != IR_OUT_NOISE_PSD && out[o].kind != IR_OUT_NOISE_EXP) || heard[out[o].a])
            vec_push(fn->out, out[o]);
    vec_free(out);
    vs_free(heard);
    map_free(&at);
}
