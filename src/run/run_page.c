/* run_page.c - `vsim report`: the run of a deck and, from its results, one page that needs no other
 * file. What the page says is of the deck and its results alone, so the same results give the same
 * bytes; date and times stand in a block at the end that can be left out. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fig.h"
#include "hash.h"
#include "heap.h"
#include "run_priv.h"
#include "stream.h"
#include "vec.h"

enum { MOST_VALUES = 2000, MOST_COLUMNS = 32, MOST_LOG = 200000 };

/* A .plot card, or a file that a block drew. */
typedef struct asked {
    char *analysis, *list;
} asked;

/* A file that the deck includes, and a sum of its bytes. */
typedef struct included {
    char *name;
    size_t n;
    hash128 sum;
} included;

/* What a device has computed; names are kept once. */
typedef struct computed {
    const char *device, *model, *name, *unit;
    double value;
} computed;

typedef struct page {
    const vsim_inside_job *j;
    const vsim_inside_page *o;
    heap *own;
    asked *card;     /* vec */
    char **picture;  /* vec: paths */
    char **measure;  /* vec: names */
    included *file;  /* vec */
    computed *value; /* vec: device by device */
    char *log, *say; /* of the run */
    vs_status run;
    bool results; /* the run has written results */
    double seconds;
    FILE *out;
    diag d;
    str_pool names;
    arena mem;
    post_set set;
    post_env e;
} page;

/* -- what the run tells; it has a heap of its own -- */

static void hear_card(void *user, const char *analysis, const char *list)
{
    page *p = user;
    heap *was = heap_use(p->own);
    vec_push(p->card, (asked){vs_strdup(analysis), vs_strdup(list)});
    heap_use(was);
}

static void hear_measure(void *user, const char *name)
{
    page *p = user;
    heap *was = heap_use(p->own);
    vec_push(p->measure, vs_strdup(name));
    heap_use(was);
}

static void hear_picture(void *user, const char *path)
{
    page *p = user;
    heap *was = heap_use(p->own);
    vec_push(p->picture, vs_strdup(path));
    heap_use(was);
}

static void hear_file(void *user, const char *name, const char *text, size_t n)
{
    page *p = user;
    heap *was = heap_use(p->own);
    size_t k = 0;
    while (k < vec_len(p->file) && strcmp(p->file[k].name, name))
        k++;
    if (k == vec_len(p->file))
        vec_push(p->file, ((included){vs_strdup(name), n, hash128_of(text, n)}));
    heap_use(was);
}

static void hear_device(void *user, const char *device, const char *model, const char *name,
                        const char *unit, double value)
{
    page *p = user;
    heap *was = heap_use(p->own);
    str_pool *pool = &p->names;
    if (vec_len(p->value) < MOST_VALUES * MOST_COLUMNS)
        vec_push(p->value, ((computed){str_intern0(pool, device), str_intern0(pool, model),
                                       str_intern0(pool, name), str_intern0(pool, unit), value}));
    heap_use(was);
}

/* The state of a file, to compare whether it was written meanwhile. */
static struct stat state_of(const char *path)
{
    struct stat sb;
    memset(&sb, 0, sizeof sb);
    if (stat(path, &sb))
        sb.st_size = -1;
    return sb;
}

static void run_it(page *p)
{
    const struct stat before = state_of(p->j->raw);
    const vsim_inside_witness w = {hear_card, hear_measure, hear_picture,
                                   hear_file, hear_device,  p};
    vsim_inside_job job = *p->j;
    int quit = 0;
    const double t0 = vs_seconds();
    FILE *log = stream_text(&p->log, NULL), *say = stream_text(&p->say, NULL);
    job.streams = (vsim_inside_streams){.log = log, .say = say, .quiet = true, .warnings = true};
    job.witness = &w;
    job.no_date = p->o->no_times;
    if (!p->o->keep_measures)
        unlink(job.measures); /* a table of another run */
    p->run = (vs_status)vsim_inside_run(&job, &quit);
    stream_close(log);
    stream_close(say);
    const struct stat after = state_of(p->j->raw);
    p->results = after.st_size > 0 &&
                 (after.st_ino != before.st_ino || after.st_mtim.tv_sec != before.st_mtim.tv_sec ||
                  after.st_mtim.tv_nsec != before.st_mtim.tv_nsec);
    p->seconds = vs_seconds() - t0;
}

/* -- words -- */

static void put(FILE *out, const char *s)
{
    for (; *s; s++)
        switch (*s) {
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '&': fputs("&amp;", out); break;
        case '"': fputs("&quot;", out); break;
        default:
            if ((unsigned char)*s >= 32 || *s == '\n' || *s == '\t')
                fputc(*s, out);
        }
}

static void put_text(FILE *out, const char *s, const char *class)
{
    fprintf(out, "<pre%s%s>", class ? " class=" : "", class ? class : "");
    put(out, s);
    fputs("</pre>\n", out);
}

static void head(FILE *out, const char *id, const char *text)
{
    fprintf(out, "<h2 id=\"%s\">%s</h2>\n", id, text);
}

static char *file_text(const char *path, size_t *n)
{
    FILE *fp = stream_open(path);
    char *s = NULL;
    *n = 0;
    if (!fp)
        return NULL;
    for (size_t cap = 0, got = 1; got; *n += got) {
        if (cap < *n + (1 << 16))
            s = vs_realloc(s, cap = 2 * cap + (1 << 17));
        got = fread(s + *n, 1, cap - *n - 1, fp);
    }
    s[*n] = 0;
    stream_close(fp);
    return s;
}

static void put_base64(FILE *out, const unsigned char *s, size_t n)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        const uint32_t w = (uint32_t)s[i] << 16 | (i + 1 < n ? (uint32_t)s[i + 1] << 8 : 0) |
                           (i + 2 < n ? s[i + 2] : 0);
        fputc(digit[w >> 18], out);
        fputc(digit[w >> 12 & 63], out);
        fputc(i + 1 < n ? digit[w >> 6 & 63] : '=', out);
        fputc(i + 2 < n ? digit[w & 63] : '=', out);
    }
}

/* Each picture is a data URL of its own, so that names inside of one do not meet those of another.
 */
static void put_image(FILE *out, const char *data, size_t n, const char *type, const char *alt)
{
    fputs("<figure><img alt=\"", out);
    put(out, alt);
    fprintf(out, "\" src=\"data:image/%s;base64,", type);
    put_base64(out, (const unsigned char *)data, n);
    fputs("\"><figcaption>", out);
    put(out, alt);
    fputs("</figcaption></figure>\n", out);
}

/* -- operating point -- */

static const char *unit_of(const post_vec *v)
{
    return !strcmp(v->type, "voltage")   ? "V"
           : !strcmp(v->type, "current") ? "A"
           : !strcmp(v->type, "time")    ? "s"
                                         : "";
}

/* The plot of the operating point: the first of that kind, else the first transient, whose first
 * point it is. */
static post_plot *point_plot(const page *p)
{
    post_plot *tran = NULL;
    for (size_t i = 0; i < vec_len(p->set.plot); i++) {
        post_plot *q = p->set.plot[i];
        const char *word = post_word_of(q->what);
        if (!vec_len(q->vec) || !q->vec[0]->n)
            continue;
        if (!strcmp(word, "op"))
            return q;
        if (!tran && !strcmp(word, "tran"))
            tran = q;
    }
    return tran;
}

/* End of the run of entries that belong to one device. */
static size_t end_of_device(const computed *v, size_t at)
{
    size_t k = at;
    while (k < vec_len(v) && v[k].device == v[at].device)
        k++;
    return k;
}

static bool same_columns(const computed *v, size_t a, size_t b)
{
    const size_t n = end_of_device(v, a) - a;
    bool same = end_of_device(v, b) - b == n && v[a].model == v[b].model;
    for (size_t k = 0; k < n && same; k++)
        same = v[a + k].name == v[b + k].name;
    return same;
}

static void put_device_head(const page *p, size_t at, size_t end)
{
    fputs("<h3>", p->out);
    put(p->out, *p->value[at].model ? p->value[at].model : "without a model");
    fputs("</h3>\n<div class=wide><table><tr><th>device", p->out);
    for (size_t k = at; k < end; k++) {
        fputs("<th class=n>", p->out);
        put(p->out, p->value[k].name);
        fputs(*p->value[k].unit ? ", " : "", p->out);
        put(p->out, p->value[k].unit);
    }
    fputs("</tr>\n", p->out);
}

static void put_devices(const page *p)
{
    const computed *v = p->value;
    bool *done = vs_calloc(vec_len(v) + 1, sizeof *done);
    for (size_t at = 0; at < vec_len(v); at = end_of_device(v, at)) {
        if (done[at])
            continue;
        put_device_head(p, at, end_of_device(v, at));
        for (size_t i = at; i < vec_len(v); i = end_of_device(v, i)) {
            if (done[i] || !same_columns(v, at, i))
                continue;
            done[i] = true;
            fputs("<tr><td>", p->out);
            put(p->out, v[i].device);
            for (size_t k = i; k < end_of_device(v, i); k++)
                fprintf(p->out, isnan(v[k].value) ? "<td>" : "<td class=n>%.6g", v[k].value);
            fputs("</tr>\n", p->out);
        }
        fputs("</table></div>\n", p->out);
    }
    vs_free(done);
}

static void put_point(page *p)
{
    const post_plot *q = point_plot(p);
    head(p->out, "op", "Operating point");
    if (!q) {
        fputs("<p>The results have none: the deck has neither .op nor .tran.</p>\n", p->out);
        return;
    }
    post_fetch_all(q);
    fprintf(p->out, "<p>%s", strcmp(post_word_of(q->what), "op") ? "The first point of " : "");
    put(p->out, q->what);
    fputs("</p>\n<table><tr><th>signal<th>value<th></tr>\n", p->out);
    for (size_t i = 0; i < vec_len(q->vec); i++) {
        const post_vec *v = q->vec[i];
        const bool in_devices = vec_len(p->value) && *v->name == '@';
        if (v == q->scale || v->complex || in_devices)
            continue;
        if (i > MOST_VALUES) {
            fprintf(p->out, "<tr><td>and %zu more<td><td></tr>\n", vec_len(q->vec) - i);
            break;
        }
        fputs("<tr><td>", p->out);
        put(p->out, v->name);
        fprintf(p->out, "<td class=n>%.9g<td>%s</tr>\n", v->v[0], unit_of(v));
    }
    fputs("</table>\n", p->out);
    put_devices(p);
}

/* -- measures -- */

/* The fields of a line of the table; they hold no commas but in quotes, which are removed. */
static char **fields(char *line)
{
    char **f = NULL;
    for (char *at = line; at;) {
        const bool quoted = *at == '"';
        char *s = at + quoted, *end = strpbrk(s, quoted ? "\"" : ",");
        at = end && quoted ? (end[1] == ',' ? end + 2 : NULL) : end ? end + 1 : NULL;
        if (end)
            *end = 0;
        vec_push(f, s);
    }
    return f;
}

/* Statistics of one column over all points. Points without a number are counted apart. */
typedef struct figures {
    int64_t n, failed;
    double sum, square, least, greatest;
} figures;

static void add_figure(figures *g, const char *text)
{
    char *end;
    const double x = strtod(text, &end);
    if (end == text || !isfinite(x)) {
        g->failed++;
        return;
    }
    g->least = g->n ? fmin(g->least, x) : x;
    g->greatest = g->n ? fmax(g->greatest, x) : x;
    g->n++;
    const double mean = g->sum, delta = x - mean; /* sum is the mean so far: Welford */
    g->sum += delta / (double)g->n;
    g->square += delta * (x - g->sum);
}

static void put_row(FILE *out, char *const *f, const char *cell)
{
    fputs("<tr>", out);
    for (size_t i = 0; i < vec_len(f); i++) {
        char *end;
        (void)strtod(f[i], &end);
        fprintf(out, "<%s%s>", cell, end != f[i] && !*end ? " class=n" : "");
        put(out, f[i]);
    }
    fputs("</tr>\n", out);
}

static bool is_measure(const page *p, const char *name)
{
    for (size_t i = 0; i < vec_len(p->measure); i++)
        if (!str_casecmp(p->measure[i], name))
            return true;
    return false;
}

static void put_statistics(const page *p, char *const *name, const figures *g)
{
    fputs("<h2 id=\"statistics\">Statistics</h2>\n<table><tr><th>measure<th>points<th>failed"
          "<th>mean<th>standard deviation<th>least<th>greatest</tr>\n",
          p->out);
    for (size_t i = 0; i < vec_len(name); i++) {
        if (!is_measure(p, name[i]))
            continue;
        const double n = (double)g[i].n;
        fputs("<tr><td>", p->out);
        put(p->out, name[i]);
        fprintf(p->out, "<td class=n>%lld<td class=n>%lld", (long long)g[i].n,
                (long long)g[i].failed);
        if (g[i].n)
            fprintf(p->out, "<td class=n>%.9g<td class=n>%.9g<td class=n>%.9g<td class=n>%.9g",
                    g[i].sum, n > 1 ? sqrt(g[i].square / (n - 1)) : 0, g[i].least, g[i].greatest);
        fputs("</tr>\n", p->out);
    }
    fputs("</table>\n", p->out);
}

/* Writes the table of --measures as HTML. Of a sweep each line is a point. */
static void put_measures(page *p)
{
    size_t n;
    char *text = file_text(p->j->measures, &n), *save = NULL;
    head(p->out, "measures", "Measures");
    if (!text) {
        fputs("<p>The deck has none.</p>\n", p->out);
        return;
    }
    char **name = NULL;
    figures *g = NULL;
    int64_t rows = 0;
    fputs("<table>\n", p->out);
    for (char *line = strtok_r(text, "\r\n", &save); line; line = strtok_r(NULL, "\r\n", &save)) {
        char **f = fields(line);
        if (!name) {
            put_row(p->out, f, "th");
            name = f;
            g = vs_calloc(vec_len(f), sizeof *g);
            continue;
        }
        for (size_t i = 0; i < vec_len(f) && i < vec_len(name); i++)
            add_figure(&g[i], f[i]);
        if (rows++ < MOST_VALUES)
            put_row(p->out, f, "td");
        vec_free(f);
    }
    if (rows > MOST_VALUES)
        fprintf(p->out, "<tr><td>and %lld more</tr>\n", (long long)(rows - MOST_VALUES));
    fputs("</table>\n", p->out);
    if (name && !strcmp(name[0], "point"))
        put_statistics(p, name, g);
    vs_free(g);
    vec_free(name);
    vs_free(text);
}

/* -- pictures -- */

/* Collects the card's vectors from each plot of its analysis; a sweep has one plot for each point.
 */
static vs_status collect(page *p, const asked *a, fig *f)
{
    const char *list = a->list, *word = NULL;
    const int32_t file = diag_add_file(&p->d, "expression", list, strlen(list), DIAG_NOWHERE);
    p->e.line = diag_text(&p->d, file);
    p->e.span = p->e.line_at = (diag_span){file, 0, (uint32_t)strlen(list)};
    for (size_t i = 0; i < vec_len(p->set.plot); i++) {
        post_plot *q = p->set.plot[i];
        const char *own = post_word_of(q->what);
        if (!vec_len(q->vec) || q->vec[0]->n < 2 || (*a->analysis && strcmp(a->analysis, own)))
            continue;
        if (word && strcmp(word, own))
            continue;
        word = own;
        p->set.current = q;
        if (!fig_eval(f, &p->e, p->e.line, NULL, fig_family(q)))
            return VS_EINPUT;
    }
    return f->value ? VS_OK : VS_EINPUT;
}

static void put_card(page *p, const asked *a)
{
    fig f = {0};
    fig_request r = fig_nothing();
    char *svg = NULL, *what = arena_printf(&p->mem, ".plot %s %s", a->analysis, a->list);
    size_t n = 0;
    const char *why = "";
    vs_status st = collect(p, a, &f);
    FILE *fp = stream_text(&svg, &n);
    if (!st)
        st = fig_draw(&f, &p->e, &r, CHART_SVG, fp, &why);
    stream_close(fp);
    if (!st) {
        put_image(p->out, svg, n, "svg+xml", what);
    } else {
        char *said = NULL;
        FILE *say = stream_text(&said, NULL);
        diag_render(&p->d, say, false);
        fputs(why, say);
        stream_close(say);
        fputs("<p>No picture: ", p->out);
        put(p->out, what);
        fputs("</p>\n", p->out);
        put_text(p->out, said, "bad");
        vs_free(said);
    }
    diag_clear(&p->d);
    vs_free(svg);
    fig_fini(&f);
}

static void put_file(page *p, const char *path)
{
    chart_format format;
    size_t n;
    const bool known = chart_format_of(path, &format);
    char *data = known && (format == CHART_SVG || format == CHART_PNG) ? file_text(path, &n) : NULL;
    const char *slash = strrchr(path, '/');
    if (data) {
        put_image(p->out, data, n, format == CHART_PNG ? "png" : "svg+xml",
                  slash ? slash + 1 : path);
    } else {
        fputs("<p>In a file of its own: ", p->out);
        put(p->out, slash ? slash + 1 : path);
        fputs("</p>\n", p->out);
    }
    vs_free(data);
}

static void put_pictures(page *p)
{
    head(p->out, "pictures", "Pictures");
    if (!vec_len(p->card) && !vec_len(p->picture))
        fputs("<p>The deck asks for none (.plot, plot).</p>\n", p->out);
    for (size_t i = 0; i < vec_len(p->card); i++)
        put_card(p, &p->card[i]);
    for (size_t i = 0; i < vec_len(p->picture); i++)
        put_file(p, p->picture[i]);
}

/* -- the page -- */

static const char style[] =
    "<style>:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:60em;"
    "margin:2em auto;padding:0 1em}h1{font-size:1.5em;margin:0}h2{font-size:1.15em;margin:2em 0 "
    ".5em;"
    "border-bottom:1px solid #8886}pre{font:13px/1.4 ui-monospace,monospace;overflow:auto;"
    "background:#8881;padding:.8em;border-radius:4px}pre.bad{border-left:3px solid #c33}"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}td,th{text-align:left;"
    "padding:.15em .9em .15em 0;border-bottom:1px solid #8883}td.n,th.n{text-align:right}"
    "div.wide{overflow-x:auto}h3{font-size:1em;margin:1em 0 .2em}"
    "figure{margin:1em 0}img{max-width:100%;background:#fff}figcaption{color:#888;font-size:.9em}"
    "nav a{margin-right:1em}.ok{color:#2a7d3f}.no{color:#c33}"
    "@media print{details{display:block}}</style>";

static void put_head(page *p, const char *title)
{
    const char *slash = strrchr(p->j->deck, '/');
    fputs("<!doctype html>\n<html lang=en><head><meta charset=utf-8>"
          "<meta name=viewport content=\"width=device-width\"><title>",
          p->out);
    put(p->out, title);
    fprintf(p->out, "</title>%s</head><body>\n<h1>", style);
    put(p->out, title);
    fputs("</h1>\n<p>", p->out);
    put(p->out, slash ? slash + 1 : p->j->deck);
    fprintf(p->out, ": <b class=%s>%s</b></p>\n", p->run ? "no" : "ok", vs_status_text(p->run));
    fputs("<nav><a href=\"#messages\">Messages</a><a href=\"#op\">Operating point</a>"
          "<a href=\"#measures\">Measures</a><a href=\"#pictures\">Pictures</a>"
          "<a href=\"#printed\">Printed</a><a href=\"#deck\">Deck</a></nav>\n",
          p->out);
}

static void put_log(page *p)
{
    const size_t n = p->log ? strlen(p->log) : 0;
    head(p->out, "printed", "Printed");
    if (!n) {
        fputs("<p>Nothing.</p>\n", p->out);
        return;
    }
    if (n > MOST_LOG)
        p->log[MOST_LOG] = 0;
    fputs("<details><summary>What cards and commands print</summary>\n", p->out);
    put_text(p->out, p->log, NULL);
    if (n > MOST_LOG)
        fprintf(p->out, "<p>and %zu bytes more</p>\n", n - MOST_LOG);
    fputs("</details>\n", p->out);
}

static void put_times(const page *p)
{
    char date[64] = "";
    const time_t now = time(NULL);
    struct tm tm;
    if (localtime_r(&now, &tm))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &tm);
    fprintf(p->out, "<h2 id=\"times\">Times</h2>\n<p>%s; %.3g s</p>\n", date, p->seconds);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const included *)a)->name, ((const included *)b)->name);
}

static void put_files(const page *p)
{
    if (!vec_len(p->file))
        return;
    qsort(p->file, vec_len(p->file), sizeof *p->file, by_name);
    fputs("<table><tr><th>included<th class=n>bytes<th>sum</tr>\n", p->out);
    for (size_t k = 0; k < vec_len(p->file); k++) {
        fputs("<tr><td>", p->out);
        put(p->out, p->file[k].name);
        fprintf(p->out, "<td class=n>%zu<td><code>%016llx</code></tr>\n", p->file[k].n,
                (unsigned long long)p->file[k].sum.w[0]);
    }
    fputs("</table>\n", p->out);
}

static void put_page(page *p)
{
    size_t n = 0;
    char *deck = file_text(p->j->deck, &n);
    char *title = arena_strndup(&p->mem, deck ? deck : "", deck ? strcspn(deck, "\r\n") : 0);
    put_head(p, *title ? title : p->j->deck);
    head(p->out, "messages", "Messages");
    if (p->say && *p->say)
        put_text(p->out, p->say, "bad");
    else
        fputs("<p>No warnings.</p>\n", p->out);
    put_point(p);
    put_measures(p);
    put_pictures(p);
    put_log(p);
    head(p->out, "deck", "Deck");
    put_text(p->out, deck ? deck : "", NULL);
    put_files(p);
    fputs("<h2 id=\"versions\">Versions</h2>\n<p>vsim ", p->out);
    put(p->out, p->j->version);
    fputs("</p>\n", p->out);
    if (!p->o->no_times)
        put_times(p);
    fputs("</body></html>\n", p->out);
    vs_free(deck);
}

static vs_status write_page(page *p)
{
    char *text = NULL;
    size_t n = 0;
    const char *why = NULL;
    enum { SMALL = 64 << 20 };
    if (p->results && post_load_late(&p->set, p->j->raw, SMALL, true, &why))
        diag_warning(&p->d, DIAG_NOWHERE, "'%s' %s", p->j->raw, why);
    p->out = stream_text(&text, &n);
    put_page(p);
    stream_close(p->out);
    errno = 0;
    FILE *fp = stream_create(p->o->output, FILES_REPORT);
    const bool bad = !fp || fwrite(text, 1, n, fp) != n;
    const int error = errno;
    const bool lost = (fp && stream_close(fp)) || bad;
    if (lost)
        diag_error(&p->d, DIAG_NOWHERE, "report '%s': %s", p->o->output,
                   files_why(bad ? error : errno));
    vs_free(text);
    return lost ? VS_EIO : VS_OK;
}

/* What the run told. */
static void forget(page *p)
{
    for (size_t i = 0; i < vec_len(p->card); i++) {
        vs_free((char *)p->card[i].analysis);
        vs_free((char *)p->card[i].list);
    }
    for (size_t i = 0; i < vec_len(p->picture); i++)
        vs_free(p->picture[i]);
    for (size_t i = 0; i < vec_len(p->measure); i++)
        vs_free(p->measure[i]);
    for (size_t i = 0; i < vec_len(p->file); i++)
        vs_free(p->file[i].name);
    vec_free(p->card);
    vec_free(p->picture);
    vec_free(p->measure);
    vec_free(p->file);
    vec_free(p->value);
    vs_free(p->log);
    vs_free(p->say);
}

static vs_status make(void *arg)
{
    page *p = arg;
    p->own = heap_now();
    diag_init(&p->d);
    str_pool_init(&p->names);
    arena_init(&p->mem);
    post_set_init(&p->set, &p->names);
    p->e = (post_env){.set = &p->set, .d = &p->d, .span = DIAG_NOWHERE, .mem = &p->mem};
    run_it(p);
    if (p->j->streams.say && p->say)
        fputs(p->say, p->j->streams.say);
    const vs_status st = write_page(p);
    run_tell(&p->d, &p->j->streams);
    if (!p->o->keep_measures)
        unlink(p->j->measures);
    forget(p);
    post_set_fini(&p->set);
    arena_fini(&p->mem);
    str_pool_fini(&p->names);
    diag_fini(&p->d);
    return p->run ? p->run : st;
}

vsim_status vsim_inside_report(const vsim_inside_job *j, const vsim_inside_page *o)
{
    page p = {.j = j, .o = o};
    const run_guard g = {.memory = j->set.memory, .streams = &j->streams, .body = make};
    return (vsim_status)run_guarded(&g, &p);
}
