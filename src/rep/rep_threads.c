/* rep_threads.c - see rep_threads.h. */
#include "rep_threads.h"

#include <math.h>

#include "rep.h"
#include "vec.h"

static const char *const name_of[POOL_N_KIND] = {
    [POOL_OTHER] = "other", [POOL_EVALUATE] = "evaluate",
    [POOL_STAMP] = "stamp", [POOL_FACTOR] = "factor, refactor",
    [POOL_SOLVE] = "solve", [POOL_VECTOR] = "predict and test"};

typedef struct of_kind {
    int64_t jobs;
    double shared, taken; /* s: of the jobs, of the thread that waited for them */
    double *busy;         /* vec [n], s of each thread */
} of_kind;

struct rep_threads {
    bool as_if;
    int n; /* of the largest pool */
    of_kind sum[POOL_N_KIND];
    const pool *pool;
    of_kind last[POOL_N_KIND]; /* what the pool had counted */
};

rep_threads *rep_threads_new(bool as_if)
{
    rep_threads *t = vs_calloc(1, sizeof *t);
    t->as_if = as_if;
    t->n = 1;
    return t;
}

void rep_threads_free(rep_threads **pt)
{
    if (!*pt)
        return;
    for (int k = 0; k < POOL_N_KIND; k++) {
        vec_free((*pt)->sum[k].busy);
        vec_free((*pt)->last[k].busy);
    }
    vs_free(*pt);
    *pt = NULL;
}

static void make_room(of_kind *k, int n)
{
    while ((int)vec_len(k->busy) < n)
        vec_push(k->busy, 0.0);
}

static void begin_pool(rep_threads *t, pool *p)
{
    t->pool = p;
    if (t->as_if)
        pool_as_if(p);
    t->n = pool_size(p) > t->n ? pool_size(p) : t->n;
    for (int k = 0; k < POOL_N_KIND; k++) {
        make_room(&t->sum[k], t->n);
        vec_free(t->last[k].busy);
        t->last[k] = (of_kind){0};
        make_room(&t->last[k], t->n);
    }
}

void rep_threads_see(rep_threads *t, pool *p)
{
    if (p && (!pool_watch(p, true) || p != t->pool))
        begin_pool(t, p);
    for (int k = 0; p && k < POOL_N_KIND; k++) {
        const pool_time now = pool_spent(p, (pool_kind)k);
        of_kind *sum = &t->sum[k], *last = &t->last[k];
        sum->jobs += now.jobs - last->jobs;
        sum->shared += now.seconds - last->shared;
        sum->taken += now.taken - last->taken;
        last->jobs = now.jobs;
        last->shared = now.seconds;
        last->taken = now.taken;
        for (int w = 0; w < pool_size(p); w++) {
            const double busy = pool_busy(p, (pool_kind)k, w);
            sum->busy[w] += busy - last->busy[w];
            last->busy[w] = busy;
        }
    }
}

static double busy_in(const of_kind *k)
{
    double sum = 0;
    for (size_t w = 0; w < vec_len(k->busy); w++)
        sum += k->busy[w];
    return sum;
}

static double shared_of(const rep_threads *t)
{
    double sum = 0;
    for (int k = 0; k < POOL_N_KIND; k++)
        sum += t->sum[k].shared;
    return sum;
}

/* What one thread did while the others had nothing to do. */
static double alone(const rep_threads *t, double total)
{
    double taken = 0;
    for (int k = 0; k < POOL_N_KIND; k++)
        taken += t->sum[k].taken;
    return fmax(total - taken, 0);
}

static double work(const rep_threads *t)
{
    double busy = 0;
    for (int k = 0; k < POOL_N_KIND; k++)
        busy += busy_in(&t->sum[k]);
    return busy;
}

static void print_gain(const rep_threads *t, double total, FILE *out)
{
    char b[3][16];
    const double one = alone(t, total), all = one + (t->as_if ? shared_of(t) : work(t) / t->n);
    if (t->as_if)
        fprintf(out,
                "\n  as if: one thread alone has %s of %s of work; %d threads would take %s, %.2f "
                "times as fast as one\n",
                rep_si(b[0], one, "s"), rep_si(b[1], one + work(t), "s"), t->n,
                rep_si(b[2], all, "s"), (one + work(t)) / all);
    else
        fprintf(out,
                "\n  of %s one thread alone had %s; without waiting %d threads take %s, %.2f times "
                "as fast as one\n",
                rep_si(b[0], total, "s"), rep_si(b[1], one, "s"), t->n, rep_si(b[2], all, "s"),
                (one + work(t)) / all);
}

/* The i-th column: what belongs to no phase is the last. */
static int column(int i) { return (i + 1) % POOL_N_KIND; }

static void print_thread(const rep_threads *t, int w, FILE *out)
{
    char b[16];
    double busy = 0;
    fprintf(out, "  thread %-11d", w + 1);
    for (int i = 0; i < POOL_N_KIND; i++) {
        const double own = t->sum[column(i)].busy[w];
        busy += own;
        fprintf(out, " %16s", rep_si(b, own, "s"));
    }
    fprintf(out, " %10s\n", rep_si(b, fmax(shared_of(t) - busy, 0), "s"));
}

void rep_threads_text(const rep_threads *t, const rep_threads_of *of, FILE *out)
{
    char b[16];
    if (t->n < 2)
        return;
    int64_t jobs = 0;
    for (int k = 0; k < POOL_N_KIND; k++)
        jobs += t->sum[k].jobs;
    if (!jobs) {
        fprintf(out, "\n  %d threads: no phase is large enough to be shared\n", t->n);
        return;
    }
    fprintf(out, "\n  %-18s", "busy");
    for (int i = 0; i < POOL_N_KIND; i++)
        fprintf(out, " %16s", name_of[column(i)]);
    fprintf(out, " %10s\n", "waiting");
    for (int w = 0; w < t->n; w++)
        print_thread(t, w, out);
    fprintf(out, "  %-18s", "shared jobs");
    for (int i = 0; i < POOL_N_KIND; i++)
        fprintf(out, " %16lld", (long long)t->sum[column(i)].jobs);
    fprintf(out, "\n  %-18s", "one thread alone");
    for (int i = 0; i < POOL_N_KIND; i++) {
        const int k = column(i);
        fprintf(out, " %16s", rep_si(b, fmax(of->phase[k] - t->sum[k].taken, 0), "s"));
    }
    print_gain(t, of->total, out);
}

void rep_threads_json(const rep_threads *t, const rep_threads_of *of, FILE *out)
{
    fprintf(out,
            "  \"threads\": {\"n\": %d, \"as_if\": %s, \"shared\": %.9g, \"alone\": %.9g, "
            "\"phases\": [",
            t->n, t->as_if ? "true" : "false", shared_of(t), alone(t, of->total));
    for (int i = 0; i < POOL_N_KIND; i++) {
        const int k = column(i);
        const of_kind *s = &t->sum[k];
        fprintf(out,
                "%s\n    {\"phase\": \"%s\", \"seconds\": %.9g, \"jobs\": %lld, \"shared\": %.9g, "
                "\"taken\": %.9g, \"busy\": [",
                i ? "," : "", name_of[k], of->phase[k], (long long)s->jobs, s->shared, s->taken);
        for (size_t w = 0; w < vec_len(s->busy); w++)
            fprintf(out, "%s%.9g", w ? ", " : "", s->busy[w]);
        fputs("]}", out);
    }
    fputs("]},\n", out);
}
