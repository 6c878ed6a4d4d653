/* op_levels.c - a start for Newton that follows the signals from the sources to the last gate.
 *
 * Unknowns that act on each other through a conductance make a block: the output of a gate with the
 * nodes inside it, since a gate's input draws (nearly) no current. Blocks are solved one after the
 * other, each with Newton on its own few equations, in an order in which a block comes after those
 * whose voltages it sees; where blocks form a loop (latches), this is repeated until nothing moves.
 * Equal gates at equal inputs are solved once.
 *
 * Plain Newton corrects one gate of a chain in each iteration, and a gate at its threshold throws
 * everything behind it far away: a chain of n inverters takes some n iterations, or gmin stepping
 * through a bifurcation. At the levels found here all gates have gain 0, and Newton needs a few
 * iterations.
 *
 * Source: nonlinear block Gauss-Seidel: Newton & Sangiovanni-Vincentelli, Relaxation-Based
 *         Electrical Simulation, IEEE Trans. CAD 3(4), 1984; channel-connected parts: Bryant, IEEE
 *         Trans. Computers 33(2), 1984. Order: depth first search, Tarjan 1972. */
#include <math.h>
#include <string.h>

#include "ana_priv.h"
#include "ckt_block.h"
#include "full.h"
#include "map.h"
#include "pool.h"

/* A row depends on an unknown whose entry is at least this part of its largest. Gate currents of
 * models are below, what a gate's output conducts and its transconductance above. */
#define DEPENDS 1e-3
#define HIDES 0.03 /* part of a row's largest entry, below which all that leave a wire are hidden */
#define GRID 1e-4  /* of the supply range: voltages around equal gates that count as equal */
#define MOVES 1e-3 /* of the supply range: a block that sees such a change is solved again */
#define SOLVED 1e-7 /* of the supply range: the last update of a block */
#define NEARLY \
    1e-3 /* residual as residual_of has it, in volt, from which on the pull falls anyhow */
#define PULL_ENDS 1e-12 /* part of a row's strength that the end of a pseudo-transient may keep */
enum {
    SWEEPS = 8,
    STRIDES = 4,     /* of Newton, at least, from one supply to the other */
    ITERATIONS = 80, /* of Newton in a block */
    DENSE = 48,      /* unknowns up to which a block's matrix is full */
    MESH = 16,       /* nodes from which on resistors at a supply are a mesh, not a gate's load */
    LARGEST = 2      /* a block with more than 1 / this of all unknowns: the rest is no help */
};

typedef struct graph { /* edges of node i: to[begin[i] .. begin[i + 1]) */
    int32_t *begin, *to;
} graph;

/* What a thread solves blocks with. */
typedef struct solver {
    ckt_blocks *blocks;
    double *x;        /* [n+1] as they were before the present row, but for the block in hand */
    double *now, *dx; /* vecs, of a block */
    double *full;     /* vec, its matrix */
} solver;

/* A block of a row that is to be solved. */
typedef struct visit {
    int32_t block;
    bool alike; /* of the blocks with this key, in order, the first is solved, and others take */
    uint64_t key;
    int32_t at; /* in `solved`: where that solution is, or is to be; -1: none is */
    bool open;  /* it was not solved before */
    bool first, found;
    double moved; /* V or A */
} visit;

struct op_levels {
    ana *a;
    double *x;                   /* [n+1] */
    bool *known;                 /* [n+1] */
    double lo, hi;               /* V, of the nodes that sources tie to ground */
    double *strength, *conducts; /* [nnz+1] see ckt_block.h */
    double *row_max;             /* [n+1] */
    int32_t *back;               /* [nnz] of each entry (i, j) the place of (j, i), -1: none */
    double *judge;               /* [n+1] what entries of a row are compared with: row_max, or what
                                    the wire at a gate's output does not hide */
    int32_t *block_of;           /* [n+1] -1: known */
    int32_t n_block;
    graph member;     /* unknowns of blocks */
    graph sees, seen; /* blocks whose voltages a block sees; that see its own */
    int32_t *order;   /* [n_block] */
    graph row;        /* blocks that do not see each other: rows behind those that they see, each in
                         `order`; n_row of them */
    int32_t n_row;
    bool loops;  /* blocks see each other in a circle */
    bool *dirty; /* [n_block] */
    ckt_blocks *blocks;
    int n_by;
    solver *by;     /* [n_by] of threads */
    map memo;       /* key of a block -> where `solved` has its solution, -1: there is none */
    double *solved; /* vec */
    visit *visit;   /* vec, of a row */
    int32_t *which; /* vec: visits that are looked for */
};

/* -- blocks -- */

static bool depends(const op_levels *l, int32_t k)
{
    const int32_t row = l->a->jac->row[k] + 1;
    return l->strength[k] > DEPENDS * l->judge[row];
}

/* Does current flow between the row's node and the column's? A transistor's gate moves the current
 * of its drain, but none flows between them. Equations that are not nodes' have entries of any
 * sign. */
static bool exchanges(const op_levels *l, int32_t k, int32_t col)
{
    const ckt_unknown *u = l->a->u;
    const int32_t row = l->a->jac->row[k] + 1;
    const double *size = u[row].node && u[col].node ? l->conducts : l->strength;
    return size[k] > DEPENDS * l->judge[row];
}

/* back: of each entry (i, j) the place of (j, i), -1: there is none. Of a column's entries in the
 * order of their columns' numbers the next is never before the last. */
static int32_t *find_back(const csc *m)
{
    int32_t *back = vs_malloc(((size_t)csc_nnz(m) + 1) * sizeof *back);
    int32_t *at = vs_malloc(((size_t)m->n + 1) * sizeof *at); /* in each column */
    memcpy(at, m->colptr, (size_t)m->n * sizeof *at);
    for (int32_t j = 0; j < m->n; j++)
        for (int32_t k = m->colptr[j]; k < m->colptr[j + 1]; k++) {
            const int32_t r = m->row[k];
            while (at[r] < m->colptr[r + 1] && m->row[at[r]] < j)
                at[r]++;
            back[k] = at[r] < m->colptr[r + 1] && m->row[at[r]] == j ? at[r] : -1;
        }
    vs_free(at);
    return back;
}

static int32_t root(int32_t *up, int32_t i)
{
    while (up[i] != i)
        i = up[i] = up[up[i]];
    return i;
}

/* Joins unknowns that depend on each other; the smallest number stands for all. */
static void join(const op_levels *l, int32_t *up)
{
    const csc *m = l->a->jac;
    for (int32_t j = 0; j < m->n; j++)
        for (int32_t k = m->colptr[j]; k < m->colptr[j + 1] && m->row[k] < j; k++) {
            const int32_t r = m->row[k];
            if (l->known[r + 1] || l->known[j + 1] || !exchanges(l, k, j + 1))
                continue;
            const int32_t back = l->back[k];
            if (back < 0 || !exchanges(l, back, r + 1))
                continue;
            const int32_t u = root(up, r + 1), v = root(up, j + 1);
            up[u > v ? u : v] = u > v ? v : u;
        }
}

/* Is there nothing but resistors, or diodes, between row and column? They act on both ends alike,
 * to the last bit; no transistor does. */
static bool is_wire(const op_levels *l, int32_t k)
{
    const int32_t back = l->back[k];
    return back >= 0 && l->strength[k] > 0 && l->strength[k] == l->conducts[k] &&
           l->strength[back] == l->strength[k] && l->conducts[back] == l->strength[k];
}

/* Joins what resistors join, up [n+1]; tied [n+1] of a part's first unknown: resistors lead to a
 * known voltage. */
static void join_wires(const op_levels *l, int32_t *up, bool *tied)
{
    const csc *m = l->a->jac;
    for (int pass = 0; pass < 2; pass++) /* between unknowns; then to known voltages */
        for (int32_t j = 1; j <= m->n; j++)
            for (int32_t k = m->colptr[j - 1]; k < m->colptr[j]; k++) {
                const int32_t r = m->row[k] + 1;
                if (r == j || l->known[r] || l->known[j] != (pass == 1) || !is_wire(l, k))
                    continue;
                const int32_t u = root(up, r), v = root(up, j);
                if (pass)
                    tied[u] = true;
                else
                    up[u > v ? u : v] = u > v ? v : u;
            }
}

/* A mesh of supplies, of resistors that hang on a known voltage, is a block of its own, without the
 * gates that it feeds: its rows are judged more strictly. */
static void join_supplies(op_levels *l, int32_t *up)
{
    const int32_t n = l->a->n;
    int32_t *wire = vs_malloc(((size_t)n + 1) * sizeof *wire);
    int32_t *size = vs_calloc((size_t)n + 1, sizeof *size);
    bool *tied = vs_calloc((size_t)n + 1, sizeof *tied);
    for (int32_t i = 0; i <= n; i++)
        wire[i] = i;
    join_wires(l, wire, tied);
    for (int32_t r = 1; r <= n; r++)
        size[root(wire, r)]++;
    for (int32_t r = 1; r <= n; r++) {
        const int32_t of = root(wire, r);
        if (!tied[of] || size[of] < MESH)
            continue;
        up[r] = of;
        l->judge[r] *= HIDES / DEPENDS;
    }
    vs_free(wire);
    vs_free(size);
    vs_free(tied);
}

/* An extracted wire conducts a thousand times better than the gate that drives it. Where nodes are
 * joined already, rows are judged by their entries that lead elsewhere. Not so in a part that hangs
 * on a known voltage, as meshes of supplies do: all gates would be one with it. */
static void judge_wires(op_levels *l, int32_t *up)
{
    const csc *m = l->a->jac;
    const int32_t n = l->a->n;
    double *off = vs_calloc((size_t)n + 1, sizeof *off);
    bool *tied = vs_calloc((size_t)n + 1, sizeof *tied);
    for (int32_t j = 1; j <= n; j++)
        for (int32_t k = m->colptr[j - 1]; k < m->colptr[j]; k++) {
            const int32_t r = m->row[k] + 1, of = root(up, r);
            if (of == root(up, j))
                continue;
            off[r] = norm_max(off[r], l->strength[k]);
            tied[of] |= l->known[j] && depends(l, k);
        }
    for (int32_t r = 1; r <= n; r++)
        if (!tied[root(up, r)] && off[r] > 0 && off[r] < HIDES * l->row_max[r])
            l->judge[r] = off[r];
    vs_free(off);
    vs_free(tied);
}

/* pairs [n][2] as a graph of `nodes`: from the first to the second. */
static graph graph_of(const int32_t *pair, size_t n, int32_t nodes, bool reversed)
{
    graph g = {.begin = vs_calloc((size_t)nodes + 2, sizeof *g.begin),
               .to = vs_malloc((n + 1) * sizeof *g.to)};
    for (size_t i = 0; i < n; i++)
        g.begin[pair[2 * i + reversed] + 2]++;
    for (int32_t k = 2; k <= nodes + 1; k++)
        g.begin[k] += g.begin[k - 1];
    for (size_t i = 0; i < n; i++)
        g.to[g.begin[pair[2 * i + reversed] + 1]++] = pair[2 * i + !reversed];
    return g;
}

static void graph_free(graph *g)
{
    vs_free(g->begin);
    vs_free(g->to);
}

/* false: one block has most of the circuit. */
static bool make_blocks(op_levels *l)
{
    const int32_t n = l->a->n;
    int32_t *up = vs_malloc(((size_t)n + 1) * sizeof *up), *pair = NULL, most = 0;
    for (int32_t i = 0; i <= n; i++)
        up[i] = i;
    join_supplies(l, up);
    join(l, up);
    judge_wires(l, up);
    join(l, up);
    for (int32_t i = 1; i <= n; i++) {
        const int32_t r = root(up, i);
        l->block_of[i] = l->known[i] ? -1 : r == i ? l->n_block++ : l->block_of[r];
        if (l->known[i])
            continue;
        vec_push(pair, l->block_of[i]);
        vec_push(pair, i);
    }
    l->block_of[0] = -1;
    l->member = graph_of(pair, vec_len(pair) / 2, l->n_block, false);
    for (int32_t b = 0; b < l->n_block; b++) {
        const int32_t size = l->member.begin[b + 1] - l->member.begin[b];
        most = size > most ? size : most;
    }
    vs_free(up);
    vec_free(pair);
    return most <= n / LARGEST;
}

static void make_edges(op_levels *l)
{
    const csc *m = l->a->jac;
    int32_t *pair = NULL;
    for (int32_t j = 0; j < m->n; j++) {
        const int32_t from = l->block_of[j + 1];
        for (int32_t k = m->colptr[j]; k < m->colptr[j + 1] && from >= 0; k++) {
            const int32_t to = l->block_of[m->row[k] + 1];
            if (to < 0 || to == from || !depends(l, k))
                continue;
            vec_push(pair, to);
            vec_push(pair, from);
        }
    }
    l->sees = graph_of(pair, vec_len(pair) / 2, l->n_block, false);
    l->seen = graph_of(pair, vec_len(pair) / 2, l->n_block, true);
    vec_free(pair);
}

/* Each block behind those that it sees, as far as there are no loops. */
static void make_order(op_levels *l)
{
    enum { DONE = INT32_MAX };
    const size_t n = (size_t)l->n_block;
    int32_t *stack = vs_malloc((n + 1) * sizeof *stack), count = 0;
    int32_t *next = vs_malloc((n + 1) * sizeof *next); /* edge to follow, -1: not yet visited */
    memset(next, 0xff, (n + 1) * sizeof *next);
    for (int32_t b = 0; b < l->n_block; b++) {
        int32_t depth = 0;
        if (next[b] < 0) {
            next[b] = l->sees.begin[b];
            stack[depth++] = b;
        }
        while (depth > 0) {
            const int32_t at = stack[depth - 1];
            if (next[at] == l->sees.begin[at + 1]) {
                next[at] = DONE;
                l->order[count++] = at;
                depth--;
                continue;
            }
            const int32_t to = l->sees.to[next[at]++];
            l->loops |= next[to] >= 0 && next[to] != DONE;
            if (next[to] < 0) {
                next[to] = l->sees.begin[to];
                stack[depth++] = to;
            }
        }
    }
    vs_free(stack);
    vs_free(next);
}

/* Rows of blocks: a block is in the first one behind those of all that it sees and that stand
 * before it in `order`. What it sees behind it there, in loops, has a later row. */
static void make_rows(op_levels *l)
{
    const size_t n = (size_t)l->n_block;
    int32_t *row = vs_malloc((n + 1) * sizeof *row), *pair = vs_malloc((2 * n + 1) * sizeof *pair);
    memset(row, 0xff, (n + 1) * sizeof *row); /* -1: not yet reached */
    for (int32_t i = 0; i < l->n_block; i++) {
        const int32_t b = l->order[i];
        int32_t most = -1;
        for (int32_t e = l->sees.begin[b]; e < l->sees.begin[b + 1]; e++) {
            const int32_t of = row[l->sees.to[e]];
            most = of > most ? of : most;
        }
        row[b] = most + 1;
        l->n_row = row[b] + 1 > l->n_row ? row[b] + 1 : l->n_row;
        pair[2 * i] = row[b];
        pair[2 * i + 1] = b;
    }
    l->row = graph_of(pair, n, l->n_row, false);
    vs_free(row);
    vs_free(pair);
}

/* Does an entry within a block act in one direction, or otherwise than a conductance does? A gate's
 * output may come back to its input through pass transistors. */
static bool acts_back(const op_levels *l, int32_t k, int32_t col)
{
    const int32_t r = l->a->jac->row[k] + 1, b = l->block_of[r];
    if (r == col || b < 0 || b != l->block_of[col] || !depends(l, k))
        return false;
    const int32_t back = l->back[k];
    const bool both = exchanges(l, k, col) && back >= 0 && exchanges(l, back, r);
    const bool nodes = l->a->u[r].node && l->a->u[col].node;
    return !both || (nodes && l->strength[k] > l->conducts[k]);
}

bool op_levels_have_loops(const op_levels *l)
{
    const csc *m = l->a->jac;
    bool loops = l->loops || !ckt_blocks_see_all(l->blocks);
    for (int32_t j = 1; j <= m->n && !loops; j++)
        for (int32_t k = m->colptr[j - 1]; k < m->colptr[j] && !loops; k++)
            loops = acts_back(l, k, j);
    return loops;
}

/* -- Newton in a block -- */

static bool solve_full(solver *s, const ckt_block *p)
{
    const size_t n = (size_t)p->n;
    vec_clear(s->full);
    vec_extend(s->full, n * n);
    memset(s->full, 0, n * n * sizeof *s->full);
    for (int32_t j = 0; j < p->n; j++)
        for (int32_t k = p->a->colptr[j]; k < p->a->colptr[j + 1]; k++)
            s->full[(size_t)p->a->row[k] * n + (size_t)j] = p->a->val[k];
    memcpy(s->dx, p->f, n * sizeof *s->dx);
    return full_solve(s->full, s->dx, p->n);
}

static bool solve_sparse(solver *s, const ckt_block *p, lu_solver *lu)
{
    if (!lu->fac && lu_analyze(lu, p->a) != VS_OK)
        return false;
    if (lu_refactor(lu, p->a) != VS_OK && lu_factor(lu, p->a) != VS_OK)
        return false;
    lu_solve(lu, p->f, s->dx);
    return true;
}

/* x -= dx; nodes move by `most` at a time and stay near the supplies. The longest move, in volt or
 * ampere. */
static double move_block(const op_levels *l, solver *s, const ckt_block *p, double most)
{
    const double span = l->hi - l->lo, least = l->lo - span / 2, greatest = l->hi + span / 2;
    double moved = 0;
    for (int32_t i = 0; i < p->n; i++) {
        const int32_t u = p->unknown[i];
        double to = s->x[u] - s->dx[i];
        if (l->a->u[u].node) {
            to = fmin(fmax(to, s->x[u] - most), s->x[u] + most);
            to = fmin(fmax(to, least), greatest);
        }
        moved = norm_max(moved, fabs(to - s->x[u]));
        s->x[u] = to;
    }
    return moved;
}

/* Adds `pull` times what a row's largest entry can be to the diagonals of nodes: a capacitor at
 * each of them under backward Euler. */
static void pull_back(const op_levels *l, const ckt_block *p, double pull)
{
    for (int32_t j = 0; j < p->n; j++)
        for (int32_t k = p->a->colptr[j]; k < p->a->colptr[j + 1]; k++)
            if (p->a->row[k] == j && l->a->u[p->unknown[j]].node)
                p->a->val[k] += pull * l->row_max[p->unknown[j]];
}

/* Largest |f| of the last load, in parts of what 1 V more at its strongest entry gives. */
static double residual_of(const op_levels *l, const ckt_block *p)
{
    double most = 0;
    for (int32_t j = 0; j < p->n; j++)
        if (l->row_max[p->unknown[j]] > 0)
            most = norm_max(most, fabs(p->f[j]) / l->row_max[p->unknown[j]]);
    return most;
}

/* From where x stands. pull > 0: pseudo-transient, the pull falls with the residual (switched
 * evolution relaxation: Mulder & van Leer, J. Comput. Phys. 59, 1985). Nodes that hang on leakage
 * alone, whose residual tells nothing, settle at the end. */
static bool newton_in(const op_levels *l, solver *s, const ckt_block *p, double pull)
{
    const double span = l->hi - l->lo;
    lu_solver lu;
    double before = 0;
    bool found = false;
    lu_init(&lu, NULL);
    lu.opt.at_rest = true;
    lu.opt.lopsided = true; /* transistors: Cholesky would only be loaded */
    for (int i = 0; i < ITERATIONS && !found; i++) {
        if (ckt_block_load(s->blocks, s->x) != VS_OK)
            break;
        const double now = residual_of(l, p);
        if (pull > 0 && i > 0)
            pull *= now < NEARLY ? 0.1 : fmin(fmax(now / before, 0.1), 2);
        before = now;
        if (pull > 0)
            pull_back(l, p, pull);
        if (!(p->n <= DENSE ? solve_full(s, p) : solve_sparse(s, p, &lu)))
            break;
        if (!norm_finite(s->dx, p->n))
            break;
        found = move_block(l, s, p, span / STRIDES) <= SOLVED * span && pull < PULL_ENDS;
    }
    lu_fini(&lu);
    return found;
}

/* Newton from the block's present values, then, damped, from the middle of the supplies. */
static bool solve_block(const op_levels *l, solver *s, const ckt_block *p)
{
    if (newton_in(l, s, p, 0))
        return true;
    for (int32_t i = 0; i < p->n; i++) {
        const int32_t u = p->unknown[i];
        s->x[u] = l->a->u[u].node ? (l->lo + l->hi) / 2 : 0;
    }
    return newton_in(l, s, p, 1);
}

/* -- blocks of a row -- */

static const ckt_block *begin_block(const op_levels *l, solver *s, int32_t b)
{
    return ckt_block_begin(s->blocks, l->member.to + l->member.begin[b],
                           l->member.begin[b + 1] - l->member.begin[b], s->x,
                           GRID * (l->hi - l->lo));
}

/* The block gets these values, in the order of p. */
static void put_values(op_levels *l, const solver *s, const ckt_block *p, const double *value,
                       visit *v)
{
    for (int32_t i = 0; i < p->n; i++) {
        v->moved = norm_max(v->moved, fabs(value[i] - s->x[p->unknown[i]]));
        l->x[p->unknown[i]] = value[i];
    }
}

/* Takes what was solved before, if anything was. Returns the block. */
static const ckt_block *look_up(op_levels *l, solver *s, visit *v)
{
    const ckt_block *p = begin_block(l, s, v->block);
    v->alike = p->alike;
    v->key = p->key;
    v->at = p->alike ? map_get(&l->memo, p->key, -2) : -2;
    v->open = v->at == -2;
    if (v->at >= 0)
        put_values(l, s, p, l->solved + v->at, v);
    return p;
}

/* The first with its key. */
static void claim(op_levels *l, visit *v)
{
    if (!v->alike)
        return;
    v->at = (int32_t)vec_len(l->solved);
    map_set(&l->memo, v->key, v->at);
    vec_extend(l->solved, l->member.begin[v->block + 1] - l->member.begin[v->block]);
}

static void exchange(solver *s, const ckt_block *p)
{
    for (int32_t i = 0; i < p->n; i++) {
        const double to = s->x[p->unknown[i]];
        s->x[p->unknown[i]] = s->now[i];
        s->now[i] = to;
    }
}

/* If it fails the values stay. */
static void solve(op_levels *l, solver *s, const ckt_block *p, visit *v)
{
    vec_clear(s->now);
    vec_clear(s->dx);
    vec_extend(s->dx, p->n);
    for (int32_t i = 0; i < p->n; i++)
        vec_push(s->now, s->x[p->unknown[i]]);
    v->found = solve_block(l, s, p);
    exchange(s, p);
    if (!v->found)
        return;
    put_values(l, s, p, s->now, v);
    if (v->alike)
        memcpy(l->solved + v->at, s->now, (size_t)p->n * sizeof *s->now);
}

static void forget_failed(op_levels *l, const visit *v)
{
    if (v->alike && !v->found)
        map_set(&l->memo, v->key, -1);
}

/* -- by one thread, by several -- */

static void visit_alone(op_levels *l)
{
    for (size_t i = 0; i < vec_len(l->visit); i++) {
        visit *v = &l->visit[i];
        const ckt_block *p = look_up(l, &l->by[0], v);
        if (!v->open)
            continue;
        claim(l, v);
        solve(l, &l->by[0], p, v);
        forget_failed(l, v);
    }
}

static void look_up_one(void *user, int32_t i, int worker)
{
    op_levels *l = user;
    (void)look_up(l, &l->by[worker], &l->visit[l->which[i]]);
}

static void solve_one(void *user, int32_t i, int worker)
{
    op_levels *l = user;
    visit *v = &l->visit[l->which[i]];
    solve(l, &l->by[worker], begin_block(l, &l->by[worker], v->block), v);
}

/* Lists the open ones that are the first of their keys, in order, or (`others`) the rest. */
static void choose(op_levels *l, bool others)
{
    vec_clear(l->which);
    for (size_t i = 0; i < vec_len(l->visit); i++) {
        visit *v = &l->visit[i];
        if (others && v->open && v->first)
            forget_failed(l, v);
        if (!others && v->open) {
            v->first = !v->alike || map_get(&l->memo, v->key, -2) == -2;
            if (v->first)
                claim(l, v);
        }
        if (v->open && v->first != others)
            vec_push(l->which, (int32_t)i);
    }
}

static void visit_together(op_levels *l)
{
    pool *p = ckt_pool(l->a->c);
    vec_clear(l->which);
    for (size_t i = 0; i < vec_len(l->visit); i++)
        vec_push(l->which, (int32_t)i);
    pool_run(p, POOL_OTHER, (int32_t)vec_len(l->which), look_up_one, l);
    choose(l, false);
    pool_run(p, POOL_OTHER, (int32_t)vec_len(l->which), solve_one, l);
    choose(l, true);
    pool_run(p, POOL_OTHER, (int32_t)vec_len(l->which), look_up_one, l);
}

static void come_up(op_levels *l, int32_t b)
{
    for (int32_t k = l->member.begin[b]; k < l->member.begin[b + 1]; k++)
        for (int w = 0; w < l->n_by; w++)
            l->by[w].x[l->member.to[k]] = l->x[l->member.to[k]];
}

/* Solves what is dirty of a row; true if blocks are dirty because of that. All see the values
 * before, whoever solves them, in which order. */
static bool solve_row(op_levels *l, int32_t row)
{
    enum { TOGETHER = 8 }; /* blocks, some 10 us each */
    const double span = l->hi - l->lo;
    bool again = false;
    vec_clear(l->visit);
    for (int32_t k = l->row.begin[row]; k < l->row.begin[row + 1]; k++) {
        const int32_t b = l->row.to[k];
        if (l->dirty[b])
            vec_push(l->visit, (visit){.block = b});
        l->dirty[b] = false;
    }
    if (l->n_by > 1 && vec_len(l->visit) >= TOGETHER)
        visit_together(l);
    else
        visit_alone(l);
    for (size_t i = 0; i < vec_len(l->visit); i++) {
        const visit *v = &l->visit[i];
        come_up(l, v->block);
        if (!(v->moved > MOVES * span))
            continue;
        for (int32_t e = l->seen.begin[v->block]; e < l->seen.begin[v->block + 1]; e++)
            l->dirty[l->seen.to[e]] = again = true;
    }
    return again;
}

static void sweep_all(op_levels *l)
{
    bool again = true;
    memset(l->dirty, true, (size_t)l->n_block);
    for (int k = 0; k < SWEEPS && again; k++) {
        again = false;
        for (int32_t r = 0; r < l->n_row; r++) {
            if (ana_asked(l->a))
                return;
            again |= solve_row(l, r);
        }
    }
}

/* -- all of it -- */

static void know_value(op_levels *l, const ana_node_value *v)
{
    l->x[v->unknown] = v->value;
    l->known[v->unknown] = true;
}

/* What sources, .ic and .nodeset say; false: there is no supply. */
static bool begin_known(op_levels *l, const newton_eq *eq)
{
    const ana *a = l->a;
    ckt_known_voltages(a->c, &eq->env, l->x, l->known);
    for (int32_t i = 1; i <= a->n; i++)
        if (l->known[i] && a->gdiag[i]) {
            l->lo = fmin(l->lo, l->x[i]);
            l->hi = fmax(l->hi, l->x[i]);
        }
    for (size_t i = 0; i < vec_len(a->nodeset); i++)
        know_value(l, &a->nodeset[i]);
    for (size_t i = 0; i < eq->n_force; i++)
        know_value(l, &eq->force[i]);
    return l->hi > l->lo;
}

static vs_status begin_strength(op_levels *l)
{
    const csc *m = l->a->jac;
    const vs_status st = ckt_blocks_strength(l->blocks, l->lo, l->hi, l->strength, l->conducts);
    for (int32_t k = 0; k < csc_nnz(m) && st == VS_OK; k++)
        l->row_max[m->row[k] + 1] = norm_max(l->row_max[m->row[k] + 1], l->strength[k]);
    memcpy(l->judge, l->row_max, ((size_t)l->a->n + 1) * sizeof *l->judge);
    return st;
}

void op_levels_free(op_levels **p)
{
    op_levels *l = *p;
    if (!l)
        return;
    for (int w = l->n_by - 1; w >= 0; w--) {
        solver *s = &l->by[w];
        if (w > 0)
            ckt_blocks_free(&s->blocks);
        vs_free(s->x);
        vec_free(s->now);
        vec_free(s->dx);
        vec_free(s->full);
    }
    vs_free(l->by);
    ckt_blocks_free(&l->blocks);
    graph_free(&l->row);
    graph_free(&l->member);
    graph_free(&l->sees);
    graph_free(&l->seen);
    vs_free(l->known);
    vs_free(l->x);
    vs_free(l->strength);
    vs_free(l->conducts);
    vs_free(l->row_max);
    vs_free(l->judge);
    vs_free(l->back);
    vs_free(l->block_of);
    vs_free(l->order);
    vs_free(l->dirty);
    map_free(&l->memo);
    vec_free(l->solved);
    vec_free(l->visit);
    vec_free(l->which);
    vs_free(l);
    *p = NULL;
}

op_levels *op_levels_new(ana *a, const newton_eq *eq, const double *x)
{
    const size_t n1 = (size_t)a->n + 1, nnz1 = (size_t)csc_nnz(a->jac) + 1;
    if (ckt_n_osdi(a->c))
        return NULL;
    op_levels *l = vs_calloc(1, sizeof *l);
    l->a = a;
    l->known = vs_calloc(n1, sizeof *l->known);
    l->x = vs_malloc(n1 * sizeof *l->x);
    memcpy(l->x, x, n1 * sizeof *x);
    bool ok = begin_known(l, eq);
    if (ok) {
        l->strength = vs_calloc(nnz1, sizeof *l->strength);
        l->conducts = vs_calloc(nnz1, sizeof *l->conducts);
        l->row_max = vs_calloc(n1, sizeof *l->row_max);
        l->judge = vs_calloc(n1, sizeof *l->judge);
        l->block_of = vs_calloc(n1, sizeof *l->block_of);
        l->back = find_back(a->jac);
        l->blocks = ckt_blocks_new(a->c, &eq->env, l->x, l->known);
        ok = begin_strength(l) == VS_OK && make_blocks(l);
    }
    if (ok) {
        make_edges(l);
        l->order = vs_calloc((size_t)l->n_block + 1, sizeof *l->order);
        l->dirty = vs_calloc((size_t)l->n_block + 1, sizeof *l->dirty);
        make_order(l);
    } else {
        op_levels_free(&l);
    }
    return l;
}

/* As many as the circuit's threads. */
static void make_solvers(op_levels *l)
{
    const size_t n1 = (size_t)l->a->n + 1;
    l->n_by = pool_size(ckt_pool(l->a->c));
    l->by = vs_calloc((size_t)l->n_by, sizeof *l->by);
    for (int w = 0; w < l->n_by; w++) {
        solver *s = &l->by[w];
        s->blocks = w ? ckt_blocks_beside(l->blocks) : l->blocks;
        s->x = vs_malloc(n1 * sizeof *s->x);
        memcpy(s->x, l->x, n1 * sizeof *s->x);
    }
}

void op_levels_solve(op_levels *l, double *x, double *most_move)
{
    make_rows(l);
    make_solvers(l);
    sweep_all(l);
    l->x[0] = 0;
    memcpy(x, l->x, ((size_t)l->a->n + 1) * sizeof *x);
    *most_move = (l->hi - l->lo) / STRIDES;
}
