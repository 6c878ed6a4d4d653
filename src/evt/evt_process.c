/* evt_process.c - d_process: a clocked part whose outputs a program computes (evt_child.h).
 * Source: ngspice manual, section on this model. */
#include "evt_priv.h"

#include <math.h>

#include "evt_child.h"

#define ROUNDING 1e-13 /* of times */

enum { DATA, CLOCK, RESET, OUT };                        /* ports */
enum { DELAY };                                          /* numbers */
enum { OLD_CLOCK, COUNT, IS_PENDING, IS_RESET, VALUES }; /* words; inputs, then old outputs */
enum { EDGE };                                           /* reals */

static int32_t words_of_inputs(const part *p) { return (p->n[DATA] + 15) / 16; }

static void size(const part *p, int32_t *n_word, int32_t *n_real)
{
    *n_word = VALUES + words_of_inputs(p) + p->n[OUT];
    *n_real = 1;
}

static int32_t old_output(const part *p, int32_t k) { return VALUES + words_of_inputs(p) + k; }

static void call_first(evt *e, const part *p)
{
    evt_set_word(e, p, OLD_CLOCK, evt_in(e, p, CLOCK, 0));
    for (int32_t k = 0; k < p->n[OUT]; k++) {
        evt_set_word(e, p, old_output(p, k), EVT_U);
        evt_put(e, p, OUT, k, evt_of(EVT_U, EVT_HIZ), 0);
    }
}

/* What the program gets for an unknown input: either, but in each run the same. */
static int any_bit(uint32_t count, uint32_t input)
{
    uint32_t h = count * 0x9e3779b9u ^ input * 0x85ebca6bu;
    h = (h ^ h >> 15) * 0x2c1b3c6du;
    return (int)((h ^ h >> 13) >> 7 & 1);
}

/* What the program will be asked, once the delay is over. The digital part runs ahead and halts at
 * the edge. It goes on when the analog circuit has come there and the inputs change no more; asked
 * before, the program would often have to go back. */
static void take_edge(evt *e, const part *p)
{
    const int32_t count = evt_get_word(e, p, COUNT);
    for (int32_t w = 0; w < words_of_inputs(p); w++) {
        int32_t bits = 0;
        for (int32_t i = 16 * w; i < p->n[DATA] && i < 16 * (w + 1); i++) {
            const int v = evt_in(e, p, DATA, i);
            const int bit = v == EVT_U ? any_bit((uint32_t)count, (uint32_t)i) : v == EVT_1;
            bits |= bit << (i & 15);
        }
        evt_set_word(e, p, VALUES + w, bits);
    }
    evt_set_word(e, p, IS_RESET, p->n[RESET] > 0 && evt_in(e, p, RESET, 0) == EVT_1);
    evt_set_word(e, p, IS_PENDING, true);
    evt_set_real(e, p, EDGE, evt_time(e));
    evt_wake(e, p, evt_time(e) + p->par[DELAY]);
    e->halt = true;
}

static void ask(evt *e, const part *p)
{
    const int32_t count = evt_get_word(e, p, COUNT);
    const double edge = evt_get_real(e, p, EDGE);
    uint8_t in[32];
    for (int32_t i = 0; i < 2 * words_of_inputs(p); i++)
        in[i] = (uint8_t)(evt_get_word(e, p, VALUES + i / 2) >> (i & 1 ? 8 : 0) & 0xff);
    const uint8_t *out = evt_child_ask(p->child, (size_t)(count < 0 ? 0 : count),
                                       evt_get_word(e, p, IS_RESET) ? -edge : edge, in);
    if (!out) {
        evt_fail(e, p, evt_child_wrong(p->child));
        return;
    }
    evt_set_word(e, p, IS_PENDING, false);
    evt_set_word(e, p, COUNT, count + 1);
    for (int32_t k = 0; k < p->n[OUT]; k++) {
        const int v = out[k >> 3] >> (k & 7) & 1 ? EVT_1 : EVT_0;
        if (v == evt_get_word(e, p, old_output(p, k)))
            continue;
        evt_set_word(e, p, old_output(p, k), v);
        evt_put_at(e, p, OUT, k, evt_of(v, EVT_STRONG), fmax(edge + p->par[DELAY], evt_time(e)));
    }
}

static void call(evt *e, const part *p)
{
    if (e->is_static) {
        call_first(e, p);
        return;
    }
    const int clock = evt_in(e, p, CLOCK, 0);
    const bool edge = clock == EVT_1 && evt_get_word(e, p, OLD_CLOCK) != EVT_1;
    evt_set_word(e, p, OLD_CLOCK, clock);
    const double due = evt_get_real(e, p, EDGE) + p->par[DELAY];
    if (evt_get_word(e, p, IS_PENDING) && (edge || evt_time(e) * (1 + ROUNDING) >= due))
        ask(e, p);
    if (edge && !e->failed)
        take_edge(e, p);
}

static void start(evt *e, const part *p)
{
    evt_set_word(e, p, COUNT, 0);
    evt_set_word(e, p, IS_PENDING, false);
    evt_child_begin(p->child);
}

const evt_code evt_process_code[] = {
    {.type = "d_process", .size = size, .call = call, .start = start},
    {.type = NULL},
};
