/* conv_psf.c - PSF as text (the waveforms of Spectre, "psfascii"): one plot.
 * Sections: HEADER (properties), TYPE, SWEEP, TRACE, VALUE, END. Without a sweep VALUE has name,
 *           type and value; with one, points of name and value in the order of the traces. A
 *           group of traces has one name and its values behind it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conv_priv.h"
#include "stream.h"

static void put_quoted(FILE *fp, const char *s)
{
    fputc('"', fp);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            fputc('\\', fp);
        fputc((unsigned char)*s < 32 ? ' ' : *s, fp);
    }
    fputc('"', fp);
}

static const char *unit_of(const char *type)
{
    static const char *const t[][2] = {
        {"voltage", "V"}, {"current", "A"}, {"time", "s"}, {"frequency", "Hz"}};
    for (size_t i = 0; i < VS_COUNT(t); i++)
        if (!strcmp(type, t[i][0]))
            return t[i][1];
    return "";
}

static void put_number(FILE *fp, double x)
{
    if (isnan(x)) /* readers know it without a sign only */
        fputs("nan", fp);
    else
        fprintf(fp, "%.17g", x);
}

static void put_value(FILE *fp, const post_vec *v, int64_t k)
{
    if (v->complex)
        fputc('(', fp);
    put_number(fp, conv_re(v, k));
    if (v->complex) {
        fputc(' ', fp);
        put_number(fp, conv_im(v, k));
        fputc(')', fp);
    }
}

static void put_type(FILE *fp, const char *name, const char *type, bool complex)
{
    put_quoted(fp, name);
    fprintf(fp, " %s DOUBLE PROP(\n\"units\" \"%s\"\n)\n", complex ? "COMPLEX" : "FLOAT",
            unit_of(type));
}

/* One type for each kind of vector, real and complex. */
static const char *type_name(char buf[80], const post_vec *v)
{
    snprintf(buf, 80, "%.60s%s", v->type, v->complex ? " complex" : "");
    return buf;
}

static void put_types(FILE *fp, const post_plot *p)
{
    char name[80], other[80];
    fputs("TYPE\n", fp);
    for (size_t i = 0; i < vec_len(p->vec); i++) {
        bool told = false;
        type_name(name, p->vec[i]);
        for (size_t k = i > 200 ? i - 200 : 0; k < i && !told; k++)
            told = !strcmp(name, type_name(other, p->vec[k]));
        if (!told)
            put_type(fp, name, p->vec[i]->type, p->vec[i]->complex);
    }
}

vs_status conv_write_psf(conv_job *j)
{
    arena mem;
    char type[80];
    FILE *fp = j->fp;
    const post_plot *p = j->plot[0];
    const size_t n = vec_len(p->vec);
    const int64_t points = conv_points(p);
    if (!p->scale && points > 1)
        return conv_fail(j, "would need an axis, which the plot '%s' has not", p->what);
    if (p->scale && p->scale->complex)
        return conv_fail(j, "would need a real axis");
    arena_init(&mem);
    fputs("HEADER\n\"PSFversion\" \"1.00\"\n\"simulator\" \"vsim\"\n\"design\" ", fp);
    put_quoted(fp, p->title);
    fputs("\n\"analysis type\" ", fp);
    put_quoted(fp, post_word_of(p->what));
    fputs("\n\"analysis name\" ", fp);
    put_quoted(fp, p->what);
    fputc('\n', fp);
    put_types(fp, p);
    if (p->scale) {
        fputs("SWEEP\n", fp);
        put_quoted(fp, p->scale->name);
        fputc(' ', fp);
        put_quoted(fp, type_name(type, p->scale));
        fprintf(fp, " PROP(\n\"sweep_direction\" 0\n\"units\" \"%s\"\n)\nTRACE\n",
                unit_of(p->scale->type));
        for (size_t i = 0; i < n; i++)
            if (p->vec[i] != p->scale) {
                put_quoted(fp, conv_node(&mem, p->vec[i]));
                fputc(' ', fp);
                put_quoted(fp, type_name(type, p->vec[i]));
                fputc('\n', fp);
            }
    }
    fputs("VALUE\n", fp);
    for (int64_t k = 0; k < points; k++) {
        const arena_pos pos = arena_mark(&mem);
        for (size_t i = 0; i <= n; i++) { /* the axis, then the others */
            const post_vec *v = i ? p->vec[i - 1] : p->scale;
            if (!v || (i && v == p->scale))
                continue;
            put_quoted(fp, i ? conv_node(&mem, v) : v->name);
            fputc(' ', fp);
            if (!p->scale) {
                put_quoted(fp, type_name(type, v));
                fputc(' ', fp);
            }
            put_value(fp, v, k);
            fputc('\n', fp);
        }
        arena_release(&mem, pos);
    }
    fputs("END\n", fp);
    arena_fini(&mem);
    return VS_OK;
}

/* -- reading: words, quoted texts, parentheses -- */

typedef struct scanner {
    const char *s, *end;
    char *word; /* vec, with a 0 */
    bool quoted;
} scanner;

/* The next word: a quoted text without its quotes, "(" or ")", or letters up to one of them. */
static bool next(scanner *c)
{
    vec_clear(c->word);
    while (c->s < c->end && strchr(" \t\r\n", *c->s) && *c->s)
        c->s++;
    if (c->s >= c->end)
        return false;
    c->quoted = *c->s == '"';
    if (c->quoted) {
        for (c->s++; c->s < c->end && *c->s != '"'; c->s++) {
            if (*c->s == '\\' && c->s + 1 < c->end)
                c->s++;
            vec_push(c->word, *c->s);
        }
        c->s += c->s < c->end;
    } else if (*c->s == '(' || *c->s == ')') {
        vec_push(c->word, *c->s++);
    } else {
        while (c->s < c->end && *c->s && !strchr(" \t\r\n()\"", *c->s))
            vec_push(c->word, *c->s++);
        if (!vec_len(c->word)) /* a byte that the format does not have */
            c->s++;
    }
    vec_push(c->word, 0);
    return true;
}

static bool is(const scanner *c, const char *word) { return !c->quoted && !strcmp(c->word, word); }

/* Skips what follows PROP( or STRUCT(, up to its closing bracket. */
static void skip_list(scanner *c)
{
    int depth = 0;
    do {
        if (!next(c))
            return;
        depth += is(c, "(") - is(c, ")");
    } while (depth > 0);
}

typedef struct psf_type {
    const char *name, *unit;
    bool complex, other;
} psf_type;

typedef struct psf {
    conv_job *j;
    scanner c;
    arena mem;
    psf_type *type; /* vec */
    const char *title, *analysis;
    post_plot *p;
    bool bad;
} psf;

static const psf_type *type_of(const psf *r, const char *name)
{
    for (size_t i = 0; i < vec_len(r->type); i++)
        if (!strcmp(r->type[i].name, name))
            return &r->type[i];
    return NULL;
}

static const char *copy(psf *r) { return arena_strndup(&r->mem, r->c.word, strlen(r->c.word)); }

static void read_header(psf *r)
{
    while (next(&r->c) && !is(&r->c, "TYPE")) {
        const char *name = copy(r);
        if (!next(&r->c))
            return;
        if (!strcmp(name, "design"))
            r->title = copy(r);
        if (!strcmp(name, "analysis name"))
            r->analysis = copy(r);
    }
}

/* "name" FLOAT DOUBLE PROP( "units" "V" ) */
static void read_types(psf *r)
{
    psf_type *t = NULL;
    while (next(&r->c) && !is(&r->c, "SWEEP") && !is(&r->c, "TRACE") && !is(&r->c, "VALUE")) {
        if (r->c.quoted) {
            vec_push(r->type, (psf_type){.name = copy(r), .unit = ""});
            t = &vec_last(r->type);
        } else if (t && is(&r->c, "COMPLEX")) {
            t->complex = true;
        } else if (t && (is(&r->c, "STRUCT") || is(&r->c, "ARRAY") || is(&r->c, "STRING"))) {
            t->other = true;
            if (!is(&r->c, "STRING"))
                skip_list(&r->c);
        } else if (t && is(&r->c, "PROP")) {
            for (int depth = 0; next(&r->c);) {
                depth += is(&r->c, "(") - is(&r->c, ")");
                if (depth <= 0)
                    break;
                if (r->c.quoted && !strcmp(r->c.word, "units") && next(&r->c))
                    t->unit = copy(r);
            }
        }
    }
}

/* Adds a vector; NULL: it has no numbers (a note), or no type (r->bad). */
static post_vec *add_vector(psf *r, const char *name, const char *type, bool axis)
{
    const psf_type *t = type_of(r, type);
    const char *unit = t ? t->unit : "";
    const char *kind = !strcmp(unit, "V")    ? "voltage"
                       : !strcmp(unit, "A")  ? "current"
                       : !strcmp(unit, "s")  ? "time"
                       : !strcmp(unit, "Hz") ? "frequency"
                                             : "notype";
    const bool node = !strcmp(unit, "V") && !axis && !strchr(name, '(');
    if (t && t->other && !axis) {
        conv_left_out(r->j, "'%.60s' is of a type without numbers, '%.60s', and is not read", name,
                      type);
        return NULL;
    }
    if (!t || t->other) {
        r->bad = true;
        conv_fail(r->j,
                  t ? "has an axis of another type than numbers: '%.60s'"
                    : "has a vector without a type: '%.60s'",
                  name);
        return NULL;
    }
    post_vec *v = post_plot_append(
        r->j->set, r->p, node ? arena_printf(&r->mem, "v(%s)", name) : name, kind, t->complex);
    if (axis)
        r->p->scale = v;
    return v;
}

/* -- values -- */

/* A number, or "(re im)". */
static bool read_number(psf *r, post_vec *v)
{
    char *end;
    double x[2] = {0, 0};
    const bool pair = next(&r->c) && is(&r->c, "(");
    for (int i = 0; i < 1 + pair; i++) {
        if (pair && !next(&r->c))
            return false;
        x[i] = strtod(r->c.word ? r->c.word : "", &end);
        if (!r->c.word || end == r->c.word || *end)
            return false;
    }
    if (pair && !(next(&r->c) && is(&r->c, ")")))
        return false;
    post_vec_push(v, x[0], x[1]);
    return pair == v->complex;
}

/* A value, and what may stand behind it: PROP( ... ).  v  NULL: it is skipped */
static bool read_value(psf *r, post_vec *v)
{
    if (v && !read_number(r, v))
        return false;
    if (!v)
        skip_list(&r->c); /* or a single word */
    const char *at = r->c.s;
    if (next(&r->c) && is(&r->c, "PROP"))
        skip_list(&r->c);
    else
        r->c.s = at;
    return true;
}

/* What has a name in VALUE: a vector, or several in a group. */
typedef struct psf_trace {
    const char *name;
    post_vec **vec; /* vec; NULL in it: values that are skipped */
} psf_trace;

static bool no_number(psf *r, const char *name)
{
    r->bad = true;
    conv_fail(r->j, "has no number behind '%.60s'", name);
    return false;
}

/* VALUE without SWEEP: "name" "type" value. */
static bool read_single(psf *r)
{
    const char *name = copy(r);
    if (!(next(&r->c) && r->c.quoted))
        return no_number(r, name);
    post_vec *v = add_vector(r, name, copy(r), false);
    return !r->bad && (read_value(r, v) || no_number(r, name));
}

static bool read_trace(psf *r, const psf_trace *t)
{
    bool ok = true;
    if (strcmp(t->name, r->c.word)) {
        r->bad = true;
        conv_fail(r->j, "has a value of '%.60s' where one of '%.60s' is expected", r->c.word,
                  t->name);
        return false;
    }
    for (size_t i = 0; i < vec_len(t->vec) && ok; i++)
        ok = read_value(r, t->vec[i]);
    return ok || no_number(r, t->name);
}

/* Checks that VALUE has the names of SWEEP and TRACE in their order. */
static void read_points(psf *r, const psf_trace *trace)
{
    const size_t n = vec_len(trace);
    size_t i = 0;
    bool ok = true;
    for (; ok && next(&r->c) && !is(&r->c, "END"); i++) {
        if (!r->c.quoted) {
            r->bad = true;
            conv_fail(r->j, "has a value of '%.60s' where one of '%.60s' is expected", r->c.word,
                      n ? trace[i % n].name : "a vector");
        }
        ok = !r->bad && (r->p->scale ? read_trace(r, &trace[i % n]) : read_single(r));
    }
    if (r->bad)
        return;
    if (r->c.s >= r->c.end && (!vec_len(r->c.word) || !is(&r->c, "END")))
        r->bad = conv_fail(r->j, "ends without END: it is not whole") != VS_OK;
    else if (r->p->scale && i % n)
        r->bad = conv_fail(r->j, "ends in the middle of a point") != VS_OK;
}

/* SWEEP and TRACE: "name" "type"; "name" GROUP n, and n of these, whose values have one name. */
static psf_trace *read_traces(psf *r)
{
    psf_trace *trace = NULL; /* vec */
    bool axis = r->c.word && is(&r->c, "SWEEP");
    long inside = 0; /* traces of the last group that are still to come */
    while (!r->bad && r->c.word && !is(&r->c, "VALUE") && next(&r->c) && !is(&r->c, "VALUE")) {
        if (is(&r->c, "TRACE")) {
            axis = false;
        } else if (is(&r->c, "PROP")) {
            skip_list(&r->c);
        } else if (r->c.quoted) {
            const char *name = copy(r);
            if (!next(&r->c))
                break;
            const bool group = is(&r->c, "GROUP");
            if (!inside)
                vec_push(trace, (psf_trace){.name = name});
            if (group) {
                inside = next(&r->c) ? strtol(r->c.word, NULL, 10) : 0;
            } else if (r->c.quoted) {
                vec_push(vec_last(trace).vec, add_vector(r, name, copy(r), axis));
                inside -= inside > 0;
            } else {
                r->bad = conv_fail(r->j, "has a trace without a type: '%.60s'", name) != VS_OK;
            }
        }
    }
    return trace;
}

vs_status conv_read_psf(conv_job *j)
{
    size_t n;
    char *text = conv_bytes(j->path, &n);
    if (!text)
        return conv_fail(j, "cannot be read");
    psf r = {.j = j, .c = {.s = text, .end = text + n}, .title = "", .analysis = "Table"};
    arena_init(&r.mem);
    next(&r.c); /* HEADER */
    read_header(&r);
    read_types(&r);
    r.p = post_plot_new(j->set, post_word_of(r.analysis), r.title, r.analysis);
    psf_trace *trace = read_traces(&r);
    if (!r.bad)
        read_points(&r, trace);
    for (size_t i = 0; i < vec_len(trace); i++)
        vec_free(trace[i].vec);
    vec_free(trace);
    if (!r.bad && !vec_len(r.p->vec)) {
        r.bad = true;
        conv_fail(j, "has no values");
    }
    vec_free(r.c.word);
    vec_free(r.type);
    arena_fini(&r.mem);
    vs_free(text);
    return r.bad ? VS_EINPUT : VS_OK;
}
