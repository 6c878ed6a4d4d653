/* va_unit.c - va_compile: the stages of the Verilog-A front end in order, and what users call. */
#include "va_ast.h"

#include <stdarg.h>
#include <string.h>

static void note_macro(va_ctx *c, int32_t macro)
{
    if (macro >= 0)
        diag_note(c->d, c->macro[macro].def, "in the expansion of macro '%s'",
                  c->macro[macro].name);
}

void va_error(va_ctx *c, diag_span at, int32_t macro, const char *fmt, ...)
{
    char buf[600];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(buf, sizeof buf, fmt, ap);
    va_end(ap);
    diag_error(c->d, at, "%s", buf);
    note_macro(c, macro);
}

void va_warning(va_ctx *c, diag_span at, int32_t macro, const char *fmt, ...)
{
    char buf[600];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(buf, sizeof buf, fmt, ap);
    va_end(ap);
    diag_warning(c->d, at, "%s", buf);
    note_macro(c, macro);
}

static void begin(va_ctx *c)
{
    static const struct {
        const char *text;
        va_kw kw;
    } word[] = {
#define X(id, text) {text, KW_##id},
        VA_KEYWORDS(X)
#undef X
    };
    for (size_t i = 0; i < VS_COUNT(word); i++)
        if (word[i].text[0])
            map_set(&c->kw, map_key(str_intern0(c->names, word[i].text)), (int32_t)word[i].kw);
    va_builtins_init(c);
}

static void end(va_ctx *c)
{
    for (size_t i = 0; i < vec_len(c->macro); i++)
        vec_free(c->macro[i].body);
    for (size_t i = 0; i < vec_len(c->owned); i++)
        vec_free_(c->owned[i]);
    vec_free(c->owned);
    vec_free(c->macro);
    vec_free(c->tok);
    vec_free(c->nature);
    vec_free(c->disc);
    vec_free(c->mod);
    map_free(&c->kw);
    map_free(&c->fn);
    map_free(&c->macro_of);
    map_free(&c->nature_of);
    map_free(&c->disc_of);
    map_free(&c->said);
    arena_fini(&c->mem);
}

/* Checks modules before paramsets: a paramset may come before its module in the text. */
static void check_and_lower(va_ctx *c, va_unit *u)
{
    for (int paramsets = 0; paramsets < 2; paramsets++)
        for (size_t i = 0; i < vec_len(c->mod) && !diag_full(c->d, c->n_error); i++)
            if ((c->mod[i]->base_name != NULL) == paramsets)
                va_sema_module(c, c->mod[i]);
    for (size_t i = 0; i < vec_len(c->mod) && !diag_full(c->d, c->n_error); i++) {
        va_mod *m = c->mod[i];
        if (!m->bad && !(m->base && m->base->bad))
            (void)va_lower_module(c, u, m);
    }
}

static vs_status compile(va_unit *u, diag *d, str_pool *names, int32_t file, const va_opt *opt)
{
    const int before = d->n_error;
    va_ctx c = {.d = d, .names = names, .opt = opt, .n_error = before};
    arena_init(&c.mem);
    begin(&c);
    va_preprocess(&c, file);
    if (!c.fatal && !c.incomplete) {
        va_parse(&c);
        if (!c.fatal)
            check_and_lower(&c, u);
        if (!vec_len(c.mod) && d->n_error == before)
            diag_error(d, (diag_span){file, 0, 0}, "file contains no module");
    }
    u->absent = c.absent;
    end(&c);
    return d->n_error > before ? VS_EINPUT : VS_OK;
}

static void init_unit(va_unit *u, str_pool *names)
{
    *u = (va_unit){.names = names};
    arena_init(&u->mem);
}

vs_status va_compile(va_unit *u, diag *d, str_pool *names, const char *path, const va_opt *opt)
{
    int32_t file;
    const char *why;
    init_unit(u, names);
    vs_status st = diag_read_file(d, path, DIAG_NOWHERE, &file, &why);
    if (st) {
        diag_error(d, DIAG_NOWHERE, "file '%s' %s", path, why);
        return st;
    }
    return compile(u, d, names, file, opt);
}

vs_status va_compile_text(va_unit *u, diag *d, str_pool *names, const char *name, const char *text,
                          size_t len, const va_opt *opt)
{
    init_unit(u, names);
    return compile(u, d, names, diag_add_file(d, name, text, len, DIAG_NOWHERE), opt);
}

static void free_module(va_module *m)
{
    for (size_t i = 0; i < vec_len(m->param); i++)
        vec_free(m->param[i].alias);
    for (size_t i = 0; i < vec_len(m->noise); i++)
        vec_free(m->noise[i].table);
    vec_free(m->unknown);
    vec_free(m->probe);
    vec_free(m->branch);
    vec_free(m->param);
    vec_free(m->opvar);
    vec_free(m->noise);
    vec_free(m->lim_probe);
    vec_free(m->native);
    ir_fn_fini(&m->eval);
    ir_fn_fini(&m->params);
}

void va_unit_fini(va_unit *u)
{
    for (size_t i = 0; i < vec_len(u->module); i++)
        free_module(u->module[i]);
    vec_free(u->module);
    vec_free(u->absent);
    arena_fini(&u->mem);
}

const char *va_builtin_text(const char *name, size_t *len)
{
    static const char folder[] = VA_BUILTIN_FOLDER;
    const bool shown = !strncmp(name, folder, sizeof folder - 1);
    return va_builtin_file(shown ? name + sizeof folder - 1 : name, len);
}

static bool named(const va_param *p, const char *name, bool exact)
{
    if (exact ? !strcmp(p->name, name) : !str_casecmp(p->name, name))
        return true;
    for (size_t i = 0; i < vec_len(p->alias); i++)
        if (exact ? !strcmp(p->alias[i], name) : !str_casecmp(p->alias[i], name))
            return true;
    return false;
}

static void add_name(va_param_index *x, const char *name, int32_t param)
{
    const uint64_t key = str_hash_lower(name);
    const struct va_param_entry e = {.param = param, .next = map_get(&x->first, key, -1)};
    map_set(&x->first, key, (int32_t)vec_len(x->entry));
    vec_push(x->entry, e);
}

void va_param_index_init(va_param_index *x, const va_module *m)
{
    *x = (va_param_index){0};
    for (size_t i = vec_len(m->param); i-- > 0;) { /* the chain of a hash begins with its last entry
                                                      */
        add_name(x, m->param[i].name, (int32_t)i);
        for (size_t k = 0; k < vec_len(m->param[i].alias); k++)
            add_name(x, m->param[i].alias[k], (int32_t)i);
    }
}

void va_param_index_fini(va_param_index *x)
{
    map_free(&x->first);
    vec_free(x->entry);
}

int32_t va_param_index_find(const va_param_index *x, const va_module *m, const char *name)
{
    const int32_t first = map_get(&x->first, str_hash_lower(name), -1);
    for (int exact = 1; exact >= 0; exact--)
        for (int32_t k = first; k >= 0; k = x->entry[k].next)
            if (named(&m->param[x->entry[k].param], name, exact))
                return x->entry[k].param;
    return -1;
}

int32_t va_find_param(const va_module *m, const char *name)
{
    for (int exact = 1; exact >= 0; exact--)
        for (size_t i = 0; i < vec_len(m->param); i++)
            if (named(&m->param[i], name, exact))
                return (int32_t)i;
    return -1;
}
