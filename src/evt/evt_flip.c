/* evt_flip.c - flip-flops, latches, the frequency divider.
 * Ports: what is stored (one or two inputs), the clock or enable, set, reset, out, its complement.
 * At time 0 a flip-flop has the state `ic`, unless set or reset say otherwise.
 * Source: ngspice manual, sections on these models. */
#include "evt_priv.h"

#include <string.h>

enum { CLK_DELAY, SET_DELAY, RESET_DELAY, IC, RISE, FALL, DATA_DELAY }; /* numbers */
enum { OUT, CLK, SET, RESET, DATA, N_WORD = DATA + 2 };                 /* words */

typedef enum storage { D, JK, T, SR } storage;
typedef struct flip_kind {
    storage what;
    bool latch;
    int n_data;
} flip_kind;

static flip_kind kind_of(const part *p)
{
    const char *t = p->code->type;
    const bool latch = strstr(t, "latch") != NULL;
    if (!strcmp(t, "d_jkff"))
        return (flip_kind){JK, latch, 2};
    if (!strcmp(t, "d_tff"))
        return (flip_kind){T, latch, 1};
    return t[2] == 's' ? (flip_kind){SR, latch, 2} : (flip_kind){D, latch, 1};
}

static void size(const part *p, int32_t *n_word, int32_t *n_real)
{
    (void)p;
    *n_word = N_WORD;
    *n_real = 0;
}

/* What the inputs store where `old` is stored. */
static int stored(const evt *e, const part *p, storage what, int old)
{
    const int a = evt_in(e, p, 0, 0), b = evt_in(e, p, 1, 0);
    switch (what) {
    case D: return a;
    case T: return a == EVT_U ? EVT_U : a == EVT_1 ? evt_not(old) : old;
    case JK:
    case SR: break;
    }
    if (a == EVT_U || b == EVT_U)
        return EVT_U;
    if (a != b)
        return a;
    return a == EVT_0 ? old : what == JK ? evt_not(old) : EVT_U;
}

static void first_state(evt *e, const part *p, flip_kind k, int set, int reset)
{
    int state = (int)p->par[IC];
    if (k.latch && evt_in(e, p, k.n_data, 0) == EVT_1) {
        const int a = evt_in(e, p, 0, 0), b = evt_in(e, p, 1, 0);
        if (k.what == D)
            state = a;
        else if (a != b && a != EVT_U && b != EVT_U)
            state = a;
    }
    if (set != EVT_U && reset != EVT_U && (set || reset))
        state = set == reset ? EVT_U : set;
    evt_set_word(e, p, OUT, state);
    evt_put(e, p, k.n_data + 3, 0, evt_of(state, EVT_STRONG), 0);
    evt_put(e, p, k.n_data + 4, 0, evt_of(evt_not(state), EVT_STRONG), 0);
}

/* One of set and reset, `own`, has changed; `other` has not. `to`: what `own` sets. */
static int after_force(const evt *e, const part *p, flip_kind k, int own, int other, int to,
                       int old)
{
    if (own == EVT_1)
        return other == EVT_1 ? EVT_U : to;
    if (other == EVT_1)
        return evt_not(to);
    const bool open = k.latch && evt_in(e, p, k.n_data, 0) == EVT_1;
    return open ? stored(e, p, k.what, old) : old;
}

static bool data_changed(const evt *e, const part *p, flip_kind k)
{
    for (int i = 0; i < k.n_data; i++)
        if (evt_in(e, p, i, 0) != evt_get_word(e, p, DATA + i))
            return true;
    return false;
}

/* A change from `old` to `now`, caused by something of that delay. */
static void tell(evt *e, const part *p, flip_kind k, int old, int now, double delay)
{
    const bool rises = now == EVT_1 || (now == EVT_U && old == EVT_0);
    const double up = delay + p->par[RISE], down = delay + p->par[FALL];
    evt_put(e, p, k.n_data + 3, 0, evt_of(now, EVT_STRONG), rises ? up : down);
    evt_put(e, p, k.n_data + 4, 0, evt_of(evt_not(now), EVT_STRONG), rises ? down : up);
}

static void call(evt *e, const part *p)
{
    const flip_kind k = kind_of(p);
    const int clk = evt_in(e, p, k.n_data, 0), set = evt_in(e, p, k.n_data + 1, 0),
              reset = evt_in(e, p, k.n_data + 2, 0), old = evt_get_word(e, p, OUT);
    int now = old, cause = CLK_DELAY;
    if (e->is_static) {
        first_state(e, p, k, set, reset);
    } else if (set != evt_get_word(e, p, SET)) {
        cause = SET_DELAY;
        now = after_force(e, p, k, set, reset, EVT_1, old);
    } else if (reset != evt_get_word(e, p, RESET)) {
        cause = RESET_DELAY;
        now = after_force(e, p, k, reset, set, EVT_0, old);
    } else if (clk == EVT_1 && set != EVT_1 && reset != EVT_1) {
        const bool edge = clk != evt_get_word(e, p, CLK);
        cause = edge ? CLK_DELAY : DATA_DELAY;
        if (edge || (k.latch && data_changed(e, p, k)))
            now = stored(e, p, k.what, old);
    }
    evt_set_word(e, p, CLK, clk);
    evt_set_word(e, p, SET, set);
    evt_set_word(e, p, RESET, reset);
    for (int i = 0; i < k.n_data; i++)
        evt_set_word(e, p, DATA + i, evt_in(e, p, i, 0));
    if (now == old)
        return;
    evt_set_word(e, p, OUT, now);
    tell(e, p, k, old, now, p->par[cause]);
}

/* -- d_fdiv -- */

enum { FACTOR, HIGH, COUNT_0, FDIV_RISE, FDIV_FALL };
enum { COUNT, INPUT };

static void size_fdiv(const part *p, int32_t *n_word, int32_t *n_real)
{
    (void)p;
    *n_word = 2;
    *n_real = 0;
}

static void call_fdiv(evt *e, const part *p)
{
    const int32_t factor = (int32_t)p->par[FACTOR], high = (int32_t)p->par[HIGH];
    const int in = evt_in(e, p, 0, 0);
    if (e->is_static) {
        const int32_t count = p->par[COUNT_0] < factor ? (int32_t)p->par[COUNT_0] : 0;
        evt_set_word(e, p, COUNT, count);
        evt_put(e, p, 1, 0, evt_of(count > 0 && count <= high ? EVT_1 : EVT_0, EVT_STRONG), 0);
        return;
    }
    const bool edge = in == EVT_1 && evt_get_word(e, p, INPUT) != EVT_1;
    evt_set_word(e, p, INPUT, in);
    if (!edge)
        return;
    int32_t count = evt_get_word(e, p, COUNT);
    count = count < 0 || count >= factor ? 1 : count + 1;
    evt_set_word(e, p, COUNT, count);
    if (count == 1)
        evt_put(e, p, 1, 0, evt_of(EVT_1, EVT_STRONG), p->par[FDIV_RISE]);
    else if (count == high + 1)
        evt_put(e, p, 1, 0, evt_of(EVT_0, EVT_STRONG), p->par[FDIV_FALL]);
}

const evt_code evt_flip_code[] = {
    {.type = "d_dff", .size = size, .call = call},
    {.type = "d_jkff", .size = size, .call = call},
    {.type = "d_tff", .size = size, .call = call},
    {.type = "d_srff", .size = size, .call = call},
    {.type = "d_dlatch", .size = size, .call = call},
    {.type = "d_srlatch", .size = size, .call = call},
    {.type = "d_fdiv", .size = size_fdiv, .call = call_fdiv},
    {.type = NULL},
};
