/* run_result.c - what clients ask of result files: pictures. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmp.h"
#include "conv.h"
#include "fig.h"
#include "run_priv.h"
#include "stream.h"
#include "vec.h"

/* Result files in memory, and expressions on them. */
typedef struct bench {
    diag d;
    str_pool names;
    arena mem;
    post_set set;
    post_env e;
    const vsim_inside_streams *s;
    const char *plugins;
    const char **note; /* vec: what of the files was not read */
} bench;

static void bench_begin(bench *b, const vsim_settings *set, const vsim_inside_streams *s)
{
    *b = (bench){.s = s, .plugins = set->plugins};
    diag_init(&b->d);
    b->d.variable = set->variable;
    b->d.variable_user = set->user;
    str_pool_init(&b->names);
    arena_init(&b->mem);
    post_set_init(&b->set, &b->names);
    b->e = (post_env){.set = &b->set, .d = &b->d, .span = DIAG_NOWHERE, .mem = &b->mem};
}

static vs_status bench_end(bench *b, vs_status st)
{
    const char *path, *why = post_trouble(&b->set, &path);
    if (why && !st) {
        diag_error(&b->d, DIAG_NOWHERE, "'%s' %s", path, why);
        st = VS_EIO;
    }
    run_tell(&b->d, b->s);
    post_set_fini(&b->set);
    vec_free(b->note);
    arena_fini(&b->mem);
    str_pool_fini(&b->names);
    diag_fini(&b->d);
    return st;
}

static vs_status fail(bench *b, vs_status st, const char *what, const char *path, const char *why)
{
    diag_error(&b->d, DIAG_NOWHERE, "%s'%s': %s", what, path, why);
    return st;
}

/* Bytes of a file beyond which only the vectors that are asked for are read. */
enum { LATE = 64 << 20 };

void run_tell_notes(diag *d, const char *path, const conv_notes *notes)
{
    char text[CONV_WHY];
    for (size_t k = 0; conv_note(notes, k, text); k++)
        diag_warning(d, DIAG_NOWHERE, "'%s': %s", path, text);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* For a page. */
static void keep_notes(bench *b, const char *path, const conv_notes *notes, const char *damage)
{
    char text[CONV_WHY];
    const char *name = base_name(path);
    for (size_t k = 0; conv_note(notes, k, text); k++)
        vec_push(b->note, arena_printf(&b->mem, "'%s': %s", name, text));
    if (damage)
        vec_push(b->note, arena_printf(&b->mem, "'%s' %s: what stands in front of that is used",
                                       name, damage));
}

/* Reads a file. Of a damaged one the plots in front of the damage are used, with a warning.
 *   axes_late  as in conv_opt */
static vs_status read_file(bench *b, const char *path, bool axes_late)
{
    char why[CONV_WHY] = "";
    conv_notes *notes = vs_calloc(1, sizeof *notes);
    const conv_opt o = {
        .plugins = b->plugins, .late = LATE, .axes_late = axes_late, .notes = notes};
    const size_t before = vec_len(b->set.plot);
    const vs_status st = conv_read(&b->set, path, &o, why);
    const bool damaged = st == VS_EINPUT && vec_len(b->set.plot) > before;
    run_tell_notes(&b->d, path, notes);
    keep_notes(b, path, notes, damaged ? why : NULL);
    vs_free(notes);
    if (!st)
        return VS_OK;
    if (damaged) {
        diag_warning(&b->d, DIAG_NOWHERE, "'%s' %s: what stands in front of that is used", path,
                     why);
        return VS_OK;
    }
    diag_error(&b->d, DIAG_NOWHERE, st == VS_EIO ? "'%s': %s" : "'%s' %s", path, why);
    return st;
}

/* Lets messages about an expression show its text. */
static void show_text(bench *b, const char *text)
{
    const int32_t file = diag_add_file(&b->d, "expression", text, strlen(text), DIAG_NOWHERE);
    b->e.line = diag_text(&b->d, file);
    b->e.span = b->e.line_at = (diag_span){file, 0, (uint32_t)strlen(text)};
}

/* -- which plots -- */

/* The length of the word for the kind of analysis; the values of a sweep follow it in the title. */
static size_t kind_of(const post_plot *p)
{
    const char *family = fig_family(p);
    return family ? (size_t)(family - p->what) - 2 : strlen(p->what);
}

static bool alike(const post_plot *a, const post_plot *b)
{
    return kind_of(a) == kind_of(b) && !strncmp(a->what, b->what, kind_of(a));
}

static bool has_name(const post_plot *p, const char *name)
{
    return !str_casecmp(post_word_of(p->what), name) || !str_casecmp(p->name, name) ||
           !str_casecmp(p->what, name);
}

/* Whether the k-th plot is the first of its kind. Of very many plots only the newest are compared.
 */
static bool is_first(const post_set *set, size_t k)
{
    for (size_t i = k > 1000 ? k - 1000 : 0; i < k; i++)
        if (alike(set->plot[i], set->plot[k]))
            return false;
    return true;
}

static void list_kinds(bench *b)
{
    for (size_t i = 0, told = 0; i < vec_len(b->set.plot) && told < 20; i++) {
        const post_plot *p = b->set.plot[i];
        if (!is_first(&b->set, i))
            continue;
        diag_note(&b->d, DIAG_NOWHERE, "plot %zu is '%s' (%s)", i + 1, p->what,
                  post_word_of(p->what));
        told++;
    }
}

static size_t points(const post_plot *p) { return vec_len(p->vec) ? p->vec[0]->n : 0; }

/* The first plot that is a curve, or else the first that has points at all (an operating point in
 * front of a transient is seldom what somebody wants to see). NULL: none has. */
static const post_plot *first_to_show(const post_set *set)
{
    const post_plot *one = NULL;
    for (size_t i = 0; i < vec_len(set->plot); i++) {
        const size_t n = points(set->plot[i]);
        if (n > 1)
            return set->plot[i];
        if (n && !one)
            one = set->plot[i];
    }
    return one;
}

/* The plots that `name` means: a number from 1 is one, a word all of that kind; NULL: all like
 * first_to_show. A vec; NULL after a message. */
static post_plot **choose(bench *b, const char *name)
{
    post_plot **all = b->set.plot, **out = NULL;
    char *end = NULL;
    const long k = name ? strtol(name, &end, 10) : 0;
    if (name && end != name && !*end) {
        if (k >= 1 && (size_t)k <= vec_len(all)) {
            vec_push(out, all[k - 1]);
            return out;
        }
        diag_error(&b->d, DIAG_NOWHERE, "there is no plot %ld: the files have %zu", k,
                   vec_len(all));
        list_kinds(b);
        return NULL;
    }
    const post_plot *first = name ? NULL : first_to_show(&b->set);
    for (size_t i = 0; i < vec_len(all); i++)
        if (out    ? alike(out[0], all[i])
            : name ? has_name(all[i], name)
                   : first && alike(first, all[i]))
            vec_push(out, all[i]);
    if (!out) {
        if (name)
            diag_error(&b->d, DIAG_NOWHERE, "no plot of the files is called '%s'", name);
        else
            diag_error(&b->d, DIAG_NOWHERE, "the plots of the files have no points");
        list_kinds(b);
    }
    return out;
}

/* -- pictures -- */

typedef struct draw_question {
    const vsim_settings *set;
    const vsim_inside_streams *s;
    const vsim_inside_picture *p;
} draw_question;

/* Lists the vectors of each kind of plot, for a call without expressions. */
static void list_vectors(const bench *b, FILE *out)
{
    for (size_t i = 0; i < vec_len(b->set.plot); i++) {
        const post_plot *p = b->set.plot[i];
        size_t like = 0;
        if (!is_first(&b->set, i))
            continue;
        for (size_t k = i + 1; k < vec_len(b->set.plot); k++)
            like += alike(p, b->set.plot[k]);
        fprintf(out, "%s%zu %s: %s, %lld points", i ? "\n" : "", i + 1, post_word_of(p->what),
                p->what, vec_len(p->vec) ? (long long)p->vec[0]->n : 0);
        if (like)
            fprintf(out, ", and %zu more like it", like);
        fputc('\n', out);
        for (size_t k = 0; k < vec_len(p->vec); k++)
            fprintf(out, "  %-24s %s%s\n", p->vec[k]->name, p->vec[k]->type,
                    p->vec[k]->complex ? ", complex" : "");
    }
}

static fig_request request_of(const draw_question *q)
{
    const vsim_inside_picture *p = q->p;
    fig_request r = {.title = p->title,
                     .xlabel = p->xlabel,
                     .ylabel = p->ylabel,
                     .xlo = p->xlo,
                     .xhi = p->xhi,
                     .ylo = p->ylo,
                     .yhi = p->yhi,
                     .xlog = p->xlog,
                     .ylog = p->ylog,
                     .stack = p->stack,
                     .dark = p->dark,
                     .width = p->width,
                     .height = p->height,
                     .plugins = q->set->plugins};
    if (p->kind)
        r.kind = *p->kind == 'b' ? FIG_BODE : *p->kind == 's' ? FIG_SMITH : FIG_POLAR;
    if (p->style)
        (void)chart_style_of(p->style, &r.style);
    return r;
}

/* The name of a family's member; with several files the name of the plot's file is part of it. */
static const char *member_name(bench *b, const post_plot *p, size_t n_file, const char *const *file,
                               const size_t *first)
{
    const char *family = fig_family(p);
    if (n_file < 2)
        return family;
    size_t k = 0, i = 0;
    while (b->set.plot[i] != p)
        i++;
    while (k + 1 < n_file && first[k + 1] <= i)
        k++;
    return family ? arena_printf(&b->mem, "%s, %s", base_name(file[k]), family)
                  : base_name(file[k]);
}

static vs_status evaluate(bench *b, const vsim_inside_picture *p, size_t n_file,
                          const size_t *first, fig *f)
{
    post_plot **family = choose(b, p->plot);
    const size_t n = vec_len(family);
    vs_status st = n ? VS_OK : VS_EINPUT;
    char *list = NULL, *text = NULL;
    size_t bytes;
    FILE *fp = stream_text(&text, &bytes);
    for (size_t i = n_file; i < p->n_word; i++)
        fprintf(fp, "%s%s", i > n_file ? " " : "", p->word[i]);
    stream_close(fp);
    list = arena_strndup(&b->mem, text, bytes);
    vs_free(text);
    show_text(b, list);
    for (size_t i = 0; i < n && !st; i++) {
        b->set.current = family[i];
        const char *name =
            n > 1 || n_file > 1 ? member_name(b, family[i], n_file, p->word, first) : NULL;
        if (!fig_eval(f, &b->e, b->e.line, p->over, name))
            st = VS_EINPUT;
    }
    vec_free(family);
    return st;
}

enum { LETTER_WIDTH = 8, LETTER_HEIGHT = 16 }; /* pixels, of vsim_inside_picture */

/* Writes the picture to its file, or to the log as letters or pixels. */
static vs_status put_picture(bench *b, const draw_question *q, const fig *f)
{
    const vsim_inside_picture *p = q->p;
    fig_request r = request_of(q);
    r.note = b->note;
    r.n_note = vec_len(b->note);
    const chart_format letters = p->colour ? CHART_ANSI : CHART_TXT;
    chart_format format = !p->pixels                    ? letters
                          : !strcmp(p->pixels, "kitty") ? CHART_KITTY
                                                        : CHART_SIXEL;
    if (p->output)
        (void)chart_format_of(p->output, &format);
    const char *why = "";
    char *text = NULL;
    size_t n;
    FILE *fp = stream_text(&text, &n);
    vs_status st = fig_draw(f, &b->e, &r, format, fp, &why);
    if (st == VS_EUNSUPPORTED && p->pixels && p->or_letters && !p->output) {
        fig_request small = r;
        small.width /= LETTER_WIDTH;
        small.height /= LETTER_HEIGHT;
        st = fig_draw(f, &b->e, &small, letters, fp, &why);
    }
    if (stream_close(fp) && !st)
        st = VS_EIO;
    if (st) {
        diag_error(&b->d, DIAG_NOWHERE, "%s", why);
    } else if (!p->output) {
        fwrite(text, 1, n, q->s->log);
    } else {
        errno = 0;
        fp = stream_create(p->output, FILES_PICTURE);
        const bool bad = !fp || fwrite(text, 1, n, fp) != n;
        const int error = errno;
        if ((fp && stream_close(fp)) || bad)
            st = fail(b, VS_EIO, "picture ", p->output, files_why(bad ? error : errno));
    }
    vs_free(text);
    return st;
}

/* Whether word i names a file: the first does, and so do others that exist or end like one. */
static bool is_file(const vsim_inside_picture *p, size_t i)
{
    const char *dot = strrchr(p->word[i], '.');
    return !i || !access(p->word[i], R_OK) || (dot && !str_casecmp(dot, ".raw"));
}

static vs_status draw(void *arg)
{
    const draw_question *q = arg;
    const vsim_inside_picture *p = q->p;
    bench b;
    fig f = {0};
    size_t n_file = 0, *first = vs_calloc(p->n_word + 1, sizeof *first);
    bench_begin(&b, q->set, q->s);
    chart_format format;
    vs_status st = VS_OK;
    if (p->output && !chart_format_of(p->output, &format))
        st = fail(&b, VS_EINPUT, "picture ", p->output,
                  "the name ends with none of .svg .png .pdf .html .txt");
    for (; n_file < p->n_word && !st && is_file(p, n_file); n_file++) {
        first[n_file] = vec_len(b.set.plot);
        st = read_file(&b, p->word[n_file], false);
    }
    if (!st && n_file == p->n_word && !p->output) {
        list_vectors(&b, q->s->log);
    } else if (!st && n_file == p->n_word) {
        diag_error(&b.d, DIAG_NOWHERE,
                   "there is nothing to draw: expressions are expected behind "
                   "the files");
        st = VS_EINPUT;
    } else if (!st) {
        st = evaluate(&b, p, n_file, first, &f);
        if (!st)
            st = put_picture(&b, q, &f);
    }
    fig_fini(&f);
    vs_free(first);
    return bench_end(&b, st);
}

vsim_status vsim_inside_draw(const vsim_settings *set, const vsim_inside_streams *s,
                             const vsim_inside_picture *p)
{
    draw_question q = {set, s, p};
    const run_guard g = {.memory = set->memory, .streams = s, .body = draw};
    return (vsim_status)run_guarded(&g, &q);
}

/* -- conversions -- */

typedef struct convert_question {
    const vsim_settings *set;
    const vsim_inside_streams *s;
    const vsim_inside_conversion *c;
} convert_question;

/* Checks that a format whose files hold one plot is given one plot. */
static vs_status check_room(bench *b, post_plot *const *plot, conv_format f, const char *to)
{
    const size_t n = vec_len(plot);
    if (n < 2 || conv_room_of(f) != CONV_ONE)
        return VS_OK;
    diag_error(&b->d, DIAG_NOWHERE,
               "'%s' has room for one plot, and there are %zu like '%s': choose one with --plot N",
               to, n, plot[0]->what);
    list_kinds(b);
    return VS_EINPUT;
}

/* Warns of what a file of this format does not show of the plots: others than these, and where
 * vectors of different lengths stand in one table. */
static void tell_losses(bench *b, post_plot *const *plot, size_t n, const vsim_inside_conversion *c,
                        conv_format f)
{
    const size_t others = vec_len(b->set.plot) - n;
    if (others && !c->plot)
        diag_warning(&b->d, DIAG_NOWHERE,
                     "'%s' has %s: %zu other%s of '%s' %s not in it (--plot chooses)", c->to,
                     n == 1 ? "one plot" : "plots of one kind", others, others == 1 ? "" : "s",
                     c->from, others == 1 ? "is" : "are");
    for (size_t i = 0; i < n && f != CONV_HDF5 && f != CONV_MAT; i++) {
        const int64_t longest = conv_points(plot[i]);
        for (size_t k = 0; k < vec_len(plot[i]->vec); k++) {
            const post_vec *v = plot[i]->vec[k];
            if (v->n < 2 || v->n == longest)
                continue;
            diag_warning(&b->d, DIAG_NOWHERE,
                         "'%s': vectors of '%s' differ in length; '%s' goes on with its last value",
                         c->to, plot[i]->what, v->name);
            break;
        }
    }
}

static vs_status convert_plots(bench *b, const convert_question *q, conv_format f)
{
    const vsim_inside_conversion *c = q->c;
    const conv_opt o = {.low = c->low,
                        .high = c->high,
                        .z0 = c->z0,
                        .n_z0 = c->n_z0,
                        .zstd = c->compress && !strcmp(c->compress, "zstd"),
                        .plugins = q->set->plugins};
    char why[CONV_WHY] = "";
    const bool all = !c->plot && conv_room_of(f) == CONV_MANY;
    post_plot **plot = all ? NULL : choose(b, c->plot);
    const size_t n = all ? vec_len(b->set.plot) : vec_len(plot);
    vs_status st = n ? check_room(b, plot, f, c->to) : VS_EINPUT;
    if (!n && all)
        diag_error(&b->d, DIAG_NOWHERE, "'%s' has no plots", c->from);
    if (!st) {
        tell_losses(b, all ? b->set.plot : plot, n, c, f);
        st = conv_write(all ? b->set.plot : plot, n, c->to, f, &o, why);
        if (st)
            diag_error(&b->d, DIAG_NOWHERE, st == VS_EIO ? "'%s': %s" : "'%s' %s", c->to, why);
    }
    if (!st && f == CONV_VCD && isnan(c->low) && !q->s->quiet)
        fprintf(q->s->log, "threshold: %.6g V, the middle of all voltages (--threshold LOW,HIGH)\n",
                conv_middle(plot[0]));
    const bool network = f == CONV_TOUCHSTONE || f == CONV_TOUCHSTONE2;
    if (!st && !c->n_z0 && !q->s->quiet && network && !plot[0]->z0)
        fprintf(q->s->log, "reference: 50 ohm at each port (--reference R,...)\n");
    vec_free(plot);
    return st;
}

static vs_status convert(void *arg)
{
    const convert_question *q = arg;
    const vsim_inside_conversion *c = q->c;
    bench b;
    conv_format f = CONV_RAW;
    bench_begin(&b, q->set, q->s);
    vs_status st = VS_OK;
    if (!conv_format_of(c->to, &f)) {
        diag_error(&b.d, DIAG_NOWHERE, "'%s' ends with none of %s", c->to, conv_endings);
        st = VS_EINPUT;
    } else if (c->compress && f != CONV_PARQUET) {
        diag_error(&b.d, DIAG_NOWHERE, "'%s' is not compressed: --compress is for .parquet", c->to);
        st = VS_EINPUT;
    }
    if (f == CONV_RAW && c->ascii)
        f = CONV_ASCII;
    if (!st)
        st = read_file(&b, c->from, true);
    if (!st)
        st = convert_plots(&b, q, f);
    return bench_end(&b, st);
}

vsim_status vsim_inside_convert(const vsim_settings *set, const vsim_inside_streams *s,
                                const vsim_inside_conversion *c)
{
    convert_question q = {set, s, c};
    const run_guard g = {.memory = set->memory, .streams = s, .body = convert};
    return (vsim_status)run_guarded(&g, &q);
}

/* -- comparisons -- */

typedef struct compare_question {
    const vsim_settings *set;
    const vsim_inside_streams *s;
    const vsim_inside_comparison *c;
    int64_t *differ;
} compare_question;

/* The plots [from, to) that `name` means; NULL: all of them. A vec. */
static post_plot **part_of(const bench *b, size_t from, size_t to, const char *name)
{
    post_plot **out = NULL;
    char *end = NULL;
    const long k = name ? strtol(name, &end, 10) : 0;
    const bool number = name && end != name && !*end;
    for (size_t i = from; i < to; i++) {
        post_plot *p = b->set.plot[i];
        if (!name || (number ? (size_t)k == i - from + 1 : has_name(p, name)))
            vec_push(out, p);
    }
    return out;
}

/* The plot of `list` to compare with p, the i-th of the other file: one of the same name, that at
 * place i first. `only`: each file has one plot, and names do not count. Taken plots are NULL. */
static post_plot **partner_of(post_plot **list, const post_plot *p, size_t i, bool only)
{
    const size_t n = vec_len(list);
    for (size_t k = 0; k <= n; k++) { /* the same place first */
        const size_t at = k ? k - 1 : i;
        if (at < n && list[at] && (only || !strcmp(list[at]->what, p->what)))
            return &list[at];
    }
    return NULL;
}

static void compare_plots(cmp *c, post_plot **a, post_plot **b)
{
    const bool only = vec_len(a) == 1 && vec_len(b) == 1;
    for (size_t i = 0; i < vec_len(a); i++) {
        post_plot **to = partner_of(b, a[i], i, only);
        cmp_plots(c, a[i], to ? *to : NULL);
        if (to)
            *to = NULL;
    }
    for (size_t i = 0; i < vec_len(b); i++)
        if (b[i])
            cmp_plots(c, NULL, b[i]);
}

static void tell_differences(const cmp *c, bool many, FILE *out)
{
    enum { MOST = 100 };
    char text[300];
    const size_t n = vec_len(c->found);
    for (size_t i = 0; i < n && i < MOST; i++) {
        const cmp_found *f = &c->found[i];
        const post_plot *p = f->plot_a ? f->plot_a : f->plot_b;
        cmp_text(f, text, sizeof text);
        fprintf(out, "%s %s%s%s\n", (f->a ? f->a : f->b)->name, text, many ? "; " : "",
                many ? p->what : "");
    }
    if (n > MOST)
        fprintf(out, "and %zu more\n", n - MOST);
    fprintf(out, "%lld signal%s agree%s, %zu difference%s\n", (long long)c->n_same,
            c->n_same == 1 ? "" : "s", c->n_same == 1 ? "s" : "", n, n == 1 ? "" : "s");
}

/* Writes a number, null for NaN and infinity, which JSON lacks. */
static void json_number(FILE *out, const char *key, double x)
{
    if (isfinite(x))
        fprintf(out, ", \"%s\": %.17g", key, x);
    else
        fprintf(out, ", \"%s\": null", key);
}

static void json_difference(const cmp_found *f, FILE *out)
{
    char text[300];
    const post_plot *p = f->plot_a ? f->plot_a : f->plot_b;
    cmp_text(f, text, sizeof text);
    fputs("{\"signal\": ", out);
    rep_json_string(out, (f->a ? f->a : f->b)->name);
    fputs(", \"plot\": ", out);
    rep_json_string(out, p->what);
    fprintf(out, ", \"kind\": \"%s\"", cmp_kind_word(f->kind));
    if (f->kind < CMP_SHAPE || f->kind == CMP_END) {
        json_number(out, "at", f->at);
        json_number(out, "size", f->size);
        json_number(out, "tolerance", f->tolerance);
    }
    if (f->kind == CMP_EDGE)
        fprintf(out, ", \"edge\": %lld, \"rise\": %s", (long long)f->index,
                f->rise ? "true" : "false");
    if (f->kind == CMP_EDGES)
        fprintf(out, ", \"edges\": [%lld, %lld]", (long long)f->n_a, (long long)f->n_b);
    if (f->kind == CMP_PERIOD) {
        json_number(out, "period_a", f->period_a);
        json_number(out, "period_b", f->period_b);
    }
    fputs(", \"text\": ", out);
    rep_json_string(out, text);
    fputc('}', out);
}

/* Writes all differences, not only the first ones: programs read them. */
static void json_differences(const cmp *c, FILE *out)
{
    const cmp_found *worst = cmp_worst(c);
    const size_t n = vec_len(c->found);
    fprintf(out, "{\"agree\": %lld, \"worst\": ", (long long)c->n_same);
    if (worst)
        fprintf(out, "%zd", worst - c->found);
    else
        fputs("null", out);
    fputs(", \"differences\": [", out);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? ",\n  " : "\n  ", out);
        json_difference(&c->found[i], out);
    }
    fputs("]}\n", out);
}

/* The vector as an expression's value. */
static post_val value_of(const post_vec *v, const post_plot *p, const char *name)
{
    return (post_val){
        .complex = v->complex, .n = v->n, .v = v->v, .plot = p, .type = v->type, .name = name};
}

/* The part of the axis to draw: some periods, or some widths of a late edge, around the difference.
 */
static void look_at(const cmp_found *f, double *lo, double *hi)
{
    const post_vec *x = f->plot_a->scale;
    *lo = *hi = NAN;
    if (!x || x->complex || x->n < 2 || f->kind == CMP_OFFSET)
        return;
    const double from = x->v[0], to = x->v[x->n - 1], span = to - from;
    double half = f->period_a > 0 ? 3 * f->period_a : span / 20;
    if (f->kind == CMP_EDGE)
        half = fmax(fmin(half, span / 40), 5 * fabs(f->size));
    if (!(span > 4 * half))
        return;
    const double middle = fmin(fmax(f->at, from + half), to - half);
    *lo = middle - half;
    *hi = middle + half;
}

/* Draws both curves. */
static vs_status draw_worst(bench *b, const compare_question *q, const cmp_found *f)
{
    fig pic = {0};
    char text[300];
    const vsim_inside_comparison *c = q->c;
    cmp_text(f, text, sizeof text);
    double lo, hi;
    look_at(f, &lo, &hi);
    const vsim_inside_picture p = {.output = c->output,
                                   .title = arena_printf(&b->mem, "%s %s", f->a->name, text),
                                   .xlo = lo,
                                   .xhi = hi,
                                   .ylo = NAN,
                                   .yhi = NAN};
    const draw_question d = {q->set, q->s, &p};
    post_fetch(f->plot_a, (post_vec *const *)&f->a, 1);
    post_fetch(f->plot_b, (post_vec *const *)&f->b, 1);
    const post_val v = value_of(f->a, f->plot_a,
                                arena_printf(&b->mem, "%s of %s", f->a->name, c->a)),
                   w = value_of(f->b, f->plot_b,
                                arena_printf(&b->mem, "%s of %s", f->b->name, c->b));
    fig_add(&pic, &v, 1, NULL, NULL);
    fig_add(&pic, &w, 1, NULL, NULL);
    pic.value[1].expression = 1;
    pic.n_member = 1; /* no family: two curves */
    const vs_status st = put_picture(b, &d, &pic);
    fig_fini(&pic);
    return st;
}

static vs_status compare(void *arg)
{
    const compare_question *q = arg;
    const vsim_inside_comparison *c = q->c;
    const cmp_opt usual = cmp_defaults(),
                  o = {.reltol = isnan(c->reltol) ? usual.reltol : c->reltol,
                       .abstol = c->abstol,
                       .time_shift = c->time_shift,
                       .common = c->common};
    bench b;
    cmp found;
    post_plot **first = NULL, **second = NULL;
    bench_begin(&b, q->set, q->s);
    cmp_init(&found, &o);
    vs_status st = read_file(&b, c->a, false);
    const size_t n = vec_len(b.set.plot);
    if (!st)
        st = read_file(&b, c->b, false);
    if (!st) {
        first = part_of(&b, 0, n, c->plot);
        second = part_of(&b, n, vec_len(b.set.plot), c->plot);
        if (!first && !second) {
            diag_error(&b.d, DIAG_NOWHERE, "there is nothing to compare: no plot is called '%s'",
                       c->plot ? c->plot : "");
            st = VS_EINPUT;
        }
    }
    if (!st) {
        const bool many = vec_len(first) > 1 || vec_len(second) > 1;
        compare_plots(&found, first, second);
        *q->differ = (int64_t)vec_len(found.found);
        if (c->json)
            json_differences(&found, q->s->log);
        else if (!q->s->quiet)
            tell_differences(&found, many, q->s->log);
        const cmp_found *worst = cmp_worst(&found);
        if (worst && c->output)
            st = draw_worst(&b, q, worst);
    }
    vec_free(first);
    vec_free(second);
    cmp_fini(&found);
    return bench_end(&b, st);
}

vsim_status vsim_inside_compare(const vsim_settings *set, const vsim_inside_streams *s,
                                const vsim_inside_comparison *c, int64_t *differ)
{
    compare_question q = {set, s, c, differ};
    const run_guard g = {.memory = set->memory, .streams = s, .body = compare};
    *differ = 0;
    return (vsim_status)run_guarded(&g, &q);
}
