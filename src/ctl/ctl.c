/* ctl.c - blocks, loops, conditions; which command is which. See ctl.h. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ctl_priv.h"

enum { MAX_NESTING = 100, MAX_FAILED = 100, MAX_LATE = 1000, MAX_TURNS = 10000000 };

typedef enum kind {
    K_COMMAND,
    K_WHILE,
    K_DOWHILE,
    K_REPEAT,
    K_FOREACH,
    K_IF,
    K_BREAK,
    K_CONTINUE,
    K_LABEL,
    K_GOTO
} kind;

typedef struct stmt {
    kind kind;
    diag_span at;
    const char *text; /* loops, conditions, label, goto: the text behind the word; else the line */
    struct stmt *body, *other; /* vecs; `other`: the branch behind else */
} stmt;

typedef struct parser {
    ctl *c;
    const diag_span *line; /* [n] */
    size_t n, i;
    arena *mem; /* of the statements' texts */
    int depth;
    vs_status st;
} parser;

vs_status ctl_fail(ctl *c, const char *fmt, ...)
{
    char text[600];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    diag_error(c->d, c->at, "%s", text);
    return VS_EINPUT;
}

diag_span ctl_place(const ctl *c, const char *part, size_t len)
{
    if (!c->same_text || part < c->line || part > c->line + strlen(c->line))
        return c->at;
    return (diag_span){c->line_at.file, c->line_at.off + (uint32_t)(part - c->line), (uint32_t)len};
}

/* -- reading -- */

/* A comment: ';' anywhere, behind blanks "//" or "$ "; the last also behind a bracket. */
static void cut_comment(char *s)
{
    char quote = 0;
    for (char *p = s; *p; p++) {
        if (quote) {
            quote = *p == quote ? 0 : quote;
            continue;
        }
        if (*p == '"' || *p == '\'')
            quote = *p;
        bool start = p == s || p[-1] == ' ' || p[-1] == '\t';
        const bool dollar = *p == '$' && (p[1] == ' ' || (start && !p[1]));
        if (*p == ';' || (start && *p == '/' && p[1] == '/') ||
            (dollar && (start || p[-1] == ')'))) {
            *p = 0;
            return;
        }
    }
}

static char *line_of(const parser *p, diag_span at)
{
    const char *text = sim_span_text(p->c->s, p->mem, at);
    char *s = arena_strndup(p->mem, text, strlen(text));
    cut_comment(s);
    size_t n = strlen(s);
    while (n && strchr(" \t", s[n - 1]))
        s[--n] = 0;
    return s;
}

static bool word_is(const char *s, const char *word, const char **rest)
{
    size_t n = strlen(word);
    if (str_ncasecmp(s, word, n) || (s[n] && !strchr(" \t(", s[n])))
        return false;
    *rest = s + n + strspn(s + n, " \t");
    return true;
}

static bool starts_block(const char *s, kind *k, const char **rest)
{
    static const char *const word[] = {"while", "dowhile", "repeat", "foreach", "if"};
    for (size_t i = 0; i < VS_COUNT(word); i++)
        if (word_is(s, word[i], rest)) {
            *k = (kind)(K_WHILE + (int)i);
            return true;
        }
    return false;
}

typedef enum stop_word { STOP_TEXT, STOP_END, STOP_ELSE } stop_word;

static stmt *read_block(parser *p, stop_word *by);

static vs_status misplaced(parser *p, diag_span at, const char *what)
{
    diag_error(p->c->d, at, "%s", what);
    p->st = VS_EINPUT;
    return p->st;
}

static stmt read_stmt(parser *p, const char *s, diag_span at)
{
    stmt x = {.at = at, .text = s};
    const char *rest;
    stop_word by = STOP_END;
    if (word_is(s, "break", &rest) || word_is(s, "continue", &rest)) {
        x.kind = word_is(s, "break", &rest) ? K_BREAK : K_CONTINUE;
        return x;
    }
    if (word_is(s, "label", &rest) || word_is(s, "goto", &rest)) {
        x.kind = word_is(s, "label", &rest) ? K_LABEL : K_GOTO;
        x.text = rest;
        if (!*rest || rest[strcspn(rest, " \t")])
            (void)misplaced(p, at, "label and goto take one name");
        return x;
    }
    if (!starts_block(s, &x.kind, &x.text))
        return x;
    if (p->depth == MAX_NESTING) {
        (void)misplaced(p, at, "blocks are nested too deep");
        p->i = p->n;
        return x;
    }
    p->depth++;
    x.body = read_block(p, &by);
    if (by == STOP_ELSE && x.kind == K_IF)
        x.other = read_block(p, &by);
    p->depth--;
    if (by != STOP_END)
        (void)misplaced(p, at,
                        by == STOP_ELSE ? "an 'else' in this block has no 'if'"
                                        : "there is no 'end' to this block");
    return x;
}

/* Statements up to `end` or `else` or the end of the text. */
static stmt *read_block(parser *p, stop_word *by)
{
    stmt *list = NULL;
    const char *rest;
    *by = STOP_TEXT;
    while (p->i < p->n) {
        diag_span at = p->line[p->i++];
        const char *s = line_of(p, at);
        if (!*s || *s == '#' || *s == '*')
            continue;
        bool end = word_is(s, "end", &rest) || word_is(s, "endif", &rest),
             other = word_is(s, "else", &rest);
        if ((end || other) && p->depth) {
            *by = end ? STOP_END : STOP_ELSE;
            return list;
        }
        if (end || other) {
            (void)misplaced(p, at, end ? "an 'end' has no block" : "an 'else' has no 'if'");
            continue;
        }
        stmt x = read_stmt(p, s, at);
        vec_push(list, x);
    }
    return list;
}

static void free_block(stmt *list)
{
    for (size_t i = 0; i < vec_len(list); i++) {
        free_block(list[i].body);
        free_block(list[i].other);
    }
    vec_free(list);
}

/* -- commands -- */

static vs_status cmd_quit(ctl *c, const char *text)
{
    char *end;
    long code = strtol(text, &end, 10);
    if (*text && (end == text || *(end + strspn(end, " \t")) || code < 0 || code > 255))
        return ctl_fail(c, "quit takes an exit code from 0 to 255, not '%s'", text);
    c->quit = true;
    c->code = (int)code;
    return VS_OK;
}

/* Warns that vsim does not do what a command of ngspice does; the script goes on. */
static vs_status refuse(ctl *c, const char *fmt, ...) VS_PRINTF(2, 3);
static vs_status refuse(ctl *c, const char *fmt, ...)
{
    char text[600];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (!sim_opts(c->s)->manner.ngspice)
        return ctl_fail(c, "%s", text);
    diag_warning(c->d, c->at, "%s", text);
    return VS_OK;
}

static vs_status cmd_shell(ctl *c, const char *text)
{
    if (!c->o.shell)
        return refuse(c, "'%s' would start a program; --allow-shell permits it", c->line);
    const int rc = c->o.shell(c->o.user, text);
    return rc ? ctl_fail(c, "the program failed (status %d)", rc) : VS_OK;
}

static vs_status cmd_refused(ctl *c, const char *text)
{
    (void)text;
    size_t n = strcspn(c->line, " \t");
    return refuse(c,
                  "'%.*s' is refused: a deck reads no scripts or code models and does not change "
                  "the folder",
                  (int)n, c->line);
}

static vs_status cmd_interactive(ctl *c, const char *text)
{
    (void)text;
    size_t n = strcspn(c->line, " \t");
    return refuse(c, "'%.*s' is a command of ngspice that is not supported here", (int)n, c->line);
}

/* Removes the circuit of a deck, for a block. One that `mc_source` read leaves the deck's circuit
 * in use, with the parameters of this reading. Results stay. */
static vs_status remove_circuit(ctl *c)
{
    if (c->none)
        return ctl_fail(c, "there is no circuit to remove");
    if (c->n_source > 0) {
        c->n_source--;
        return VS_OK;
    }
    ctl_end_run(c);
    c->none = c->removed = true;
    return VS_OK;
}

/* A command that only a session can carry out; in a deck's block a message says so. */
static vs_status cmd_session(ctl *c, const char *text)
{
    const size_t n = strcspn(c->line, " \t");
    const char *word = arena_strndup(&c->scratch, c->line, n);
    if (c->o.session)
        return c->o.session(c->o.user, word, text);
    if (!str_casecmp(word, "remcirc"))
        return remove_circuit(c);
    const bool reads = !str_casecmp(word, "source") || !str_casecmp(word, "cd");
    return reads ? cmd_refused(c, text) : cmd_interactive(c, text);
}

/* Reads the deck again, beside the circuit in use, which remcirc brings back. */
static vs_status cmd_mc_source(ctl *c, const char *text)
{
    c->n_source += !c->none;
    return ctl_reset(c, text);
}

static vs_status cmd_pyplot(ctl *c, const char *text)
{
    (void)text;
    diag_warning(c->d, c->at,
                 "pyplot would start Python: nothing is drawn; 'plot' and 'hardcopy' "
                 "draw here");
    return VS_OK;
}

static vs_status cmd_nothing(ctl *c, const char *text)
{
    (void)c;
    (void)text;
    return VS_OK;
}

static vs_status cmd_version(ctl *c, const char *text)
{
    (void)text;
    fprintf(c->out, "%s%s\n", c->o.session ? "" : "vsim ", c->o.version ? c->o.version : "");
    return VS_OK;
}

static vs_status cmd_strcmp(ctl *c, const char *text)
{
    char **w = ctl_words(c, text);
    vs_status st = VS_OK;
    if (vec_len(w) == 3) {
        int k = strcmp(w[1], w[2]);
        const char *v = k < 0 ? "-1" : k > 0 ? "1" : "0";
        ctl_put(c, w[0], &v, 1);
    } else {
        st = ctl_fail(c, "strcmp takes a variable and two texts");
    }
    vec_free(w);
    return st;
}

static vs_status cmd_seed(ctl *c, const char *text)
{
    double x = 1;
    const char *end = "";
    if (*text && (!str_spice_number(text, &end, &x) || *end))
        return ctl_fail(c, "setseed takes a number, not '%s'", text);
    return ctl_seed(c, x);
}

typedef struct command {
    const char *name;
    vs_status (*run)(ctl *c, const char *text);
    bool to_file; /* "> file" is taken off the line */
} command;

static const command commands[] = {
    {"op", ctl_analysis, false},
    {"dc", ctl_analysis, false},
    {"ac", ctl_analysis, false},
    {"tran", ctl_analysis, false},
    {"noise", ctl_analysis, false},
    {"tf", ctl_analysis, false},
    {"sens", ctl_analysis, false},
    {"pz", ctl_analysis, false},
    {"sp", ctl_analysis, false},
    {"hb", ctl_analysis, false},
    {"hbosc", ctl_analysis, false},
    {"pss", ctl_analysis, false},
    {"hbac", ctl_analysis, false},
    {"hbnoise", ctl_analysis, false},
    {"phasenoise", ctl_analysis, false},
    {"hbsp", ctl_analysis, false},
    {"hbxf", ctl_analysis, false},
    {"lstb", ctl_analysis, false},
    {"acxf", ctl_analysis, false},
    {"acmatch", ctl_analysis, false},
    {"dcmatch", ctl_analysis, false},
    {"dcxf", ctl_analysis, false},
    {"disto", ctl_analysis, false},
    {"run", ctl_run_all, false},
    {"alter", ctl_alter, false},
    {"altermod", ctl_altermod, false},
    {"alterparam", ctl_alterparam, false},
    {"reset", ctl_reset, false},
    {"mc_source", cmd_mc_source, false},
    {"save", ctl_save, false},
    {"show", ctl_show, true},
    {"showmod", ctl_showmod, true},
    {"listing", ctl_listing, true},
    {"eprint", ctl_eprint, true},
    {"edisplay", ctl_edisplay, true},
    {"eprvcd", ctl_eprvcd, true},
    {"devhelp", ctl_devhelp, true},
    {"rusage", ctl_rusage, true},
    {"version", cmd_version, true},
    {"let", ctl_let, false},
    {"unlet", ctl_unlet, false},
    {"compose", ctl_compose, false},
    {"define", ctl_define, false},
    {"undefine", ctl_undefine, false},
    {"print", ctl_print, true},
    {"echo", ctl_echo, true},
    {"write", ctl_write, false},
    {"wrdata", ctl_wrdata, false},
    {"meas", ctl_meas, true},
    {"measure", ctl_meas, true},
    {"display", ctl_display, true},
    {"setplot", ctl_setplot, true},
    {"setscale", ctl_setscale, false},
    {"settype", ctl_settype, false},
    {"destroy", ctl_destroy, false},
    {"linearize", ctl_linearize, false},
    {"fft", ctl_fft, false},
    {"eye", ctl_eye, true},
    {"psd", ctl_psd, false},
    {"spec", ctl_spec, false},
    {"fourier", ctl_fourier, true},
    {"plot", ctl_plot, false},
    {"asciiplot", ctl_plot, false},
    {"gnuplot", ctl_gnuplot, false},
    {"hardcopy", ctl_gnuplot, false},
    {"pyplot", cmd_pyplot, false},
    {"cutout", ctl_cutout, false},
    {"set", ctl_set, true},
    {"setcs", ctl_set, true}, /* values keep their case in both */
    {"unset", ctl_unset, false},
    {"option", ctl_option, true},
    {"options", ctl_option, true},
    {"quit", cmd_quit, false},
    {"exit", cmd_quit, false},
    {"strcmp", cmd_strcmp, false},
    {"setseed", cmd_seed, false},
    {"shell", cmd_shell, false},
    {"system", cmd_shell, false},
    {"source", cmd_session, false},
    {"remcirc", cmd_session, false},
    {"setcirc", cmd_session, true},
    {"circbyline", cmd_session, false},
    {"resume", ctl_resume, false},
    {"step", ctl_step, false},
    {"stop", ctl_stop, false},
    {"status", ctl_status, true},
    {"delete", ctl_delete, false},
    {"codemodel", cmd_refused, false},
    {"load", ctl_load, false},
    {"use", cmd_refused, false},
    {"cd", cmd_session, false},
    {"pre_set", ctl_set, false},
    {"pre_osdi", cmd_nothing, false},
    {"osdi", cmd_nothing, false}, /* done before the circuit was built */
    {"rehash", cmd_nothing, false},
    {"remzerovec", cmd_nothing, false}, /* no vector is without values */
    {"trace", cmd_interactive, false},
    {"iplot", cmd_interactive, false},
    {"edit", cmd_interactive, false},
    {"help", cmd_interactive, false},
    {"history", cmd_interactive, false},
    {"alias", cmd_interactive, false},
    {"unalias", cmd_interactive, false},
    {"bug", cmd_interactive, false},
    {"where", cmd_interactive, false},
    {"snload", cmd_interactive, false},
    {"snsave", cmd_interactive, false},
    {"cross", ctl_cross, false},
    {"reshape", ctl_reshape, false},
    {"transpose", ctl_transpose, false},
    {"bg_run", cmd_interactive, false},
    {"esave", ctl_esave, false},
    {"aspice", cmd_interactive, false},
    {"jobs", cmd_interactive, false},
    {"rspice", cmd_interactive, false},
    {"dump", cmd_interactive, false},
    {"state", cmd_interactive, false},
    {"wrs2p", cmd_interactive, false},
    {"sysinfo", cmd_interactive, false},
    {"inventory", cmd_interactive, false},
    {"mdump", cmd_interactive, false},
    {"mrdump", cmd_interactive, false},
    {"diff", cmd_interactive, false},
    {"deftype", cmd_interactive, false},
    {"optran", cmd_interactive, false},
    {"tutorial", cmd_interactive, false},
    {"wrnodev", cmd_interactive, false},
    {"xgraph", cmd_interactive, false},
    {"cdump", cmd_interactive, false},
    {"strslice", cmd_interactive, false},
    {"strstr", cmd_interactive, false},
    {"fopen", cmd_interactive, false},
    {"fread", cmd_interactive, false},
    {"fclose", cmd_interactive, false},
    {"oldhelp", cmd_interactive, false},
    {"getcwd", cmd_interactive, false},
    {"shift", cmd_interactive, false},
};

static vs_status unknown_command(ctl *c, const char *word)
{
    const char *cand[VS_COUNT(commands)];
    for (size_t i = 0; i < VS_COUNT(commands); i++)
        cand[i] = commands[i].name;
    diag_error(c->d, ctl_place(c, c->line, strlen(word)), "there is no command '%s'", word);
    diag_suggest(c->d, word, cand, VS_COUNT(cand));
    return VS_EINPUT;
}

/* Whether a word is the name of a file: a session then takes it for `source`, as ngspice does. */
static bool is_file(const char *path)
{
    struct stat sb;
    return !stat(path, &sb) && S_ISREG(sb.st_mode);
}

static bool interrupted(ctl *c)
{
    const sim_hook *h = &sim_opts(c->s)->hook;
    c->stopped |= h->stop && h->stop(h->user);
    if (c->stopped)
        c->worst = VS_STOP;
    return c->stopped;
}

/* Whether a stopped block ends at this command: one that would replace results which the block
 * still should save, or start a program. */
static bool ends_when_stopped(vs_status (*run)(ctl *, const char *))
{
    return run == ctl_analysis || run == ctl_run_all || run == ctl_resume || run == ctl_step ||
           run == ctl_reset || run == cmd_mc_source || run == cmd_shell || run == cmd_session;
}

static vs_status dispatch(ctl *c)
{
    const char *s = c->line;
    size_t n = strcspn(s, " \t");
    if (*s == '!') {
        c->ended = c->stopped;
        return c->stopped ? VS_STOP : cmd_shell(c, s + 1);
    }
    const char *word = arena_strndup(&c->scratch, s, n), *rest = s + n + strspn(s + n, " \t");
    for (size_t i = 0; i < VS_COUNT(commands); i++) {
        if (str_casecmp(commands[i].name, word))
            continue;
        if (c->stopped && ends_when_stopped(commands[i].run)) {
            c->ended = true;
            return VS_STOP;
        }
        vs_status st = commands[i].to_file ? ctl_redirect(c, &rest) : VS_OK;
        /* the analysis' own word belongs to the card */
        if (!st)
            st = commands[i].run(c, commands[i].run == ctl_analysis ? s : rest);
        vs_status closing = ctl_end_redirect(c);
        return st ? st : closing;
    }
    if (c->o.session && !c->stopped && is_file(word))
        return c->o.session(c->o.user, "source", s);
    return unknown_command(c, word);
}

/* -- running -- */

/* Behind a stop a block saves what there is. What a command misses then is no error of the deck. */
static void soften_late(ctl *c)
{
    diag_soften(c->d, c->since);
    diag_note(c->d, DIAG_NOWHERE, "the block was stopped: its results end early");
}

static void end_command(ctl *c, vs_status st)
{
    if (c->stopped && st == VS_EINPUT)
        soften_late(c);
    if (st && st != VS_PAUSED && !c->worst) /* behind a pause the script goes on, as in ngspice */
        c->worst = st;
    if (c->o.flush)
        c->o.flush(c->o.user);
    c->e.line = NULL; /* it is in scratch, which is released here */
    arena_fini(&c->scratch);
    arena_init(&c->scratch);
}

/* Whether a statement does not look at the circuit, so that changes of it may wait: an alter, an
 * altermod, a let or a condition without a value inside a device. */
static bool needs_no_circuit(const stmt *x, const char *text)
{
    const char *rest = text;
    const bool alter =
        x->kind == K_COMMAND && (word_is(text, "alter", &rest) || word_is(text, "altermod", &rest));
    if (x->kind == K_COMMAND && !alter && !word_is(text, "let", &rest))
        return false;
    return !strchr(alter && *rest == '@' ? rest + 1 : rest, '@');
}

static bool prepare(ctl *c, const stmt *x)
{
    if (c->altered && !needs_no_circuit(x, x->text))
        ctl_settle(c);
    c->since = diag_try(c->d);
    c->at = x->at;
    c->e.span = x->at;
    c->same_text = true;
    c->line = x->text;
    const char *text = ctl_substitute(c, x->text);
    if (!text) {
        end_command(c, VS_EINPUT);
        return false;
    }
    if (c->altered && !needs_no_circuit(x, text))
        ctl_settle(c);
    c->same_text = !strcmp(text, x->text);
    c->line = text;
    uint32_t skip = 0; /* the word before a condition */
    if (x->kind != K_COMMAND) {
        const char *whole = c->d->file[x->at.file].text + x->at.off;
        while (skip + strlen(x->text) < x->at.len &&
               strncmp(whole + skip, x->text, strlen(x->text)))
            skip++;
    }
    c->line_at = (diag_span){x->at.file, x->at.off + skip, (uint32_t)strlen(text)};
    c->e.line = c->same_text ? text : NULL;
    c->e.line_at = c->line_at;
    return true;
}

static ctl_flow run_block(ctl *c, const stmt *list);

/* The frame of the innermost list that runs. */
static ctl_frame *frame(ctl *c) { return &c->where[vec_len(c->where) - 1]; }

/* The value of a statement's condition; false also after a message. */
static bool condition(ctl *c, const stmt *x)
{
    double v = 0;
    if (!prepare(c, x))
        return false;
    bool ok = *c->line || (ctl_fail(c, "a condition is expected"), false);
    ok = ok && post_eval_number(&c->e, c->line, &v);
    end_command(c, ok ? VS_OK : VS_EINPUT);
    return ok && v != 0;
}

typedef struct loop {
    const stmt *x;
    int n_late;    /* turns that began after the block was stopped */
    ctl_flow flow; /* what the statements around the loop do next */
} loop;

/* Whether the block's budget has one more turn. If not, gives a message, once; the loops around
 * end, and the statements behind them run. */
static bool may_turn(ctl *c, const stmt *x)
{
    const double most = ctl_number_value(c, "maxturns", MAX_TURNS);
    if (!(most > 0) || ++c->n_turn <= most)
        return true;
    if (!c->spent) {
        c->since = diag_try(c->d);
        diag_error(c->d, x->at,
                   "loops end here, after %.10g turns; `set maxturns=N` before allows N, 0 any "
                   "number",
                   most);
        end_command(c, VS_EINPUT);
    }
    c->spent = true;
    return false;
}

/* One turn of a loop; true: go on with the next. A loop ends whose turns all fail. A stop of the
 * block ends a loop that was running; a loop that begins later may run, to save results. */
static bool turn(ctl *c, loop *l)
{
    const bool late = c->stopped;
    l->flow = FLOW_ON;
    if (!ctl_goes_back(c)) {
        frame(c)->n_error = c->d->n_error;
        if (!may_turn(c, l->x))
            return false;
    }
    const ctl_flow flow = run_block(c, l->x->body);
    if (interrupted(c) && (!late || ++l->n_late >= MAX_LATE)) {
        l->flow = flow == FLOW_QUIT ? FLOW_QUIT : FLOW_ON;
        return false;
    }
    l->flow = flow == FLOW_QUIT || flow == FLOW_GOTO ? flow : FLOW_ON;
    frame(c)->turn++;
    frame(c)->n_failed = c->d->n_error > frame(c)->n_error ? frame(c)->n_failed + 1 : 0;
    if (frame(c)->n_failed < MAX_FAILED)
        return l->flow == FLOW_ON && flow != FLOW_BREAK;
    diag_warning(c->d, l->x->at, "the loop ends here: each of its last %d turns had errors",
                 MAX_FAILED);
    return false;
}

static ctl_flow run_repeat(ctl *c, const stmt *x)
{
    loop l = {.x = x};
    if (!ctl_goes_back(c)) {
        double n = INFINITY;
        if (!prepare(c, x))
            return FLOW_ON;
        bool ok = !*c->line || post_eval_number(&c->e, c->line, &n);
        if (ok && !(n >= 0)) {
            ctl_fail(c, "repeat takes a number of turns, not %g", n);
            ok = false;
        } else if (ok && n != floor(n)) {
            diag_warning(c->d, c->at, "repeat takes whole turns: %g of %g", floor(n), n);
            n = floor(n);
        }
        end_command(c, ok ? VS_OK : VS_EINPUT);
        frame(c)->most = ok ? n : 0;
    }
    while (frame(c)->turn < frame(c)->most && turn(c, &l))
        ;
    return l.flow;
}

/* The variable and its values, in mem. vec; none: there was a message. */
static const char **values_of(ctl *c, const stmt *x, arena *mem)
{
    const char **word = NULL;
    if (!prepare(c, x))
        return NULL;
    char **w = ctl_words(c, c->line);
    for (size_t i = 0; i < vec_len(w); i++) /* ( a b c ): brackets are no words */
        if (strcmp(w[i], "(") && strcmp(w[i], ")"))
            vec_push(word, arena_strndup(mem, w[i], strlen(w[i])));
    vec_free(w);
    end_command(c, vec_len(word) ? VS_OK : ctl_fail(c, "foreach takes a variable and its values"));
    return word;
}

static ctl_flow run_foreach(ctl *c, const stmt *x)
{
    loop l = {.x = x};
    arena mem; /* scratch goes with each command of the body */
    arena_init(&mem);
    const bool back = ctl_goes_back(c);
    const char **word = back ? frame(c)->word : values_of(c, x, &mem);
    frame(c)->word = word;
    for (size_t i = 1 + (size_t)frame(c)->turn; i < vec_len(word); i++) {
        if (!ctl_goes_back(c)) /* a loop that goes on has its variable already */
            ctl_put(c, word[0], &word[i], 1);
        if (!turn(c, &l))
            break;
    }
    frame(c)->word = NULL;
    if (!back)
        vec_free(word);
    arena_fini(&mem);
    return l.flow;
}

/* Whether a goto may jump. Jumps count as turns of a loop; they end when all of them fail. */
static bool may_jump(ctl *c, const stmt *x)
{
    c->n_jump_failed = c->d->n_error > c->jump_errors ? c->n_jump_failed + 1 : 0;
    c->jump_errors = c->d->n_error;
    if (c->n_jump_failed >= MAX_FAILED) {
        diag_warning(c->d, x->at, "no jump here: there were errors before each of the last %d",
                     MAX_FAILED);
        return false;
    }
    return !c->stopped && may_turn(c, x);
}

static ctl_flow run_if(ctl *c, const stmt *x)
{
    if (!ctl_goes_back(c))
        frame(c)->other = !condition(c, x);
    return run_block(c, frame(c)->other ? x->other : x->body);
}

static ctl_flow run_stmt(ctl *c, const stmt *x)
{
    loop l = {.x = x};
    switch (x->kind) {
    case K_BREAK: return FLOW_BREAK;
    case K_CONTINUE: return FLOW_CONTINUE;
    case K_LABEL: return FLOW_ON;
    case K_GOTO:
        if (!may_jump(c, x))
            return FLOW_ON;
        c->at = x->at;
        c->label = x->text;
        return FLOW_GOTO;
    case K_IF: return run_if(c, x);
    case K_REPEAT: return run_repeat(c, x);
    case K_FOREACH: return run_foreach(c, x);
    case K_WHILE:
        while ((ctl_goes_back(c) || condition(c, x)) && turn(c, &l))
            ;
        return l.flow;
    case K_DOWHILE:
        while (turn(c, &l) && condition(c, x))
            ;
        return l.flow;
    case K_COMMAND:
        if (prepare(c, x) && *c->line)
            end_command(c, dispatch(c));
        return c->quit || c->ended ? FLOW_QUIT : FLOW_ON;
    }
    return FLOW_ON;
}

/* Index of the label c->label in the list; the length of the list: it is not there. */
static size_t find_label(const ctl *c, const stmt *list)
{
    size_t i = 0;
    while (i < vec_len(list) && (list[i].kind != K_LABEL || str_casecmp(list[i].text, c->label)))
        i++;
    return i;
}

/* Runs the statements from the i-th on. A goto leads to a label of its own list or of a list around
 * it, never into an inner one. */
static ctl_flow run_from(ctl *c, const stmt *list, size_t i)
{
    const bool back = ctl_goes_back(c);
    for (size_t k = 0; i < vec_len(list); i++, k++) {
        if (k || !back) /* a loop that goes on has its frame */
            *frame(c) = (ctl_frame){.at = i};
        ctl_flow flow = run_stmt(c, &list[i]);
        (void)interrupted(c);
        if (flow == FLOW_GOTO && find_label(c, list) < vec_len(list)) {
            i = find_label(c, list);
            flow = FLOW_ON;
        }
        if (flow != FLOW_ON)
            return flow;
    }
    return FLOW_ON;
}

/* Runs a list from its beginning, or, where it goes on from an image, from the statement that was
 * running then. */
static ctl_flow run_block(ctl *c, const stmt *list)
{
    const ctl_frame begin = {0};
    vec_push(c->where, ctl_goes_back(c) ? c->back[c->n_back++] : begin);
    const ctl_flow flow = run_from(c, list, frame(c)->at);
    (void)vec_pop(c->where);
    return flow;
}

/* Runs a block's outermost list. A goto that leads out of it has no label: a message says so. */
static void run_all(ctl *c, const stmt *list)
{
    if (run_block(c, list) != FLOW_GOTO)
        return;
    (void)ctl_fail(c, "there is no 'label %s' in this block or in one around it", c->label);
    if (!c->worst)
        c->worst = VS_EINPUT;
}

/* -- the object -- */

static bool number_of(void *user, const char *name, double *value)
{
    ctl *c = user;
    if (*name == '@')
        return ctl_device_value(c, name, value);
    for (size_t i = vec_len(c->result); i-- > 0;)
        if (!str_casecmp(c->result[i].m.name, name)) { /* the last one: if it failed, none */
            *value = c->result[i].m.value;
            return c->result[i].m.ok;
        }
    return sim_param(c->s, str_intern_lower(c->names, name, strlen(name)), value);
}

static const char *lack_of(void *user, const char *name)
{
    return sim_lack(((ctl *)user)->s, name);
}

/* "name=text"; "name" alone: a flag. */
static void set_given(ctl *c, const char *text)
{
    const size_t n = strcspn(text, "=");
    const char *value = text + n + 1;
    ctl_put(c, arena_strndup(&c->mem, text, n), &value, text[n] != 0);
}

ctl *ctl_new(sim *s, const ctl_opt *o)
{
    ctl *c = vs_calloc(1, sizeof *c);
    *c = (ctl){.s = s,
               .o = *o,
               .d = sim_diag(s),
               .names = sim_names(s),
               .out = o->log,
               .seed = o->seed ? o->seed : 1,
               .at = DIAG_NOWHERE};
    arena_init(&c->mem);
    arena_init(&c->scratch);
    c->constants = post_plot_new(sim_plots(s), "const", sim_deck(s)->title, "Constant values");
    if (c->constants)
        c->constants->name = str_intern0(c->names, "const");
    for (size_t i = 0; i < o->n_variable; i++)
        set_given(c, o->variable[i]);
    sim_plots(s)->number = 1;
    c->e = (post_env){.set = sim_plots(s),
                      .d = c->d,
                      .span = DIAG_NOWHERE,
                      .mem = &c->scratch,
                      .seed = &c->seed,
                      .number = number_of,
                      .lack = lack_of,
                      .user = c};
    ctl_take_start(c);
    return c;
}

void ctl_free(ctl **p)
{
    ctl *c = *p;
    if (!c)
        return;
    ctl_end_run(c);
    ctl_free_stops(c);
    ctl_free_vars(c);
    for (size_t i = 0; i < vec_len(c->def); i++)
        vec_free(c->def[i].arg);
    vec_free(c->def);
    vec_free(c->result);
    post_flow_free(&c->flow);
    vec_free(c->flow_image);
    ctl_free_place(c);
    arena_fini(&c->scratch);
    arena_fini(&c->mem);
    vs_free(c);
    *p = NULL;
}

/* Checks that the first word of each statement is a command. One from a variable is only known when
 * it runs. */
static void check_commands(ctl *c, const stmt *list)
{
    for (size_t i = 0; i < vec_len(list); i++) {
        const char *s = list[i].text;
        const size_t n = strcspn(s, " \t");
        bool known = list[i].kind != K_COMMAND || *s == '!' || memchr(s, '$', n);
        for (size_t k = 0; k < VS_COUNT(commands) && !known; k++)
            known = strlen(commands[k].name) == n && !str_ncasecmp(commands[k].name, s, n);
        c->at = list[i].at;
        c->same_text = false;
        if (!known)
            (void)unknown_command(c, arena_strndup(&c->scratch, s, n));
        check_commands(c, list[i].body);
        check_commands(c, list[i].other);
    }
}

vs_status ctl_check(sim *s, bool blocks)
{
    const ctl_opt none = {0};
    ctl *c = ctl_new(s, &none);
    c->e.check = true;
    int errors = sim_diag(s)->n_error;
    vs_status st = ctl_check_cards(c);
    if (blocks) {
        const diag_span *line = sim_deck(s)->control;
        parser p = {.c = c, .line = line, .n = vec_len(line), .mem = &c->mem};
        stop_word by;
        stmt *list = read_block(&p, &by);
        check_commands(c, list);
        free_block(list);
    }
    post_plot_destroy(sim_plots(s), c->constants);
    ctl_free(&c);
    return !st && sim_diag(s)->n_error > errors ? VS_EINPUT : st;
}

bool ctl_has_block(const sim *s) { return sim_deck(s)->control_at.file >= 0; }
bool ctl_saved(const ctl *c) { return c->saved; }
bool ctl_analysed(const ctl *c) { return c->n_analysis > 0 || c->removed; }

int ctl_opens(const char *line)
{
    const char *rest;
    kind k;
    line += strspn(line, " \t");
    if (word_is(line, "end", &rest) || word_is(line, "endif", &rest))
        return -1;
    return starts_block(line, &k, &rest);
}

/* Saves the state of the present lines in *was and clears it, so that a command can run other
 * lines. */
static void put_aside(ctl *c, ctl *was)
{
    *was = *c;
    arena_init(&c->scratch);
    c->out = c->o.log;
    c->e.line = NULL;
    c->worst = VS_OK;
    c->quit = c->stopped = c->ended = c->saved = false;
}

static void take_up(ctl *c, const ctl *was)
{
    arena_fini(&c->scratch);
    c->scratch = was->scratch;
    c->out = was->out == was->o.log ? c->o.log : was->out;
    c->at = was->at;
    c->line = was->line;
    c->line_at = was->line_at;
    c->same_text = was->same_text;
    c->e.span = was->e.span;
    c->e.line = was->e.line;
    c->e.line_at = was->e.line_at;
    c->worst = was->worst;
    c->stopped |= was->stopped;
    c->ended |= was->ended;
    c->quit |= was->quit; /* quit in a script ends the lines that called it, too */
}

/* Runs the pre_set commands, which come before all others of their block. A block that goes on ran
 * them before its checkpoint. */
static void run_pre_set(ctl *c, stmt *list, bool back)
{
    const char *rest;
    for (size_t i = 0; i < vec_len(list); i++) {
        if (list[i].kind != K_COMMAND || !word_is(list[i].text, "pre_set", &rest))
            continue;
        if (!back)
            (void)run_stmt(c, &list[i]);
        list[i].text = "";
    }
}

vs_status ctl_lines(ctl *c, const diag_span *line, size_t n, bool *quit, int *code)
{
    arena mem;
    ctl was;
    const bool back = ctl_goes_back(c);
    arena_init(&mem);
    put_aside(c, &was);
    if (!c->n_inside++ && !back) {
        c->n_turn = 0;
        c->spent = false;
    }
    parser p = {.c = c, .line = line, .n = n, .mem = &mem};
    stop_word by;
    stmt *list = read_block(&p, &by);
    c->worst = p.st || !back ? p.st : was.worst;
    if (!p.st) {
        run_pre_set(c, list, back);
        run_all(c, list);
        ctl_settle(c);
    }
    const vs_status st = c->worst;
    const bool pause = c->run.paused && c->n_pause > was.n_pause;
    free_block(list);
    arena_fini(&mem);
    *quit = c->quit;
    *code = c->code;
    take_up(c, &was);
    c->n_inside--;
    return pause && (!st || st == VS_STOP) ? VS_PAUSED : st;
}

vs_status ctl_run(ctl *c, bool *quit, int *code)
{
    const diag_span *line = sim_deck(c->s)->control;
    void (*value)(void *, const char *, double) = sim_opts(c->s)->hook.value;
    sim_opts(c->s)->hook.value = NULL; /* `op` prints nothing by itself here */
    const vs_status st = ctl_lines(c, line, vec_len(line), quit, code);
    sim_opts(c->s)->hook.value = value;
    return st;
}

/* -- sessions -- */

void ctl_use(ctl *c, sim *s, bool none)
{
    ctl_end_run(c);
    c->s = s;
    c->none = none;
    ctl_take_start(c);
}

void ctl_set_log(ctl *c, FILE *log)
{
    if (c->out == c->o.log)
        c->out = log;
    c->o.log = log;
}
