/* ctl_text.c - $variables, words, files behind '>'; set, unset, option. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ctl_priv.h"
#include "stream.h"

enum { MAX_LINE = 16 << 20 };

/* -- variables -- */

static void free_words(char **w)
{
    for (size_t i = 0; i < vec_len(w); i++)
        vs_free(w[i]);
    vec_free(w);
}

const ctl_var *ctl_get(const ctl *c, const char *name)
{
    for (size_t i = 0; i < vec_len(c->var); i++)
        if (!str_casecmp(c->var[i].name, name))
            return &c->var[i];
    return NULL;
}

const char *ctl_value(const ctl *c, const char *name)
{
    const ctl_var *v = ctl_get(c, name);
    return !v ? NULL : vec_len(v->word) ? v->word[0] : "";
}

double ctl_number_value(const ctl *c, const char *name, double absent)
{
    const char *s = ctl_value(c, name), *end;
    double x;
    return s && str_spice_number(s, &end, &x) && !*end ? x : absent;
}

bool ctl_whole_value(ctl *c, const char *name, int absent, int lo, int hi, int *value)
{
    const double x = ctl_number_value(c, name, absent);
    *value = absent;
    if (x == absent)
        return true;
    if (!(x >= lo && x <= hi) || x != floor(x)) {
        ctl_fail(c, "%s is a whole number from %d to %d, not '%s'", name, lo, hi,
                 ctl_value(c, name));
        return false;
    }
    *value = (int)x;
    return true;
}

bool ctl_table_form(ctl *c, post_table *t)
{
    return ctl_whole_value(c, "numdgt", 6, 1, 17, &t->digits) &&
           ctl_whole_value(c, "width", 80, 1, 10000, &t->width);
}

vs_status ctl_seed(ctl *c, double seed)
{
    if (!(fabs(seed) < 9e15) || seed != floor(seed))
        return ctl_fail(c, "a seed is a whole number, not %g", seed);
    c->seed = (uint64_t)(int64_t)seed;
    return VS_OK;
}

void ctl_put(ctl *c, const char *name, const char *const *word, size_t n)
{
    char **copy = NULL; /* word[] may point into the old value, which is freed below */
    for (size_t i = 0; i < n; i++)
        vec_push(copy, vs_strdup(word[i]));
    for (size_t i = 0; i < vec_len(c->var); i++)
        if (!str_casecmp(c->var[i].name, name)) {
            free_words(c->var[i].word);
            c->var[i].word = copy;
            return;
        }
    vec_push(c->var, (ctl_var){str_intern_lower(c->names, name, strlen(name)), copy});
}

static void remove_var(ctl *c, const char *name)
{
    for (size_t i = 0; i < vec_len(c->var); i++)
        if (!str_casecmp(c->var[i].name, name)) {
            free_words(c->var[i].word);
            c->var[i] = vec_last(c->var);
            (void)vec_pop(c->var);
            return;
        }
}

void ctl_free_vars(ctl *c)
{
    for (size_t i = 0; i < vec_len(c->var); i++)
        free_words(c->var[i].word);
    vec_free(c->var);
    vec_free(c->esave);
}

/* The folder of the circuit's file, "." where its name has none. */
static const char *input_folder(ctl *c)
{
    const int32_t file = ctl_own_file(c);
    const char *path = file < 0 ? "" : c->d->file[file].name, *slash = strrchr(path, '/');
    return !slash          ? "."
           : slash == path ? "/"
                           : arena_strndup(&c->scratch, path, (size_t)(slash - path));
}

/* The words of a variable that has a value without being set. vec of words in scratch; false: there
 * is none of that name. */
static bool words_of(ctl *c, const char *name, const char ***out)
{
    const ctl_var *v = ctl_get(c, name);
    const post_plot *p = sim_plots(c->s)->current;
    *out = NULL;
    if (v) {
        for (size_t i = 0; i < vec_len(v->word); i++)
            vec_push(*out, v->word[i]);
        return true;
    }
    if (!str_casecmp(name, "plots"))
        for (size_t i = 0; i < vec_len(sim_plots(c->s)->plot); i++)
            vec_push(*out, sim_plots(c->s)->plot[i]->name);
    else if (!str_casecmp(name, "program"))
        vec_push(*out, "vsim");
    else if (!str_casecmp(name, "oscompiled")) /* ngspice's numbers: 7 macOS, 6 Linux */
#ifdef __APPLE__
        vec_push(*out, "7");
#else
        vec_push(*out, "6");
#endif
    else if (!str_casecmp(name, "inputdir"))
        vec_push(*out, input_folder(c));
    else if (!str_casecmp(name, "temp"))
        vec_push(*out, arena_printf(&c->scratch, "%.12G", sim_temp(c->s)));
    else if (p && !str_casecmp(name, "curplot"))
        vec_push(*out, p->name);
    else if (p && !str_casecmp(name, "curplotname"))
        vec_push(*out, p->what);
    else if (p && !str_casecmp(name, "curplottitle"))
        vec_push(*out, p->title);
    else if (p && !str_casecmp(name, "curplotdate"))
        vec_push(*out, p->date);
    return *out != NULL;
}

/* -- substitution -- */

static void put(char **text, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        vec_push(*text, s[i]);
}

static bool name_char(char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
           ch == '_';
}

/* Appends the values of $&vector, $&plot.vector[3] or $&v(out) to *text. Returns the text behind
 * it; NULL: a message was given. */
static const char *put_vector(ctl *c, char **text, const char *s)
{
    const char *a = s;
    bool braced = *s == '{';
    if (braced)
        s = strchr(s, '}');
    else
        while (name_char(*s) || strchr(".#@", *s ? *s : ' '))
            s++;
    if (!s || s == a) {
        ctl_fail(c, "$& is followed by the name of a vector");
        return NULL;
    }
    if (!braced && (*s == '(' || *s == '[')) {
        const char *close = strchr(s, *s == '(' ? ')' : ']');
        s = close ? close + 1 : s;
    }
    post_val v;
    const char *name = arena_strndup(&c->scratch, braced ? a + 1 : a, (size_t)(s - a) - braced);
    if (!post_eval(&c->e, name, &v))
        return NULL;
    for (int64_t k = 0; k < v.n; k++) {
        char num[96];
        int n = v.complex ? snprintf(num, sizeof num, "%s%.12G,%.12G", k ? " " : "", v.v[2 * k],
                                     v.v[2 * k + 1])
                          : snprintf(num, sizeof num, "%s%.12G", k ? " " : "", v.v[k]);
        put(text, num, (size_t)n);
    }
    return s + braced;
}

/* "2", "2-3", "3-2", "2-" up to the last, "-2" from the first on: to ']'. *to: the last.  0 is the
 * first, as in ngspice. */
static bool read_range(const char *s, long *from, long *to)
{
    char *end = (char *)(uintptr_t)s;
    if (*s != '-') {
        *from = strtol(s, &end, 10);
        if (end == s || *from < 0)
            return false;
        *from += *from == 0;
    }
    if (*end == ']') {
        *to = *from;
        return *s != '-';
    }
    if (*end != '-' || end[1] == ']')
        return *end == '-' && *s != '-';
    s = end + 1;
    *to = strtol(s, &end, 10);
    *to += *to == 0;
    return end > s && *to > 0 && *end == ']';
}

/* Words from .. to, from 1 on; backwards, if `to` is less. */
static void put_words(char **text, const char *const *w, long from, long to)
{
    const long n = (long)vec_len(w), step = from > to ? -1 : 1;
    const long a = from <= n ? from : n + (step > 0), b = to <= n ? to : n;
    for (long i = a; step > 0 ? i <= b : i >= b && i > 0; i += step) {
        if (i != a)
            put(text, " ", 1);
        put(text, w[i - 1], strlen(w[i - 1]));
    }
}

/* $name, ${name}, $name[2], $#name, $?name */
static const char *put_variable(ctl *c, char **text, const char *s)
{
    char mode = strchr("#?", *s) ? *s : 0;
    s += mode != 0;
    bool braced = *s == '{';
    s += braced;
    const char *a = s;
    while (name_char(*s))
        s++;
    const char *name = arena_strndup(&c->scratch, a, (size_t)(s - a)), **w;
    const char *index = *s == '[' ? s + 1 : NULL;
    s += index ? 1 + strcspn(s, "]") : 0;
    if ((index && s[-1] != ']') || (braced && *s != '}')) {
        ctl_fail(c, "'%c' is expected behind the variable '%s'", index && s[-1] != ']' ? ']' : '}',
                 name);
        return NULL;
    }
    s += braced;
    bool known = words_of(c, name, &w);
    long from = 1, to = (long)vec_len(w);
    if (index && !read_range(index, &from, &to)) {
        ctl_fail(c, "'%.*s' is no index, as in $%s[2] or $%s[2-3]", (int)strcspn(index, "]"), index,
                 name, name);
        vec_free(w);
        return NULL;
    }
    char num[32];
    if (mode) {
        int n = snprintf(num, sizeof num, "%zu", mode == '?' ? (size_t)known : vec_len(w));
        put(text, num, (size_t)n);
    } else if (!known) {
        const char **cand = NULL;
        for (size_t i = 0; i < vec_len(c->var); i++)
            vec_push(cand, c->var[i].name);
        ctl_fail(c, "there is no variable '%s'; $&%s would be the value of a vector", name, name);
        diag_suggest(c->d, name, cand, vec_len(cand));
        vec_free(cand);
        s = NULL;
    }
    if (!mode && known)
        put_words(text, w, from, to);
    vec_free(w);
    return s;
}

const char *ctl_substitute(ctl *c, const char *line)
{
    char *text = NULL;
    const char *s = line;
    while (s && *s) {
        if (*s == '\\' && s[1] == '$') {
            put(&text, "$", 1);
            s += 2;
        } else if (*s == '$' && s[1] == '&') {
            s = put_vector(c, &text, s + 2);
        } else if (*s == '$' && s[1] &&
                   (name_char(s[1]) || (strchr("{#?", s[1]) && (name_char(s[2]) || s[1] == '{')))) {
            s = put_variable(c, &text, s + 1);
        } else if (*s == '{' && s[1] == '$' &&
                   strchr(s, '}')) { /* {$name}: the braces only end the name */
            const char *close =
                s[2] == '&' ? put_vector(c, &text, s + 3) : put_variable(c, &text, s + 2);
            if (close && *close != '}') {
                ctl_fail(c, "'}' is expected behind a variable in braces");
                close = NULL;
            }
            s = close ? close + 1 : NULL;
        } else {
            put(&text, s++, 1);
        }
        if (vec_len(text) > MAX_LINE) {
            ctl_fail(c, "the line has more than %d MiB with its variables", MAX_LINE >> 20);
            s = NULL;
        }
    }
    put(&text, "", 1);
    const char *copy = s ? arena_strndup(&c->scratch, text, strlen(text)) : NULL;
    vec_free(text);
    return copy;
}

char **ctl_words(ctl *c, const char *s)
{
    char **w = NULL;
    while (*(s += strspn(s, " \t"))) {
        char *one = NULL, quote = 0;
        for (; *s && (quote || !strchr(" \t", *s)); s++) {
            if (quote ? *s == quote : *s == '"' || *s == '\'')
                quote = quote ? 0 : *s;
            else
                vec_push(one, *s);
        }
        vec_push(one, 0);
        char *copy = arena_strndup(&c->scratch, one, strlen(one));
        vec_push(w, copy);
        vec_free(one);
    }
    return w;
}

/* -- files -- */

vs_status ctl_open(ctl *c, const char *path, bool append, files_role role, FILE **fp)
{
    if (append && c->o.append)
        c->o.append(c->o.user, path);
    *fp = append ? stream_append(path, role) : stream_create(path, role);
    return *fp ? VS_OK : ctl_no_file(c, path);
}

vs_status ctl_no_file(ctl *c, const char *path)
{
    const bool ours = errno >= FILES_IS_INPUT;
    ctl_fail(c, "'%s' cannot be written: %s", path, files_why(errno));
    return ours ? VS_EINPUT : VS_EIO;
}

/* The last '>' that stands alone and has one word behind it. */
vs_status ctl_redirect(ctl *c, const char **text)
{
    const char *s = *text, *mark = NULL;
    char quote = 0;
    for (const char *p = s; *p; p++) {
        if (quote ? *p == quote : *p == '"' || *p == '\'')
            quote = quote ? 0 : *p;
        else if (!quote && *p == '>' && (p == s || strchr(" \t", p[-1])) && p[1] != '=')
            mark = p, p += p[1] == '>';
    }
    if (!mark)
        return VS_OK;
    bool append = mark[1] == '>';
    char **w = ctl_words(c, mark + 1 + append);
    vs_status st = VS_OK;
    if (vec_len(w) == 1) {
        FILE *fp;
        st = ctl_open(c, w[0], append, FILES_BLOCK, &fp);
        if (fp)
            c->out = fp;
        *text = arena_strndup(&c->scratch, s, (size_t)(mark - s));
    }
    vec_free(w);
    return st;
}

vs_status ctl_end_redirect(ctl *c)
{
    if (c->out == c->o.log)
        return VS_OK;
    bool bad = ferror(c->out);
    bad |= stream_close(c->out) != 0;
    c->out = c->o.log;
    if (!bad)
        return VS_OK;
    ctl_fail(c, "the file could not be written: %s", strerror(errno));
    return VS_EIO;
}

/* -- set, unset, option -- */

/* Variables that ngspice sets and that change nothing here, so that a deck may set them. */
static bool effect_of(ctl *c, const char *name, vs_status *st)
{
    double x = ctl_number_value(c, name, NAN);
    *st = VS_OK;
    if (!strcmp(name, "temp") && !isnan(x)) {
        ctl_end_run(c);
        *st = sim_set_temp(c->s, x, c->at);
    } else if (!strcmp(name, "units")) {
        c->e.degrees = !str_casecmp(ctl_value(c, name), "degrees");
    } else if (!strcmp(name, "rndseed") || !strcmp(name, "seed")) {
        if (!isnan(x))
            *st = ctl_seed(c, x);
        else
            diag_warning(c->d, c->at, "%s is a number, not '%s': the draws stay as they are", name,
                         ctl_value(c, name));
    } else if (!strcmp(name, "maxturns")) {
        if (!(x >= 0))
            *st = ctl_fail(c, "maxturns is a number of turns, 0: any number, not '%s'",
                           ctl_value(c, name));
    } else if (!strcmp(name, "curplot")) {
        *st = ctl_setplot(c, ctl_value(c, name));
        remove_var(c, name);
    } else if (!strcmp(name, "filetype")) {
        const char *v = ctl_value(c, name);
        if (str_casecmp(v, "ascii") && str_casecmp(v, "binary"))
            *st = ctl_fail(c, "filetype is ascii or binary, not '%s'", v);
    } else if (!strcmp(name, "digital_delay_type") || !strcmp(name, "auto_bridge")) {
        ctl_end_run(c);
        *st = sim_set_option(c->s, arena_printf(&c->scratch, "%s=%s", name, ctl_value(c, name)),
                             c->at);
    } else if (!strncmp(name, "auto_bridge_", 12)) {
        diag_warning(c->d, c->at,
                     "%s has no effect: automatic bridges are adc_bridge and dac_bridge of the "
                     "supply 'vcc'; others belong into the netlist",
                     name);
    } else {
        return false;
    }
    return true;
}

void ctl_take_start(ctl *c)
{
    const net_var *v = sim_deck(c->s)->start;
    const diag_span at = c->at;
    for (size_t i = 0; i < vec_len(v) && !c->started; i++) {
        vs_status st; /* what fails has its message, as in a block */
        if (ctl_get(c, v[i].name))
            continue;
        c->at = v[i].at;
        ctl_put(c, v[i].name, v[i].word, vec_len(v[i].word));
        (void)effect_of(c, str_intern_lower(c->names, v[i].name, strlen(v[i].name)), &st);
    }
    c->at = at;
    c->started |= vec_len(v) > 0;
}

/* Prints all variables; a '*' marks those that nobody has set. */
static void print_variables(ctl *c)
{
    static const char *const own[] = {"curplot",      "curplotdate", "curplotname",
                                      "curplottitle", "plots",       "program"};
    for (size_t i = 0; i < VS_COUNT(own); i++) {
        const char **word;
        if (!ctl_get(c, own[i]) && words_of(c, own[i], &word)) {
            fprintf(c->out, "* %s\t", own[i]);
            for (size_t k = 0; k < vec_len(word); k++)
                fprintf(c->out, "%s%s", k ? " " : vec_len(word) > 1 ? "( " : "", word[k]);
            fputs(vec_len(word) > 1 ? " )\n" : "\n", c->out);
            vec_free(word);
        }
    }
    for (size_t i = 0; i < vec_len(c->var); i++) {
        fprintf(c->out, "  %s", c->var[i].name);
        for (size_t k = 0; k < vec_len(c->var[i].word); k++)
            fprintf(c->out, "%s%s", k ? " " : "\t", c->var[i].word[k]);
        fputc('\n', c->out);
    }
}

/* set name | set name = value | set name = ( a b c ), several in a row */
vs_status ctl_set(ctl *c, const char *text)
{
    char *spaced = NULL; /* '=', '(' and ')' outside quotes are words */
    char quote = 0;
    for (const char *s = text; *s; s++) {
        if (quote ? *s == quote : *s == '"' || *s == '\'')
            quote = quote ? 0 : *s;
        bool alone = !quote && (*s == '=' || *s == '(' || *s == ')');
        put(&spaced, " ", alone);
        put(&spaced, s, 1);
        put(&spaced, " ", alone);
    }
    put(&spaced, "", 1);
    char **w = ctl_words(c, spaced);
    vec_free(spaced);
    vs_status st = VS_OK;
    if (!vec_len(w))
        print_variables(c);
    for (size_t i = 0; i < vec_len(w) && !st;) {
        const char *name = str_intern_lower(c->names, w[i], strlen(w[i])), **value = NULL;
        i++;
        if (i < vec_len(w) && !strcmp(w[i], "=")) {
            i++;
            bool list = i < vec_len(w) && !strcmp(w[i], "(");
            i += list;
            const size_t begin = i;
            do {
                if (i < vec_len(w) && strcmp(w[i], ")"))
                    vec_push(value, w[i]);
            } while (i < vec_len(w) && strcmp(w[i++], ")") && list);
            if (list && (i == begin || strcmp(w[i - 1], ")")))
                st = ctl_fail(c, "')' is expected behind the values of '%s'", name);
            else if (!list && !vec_len(value))
                st = ctl_fail(c, "set %s = needs a value", name);
        }
        if (!st) {
            ctl_put(c, name, value, vec_len(value));
            effect_of(c, name, &st);
        }
        vec_free(value);
    }
    vec_free(w);
    return st;
}

vs_status ctl_unset(ctl *c, const char *text)
{
    char **w = ctl_words(c, text);
    for (size_t i = 0; i < vec_len(w); i++) {
        remove_var(c, w[i]);
        if (!str_casecmp(w[i], "units"))
            c->e.degrees = false;
    }
    vec_free(w);
    return VS_OK;
}

vs_status ctl_option(ctl *c, const char *text)
{
    if (*text && c->run.paused)
        return ctl_fail(c, "a run is paused; 'resume' goes on with it, 'reset' ends it");
    if (*text)
        return sim_set_option(c->s, text, c->at);
    for (option_id i = 0; i < OPTION_N; i++) {
        char buf[32];
        if (i == OPTION_temp)
            fprintf(c->out, "temp = %.12g\n", sim_temp(c->s));
        else
            fprintf(c->out, "%s = %s\n", option_table[i].name,
                    option_text(sim_option(c->s), i, buf, sizeof buf));
    }
    return VS_OK;
}
