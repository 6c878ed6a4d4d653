/* ctl_vec.c - vectors and plots: let, print, echo, write, wrdata, display, setplot. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ctl_priv.h"
#include "out_name.h"
#include "table.h"
#include "stream.h"

/* -- lists of expressions -- */

/* A vector's name as commands show it: ngspice's name for it if the program runs as ngspice. */
static const char *shown_name(ctl *c, const post_vec *v)
{
    char name[OUT_NAME];
    return sim_opts(c->s)->manner.ngspice
               ? arena_printf(&c->scratch, "%s", out_ng_memory(name, v->name))
               : v->name;
}

bool ctl_values(ctl *c, const char *text, post_val **out)
{
    return post_eval_list(&c->e, text, out);
}

/* -- let -- */

static post_plot *plot_of(ctl *c, const char **name)
{
    const char *dot = strchr(*name, '.');
    post_plot *p = dot ? post_set_find(sim_plots(c->s),
                                       arena_strndup(&c->scratch, *name, (size_t)(dot - *name)))
                       : NULL;
    if (p)
        *name = dot + 1;
    return p ? p : sim_plots(c->s)->current;
}

/* The vector that a let without a plot's name means: that of the current plot, or one made before
 * the first analysis, so that loops over analyses count on. NULL: none. */
static post_vec *let_target(ctl *c, const post_plot *p, const char *name, bool named)
{
    post_vec *v = post_plot_find(p, name);
    const post_plot *first = named || v ? NULL : post_set_find(sim_plots(c->s), "const");
    return first ? post_plot_find(first, name) : v;
}

/* v(NODE), where no node may be so called: a vector of this name. */
static bool is_voltage(const char *name)
{
    const size_t n = strlen(name);
    return n > 3 && !str_ncasecmp(name, "v(", 2) && name[n - 1] == ')' &&
           2 + strcspn(name + 2, " \t()'\"$,<>") == n - 1;
}

static bool may_name(const char *name)
{
    const bool limit = !str_ncasecmp(name, "lin-", 4) || !str_ncasecmp(name, "cut-", 4);
    return is_voltage(name) || (*name && !strpbrk(name, " \t()'\"$+*/<>") &&
                                (!strchr(name, '-') || limit) && (*name < '0' || *name > '9'));
}

/* Takes "> word" off the end of an expression of ngspice's manner, where no vector is so called:
 * a file, as ngspice takes it. What is left is in scratch. */
static vs_status take_file(ctl *c, const char **text)
{
    const char *mark = strrchr(*text, '>');
    if (!mark || mark == *text || !strchr(" \t", mark[-1]) || !strchr(" \t", mark[1]) ||
        !sim_opts(c->s)->manner.ngspice)
        return VS_OK;
    const char *word = mark + strspn(mark, "> \t");
    double x;
    if (!*word || word[strcspn(word, " \t()+-*/^?:<>=&|")] || str_spice_number(word, NULL, &x) ||
        post_is_vector(&c->e, word))
        return VS_OK;
    diag_warning(c->d, ctl_place(c, mark, strlen(mark)),
                 "there is no vector '%s': what the command prints goes to a file of this name, as "
                 "with ngspice",
                 word);
    return ctl_redirect(c, text);
}

/* let name = expr | let name[i][j] = expr | let plot.name = expr */
vs_status ctl_let(ctl *c, const char *text)
{
    const char *eq = strchr(text, '=');
    if (!*text)
        return ctl_display(c, "");
    if (!eq)
        return ctl_fail(c, "let takes a name and an expression: let x = 2*v(out)");
    const char *end = eq;
    while (end > text && strchr(" \t", end[-1]))
        end--;
    const char *name = arena_strndup(&c->scratch, text, (size_t)(end - text)), *index = NULL;
    const char *open = strchr(name, '[');
    if (open) {
        index = open;
        name = arena_strndup(&c->scratch, name, (size_t)(open - name));
    }
    const char *whole = name;
    post_plot *p = plot_of(c, &name);
    post_val v;
    if (!may_name(name))
        return ctl_fail(c, "'%s' cannot be the name of a vector", name);
    const char *value = eq + 1;
    const vs_status file = take_file(c, &value);
    if (file)
        return file;
    if (!post_eval(&c->e, value, &v))
        return VS_EINPUT;
    if (v.derived && sim_opts(c->s)->manner.ngspice) /* in ngspice's files the type shows in the
                                                        name */
        v.type = "notype";
    post_vec *made = let_target(c, p, name, whole != name);
    if (index)
        return ctl_assign_part(c, made, name, index, &v);
    if (!made)
        made = post_plot_add(sim_plots(c->s), p, name, v.type, v.complex);
    int64_t *dim = arena_alloc(&c->scratch, (v.n_dim + 1) * sizeof *dim); /* v may be of `made` */
    if (v.n_dim)
        memcpy(dim, v.dim, v.n_dim * sizeof *dim);
    post_vec_set(made, v.v, v.n, v.complex);
    post_vec_shape(made, dim, v.n_dim);
    made->type = str_intern0(c->names, v.type);
    return VS_OK;
}

vs_status ctl_unlet(ctl *c, const char *text)
{
    char **w = ctl_words(c, text);
    vs_status st = VS_OK;
    for (size_t i = 0; i < vec_len(w); i++) {
        const char *name = w[i];
        post_plot *p = plot_of(c, &name);
        post_vec *v = post_plot_find(p, name);
        if (v)
            post_plot_remove(p, v);
        else
            st = ctl_fail(c, "there is no vector '%s'", w[i]);
    }
    vec_free(w);
    return st;
}

/* The text without blanks around its equals signs. */
static const char *joined(ctl *c, const char *text)
{
    char *s = arena_strndup(&c->scratch, text, strlen(text)), *to = s;
    for (const char *p = text; *p; p++) {
        const bool blank = *p == ' ' || *p == '\t';
        if (blank && (p[strspn(p, " \t")] == '=' || (to > s && to[-1] == '=')))
            continue;
        *to++ = *p;
    }
    *to = 0;
    return s;
}

/* compose name values a b c | compose name start=a stop=b (step=d | lin=n | log=n) */
vs_status ctl_compose(ctl *c, const char *text)
{
    char **w = ctl_words(c, joined(c, text));
    double *x = NULL, start = 0, stop = NAN, step = NAN, lin = NAN, log = NAN;
    vs_status st = VS_OK;
    if (vec_len(w) < 3)
        st = ctl_fail(c, "compose takes a name and 'values' with numbers, or start=, stop= and "
                         "step= or lin= or log=");
    else if (!may_name(w[0]))
        st = ctl_fail(c, "'%s' cannot be the name of a vector", w[0]);
    if (!st && !str_casecmp(w[1], "values")) {
        for (size_t i = 2; i < vec_len(w) && !st; i++) {
            double y;
            if (post_eval_number(&c->e, w[i], &y))
                vec_push(x, y);
            else
                st = VS_EINPUT;
        }
    } else if (!st) {
        static const char *const key[] = {"start", "stop", "step", "lin", "log"};
        double *to[] = {&start, &stop, &step, &lin, &log};
        for (size_t i = 1; i < vec_len(w) && !st; i++) {
            char *eq = strchr(w[i], '=');
            size_t k = 0;
            while (eq && k < VS_COUNT(key) &&
                   (strlen(key[k]) != (size_t)(eq - w[i]) ||
                    str_ncasecmp(key[k], w[i], strlen(key[k]))))
                k++;
            if (!eq || k == VS_COUNT(key))
                st = ctl_fail(c, "'%s' is not start=, stop=, step=, lin= or log=", w[i]);
            else if (!post_eval_number(&c->e, eq + 1, to[k]))
                st = VS_EINPUT;
        }
        double n = !isnan(lin) ? lin : !isnan(log) ? log : floor((stop - start) / step + 1e-9) + 1;
        if (!st && !isnan(step) + !isnan(lin) + !isnan(log) > 1)
            st = ctl_fail(c, "compose takes one of step=, lin= and log=");
        if (!st &&
            (!(n >= 1 && n <= 1e8) || n != floor(n) || (!isnan(log) && !(start > 0 && stop > 0))))
            st = ctl_fail(c, "these limits give no points");
        for (double k = 0; !st && k < n; k++) {
            double u = n > 1 ? k / (n - 1) : 0;
            vec_push(x, !isnan(log)   ? start * pow(stop / start, u)
                        : !isnan(lin) ? start + (stop - start) * u
                                      : start + k * step);
        }
    }
    if (!st) {
        post_vec *v =
            post_plot_add(sim_plots(c->s), sim_plots(c->s)->current, w[0], "notype", false);
        post_vec_set(v, x, (int64_t)vec_len(x), false);
    }
    vec_free(x);
    vec_free(w);
    return st;
}

/* -- define -- */

static void forget(ctl *c, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < vec_len(c->def); i++)
        if (str_casecmp(c->def[i].name, name))
            c->def[n++] = c->def[i];
        else
            vec_free(c->def[i].arg);
    if (c->def)
        vec_head_of(c->def)->len = n;
    c->e.def = c->def;
}

/* define f(x,y) text */
vs_status ctl_define(ctl *c, const char *text)
{
    const char *open = strchr(text, '('), *close = open ? strchr(open, ')') : NULL;
    if (!close || open == text || !close[1 + strspn(close + 1, " \t=")])
        return ctl_fail(c, "define takes a function and its expression: define par(x,y) x*y/(x+y)");
    post_def d = {.name = str_intern_lower(c->names, text, strcspn(text, " \t("))};
    for (const char *s = open + 1; s < close;) {
        s += strspn(s, " \t,");
        size_t n = strcspn(s, " \t,)");
        if (n)
            vec_push(d.arg, str_intern_lower(c->names, s, n));
        s += n + (s + n < close && !n);
    }
    const char *body = close + 1 + strspn(close + 1, " \t=");
    d.text = arena_strndup(&c->mem, body, strlen(body));
    forget(c, d.name);
    vec_push(c->def, d);
    c->e.def = c->def;
    return VS_OK;
}

vs_status ctl_undefine(ctl *c, const char *text)
{
    char **w = ctl_words(c, text);
    for (size_t i = 0; i < vec_len(w); i++)
        forget(c, w[i]);
    vec_free(w);
    return VS_OK;
}

/* -- print, echo -- */

static bool first_word_is(const char **text, const char *word)
{
    size_t n = strlen(word);
    const char *s = *text + strspn(*text, " \t");
    if (str_ncasecmp(s, word, n) || !strchr(" \t", s[n]) || !s[n])
        return false;
    *text = s + n;
    return true;
}

/* Names in lower case, as ngspice prints them; of `all` the vectors' own. */
static const char *printed_name(ctl *c, const post_val *v)
{
    char name[OUT_NAME];
    const post_vec *of = NULL;
    for (size_t i = 0; v->plot && i < vec_len(v->plot->vec) && !of; i++)
        if (v->plot->vec[i]->name == v->name)
            of = v->plot->vec[i];
    const bool ng = sim_opts(c->s)->manner.ngspice && of;
    char *text = arena_printf(&c->scratch, "%s", ng ? out_ng_memory(name, v->name) : v->name);
    for (char *s = text; *s; s++)
        *s = str_lower_char(*s);
    return text;
}

vs_status ctl_print(ctl *c, const char *text)
{
    post_table t = {0};
    if (!ctl_table_form(c, &t))
        return VS_EINPUT;
    t.as_line = first_word_is(&text, "line");
    t.as_columns = !t.as_line && (first_word_is(&text, "col") || first_word_is(&text, "column"));
    t.no_index = ctl_get(c, "noprintindex") != NULL;
    post_val *v;
    if (!*text)
        return ctl_fail(c, "print takes expressions, or all");
    if (!ctl_values(c, text, &v))
        return VS_EINPUT;
    const post_plot *p = vec_len(v) && v[0].plot ? v[0].plot : sim_plots(c->s)->current;
    for (size_t i = 0; i < vec_len(v); i++)
        v[i].name = printed_name(c, &v[i]);
    post_print(v, vec_len(v), p, &t, c->out);
    vec_free(v);
    return VS_OK;
}

vs_status ctl_echo(ctl *c, const char *text)
{
    char **w = ctl_words(c, text);
    size_t first = vec_len(w) && !strcmp(w[0], "-n");
    for (size_t i = first; i < vec_len(w); i++)
        fprintf(c->out, "%s%s", i > first ? " " : "", w[i]);
    if (!first)
        fputc('\n', c->out);
    vec_free(w);
    return VS_OK;
}

/* -- files -- */

/* Splits a text into a file, its first word, and the vectors that the rest lists, all if it is
 * empty. */
static bool file_and_values(ctl *c, const char *text, const char **path, post_val **v)
{
    size_t n = strcspn(text, " \t");
    char **w = ctl_words(c, arena_strndup(&c->scratch, text, n));
    *path = vec_len(w) ? w[0] : NULL;
    vec_free(w);
    if (!*path) {
        ctl_fail(c, "a file name is expected");
        return false;
    }
    const char *list = text + n + strspn(text + n, " \t");
    if (!ctl_values(c, *list ? list : "all", v))
        return false;
    if (vec_len(*v))
        return true;
    ctl_fail(c, "there are no vectors to write");
    return false;
}

vs_status ctl_write(ctl *c, const char *text)
{
    const char *path;
    post_val *v;
    out_file *f = NULL;
    if (!*text && c->o.raw && sim_opts(c->s)->out) { /* all that was computed is there */
        fprintf(c->out, "binary raw file \"%s\"\n", c->o.raw);
        return VS_OK;
    }
    if (!*text) {
        const char *set = ctl_value(c, "rawfile");
        text = set && *set ? set : "rawspice.raw";
    }
    if (!file_and_values(c, text, &path, &v))
        return VS_EINPUT;
    const bool append = ctl_get(c, "appendwrite") != NULL,
               ascii = ctl_value(c, "filetype") && !str_casecmp(ctl_value(c, "filetype"), "ascii");
    vs_status st = VS_OK;
    if (append && c->o.append)
        c->o.append(c->o.user, path);
    if ((append ? out_append : out_create)(&f, path, ascii ? OUT_ASCII : OUT_RAW))
        st = ctl_no_file(c, path);
    if (!st) {
        out_set_manner(f, &sim_opts(c->s)->manner);
        const post_plot *p = v[0].plot ? v[0].plot : sim_plots(c->s)->current;
        st = post_write_raw(&c->e, v, vec_len(v), p, f);
    }
    if (st == VS_EINPUT)
        out_drop(&f);
    int why = 0;
    if (out_close(&f, &why)) {
        ctl_fail(c, "'%s' could not be written: %s", path, strerror(why));
        st = VS_EIO;
    }
    c->saved |= c->stopped && !st;
    vec_free(v);
    return st;
}

/* load file...: each plot of a raw file becomes one of this run; the last is the current one. */
vs_status ctl_load(ctl *c, const char *text)
{
    char **w = ctl_words(c, text);
    const char *standard[] = {"rawspice.raw"};
    const size_t n = vec_len(w) ? vec_len(w) : 1;
    vs_status st = VS_OK;
    for (size_t i = 0; i < n && !st; i++) {
        const char *path = vec_len(w) ? w[i] : standard[0], *why = NULL;
        if (post_load(sim_plots(c->s), path, false, &why))
            st = ctl_fail(c, "'%s' %s", path, why);
    }
    vec_free(w);
    return st;
}

vs_status ctl_wrdata(ctl *c, const char *text)
{
    const char *path;
    post_val *v;
    int digits;
    if (!ctl_whole_value(c, "numdgt", 8, 1, 17, &digits) || !file_and_values(c, text, &path, &v))
        return VS_EINPUT;
    FILE *fp;
    vs_status st = ctl_open(c, path, ctl_get(c, "appendwrite") != NULL, FILES_BLOCK, &fp);
    if (fp) {
        bool ok = post_write_data(v, vec_len(v), ctl_get(c, "wr_singlescale"),
                                  ctl_get(c, "wr_vecnames"), digits, fp);
        if (stream_close(fp) || !ok) {
            ctl_fail(c, "'%s' could not be written: %s", path, strerror(errno));
            st = VS_EIO;
        }
    }
    c->saved |= c->stopped && !st;
    vec_free(v);
    return st;
}

/* -- plots -- */

static int by_name(const void *a, const void *b)
{
    return str_casecmp((*(const post_vec *const *)a)->name, (*(const post_vec *const *)b)->name);
}

static bool shows(const char *word, const post_vec *v)
{
    return post_name_matches(v->name, word) || !str_casecmp(word, "all");
}

static bool is_shown(const post_plot *p, const char *word)
{
    bool any = !str_casecmp(word, "all");
    for (size_t i = 0; i < vec_len(p->vec) && !any; i++)
        any = shows(word, p->vec[i]);
    return any;
}

vs_status ctl_display(ctl *c, const char *text)
{
    const post_plot *p = sim_plots(c->s)->current;
    char **w = ctl_words(c, text);
    post_vec **v = NULL;
    for (size_t k = 0; k < vec_len(w); k++)
        if (!is_shown(p, w[k]))
            diag_warning(c->d, c->at, "there is no vector '%s' in the plot %s", w[k], p->name);
    for (size_t i = 0; i < vec_len(p->vec); i++) {
        bool wanted = !vec_len(w);
        for (size_t k = 0; k < vec_len(w) && !wanted; k++)
            wanted = shows(w[k], p->vec[i]);
        if (wanted)
            vec_push(v, p->vec[i]);
    }
    vec_free(w);
    fprintf(c->out,
            "Here are the vectors currently active:\n\nTitle: %s\nName: %s (%s)\nDate: %s\n\n",
            p->title, p->name, p->what, p->date);
    if (v)
        qsort(v, vec_len(v), sizeof *v, by_name);
    for (size_t i = 0; i < vec_len(v); i++)
        fprintf(c->out, "    %-20s: %s, %s, %lld long%s\n", shown_name(c, v[i]), v[i]->type,
                v[i]->complex ? "complex" : "real", (long long)v[i]->n,
                v[i] == p->scale ? " [default scale]" : "");
    vec_free(v);
    return VS_OK;
}

vs_status ctl_setplot(ctl *c, const char *text)
{
    post_set *s = sim_plots(c->s);
    char **w = ctl_words(c, text);
    const char *name = vec_len(w) ? w[0] : NULL;
    const bool many = vec_len(w) > 1;
    vec_free(w);
    if (many)
        return ctl_fail(c, "setplot takes one plot");
    size_t at = 0, n = vec_len(s->plot);
    while (at < n && s->plot[at] != s->current)
        at++;
    if (!name) {
        fputs("List of plots available:\n\n", c->out);
        for (size_t i = n; i-- > 0;)
            fprintf(c->out, "%s\t%s\t%s (%s)\n", s->plot[i] == s->current ? "Current " : "",
                    s->plot[i]->name, s->plot[i]->title, s->plot[i]->what);
        return VS_OK;
    }
    if (!str_casecmp(name, "new")) {
        (void)post_plot_new(s, "unknown", sim_deck(c->s)->title, "Anonymous");
        return VS_OK;
    }
    if (!str_casecmp(name, "previous") || !str_casecmp(name, "next")) {
        bool next = str_lower_char(*name) == 'n';
        if (next ? at + 1 >= n : at == 0)
            return ctl_fail(c, "there is no %s plot", name);
        s->current = s->plot[next ? at + 1 : at - 1];
        return VS_OK;
    }
    post_plot *p = post_set_find(s, name);
    if (p) {
        s->current = p;
        return VS_OK;
    }
    const char **cand = NULL;
    for (size_t i = 0; i < n; i++)
        vec_push(cand, s->plot[i]->name);
    ctl_fail(c, "there is no plot '%s'", name);
    diag_suggest(c->d, name, cand, vec_len(cand));
    vec_free(cand);
    return VS_EINPUT;
}

vs_status ctl_setscale(ctl *c, const char *text)
{
    char **w = ctl_words(c, text);
    const char *name = vec_len(w) ? w[0] : "";
    post_plot *p = plot_of(c, &name);
    post_vec *v = *name ? post_plot_find(p, name) : NULL;
    vec_free(w);
    if (!v)
        return ctl_fail(c, "setscale takes a vector of the plot, not '%s'", name);
    p->scale = v;
    return VS_OK;
}

/* Types of vectors: ngspice's, and the names that vsim gives to more of them. */
/* clang-format off */
static const char *const types[] = {
    "notype", "time", "frequency", "voltage", "current", "voltage-density", "current-density",
    "voltage^2-density", "current^2-density", "voltage^2", "current^2", "pole", "zero", "s-param",
    "temperature", "temp-sweep", "res-sweep", "charge", "decibel", "phase", "impedance",
    "admittance", "power", "capacitance", "onoise-spectrum", "inoise-spectrum", "res",
};
/* clang-format on */

vs_status ctl_settype(ctl *c, const char *text)
{
    char **w = ctl_words(c, text);
    vs_status st = VS_OK;
    bool known = false;
    for (size_t i = 0; i < VS_COUNT(types) && vec_len(w); i++)
        known |= !str_casecmp(types[i], w[0]);
    if (vec_len(w) < 2)
        st = ctl_fail(c, "settype takes a type and vectors: settype voltage y");
    else if (!known) {
        st = ctl_fail(c, "there is no type '%s'", w[0]);
        diag_suggest(c->d, w[0], types, VS_COUNT(types));
    }
    for (size_t i = 1; i < vec_len(w) && !st; i++) {
        const char *name = w[i];
        const post_plot *p = plot_of(c, &name);
        post_vec *v = let_target(c, p, name, name != w[i]);
        if (v)
            v->type = str_intern_lower(c->names, w[0], strlen(w[0]));
        else
            st = ctl_fail(c, "there is no vector '%s'", w[i]);
    }
    vec_free(w);
    return st;
}

/* destroy [all | plots]; none: the current one */
vs_status ctl_destroy(ctl *c, const char *text)
{
    post_set *s = sim_plots(c->s);
    char **w = ctl_words(c, text);
    vs_status st = VS_OK;
    ctl_end_run(c); /* the plot of a paused run may be among those that are freed */
    if (vec_len(w) && !str_casecmp(w[0], "all")) {
        for (size_t i = vec_len(s->plot); i-- > 0;)
            if (s->plot[i] != c->constants)
                post_plot_destroy(s, s->plot[i]);
        s->number = 1;
    } else if (!vec_len(w)) {
        if (s->current == c->constants)
            st = ctl_fail(c, "the plot of constants stays");
        else
            post_plot_destroy(s, s->current);
    }
    for (size_t i = 0; i < vec_len(w) && str_casecmp(w[0], "all") && !st; i++) {
        post_plot *p = post_set_find(s, w[i]);
        if (!p || p == c->constants)
            st = ctl_fail(c, p ? "the plot of constants stays" : "there is no plot '%s'", w[i]);
        else
            post_plot_destroy(s, p);
    }
    vec_free(w);
    return st;
}
