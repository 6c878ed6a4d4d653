/* evt_gate.c - parts without memory: gates, drivers, look-up tables.
 * A gate remembers the state that it posted last (word 0; NONE before the first call) and, if its
 * delay is inertial, when the last change comes (real 0) and the state before it (word 1).
 * Source: ngspice manual, sections on these models; XSPICE's rule for pulses shorter than an
 *         inertial delay: both edges are replaced by one in the middle of what is left. */
#include "evt_priv.h"

#include <math.h>
#include <string.h>

enum { NONE = EVT_N_VALUE };
enum { LAST, BEFORE };         /* words */
enum { TO_1, TO_0, INERTIAL }; /* numbers */

static void begin(evt *e, const part *p)
{
    evt_set_word(e, p, LAST, NONE);
    evt_set_real(e, p, 0, -1);
}

/* -- gates -- */

/* The delay of a change to `to` from `from`. */
static double delay_of(const part *p, int from, int to)
{
    return p->par[to == EVT_1 || (to == EVT_U && from == EVT_0) ? TO_1 : TO_0];
}

typedef evt_value (*dress)(int state); /* a state as the gate drives it */

static evt_value strong(int state) { return evt_of(state, EVT_STRONG); }

static evt_value open_collector(int state)
{
    return evt_of(state, state == EVT_0 ? EVT_STRONG : state == EVT_1 ? EVT_HIZ : EVT_UNDETERMINED);
}

static evt_value open_emitter(int state)
{
    return evt_of(state, state == EVT_0 ? EVT_HIZ : state == EVT_1 ? EVT_STRONG : EVT_UNDETERMINED);
}

/* Posts `to` under an inertial delay: a change that has not come yet is replaced. */
static void post_inertial(evt *e, const part *p, int port, int from, int to, dress as)
{
    const double now = evt_time(e), due = evt_get_real(e, p, 0), rest = (due - now) / 2;
    double delay = delay_of(p, from, to);
    if (due <= now) {
        evt_set_word(e, p, BEFORE, from);
    } else if (to == evt_get_word(e, p, BEFORE)) {
        evt_put(e, p, port, 0, as(to), rest);
        evt_set_real(e, p, 0, -1);
        return;
    } else {
        const int before = evt_get_word(e, p, BEFORE);
        evt_put(e, p, port, 0, as(before), rest);
        delay = to == EVT_U ? delay_of(p, before, to) : delay;
    }
    evt_set_real(e, p, 0, now + delay);
    evt_put(e, p, port, 0, as(to), delay);
}

/* The gate wants its output to be `to`. */
static void want(evt *e, const part *p, int port, int to, dress as)
{
    const int from = evt_get_word(e, p, LAST);
    if (to == from)
        return;
    if (p->par[INERTIAL] != 0 && !e->is_static)
        post_inertial(e, p, port, from, to, as);
    else
        evt_put(e, p, port, 0, as(to), delay_of(p, from, to));
    evt_set_word(e, p, LAST, to);
}

static void call_buffer(evt *e, const part *p) { want(e, p, 1, evt_in(e, p, 0, 0), strong); }

static void call_inverter(evt *e, const part *p)
{
    want(e, p, 1, evt_not(evt_in(e, p, 0, 0)), strong);
}

static void call_open_c(evt *e, const part *p)
{
    want(e, p, 1, evt_in(e, p, 0, 0), open_collector);
}

static void call_open_e(evt *e, const part *p) { want(e, p, 1, evt_in(e, p, 0, 0), open_emitter); }

/* One input at `decides` decides; else one U makes U. */
static int decided(const evt *e, const part *p, int decides)
{
    int state = !decides;
    for (int32_t i = 0; i < p->n[0]; i++) {
        const int in = evt_in(e, p, 0, i);
        if (in == decides)
            return decides;
        state = in == EVT_U ? EVT_U : state;
    }
    return state;
}

static int parity(const evt *e, const part *p)
{
    int state = EVT_0;
    for (int32_t i = 0; i < p->n[0] && state != EVT_U; i++) {
        const int in = evt_in(e, p, 0, i);
        state = in == EVT_U ? EVT_U : state ^ in;
    }
    return state;
}

static void call_and(evt *e, const part *p) { want(e, p, 1, decided(e, p, EVT_0), strong); }
static void call_nand(evt *e, const part *p)
{
    want(e, p, 1, evt_not(decided(e, p, EVT_0)), strong);
}
static void call_or(evt *e, const part *p) { want(e, p, 1, decided(e, p, EVT_1), strong); }
static void call_nor(evt *e, const part *p)
{
    want(e, p, 1, evt_not(decided(e, p, EVT_1)), strong);
}
static void call_xor(evt *e, const part *p) { want(e, p, 1, parity(e, p), strong); }
static void call_xnor(evt *e, const part *p) { want(e, p, 1, evt_not(parity(e, p)), strong); }

/* -- drivers -- */

/* Bridges between levels: by the direction it drives, or lets go. */
static void call_bidi(evt *e, const part *p)
{
    const bool off = p->n[1] && evt_in(e, p, 1, 0) == EVT_0;
    const int state = off ? EVT_U : evt_in(e, p, 0, 0);
    const evt_value to = evt_of(state, off ? EVT_HIZ : (int)p->par[EVT_BIDI_STRENGTH]);
    const double rise = p->par[EVT_BIDI_RISE], fall = p->par[EVT_BIDI_FALL];
    if (to == evt_get_word(e, p, LAST))
        return;
    evt_set_word(e, p, LAST, to);
    evt_put(e, p, 2, 0, to,
            off              ? fmax(rise, fall)
            : state == EVT_1 ? rise
            : state == EVT_0 ? fall
                             : fmin(rise, fall));
}

/* A pulse of value and strength together that is shorter than an inertial delay. */
static void call_tristate(evt *e, const part *p)
{
    static const uint8_t strength[EVT_N_STATE] = {EVT_HIZ, EVT_STRONG, EVT_UNDETERMINED};
    const evt_value to = evt_of(evt_in(e, p, 0, 0), strength[evt_in(e, p, 1, 0)]);
    const int from = evt_get_word(e, p, LAST);
    const double now = evt_time(e), due = evt_get_real(e, p, 0), delay = p->par[0];
    if (to == from)
        return;
    evt_set_word(e, p, LAST, to);
    const bool inertial = p->par[INERTIAL] != 0 && !e->is_static;
    if (inertial && due > now && to == evt_get_word(e, p, BEFORE)) {
        evt_put(e, p, 2, 0, to, (due - now) / 2);
        evt_set_real(e, p, 0, -1);
        return;
    }
    if (inertial && due > now)
        evt_put(e, p, 2, 0, (evt_value)evt_get_word(e, p, BEFORE), (due - now) / 2);
    else
        evt_set_word(e, p, BEFORE, from);
    evt_set_real(e, p, 0, now + delay);
    evt_put(e, p, 2, 0, to, delay);
}

static void call_pullup(evt *e, const part *p)
{
    evt_put(e, p, 0, 0, evt_of(EVT_1, EVT_RESISTIVE), 0);
}

static void call_pulldown(evt *e, const part *p)
{
    evt_put(e, p, 0, 0, evt_of(EVT_0, EVT_RESISTIVE), 0);
}

/* -- look-up tables -- */

/* The row that the inputs choose, the first one being the lowest digit; -1: one of them is U. */
static int32_t address(const evt *e, const part *p, int port)
{
    int32_t row = 0;
    for (int32_t i = 0; i < p->n[port]; i++) {
        const int in = evt_in(e, p, port, i);
        if (in == EVT_U)
            return -1;
        row |= (int32_t)in << i;
    }
    return row;
}

static void call_lut(evt *e, const part *p)
{
    const int32_t row = address(e, p, 0);
    want(e, p, 1, row < 0 ? EVT_U : evt_state(p->table.value[row]), strong);
}

enum { RISE_LIST, FALL_LIST, INPUT_LIST };

/* Entry i of a list of delays, whose last one serves all that follow. */
static double of_list(const part *p, int list, int32_t i, double absent)
{
    const int32_t n = p->n_list[list];
    return n ? p->list[list][i < n ? i : n - 1] : absent;
}

/* Words of d_genlut: the values that were posted last, then the inputs. */
static void size_genlut(const part *p, int32_t *n_word, int32_t *n_real)
{
    *n_word = p->n[1] + p->n[0];
    *n_real = 0;
}

static void begin_genlut(evt *e, const part *p)
{
    for (int32_t k = 0; k < p->n[1]; k++)
        evt_set_word(e, p, k, NONE);
}

/* The longest delay of the inputs that changed. */
static double input_delay(evt *e, const part *p)
{
    double most = 0;
    for (int32_t i = 0; i < p->n[0]; i++) {
        const int in = evt_in(e, p, 0, i);
        if (in != evt_get_word(e, p, p->n[1] + i))
            most = fmax(most, of_list(p, INPUT_LIST, i, 0));
        evt_set_word(e, p, p->n[1] + i, in);
    }
    return most;
}

static void call_genlut(evt *e, const part *p)
{
    const int32_t row = address(e, p, 0), n_row = 1 << p->n[0];
    const double before = input_delay(e, p);
    for (int32_t k = 0; k < p->n[1]; k++) {
        const evt_value to = row < 0 ? evt_of(EVT_U, EVT_UNDETERMINED)
                                     : p->table.value[(size_t)k * (size_t)n_row + (size_t)row];
        const int from = evt_get_word(e, p, k),
                  old = from == NONE ? EVT_0 : evt_state((evt_value)from);
        if (to == from)
            continue;
        bool rises = evt_state(to) == EVT_1 || (evt_state(to) == EVT_U && old == EVT_0);
        if (evt_state(to) == old) /* the strength alone changes */
            rises = (old == EVT_0) != (evt_strength(to) == EVT_STRONG);
        evt_put(e, p, 1, k, to, before + of_list(p, rises ? RISE_LIST : FALL_LIST, k, 1e-9));
        evt_set_word(e, p, k, to);
    }
}

const evt_code evt_gate_code[] = {
    {.type = "d_buffer", .begin = begin, .call = call_buffer},
    {.type = "d_inverter", .begin = begin, .call = call_inverter},
    {.type = "d_and", .begin = begin, .call = call_and},
    {.type = "d_nand", .begin = begin, .call = call_nand},
    {.type = "d_or", .begin = begin, .call = call_or},
    {.type = "d_nor", .begin = begin, .call = call_nor},
    {.type = "d_xor", .begin = begin, .call = call_xor},
    {.type = "d_xnor", .begin = begin, .call = call_xnor},
    {.type = "d_tristate", .begin = begin, .call = call_tristate},
    {.type = "d_open_c", .begin = begin, .call = call_open_c},
    {.type = "d_open_e", .begin = begin, .call = call_open_e},
    {.type = "d_pullup", .begin = begin, .call = call_pullup},
    {.type = "d_pulldown", .begin = begin, .call = call_pulldown},
    {.type = "bidi_bridge", .begin = begin, .call = call_bidi},
    {.type = "d_lut", .begin = begin, .call = call_lut},
    {.type = "d_genlut", .size = size_genlut, .begin = begin_genlut, .call = call_genlut},
    {.type = NULL},
};
