/* evt_table.c - parts that follow a table or have one: stimulus, state machine, memory.
 * Words come back from images, which may be damaged: an index is checked where it is used.
 * Source: ngspice manual, sections on these models. */
#include "evt_priv.h"

#include <string.h>

/* -- d_source: row i of the table holds from its time on -- */

static void size_source(const part *p, int32_t *n_word, int32_t *n_real)
{
    (void)p;
    *n_word = 1; /* the row that is posted next */
    *n_real = 0;
}

static void put_row(evt *e, const part *p, int32_t row, double t)
{
    for (int32_t k = 0; k < p->n[0]; k++)
        evt_put_at(e, p, 0, k, p->table.value[(size_t)row * (size_t)p->n[0] + (size_t)k], t);
}

static void post_next(evt *e, const part *p)
{
    const int32_t row = evt_get_word(e, p, 0);
    if (row < 0 || row >= p->table.n_row)
        return;
    put_row(e, p, row, p->table.number[row]);
    evt_wake(e, p, p->table.number[row]);
    evt_set_word(e, p, 0, row + 1);
}

static bool begins_at_0(const part *p) { return p->table.n_row > 0 && p->table.number[0] == 0; }

static void start_source(evt *e, const part *p)
{
    evt_set_word(e, p, 0, begins_at_0(p));
    post_next(e, p);
}

static void call_source(evt *e, const part *p)
{
    if (!e->is_static)
        post_next(e, p);
    else if (begins_at_0(p))
        put_row(e, p, 0, 0);
    for (int32_t k = 0; k < p->n[0] && e->is_static && !begins_at_0(p); k++)
        evt_put(e, p, 0, k, evt_of(EVT_U, EVT_UNDETERMINED), 0);
}

/* -- d_state -- */

enum { IN, CLK, RESET, OUT };                     /* ports */
enum { CLK_DELAY, RESET_DELAY, RESET_STATE };     /* numbers */
enum { STATE, OLD_CLK, OLD_RESET, N_STATE_WORD }; /* words */

static void size_state(const part *p, int32_t *n_word, int32_t *n_real)
{
    (void)p;
    *n_word = N_STATE_WORD;
    *n_real = 0;
}

static const uint8_t *row_values(const part *p, int32_t row)
{
    return p->table.value + (size_t)row * (size_t)(p->n[OUT] + p->n[IN]);
}

static double row_state(const part *p, int32_t row) { return p->table.number[2 * row]; }

/* The first row of a state; the first of all if it has none. */
static int32_t first_row(const part *p, double state)
{
    for (int32_t i = 0; i < p->table.n_row; i++)
        if (row_state(p, i) == state)
            return i;
    return 0;
}

static void enter(evt *e, const part *p, double state, double delay)
{
    const int32_t row = first_row(p, state);
    evt_set_word(e, p, STATE, (int32_t)state);
    for (int32_t k = 0; k < p->n[OUT]; k++)
        evt_put(e, p, OUT, k, row_values(p, row)[k], delay);
}

static bool row_fits(const evt *e, const part *p, int32_t row)
{
    const uint8_t *want = row_values(p, row) + p->n[OUT];
    for (int32_t k = 0; k < p->n[IN]; k++)
        if (want[k] != EVT_U && want[k] != evt_in(e, p, IN, k))
            return false;
    return true;
}

static void clock_state(evt *e, const part *p)
{
    const double state = row_state(p, first_row(p, evt_get_word(e, p, STATE)));
    for (int32_t i = first_row(p, state); i < p->table.n_row && row_state(p, i) == state; i++)
        if (row_fits(e, p, i)) {
            enter(e, p, p->table.number[2 * i + 1], p->par[CLK_DELAY]);
            return;
        }
}

static void call_state(evt *e, const part *p)
{
    if (e->is_static) {
        enter(e, p, p->par[RESET_STATE], 0);
        return;
    }
    const int clk = evt_in(e, p, CLK, 0), reset = evt_in(e, p, RESET, 0);
    const bool edge = clk == EVT_1 && evt_get_word(e, p, OLD_CLK) != EVT_1,
               forced = reset != evt_get_word(e, p, OLD_RESET);
    evt_set_word(e, p, OLD_CLK, clk);
    evt_set_word(e, p, OLD_RESET, reset);
    if (forced && reset == EVT_1)
        enter(e, p, p->par[RESET_STATE], p->par[RESET_DELAY]);
    else if (!forced && reset != EVT_1 && edge)
        clock_state(e, p);
}

/* -- d_ram: a word of the part for each bit, behind those of the inputs -- */

enum { DATA_IN, DATA_OUT, ADDRESS, WRITE, SELECT }; /* ports */
enum { READ_DELAY, SELECT_VALUE, RAM_IC };          /* numbers */
enum { OLD_SELECT, MEMORY };                        /* words */

static size_t n_cell(const part *p) { return (size_t)p->n[DATA_IN] << p->n[ADDRESS]; }

static void size_ram(const part *p, int32_t *n_word, int32_t *n_real)
{
    *n_word = MEMORY + (int32_t)n_cell(p);
    *n_real = 0;
}

static int32_t ram_address(const evt *e, const part *p)
{
    int32_t at = 0;
    for (int32_t i = 0; i < p->n[ADDRESS]; i++) {
        const int in = evt_in(e, p, ADDRESS, i);
        if (in == EVT_U)
            return -1;
        at |= (int32_t)in << i;
    }
    return at;
}

static bool is_selected(const evt *e, const part *p)
{
    const int32_t want = (int32_t)p->par[SELECT_VALUE];
    for (int32_t i = 0; i < p->n[SELECT]; i++)
        if (evt_in(e, p, SELECT, i) != (want >> i & 1))
            return false;
    return true;
}

static void put_word(evt *e, const part *p, int32_t at, int strength)
{
    for (int32_t k = 0; k < p->n[DATA_OUT]; k++) {
        const int32_t bit = at < 0 ? EVT_U : evt_get_word(e, p, MEMORY + at * p->n[DATA_IN] + k);
        evt_put(e, p, DATA_OUT, k, evt_of(bit >= 0 && bit < EVT_U ? bit : EVT_U, strength),
                p->par[READ_DELAY]);
    }
}

static void fill(evt *e, const part *p, int state)
{
    for (int32_t i = 0; i < (int32_t)n_cell(p); i++)
        evt_set_word(e, p, MEMORY + i, state);
}

/* An unknown address writes anything anywhere. */
static void write_word(evt *e, const part *p, int32_t at)
{
    if (at < 0)
        fill(e, p, EVT_U);
    for (int32_t k = 0; k < p->n[DATA_IN] && at >= 0; k++)
        evt_set_word(e, p, MEMORY + at * p->n[DATA_IN] + k, evt_in(e, p, DATA_IN, k));
    put_word(e, p, at, EVT_HIZ);
}

static void begin_access(evt *e, const part *p, bool selected, int write)
{
    const int ic = (int)p->par[RAM_IC];
    const bool reads = selected && write == EVT_0;
    fill(e, p, ic);
    for (int32_t k = 0; k < p->n[DATA_OUT]; k++)
        evt_put(e, p, DATA_OUT, k, reads ? evt_of(ic, EVT_STRONG) : evt_of(EVT_U, EVT_HIZ), 0);
}

/* A select that changes while write_en is U writes; later that reads, as in XSPICE. */
static void call_ram(evt *e, const part *p)
{
    const bool selected = is_selected(e, p), was = evt_get_word(e, p, OLD_SELECT) != 0;
    const int write = evt_in(e, p, WRITE, 0);
    const int32_t at = ram_address(e, p);
    evt_set_word(e, p, OLD_SELECT, selected);
    if (e->is_static)
        begin_access(e, p, selected, write);
    else if (selected && (write == EVT_1 || (!was && write == EVT_U)))
        write_word(e, p, at);
    else if (selected)
        put_word(e, p, at, EVT_STRONG);
    else if (was && write == EVT_0)
        put_word(e, p, -1, EVT_HIZ);
}

const evt_code evt_table_code[] = {
    {.type = "d_source", .size = size_source, .call = call_source, .start = start_source},
    {.type = "d_state", .size = size_state, .call = call_state},
    {.type = "d_ram", .size = size_ram, .call = call_ram},
    {.type = NULL},
};
