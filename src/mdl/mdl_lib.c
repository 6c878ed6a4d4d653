/* mdl_lib.c - modules by name: files that were loaded, and the folder of standard models.
 * The standard folder: mdl_opt.model_dir, else the source folder of the build if it still exists,
 * else the installed one. Its index reads the files as text only: the names after
 * `module`, those on lines "// vsim-types: ...", and the file's own name; a file is compiled when
 * one of its names is asked for. */
#define _GNU_SOURCE
#include "mdl_build.h"
#include "mdl_priv.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "io.h"
#include "stream.h"

/* -- models -- */

static void note_inputs(mdl_model *m, const ir_fn *fn)
{
    for (size_t i = 0; i < vec_len(fn->in); i++) {
        m->temp_used |= fn->in[i].kind == IR_IN_TEMP;
        if (fn->in[i].kind == IR_IN_SIMPARAM)
            m->simparam_used |= 1u << fn->in[i].k;
    }
}

mdl_model *mdl_add_module(mdl_lib *lib, const va_module *mod)
{
    mdl_model *m = vs_calloc(1, sizeof *m);
    m->lib = lib;
    m->mod = mod;
    arena_init(&m->mem);
    note_inputs(m, &mod->eval);
    note_inputs(m, &mod->params);
    vec_push(lib->model, m);
    return m;
}

static ir_fn *fn_of_part(mdl_model *m, int part)
{
    va_module *mod = (va_module *)(uintptr_t)m->mod;
    return part == MOD_PARAMS ? &mod->params : part == MOD_EVAL ? &mod->eval : &m->full;
}

static void free_model(mdl_model *m)
{
    for (size_t i = 0; i < vec_len(m->row); i++)
        if (!m->row[i].is_number && m->row[i].full)
            mdl_row_free(m->row[i].full);
    mdl_kin_free(m);
    for (size_t i = 0; i < vec_len(m->variant); i++)
        mdl_variant_free(m->variant[i]);
    for (int f = 0; f < N_FORM; f++)
        mdl_form_free(&m->form[f]);
    vec_free(m->row);
    vec_free(m->free_row);
    vec_free(m->released);
    vec_free(m->variant);
    for (size_t i = 0; i < vec_len(m->key); i++)
        vec_free(m->key[i]);
    vec_free(m->key);
    vec_free(m->unknown);
    vec_free(m->quiet);
    vec_free(m->probe);
    (m->part_state[MOD_FULL] == FN_MAPPED ? mdl_store_drop_fn : ir_fn_fini)(&m->full);
    for (int p = MOD_PARAMS; p <= MOD_EVAL; p++)
        if (m->part_state[p] == FN_MAPPED)
            mdl_store_drop_fn(fn_of_part(m, p));
    map_free(&m->row_of_hash);
    map_free(&m->param_of);
    va_param_index_fini(&m->param_index);
    vs_free(m->scratch);
    mdl_rest_free(m->last_rest);
    arena_fini(&m->work);
    arena_fini(&m->mem);
    vs_free(m);
}

static void fini_unit(lib_unit *lu)
{
    va_unit_fini(&lu->u);
    va_unit_fini(&lu->again);
    vec_free(lu->file);
    store_release(&lu->item);
}

void mdl_drop_unit(mdl_lib *lib, lib_unit *lu)
{
    while (vec_len(lib->model) > lu->first_model)
        free_model(vec_pop(lib->model));
    fini_unit(lu);
    lu->u = (va_unit){.names = lib->names};
    lu->again = (va_unit){0};
    arena_init(&lu->u.mem);
}

/* -- damaged records -- */

static const char **include_folders(const mdl_lib *lib, char **standard);

static va_opt how_to_compile(const mdl_lib *lib, const char *const *dir)
{
    return (va_opt){.include = dir,
                    .n_include = vec_len(dir),
                    .define = lib->opt.macro,
                    .n_define = lib->opt.n_macro};
}

/* The unit's modules once more; their texts and messages are known already. */
static bool compile_again(mdl_lib *lib, lib_unit *lu)
{
    char *standard = NULL;
    diag d;
    if (!lu->compiled_again) {
        const char **dir = include_folders(lib, &standard);
        const va_opt opt = how_to_compile(lib, dir);
        diag_init(&d);
        mdl_store_note_damage(lib);
        if (va_compile(&lu->again, &d, lib->names, lu->path, &opt) != VS_OK ||
            vec_len(lu->again.module) != vec_len(lu->u.module))
            diag_error(lib->d, DIAG_NOWHERE, "'%s' was changed or removed while it was in use",
                       lu->path);
        lu->compiled_again = true;
        diag_fini(&d);
        vec_free(dir);
        vs_free(standard);
    }
    return vec_len(lu->again.module) == vec_len(lu->u.module);
}

static void move_span(diag_span *at, const lib_unit *lu)
{
    if (at->file >= 0)
        at->file += lu->first_file;
}

/* Makes a model of a module, but for its equation form, which mdl_ready makes. */
static void take_module(mdl_model *m, va_module *from)
{
    va_module *mod = (va_module *)(uintptr_t)m->mod;
    const char *name = mod->name;
    *mod = *from;
    *from = (va_module){0};
    mod->name = name;
    move_span(&mod->span, m->home);
    for (size_t i = 0; i < vec_len(mod->param); i++)
        move_span(&mod->param[i].span, m->home);
    memset(m->part_state, 0, sizeof m->part_state);
}

static void make_full(mdl_model *m)
{
    vec_clear(m->unknown);
    vec_clear(m->probe);
    vec_clear(m->quiet);
    m->n_derivative = 0;
    mdl_form_build(m);
    m->n_full = vec_len(m->full.inst);
}

static void make_part(mdl_model *m, int part)
{
    lib_unit *lu = m->home;
    const bool made = part != MOD_FULL && compile_again(m->lib, lu);
    m->part_state[part] = FN_MADE;
    if (part == MOD_FULL) {
        mdl_need(m, MOD_EVAL);
        make_full(m);
    }
    for (size_t i = 0; made && i < vec_len(lu->u.module); i++) {
        va_module *from = lu->again.module[i];
        if (lu->u.module[i] != m->mod)
            continue;
        if (part == MOD_INTERFACE) {
            take_module(m, from);
        } else {
            ir_fn *fn = part == MOD_PARAMS ? &from->params : &from->eval;
            *fn_of_part(m, part) = *fn;
            *fn = (ir_fn){0};
        }
    }
    if (part != MOD_INTERFACE) /* then mdl_ready keeps it */
        mdl_store_unit(m->lib, lu);
}

void mdl_need(mdl_model *m, int part)
{
    if (m->part_state[part] == FN_ON_DISK && !mdl_store_load_part(m, part))
        make_part(m, part);
}

/* The equation form is made when a model is first used: a file may hold modules that nobody uses.
 */
mdl_model *mdl_ready(mdl_model *m)
{
    if (!m)
        return m;
    mdl_need(m, MOD_INTERFACE);
    if (!m->unknown && vec_len(m->mod->unknown)) {
        mdl_need(m, MOD_EVAL);
        make_full(m);
        if (m->home)
            mdl_store_unit(m->lib, m->home);
    }
    return m;
}

const va_module *mdl_module(const mdl_model *m)
{
    mdl_need((mdl_model *)(uintptr_t)m, MOD_INTERFACE);
    return m->mod;
}

int32_t mdl_n_unknown(const mdl_model *m) { return (int32_t)vec_len(m->unknown); }

const va_unknown *mdl_unknown(const mdl_model *m, int32_t u) { return &m->unknown[u]; }

/* -- the library -- */

static bool is_folder(const char *path)
{
    struct stat st;
    return path && *path && !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* A folder that the user chose is taken as it is. Else the models of the installation around this
 * program or library are, wherever it was moved to; then those of the built-in places. */
static char *standard_folder(const mdl_opt *opt)
{
    static const char *const near[] = {MDL_FROM_LIB, MDL_FROM_BIN};
    static const char *const try[] = {MDL_SOURCE_DIR, MDL_INSTALL_DIR};
    char path[PATH_MAX];
    if (opt->model_dir && *opt->model_dir)
        return vs_strdup(opt->model_dir);
    for (size_t i = 0; i < VS_COUNT(near); i++)
        if (io_beside(path, near[i]) && is_folder(path))
            return vs_strdup(path);
    for (size_t i = 0; i < VS_COUNT(try); i++)
        if (is_folder(try[i]))
            return vs_strdup(try[i]);
    return NULL;
}

vs_status mdl_lib_new(mdl_lib **out, diag *d, str_pool *names, const mdl_opt *opt)
{
    mdl_lib *lib = vs_calloc(1, sizeof *lib);
    lib->d = d;
    lib->names = names;
    if (opt)
        lib->opt = *opt;
    if (lib->opt.check_kernels > 0)
        lib->compare = mdl_compare_new();
    lib->dir = standard_folder(&lib->opt);
    if (lib->dir && !is_folder(lib->dir)) {
        diag_error(d, DIAG_NOWHERE,
                   "'%s', set as the folder of the standard models, is not a folder", lib->dir);
        *out = lib;
        mdl_lib_free(out);
        return VS_EIO;
    }
    const char *no_cache; /* the JIT tells of it */
    if (!lib->opt.jit.no_cache && !lib->opt.dump)
        store_open(&lib->cache, lib->opt.jit.cache_dir, &no_cache);
    jit_cpu_text(lib->cpu, sizeof lib->cpu);
    lib->jit = lib->opt.interpret ? NULL : jit_open(&lib->opt.jit);
    *out = lib;
    return VS_OK;
}

void mdl_lib_free(mdl_lib **plib)
{
    mdl_lib *lib = *plib;
    if (!lib)
        return;
    osdi_lib_free(&lib->osdi);
    for (size_t i = 0; i < vec_len(lib->unit); i++)
        if (!lib->unit[i]->kept) /* nobody asked for its modules */
            mdl_store_unit(lib, lib->unit[i]);
    for (size_t i = 0; i < vec_len(lib->model); i++)
        free_model(lib->model[i]);
    for (size_t i = 0; i < vec_len(lib->unit); i++) {
        fini_unit(lib->unit[i]);
        vs_free(lib->unit[i]);
    }
    for (size_t i = 0; i < vec_len(lib->item); i++)
        store_release(&lib->item[i]);
    vec_free(lib->item);
    vec_free(lib->want);
    vec_free(lib->late);
    store_close(&lib->cache);
    for (size_t i = 0; i < vec_len(lib->file); i++)
        vec_free(lib->file[i].name);
    vec_free(lib->model);
    vec_free(lib->unit);
    vec_free(lib->file);
    vec_free(lib->all);
    jit_close(&lib->jit);
    mdl_compare_free(lib->compare);
    vs_free(lib->dir);
    vs_free(lib);
    *plib = NULL;
}

vs_status mdl_load_osdi(mdl_lib *lib, const char *path, diag_span at)
{
    if (!lib->osdi)
        lib->osdi = osdi_lib_new();
    return osdi_load(lib->osdi, path, lib->d, at);
}

const osdi_module *mdl_find_osdi(const mdl_lib *lib, const char *name)
{
    return lib->osdi ? osdi_find(lib->osdi, name) : NULL;
}

const jit_stat *mdl_jit_stats(const mdl_lib *lib)
{
    static const jit_stat none;
    return lib->jit ? jit_stats(lib->jit) : &none;
}

bool mdl_own_code(const mdl_lib *lib) { return !lib->jit || jit_own_code(lib->jit); }

/* -- loading -- */

/* The include folders of the user, then those of the standard models, whose files others may
 * include. */
static const char **include_folders(const mdl_lib *lib, char **standard)
{
    const char **dir = NULL;
    for (size_t i = 0; i < lib->opt.n_include; i++)
        vec_push(dir, lib->opt.include[i]);
    if (lib->dir)
        vec_push(dir, *standard = vs_text("%s/include", lib->dir));
    if (lib->dir)
        vec_push(dir, lib->dir);
    return dir;
}

static lib_unit *new_unit(const mdl_lib *lib, const char *path)
{
    lib_unit *lu = vs_calloc(1, sizeof *lu);
    lu->u.names = lib->names;
    arena_init(&lu->u.mem);
    lu->path = path ? str_intern0(lib->names, path) : NULL;
    lu->first_file = (int32_t)vec_len(lib->d->file);
    lu->first_msg = (int32_t)vec_len(lib->d->msg);
    lu->n_warning_before = lib->d->n_warning;
    lu->first_model = vec_len(lib->model);
    lu->begun = (int64_t)time(NULL);
    return lu;
}

static vs_status compile_unit(mdl_lib *lib, lib_unit *lu, const char *name, const char *text,
                              const va_opt *opt)
{
    arena_fini(&lu->u.mem);
    vs_status st = text ? va_compile_text(&lu->u, lib->d, lib->names, name, text, strlen(text), opt)
                        : va_compile(&lu->u, lib->d, lib->names, name, opt);
    for (size_t i = 0; st == VS_OK && i < vec_len(lu->u.module); i++)
        mdl_add_module(lib, lu->u.module[i])->home = lu;
    if (st == VS_OK)
        mdl_store_note_unit(lib, lu);
    return st;
}

static vs_status load(mdl_lib *lib, const char *name, const char *text)
{
    char *standard = NULL;
    const char **dir = include_folders(lib, &standard);
    const va_opt opt = how_to_compile(lib, dir);
    lib_unit *lu = new_unit(lib, text ? NULL : name);
    lu->client = lib->d->client_file != NULL;
    vs_status st = !lu->client && mdl_store_load_unit(lib, lu, dir, vec_len(dir))
                       ? VS_OK
                       : compile_unit(lib, lu, name, text, &opt);
    if (st == VS_OK) {
        vec_push(lib->unit, lu);
    } else {
        va_unit_fini(&lu->u);
        vs_free(lu);
    }
    vec_free(dir);
    vs_free(standard);
    return st;
}

vs_status mdl_load(mdl_lib *lib, const char *path)
{
    const char *known = str_intern0(lib->names, path);
    for (size_t i = 0; i < vec_len(lib->unit); i++)
        if (lib->unit[i]->asked && lib->unit[i]->path == known) {
            lib->unit[i]->asked = ++lib->n_asked;
            return VS_OK;
        }
    const vs_status st = load(lib, path, NULL);
    if (st == VS_OK)
        vec_last(lib->unit)->asked = ++lib->n_asked;
    return st;
}

void mdl_forget_loads(mdl_lib *lib)
{
    for (size_t i = 0; i < vec_len(lib->unit); i++)
        if (lib->unit[i]->asked)
            lib->unit[i]->asked = -1;
    if (lib->osdi)
        osdi_forget_loads(lib->osdi);
}

vs_status mdl_load_text(mdl_lib *lib, const char *name, const char *text)
{
    return load(lib, name, text);
}

/* -- the index of the standard folder -- */

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$';
}

static void add_name(mdl_lib *lib, lib_file *f, const char *s, size_t n)
{
    const char *name = str_intern_lower(lib->names, s, n);
    for (size_t i = 0; i < vec_len(f->name); i++)
        if (f->name[i] == name)
            return;
    vec_push(f->name, name);
}

static void add_types(mdl_lib *lib, lib_file *f, const char *line)
{
    static const char mark[] = "vsim-types:";
    const char *end = line + strcspn(line, "\n"), *p = strstr(line, mark);
    if (!p || p >= end)
        return;
    for (p += sizeof mark - 1; p < end;) {
        size_t n = strcspn(p, " \t,\r\n");
        if (n)
            add_name(lib, f, p, n);
        p += n ? n : 1;
    }
}

/* End of the comment that starts at p, or p. */
static const char *skip_comment(const char *p)
{
    if (p[0] == '/' && p[1] == '/')
        return p + strcspn(p, "\n");
    if (p[0] != '/' || p[1] != '*')
        return p;
    const char *end = strstr(p + 2, "*/");
    return end ? end + 2 : p + strlen(p);
}

/* Returns whether a module stands in the text: files without one are there to be included. */
static bool scan_text(mdl_lib *lib, lib_file *f, const char *p)
{
    bool after_module = false, any = false;
    while (*p) {
        const char *q = skip_comment(p);
        if (q > p) {
            if (p[1] == '/')
                add_types(lib, f, p);
            p = q;
        } else if (is_word(*p)) {
            for (q = p; is_word(*q);)
                q++;
            size_t n = (size_t)(q - p);
            if (after_module)
                add_name(lib, f, p, n);
            any |= after_module;
            after_module = (n == 6 && !memcmp(p, "module", n)) ||
                           (n == 11 && !memcmp(p, "macromodule", n)) ||
                           (n == 8 && !memcmp(p, "paramset", n));
            p = q;
        } else if (*p == '`') { /* module `NAME: a macro's, whose default is the name of the file */
            any |= after_module;
            after_module = false;
            for (p++; is_word(*p);)
                p++;
        } else {
            p++;
        }
    }
    return any;
}

char *mdl_read_text(const char *path)
{
    FILE *in = stream_open(path);
    char *text = NULL;
    if (in) {
        char buf[1 << 14];
        for (size_t n; (n = fread(buf, 1, sizeof buf, in)) > 0;) {
            size_t at = vec_len(text);
            vec_extend(text, n);
            memcpy(text + at, buf, n);
        }
        stream_close(in);
    }
    vec_push(text, 0);
    return text;
}

static void index_file(mdl_lib *lib, const char *name)
{
    size_t n = strlen(name);
    if (n < 4 || strcmp(name + n - 3, ".va"))
        return;
    char *path = vs_text("%s/%s", lib->dir, name);
    lib_file f = {.path = str_intern0(lib->names, path)};
    char *text = mdl_read_text(path);
    add_name(lib, &f, name, n - 3);
    if (scan_text(lib, &f, text))
        vec_push(lib->file, f);
    else
        vec_free(f.name);
    vec_free(text);
    vs_free(path);
}

static void make_index(mdl_lib *lib)
{
    arena mem;
    bool found;
    arena_init(&mem);
    const char **list = lib->indexed || !lib->dir ? NULL : io_names(&mem, lib->dir, &found);
    if (list && !mdl_store_load_index(lib, list)) {
        for (size_t i = 0; i < vec_len(list); i++)
            index_file(lib, list[i]);
        mdl_store_index(lib);
    }
    vec_free(list);
    arena_fini(&mem);
    lib->indexed = true;
}

/* -- finding -- */

static mdl_model *loaded(const mdl_lib *lib, const char *name)
{
    mdl_model *best = NULL;
    int64_t latest = -1;
    for (size_t i = vec_len(lib->model); i-- > 0;) {
        const lib_unit *home = lib->model[i]->home;
        const int64_t asked = home ? home->asked : 0;
        if (asked > latest && !str_casecmp(lib->model[i]->mod->name, name)) {
            best = lib->model[i];
            latest = asked;
        }
    }
    return best;
}

/* A text cannot tell which module a type name means: the module of that name, else the first. */
static mdl_model *find_in_file(mdl_lib *lib, lib_file *f, const char *name)
{
    if (!f->loaded) {
        size_t before = vec_len(lib->model);
        const char *(*client)(void *, const char *, size_t *) = lib->d->client_file;
        f->loaded = true;
        lib->d->client_file = NULL; /* standard models are those of the installation */
        if (load(lib, f->path, NULL) == VS_OK && vec_len(lib->model) > before)
            f->first = lib->model[before];
        lib->d->client_file = client;
    }
    mdl_model *m = loaded(lib, name);
    return m ? m : f->first;
}

mdl_model *mdl_find(mdl_lib *lib, const char *name)
{
    mdl_model *m = loaded(lib, name);
    if (m)
        return mdl_ready(m);
    make_index(lib);
    const char *lower = str_intern_lower(lib->names, name, strlen(name));
    for (size_t i = 0; i < vec_len(lib->file); i++)
        for (size_t k = 0; k < vec_len(lib->file[i].name); k++)
            if (lib->file[i].name[k] == lower)
                return mdl_ready(find_in_file(lib, &lib->file[i], lower));
    return NULL;
}

const char **mdl_names(mdl_lib *lib)
{
    make_index(lib);
    vec_clear(lib->all);
    for (size_t i = 0; i < vec_len(lib->model); i++)
        if (!lib->model[i]->home || lib->model[i]->home->asked >= 0)
            vec_push(lib->all, lib->model[i]->mod->name);
    for (size_t i = 0; i < vec_len(lib->file); i++)
        for (size_t k = 0; !lib->file[i].loaded && k < vec_len(lib->file[i].name); k++)
            vec_push(lib->all, lib->file[i].name[k]);
    return lib->all;
}

size_t mdl_n_loaded(const mdl_lib *lib) { return vec_len(lib->model); }

mdl_model *mdl_loaded(const mdl_lib *lib, size_t i) { return lib->model[i]; }
