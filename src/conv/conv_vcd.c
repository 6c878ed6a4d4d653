/* conv_vcd.c - value change dumps of thresholded signals, for GTKWave, Surfer and other viewers of
 * logic.
 * Source: IEEE Std 1364-2005, clause 18. A signal becomes 1 where it passes the upper threshold, 0
 *         where it passes the lower one, at the time that the line between two points has there; in
 *         between it keeps its value, at the beginning it is x. Not a number: x. Names with points
 *         are scopes. The unit is 1 fs, or the least power of ten of it in which 63 bits hold the
 *         last time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conv_priv.h"
#include "stream.h"

typedef struct change {
    int64_t time; /* in units */
    uint32_t signal;
    char value;
    int64_t point; /* number of the change of its signal: changes at one time stay in order */
} change;

typedef struct net {
    const char *path; /* "x1.x2.out" */
    const post_vec *v;
    uint32_t id;
} net;

static int by_path(const void *a, const void *b)
{
    const net *s = a, *t = b;
    /* compare piece by piece, so that nodes of a scope come before its inner scopes */
    const char *p = s->path, *q = t->path;
    for (;;) {
        const size_t m = strcspn(p, "."), n = strcspn(q, ".");
        const bool leaf = !p[m], other = !q[n];
        if (leaf != other)
            return leaf ? -1 : 1;
        const int c = m == n ? strncmp(p, q, m) : strcmp(p, q);
        if (c || leaf)
            return c ? c : (int)(s->id > t->id) - (int)(s->id < t->id);
        p += m + 1;
        q += n + 1;
    }
}

static int by_time(const void *a, const void *b)
{
    const change *s = a, *t = b;
    if (s->time != t->time)
        return s->time < t->time ? -1 : 1;
    if (s->signal != t->signal)
        return s->signal < t->signal ? -1 : 1;
    return s->point < t->point ? -1 : s->point > t->point;
}

/* Writes the k-th identifier, of printable letters. */
static const char *id_of(char buf[8], uint32_t k)
{
    int n = 0;
    do
        buf[n++] = (char)('!' + k % 94);
    while ((k /= 94) && n < 7);
    buf[n] = 0;
    return buf;
}

static void put_word(FILE *fp, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fputc((unsigned char)s[i] <= 32 || (unsigned char)s[i] > 126 ? '_' : s[i], fp);
    if (!n)
        fputc('_', fp);
}

/* Writes the declarations. The names are in the order of by_path; scopes open and close between
 * them. */
static void put_names(FILE *fp, const net *nets, size_t n)
{
    char id[8];
    size_t open = 0; /* length of the open scope's path, with its last point */
    const char *path = "";
    fputs("$scope module top $end\n", fp);
    for (size_t i = 0; i < n; i++) {
        const char *s = nets[i].path, *dot = strrchr(s, '.');
        const size_t want = dot ? (size_t)(dot - s) + 1 : 0;
        size_t same = 0;
        for (size_t k = 0; k < open && k < want && s[k] == path[k]; k++)
            if (s[k] == '.')
                same = k + 1;
        for (size_t k = same; k < open; k++)
            if (path[k] == '.')
                fputs("$upscope $end\n", fp);
        for (size_t k = same; k < want;) {
            const size_t m = strcspn(s + k, ".");
            fputs("$scope module ", fp);
            put_word(fp, s + k, m);
            fputs(" $end\n", fp);
            k += m + 1;
        }
        fprintf(fp, "$var wire 1 %s ", id_of(id, nets[i].id));
        put_word(fp, s + want, strlen(s + want));
        fputs(" $end\n", fp);
        path = s;
        open = want;
    }
    for (size_t k = 0; k < open; k++)
        if (path[k] == '.')
            fputs("$upscope $end\n", fp);
    fputs("$upscope $end\n$enddefinitions $end\n", fp);
}

/* The time at which the line between two points passes the level. */
static double passes(const post_vec *t, const post_vec *v, int64_t k, double level)
{
    const double a = conv_re(v, k - 1), b = conv_re(v, k), s = conv_re(t, k - 1), e = conv_re(t, k);
    return !isfinite(a) || !isfinite(b) ? e : s + (level - a) / (b - a) * (e - s);
}

static void find_changes(const post_plot *p, const net *w, double lo, double hi, double unit,
                         double start, change **out)
{
    char now = 0;
    for (int64_t k = 0; k < w->v->n; k++) {
        const double x = conv_re(w->v, k);
        const char next = !(x >= lo || x <= hi) ? 'x'
                          : x > hi              ? '1'
                          : x < lo              ? '0'
                          : now                 ? now
                                                : 'x';
        if (next == now)
            continue;
        const double level = next == '1' ? hi : lo;
        const double t = k && next != 'x' && now != 'x' ? passes(p->scale, w->v, k, level)
                                                        : conv_re(p->scale, k);
        vec_push(*out, (change){llround((t - start) / unit), w->id, next, k});
        now = next;
    }
}

static void put_changes(FILE *fp, const change *c, size_t n)
{
    char id[8];
    for (size_t i = 0; i < n;) {
        const bool first = !i;
        const int64_t now = c[i].time;
        fprintf(fp, "#%lld\n%s", (long long)now, first ? "$dumpvars\n" : "");
        for (; i < n && c[i].time == now; i++)
            fprintf(fp, "%c%s\n", c[i].value, id_of(id, c[i].signal));
        if (first)
            fputs("$end\n", fp);
    }
}

vs_status conv_write_vcd(conv_job *j)
{
    static const char *const unit[] = {"fs", "ps", "ns", "us", "ms", "s"};
    const post_plot *p = j->plot[0];
    const post_vec *t = p->scale;
    if (!t || strcmp(t->type, "time") != 0 || !t->n)
        return conv_fail(j, "is of signals over time, which the plot '%s' has not", p->what);
    for (int64_t k = 1; k < t->n; k++)
        if (!(t->v[k] >= t->v[k - 1]))
            return conv_fail(j, "needs times that never go back (point %lld does)", (long long)k);
    const double middle = isnan(j->o->low) ? conv_middle(p) : 0;
    const double lo = isnan(j->o->low) ? middle : j->o->low,
                 hi = isnan(j->o->low) ? middle : j->o->high;
    int power = 0; /* of ten times 1 fs */
    const double span = conv_re(t, t->n - 1) - conv_re(t, 0);
    while (power < 15 && span / (1e-15 * pow(10, power)) > 9e18)
        power++;
    arena mem;
    net *nets = NULL;
    change *c = NULL;
    arena_init(&mem);
    for (size_t i = 0; i < vec_len(p->vec); i++) {
        const uint32_t id = (uint32_t)vec_len(nets);
        if (!strcmp(p->vec[i]->type, "voltage") && !p->vec[i]->complex)
            vec_push(nets, (net){conv_node(&mem, p->vec[i]), p->vec[i], id});
    }
    if (nets) {
        for (size_t i = 0; i < vec_len(nets); i++)
            find_changes(p, &nets[i], lo, hi, 1e-15 * pow(10, power), conv_re(t, 0), &c);
        qsort(nets, vec_len(nets), sizeof *nets, by_path);
        if (c)
            qsort(c, vec_len(c), sizeof *c, by_time);
        fprintf(j->fp,
                "$version vsim $end\n$comment thresholds %.9g V, %.9g V; time 0 is %.17g s $end\n"
                "$timescale %d%s $end\n",
                lo, hi, conv_re(t, 0),
                power % 3 == 0   ? 1
                : power % 3 == 1 ? 10
                                 : 100,
                unit[power / 3]);
        put_names(j->fp, nets, vec_len(nets));
        put_changes(j->fp, c, vec_len(c));
        fprintf(j->fp, "#%lld\n", llround(span / (1e-15 * pow(10, power))));
    }
    const bool any = nets != NULL;
    vec_free(nets);
    vec_free(c);
    arena_fini(&mem);
    return any ? VS_OK : conv_fail(j, "is of voltages, which the plot '%s' has not", p->what);
}
