/* osdi.c - OSDI libraries: loading, checking, what their modules are. */
#define _GNU_SOURCE
#include "osdi_priv.h"

#include <dlfcn.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "heap.h"

enum { MAX_NODE = 1 << 16, MAX_LIST = 1 << 20 }; /* beyond these a descriptor is not one */

/* -- the library -- */

osdi_lib *osdi_lib_new(void)
{
    static const char *const fixed[] = {
#define X(name, ...) #name,
        IR_SIMPARAM_LIST(X)
#undef X
    };
    static const char *const moving[OSDI_N_DYN] = {"gmin", "sourceScaleFactor", "iteration"};
    osdi_lib *lib = vs_calloc(1, sizeof *lib);
    arena_init(&lib->mem);
    str_pool_init(&lib->names);
    for (int i = 0; i < IR_N_SIMPARAM; i++)
        lib->sim_name[i] = arena_strndup(&lib->mem, fixed[i], strlen(fixed[i]));
    for (int i = 0; i < OSDI_N_DYN; i++)
        lib->sim_name[IR_N_SIMPARAM + i] = arena_strndup(&lib->mem, moving[i], strlen(moving[i]));
    return lib;
}

static void drop_library(void *handle, size_t n)
{
    (void)n;
    dlclose(handle);
}

void osdi_lib_free(osdi_lib **plib)
{
    osdi_lib *lib = *plib;
    if (!lib)
        return;
    for (size_t i = 0; i < vec_len(lib->inst); i++) {
        vs_free(lib->inst[i]->pub.data);
        vs_free(lib->inst[i]->pub.one_with);
        vs_free(lib->inst[i]);
    }
    for (size_t i = 0; i < vec_len(lib->module); i++) {
        osdi_own *m = lib->module[i];
        for (size_t k = 0; k < vec_len(m->model); k++) {
            vs_free(m->model[k]->data);
            vec_free(m->model[k]->set);
            vs_free(m->model[k]);
        }
        vec_free(m->model);
        map_free(&m->param_of);
        vs_free(m->g);
        vs_free(m->c);
        vs_free(m->work);
        vs_free(m->pub.node);
        vs_free(m);
    }
    for (size_t i = 0; i < vec_len(lib->file); i++) {
        heap_unhold(drop_library, lib->file[i]->handle);
        dlclose(lib->file[i]->handle);
        vs_free(lib->file[i]->path);
        vs_free(lib->file[i]);
    }
    vec_free(lib->inst);
    vec_free(lib->module);
    vec_free(lib->file);
    str_pool_fini(&lib->names);
    arena_fini(&lib->mem);
    vs_free(lib);
    *plib = NULL;
}

void osdi_set_line_sink(osdi_lib *lib,
                        void (*line)(void *user, const char *who, const char *text, int level),
                        void *user)
{
    lib->line = line;
    lib->line_user = user;
}

/* Takes a library's message. The simulator frees the text, unless it is the bare format. */
static void take_message(void *handle, char *text, uint32_t level)
{
    const osdi_handle *h = handle;
    const uint32_t l = level & OSDI_LOG_MASK;
    size_t n = text ? strlen(text) : 0;
    while (n && text[n - 1] == '\n')
        n--;
    char *line = vs_strndup(text ? text : "", n);
    if (h && h->d) {
        if (l == OSDI_LOG_ERR || l == OSDI_LOG_FATAL)
            diag_error(h->d, h->at, "%s: %s", h->who, line);
        else if (l != OSDI_LOG_DEBUG)
            diag_warning(h->d, h->at, "%s: %s", h->who, line);
    } else if (h && h->lib->line && l != OSDI_LOG_DEBUG) {
        h->lib->line(h->lib->line_user, h->who, line, (int)l);
    }
    vs_free(line);
    if (!(level & OSDI_LOG_UNFORMATTED))
        free(text);
}

/* -- names -- */

static const char *lower(osdi_lib *lib, const char *s)
{
    return str_intern_lower(&lib->names, s, strlen(s));
}

int32_t osdi_param(const osdi_module *m, const char *name)
{
    const osdi_own *o = (const osdi_own *)m;
    return map_get(&o->param_of, map_key(lower(m->lib, name)), -1);
}

int32_t osdi_n_input(const osdi_module *m)
{
    const size_t end = offsetof(osdi_abi_descriptor, input) + sizeof m->abi->input;
    return m->file->minor >= 4 && m->file->size >= end ? (int32_t)m->abi->n_input : -1;
}

void osdi_input(const osdi_module *m, int32_t k, int32_t *hi, int32_t *lo)
{
    const osdi_abi_pair p = m->abi->input[k];
    *hi = p.a < (uint32_t)m->n_node ? (int32_t)p.a : -1;
    *lo = p.b < (uint32_t)m->n_node ? (int32_t)p.b : -1;
}

int32_t osdi_n_param(const osdi_module *m) { return (int32_t)m->abi->n_param; }

int32_t osdi_n_opvar(const osdi_module *m) { return (int32_t)m->abi->n_opvar; }

const char *osdi_param_name(const osdi_module *m, int32_t id) { return m->abi->param[id].name[0]; }

bool osdi_param_is_inst(const osdi_module *m, int32_t id)
{
    return (m->abi->param[id].flags & OSDI_KIND_MASK) == OSDI_KIND_INST;
}

int osdi_param_type(const osdi_module *m, int32_t id)
{
    return (int)(m->abi->param[id].flags & OSDI_TYPE_MASK);
}

bool osdi_param_is_array(const osdi_module *m, int32_t id) { return m->abi->param[id].len > 1; }

const osdi_module *osdi_find(const osdi_lib *lib, const char *name)
{
    const osdi_module *best = NULL;
    int64_t latest = 0;
    for (size_t i = vec_len(lib->module); i-- > 0;) /* the latest file wins */
        if (lib->module[i]->pub.file->asked > latest &&
            !str_casecmp(lib->module[i]->pub.name, name)) {
            best = &lib->module[i]->pub;
            latest = lib->module[i]->pub.file->asked;
        }
    return best;
}

void osdi_forget_loads(osdi_lib *lib)
{
    for (size_t i = 0; i < vec_len(lib->file); i++)
        lib->file[i]->asked = 0;
}

int32_t osdi_n_module(const osdi_lib *lib) { return (int32_t)vec_len(lib->module); }

/* -- natures -- */

/* abstol among attributes [at, at + n); 0: none. */
static double abstol_in(const osdi_file *f, uint32_t at, uint32_t n)
{
    for (uint32_t i = at; i < f->n_attribute && i - at < n; i++) {
        const osdi_abi_attribute *a = &f->attribute[i];
        if (strcmp(a->name, "abstol") != 0)
            continue;
        if (a->type == OSDI_ATTR_REAL)
            return a->value.real;
        if (a->type == OSDI_ATTR_INT)
            return a->value.integer;
    }
    return 0;
}

static double abstol_of(const osdi_file *f, osdi_abi_nature_ref ref)
{
    double own = 0;
    for (int depth = 0; depth < 16; depth++) { /* natures derive from others */
        if (ref.kind == OSDI_NATURE && ref.index < f->n_nature) {
            const osdi_abi_nature *n = &f->nature[ref.index];
            own = abstol_in(f, n->attr_start, n->n_attr);
            ref = (osdi_abi_nature_ref){n->parent_kind, n->parent};
        } else if ((ref.kind == OSDI_NATURE_FLOW_OF || ref.kind == OSDI_NATURE_POTENTIAL_OF) &&
                   ref.index < f->n_discipline) {
            const osdi_abi_discipline *d = &f->discipline[ref.index];
            const bool flow = ref.kind == OSDI_NATURE_FLOW_OF;
            own = flow ? abstol_in(f, d->attr_start, d->n_flow_attr)
                       : abstol_in(f, d->attr_start + d->n_flow_attr, d->n_potential_attr);
            ref = (osdi_abi_nature_ref){OSDI_NATURE, flow ? d->flow : d->potential};
        } else {
            return 0;
        }
        if (own > 0)
            return own;
    }
    return 0;
}

/* Is the node compared with another one? */
static bool is_compared(const osdi_module *m, uint32_t node)
{
    bool is = false;
    for (int32_t k = 0; k < osdi_n_input(m) && !is; k++)
        is = m->abi->input[k].a == node || m->abi->input[k].b == node;
    return is;
}

/* A library lists differences of two nodes, but not what is read to ground. Where terminals are not
 * compared, as in V(a) - V(b), that tells nothing. */
static void find_aside(osdi_module *m)
{
    const osdi_abi_descriptor *d = m->abi;
    bool told = osdi_n_input(m) >= 0;
    for (uint32_t i = 0; i < d->n_node; i++) {
        m->node[i].aside = !d->node[i].is_flow && d->node[i].unit && !strcmp(d->node[i].unit, "K");
        told &= i >= d->n_terminal || m->node[i].aside || is_compared(m, i);
    }
    for (uint32_t i = d->n_terminal; i < d->n_node && told; i++)
        m->node[i].aside |= m->node[i].volt && !is_compared(m, i);
}

static void describe_nodes(osdi_module *m)
{
    const osdi_abi_descriptor *d = m->abi;
    const bool natures =
        osdi_has(m->file, residual_nature) && d->unknown_nature && d->residual_nature;
    m->node = vs_calloc(d->n_node + 1, sizeof *m->node);
    for (uint32_t i = 0; i < d->n_node; i++) {
        const osdi_abi_node *n = &d->node[i];
        osdi_node *k = &m->node[i];
        *k = (osdi_node){.name = lower(m->lib, n->name), .flow = n->is_flow};
        k->volt = !n->is_flow && (!n->unit || !*n->unit || !strcmp(n->unit, "V"));
        k->ampere = n->is_flow && (!n->unit || !*n->unit || !strcmp(n->unit, "A"));
        if (natures && !k->volt && !k->ampere) {
            k->abstol = abstol_of(m->file, d->unknown_nature[i]);
            k->res_abstol = abstol_of(m->file, d->residual_nature[i]);
        }
    }
    find_aside(m);
}

/* -- loading -- */

static uint32_t number(void *handle, const char *symbol)
{
    const uint32_t *p = dlsym(handle, symbol);
    return p ? *p : 0;
}

static bool descriptor_is_sane(const osdi_abi_descriptor *d)
{
    const uint32_t n_all = d->n_param + d->n_opvar;
    if (!d->name || d->n_node == 0 || d->n_node > MAX_NODE || d->n_terminal > d->n_node || !d->node)
        return false;
    if (d->n_jacobian > MAX_LIST || (d->n_jacobian && !d->jacobian) || n_all > MAX_LIST ||
        (n_all && !d->param))
        return false;
    if (d->n_inst_param > d->n_param || d->n_state > MAX_LIST || d->n_noise > MAX_LIST ||
        (d->n_collapsible && !d->collapsible))
        return false;
    for (uint32_t k = 0; k < d->n_jacobian; k++)
        if (d->jacobian[k].nodes.a >= d->n_node || d->jacobian[k].nodes.b >= d->n_node)
            return false;
    const uint64_t size = d->inst_size;
    if (d->node_map_off + 4ull * d->n_node > size || d->jac_ptr_off + 8ull * d->n_jacobian > size ||
        d->collapsed_off + (uint64_t)d->n_collapsible > size ||
        d->state_off + 4ull * d->n_state > size)
        return false;
    return d->access && d->setup_model && d->setup_inst && d->eval && d->load_residual_resist &&
           d->load_residual_react && d->load_limit_resist && d->load_limit_react &&
           d->load_jacobian_resist && d->load_jacobian_react && d->load_jacobian_tran &&
           (!d->n_noise || d->load_noise);
}

static vs_status add_module(osdi_lib *lib, const osdi_file *f, const osdi_abi_descriptor *abi,
                            diag *d, diag_span at)
{
    if (!descriptor_is_sane(abi)) {
        diag_error(d, at, "'%s' describes a module in a way that cannot be right", f->path);
        return VS_EINPUT;
    }
    if (osdi_has(f, delay) && abi->n_delay) {
        diag_error(d, at,
                   "module '%s' of '%s' uses absdelay, which is not supported in OSDI libraries",
                   abi->name, f->path);
        return VS_EINPUT;
    }
    osdi_own *o = vs_calloc(1, sizeof *o);
    vec_push(lib->module, o);
    o->pub = (osdi_module){.abi = abi,
                           .file = f,
                           .lib = lib,
                           .name = lower(lib, abi->name),
                           .mfactor = -1,
                           .n_node = (int32_t)abi->n_node,
                           .n_terminal = (int32_t)abi->n_terminal};
    describe_nodes(&o->pub);
    for (uint32_t i = 0; i < abi->n_param + abi->n_opvar; i++)
        for (uint32_t a = 0; a <= abi->param[i].n_alias; a++) {
            const uint64_t key = map_key(lower(lib, abi->param[i].name[a]));
            if (map_get(&o->param_of, key, -1) < 0)
                map_set(&o->param_of, key, (int32_t)i);
        }
    o->pub.mfactor = osdi_param(&o->pub, "$mfactor");
    o->g = vs_calloc(abi->n_jacobian + 1, sizeof *o->g);
    o->c = vs_calloc(abi->n_jacobian + 1, sizeof *o->c);
    o->work = vs_calloc(abi->n_node + 1, sizeof *o->work);
    return VS_OK;
}

static vs_status set_limiters(void *handle, const char *path, diag *d, diag_span at)
{
    osdi_abi_limiter *table = dlsym(handle, "OSDI_LIM_TABLE");
    const uint32_t n = number(handle, "OSDI_LIM_TABLE_LEN");
    for (uint32_t i = 0; table && i < n; i++) {
        table[i].fn = osdi_limiter(table[i].name, table[i].n_arg);
        if (!table[i].fn) {
            diag_error(d, at, "'%s' limits with '%s' of %u arguments, which is not known", path,
                       table[i].name, table[i].n_arg);
            diag_note(d, DIAG_NOWHERE,
                      "known are pnjlim (2), fetlim (1), limvds (0) and limitlog (1)");
            return VS_EINPUT;
        }
    }
    return VS_OK;
}

static void read_natures(osdi_file *f)
{
    f->n_nature = number(f->handle, "OSDI_NATURES_LEN");
    f->n_discipline = number(f->handle, "OSDI_DISCIPLINES_LEN");
    f->n_attribute = number(f->handle, "OSDI_ATTRIBUTES_LEN");
    f->nature = dlsym(f->handle, "OSDI_NATURES");
    f->discipline = dlsym(f->handle, "OSDI_DISCIPLINES");
    f->attribute = dlsym(f->handle, "OSDI_ATTRIBUTES");
    if (!f->nature || !f->discipline || !f->attribute)
        f->n_nature = f->n_discipline = f->n_attribute = 0;
}

static vs_status check_version(osdi_file *f, diag *d, diag_span at)
{
    const uint32_t *major = dlsym(f->handle, "OSDI_VERSION_MAJOR");
    const uint32_t *minor = dlsym(f->handle, "OSDI_VERSION_MINOR");
    if (!major || !minor || !dlsym(f->handle, "OSDI_NUM_DESCRIPTORS") ||
        !dlsym(f->handle, "OSDI_DESCRIPTORS")) {
        diag_error(d, at, "'%s' is a shared library, but not an OSDI library of device models",
                   f->path);
        return VS_EINPUT;
    }
    f->minor = *minor;
    f->size = *minor >= 4 ? number(f->handle, "OSDI_DESCRIPTOR_SIZE")
                          : (uint32_t)offsetof(osdi_abi_descriptor, given_model);
    if (*major != 0 || *minor < 3 || *minor > 5 ||
        f->size < offsetof(osdi_abi_descriptor, given_model)) {
        diag_error(d, at, "'%s' is of OSDI version %u.%u; versions 0.3 to 0.5 can be loaded",
                   f->path, *major, *minor);
        return VS_EINPUT;
    }
    return VS_OK;
}

static vs_status add_modules(osdi_lib *lib, osdi_file *f, diag *d, diag_span at)
{
    const uint32_t n = number(f->handle, "OSDI_NUM_DESCRIPTORS");
    const char *first = dlsym(f->handle, "OSDI_DESCRIPTORS");
    vs_status st = set_limiters(f->handle, f->path, d, at);
    read_natures(f);
    void **log = dlsym(f->handle, "osdi_log");
    if (log)
        *log = (void *)take_message;
    for (uint32_t i = 0; i < n && n <= MAX_NODE && st == VS_OK; i++)
        st = add_module(lib, f,
                        (const osdi_abi_descriptor *)(const void *)(first + (size_t)i * f->size), d,
                        at);
    return st;
}

vs_status osdi_load(osdi_lib *lib, const char *path, diag *d, diag_span at)
{
    char full[PATH_MAX]; /* with a slash: dlopen must not search */
    if (!realpath(path, full) || access(full, R_OK)) {
        diag_error(d, at, "cannot open the OSDI library '%s'", path);
        return VS_EIO;
    }
    for (size_t i = 0; i < vec_len(lib->file); i++)
        if (!strcmp(lib->file[i]->path, full)) {
            if (lib->file[i]->st != VS_OK) {
                diag_error(d, at, "'%s' cannot be used, as was said when it was loaded first",
                           path);
                return lib->file[i]->st;
            }
            lib->file[i]->asked = ++lib->n_asked;
            return VS_OK;
        }
    if (!files_trusted(full)) {
        diag_error(d, at, "'%s' is native code, which a deck does not load by itself", path);
        diag_note(d, DIAG_NOWHERE, FILES_TRUST_HOW);
        return VS_EINPUT;
    }
    const char *fault = osdi_elf_fault(full);
    void *handle = fault ? NULL : dlopen(full, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *why = fault ? fault : dlerror();
        diag_error(d, at, "'%s' is not a library that can be loaded here", path);
        diag_note(d, DIAG_NOWHERE, "%s", why ? why : "no reason given");
        return VS_EINPUT;
    }
    heap_hold(drop_library, handle, 0);
    osdi_file *f = vs_calloc(1, sizeof *f);
    f->path = vs_strdup(full);
    f->handle = handle;
    f->asked = ++lib->n_asked;
    vec_push(lib->file, f);
    f->st = check_version(f, d, at);
    if (f->st == VS_OK)
        f->st = add_modules(lib, f, d, at);
    if (f->st != VS_OK)
        f->asked = 0; /* osdi_find passes over its modules */
    return f->st;
}
