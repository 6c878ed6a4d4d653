/* view.c - see view.h: groups of plots, the list of signals. */
#include "view.h"

#include <string.h>

#include "fig.h"
#include "page.h"
#include "vec.h"
#include "view_priv.h"

view *view_new(const char *plugins)
{
    view *v = vs_calloc(1, sizeof *v);
    v->plugins = plugins;
    return v;
}

static void forget_groups(view *v)
{
    for (size_t k = 0; k < vec_len(v->group); k++)
        vec_free(v->group[k].member);
    vec_clear(v->group);
}

void view_free(view **v)
{
    if (!*v)
        return;
    forget_groups(*v);
    for (size_t k = 0; k < vec_len((*v)->file); k++)
        view_file_close(&(*v)->file[k]);
    vec_free((*v)->file);
    vec_free((*v)->group);
    vs_free(*v);
    *v = NULL;
}

/* -- groups -- */

/* Length of the text in front of a sweep's values. */
static size_t kind_of(const post_plot *p)
{
    const char *family = fig_family(p);
    return family ? (size_t)(family - p->what) - 2 : strlen(p->what);
}

static view_group *group_of(view *v, size_t file, const char *what)
{
    for (size_t k = 0; k < vec_len(v->group); k++)
        if (v->group[k].file == file && v->group[k].what == what)
            return &v->group[k];
    vec_push(v->group, (view_group){.file = file, .what = what});
    return &vec_last(v->group);
}

static void make_groups(view *v)
{
    forget_groups(v);
    for (size_t k = 0; k < vec_len(v->file); k++) {
        view_file *f = &v->file[k];
        for (size_t i = 0; f->open && i < vec_len(f->set.plot); i++) {
            post_plot *p = f->set.plot[i];
            if (!vec_len(p->vec))
                continue;
            view_group *g = group_of(v, k, str_intern(&f->names, p->what, kind_of(p)));
            vec_push(g->member, i);
        }
    }
}

const char *view_member_name(const view *v, const view_group *g, size_t k, char buf[24])
{
    const char *family = fig_family(v->file[g->file].set.plot[g->member[k]]);
    if (family)
        return family;
    snprintf(buf, 24, vec_len(g->member) > 1 ? "#%zu" : "", k + 1);
    return buf;
}

/* -- files -- */

vs_status view_add(view *v, const char *path, bool live, char why[CONV_WHY])
{
    vec_push(v->file, (view_file){.path = path, .live = live});
    view_file *f = &vec_last(v->file);
    vs_status st = view_file_open(f, v->plugins);
    snprintf(why, CONV_WHY, "%s", f->why);
    if (live || (st == VS_EINPUT && vec_len(f->set.plot)))
        st = VS_OK;
    make_groups(v);
    v->generation++;
    return st;
}

const conv_notes *view_notes(const view *v, size_t k) { return v->file[k].notes; }

vs_status view_build(view *v, bool (*more)(void *user, const char *path, double done), void *user,
                     const char **why)
{
    enum { STEP = 64 << 20 };
    for (size_t k = 0; k < vec_len(v->file); k++) {
        const view_file *f = &v->file[k];
        double done = f->x && !f->live ? 0 : 1;
        while (done < 1) {
            const vs_status st = idx_build(f->x, STEP, &done, why);
            if (st)
                return st;
            if (done < 1 && !more(user, f->path, done))
                return VS_OK;
        }
    }
    return VS_OK;
}

bool view_refresh(view *v)
{
    bool any = false;
    for (size_t k = 0; k < vec_len(v->file); k++)
        any |= view_file_refresh(&v->file[k], v->plugins);
    if (any) {
        make_groups(v);
        v->generation++;
    }
    return any;
}

int64_t view_generation(const view *v) { return v->generation; }

/* -- the list -- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The place of a type in the list of types, in which each is once. */
static int64_t place_of(const char ***types, const char *type)
{
    for (size_t k = 0; k < vec_len(*types); k++)
        if ((*types)[k] == type)
            return (int64_t)k;
    vec_push(*types, type);
    return (int64_t)vec_len(*types) - 1;
}

static void put_signals(const post_plot *p, FILE *out)
{
    const char **types = NULL;
    fputs("\"names\":[", out);
    for (size_t k = 0; k < vec_len(p->vec); k++) {
        fputs(k ? "," : "", out);
        page_string(out, p->vec[k]->name);
    }
    fputs("],\"type\":[", out);
    for (size_t k = 0; k < vec_len(p->vec); k++)
        fprintf(out, "%s%lld", k ? "," : "", (long long)place_of(&types, p->vec[k]->type));
    fputs("],\"complex\":[", out);
    for (size_t k = 0; k < vec_len(p->vec); k++)
        fprintf(out, "%s%d", k ? "," : "", p->vec[k]->complex);
    fputs("],\"types\":[", out);
    for (size_t k = 0; k < vec_len(types); k++) {
        fputs(k ? ",[" : "[", out);
        page_string(out, types[k]);
        fputc(',', out);
        page_string(out, fig_unit(types[k]));
        fputc(']', out);
    }
    fputc(']', out);
    vec_free(types);
}

static void put_group(const view *v, const view_group *g, size_t id, FILE *out)
{
    const view_file *f = &v->file[g->file];
    const post_plot *p = f->set.plot[g->member[0]];
    char buf[24];
    fprintf(out, "%s{\"id\":%zu,\"file\":%zu,\"word\":", id ? "," : "", id, g->file);
    page_string(out, post_word_of(p->what));
    fputs(",\"what\":", out);
    page_string(out, g->what);
    fputs(",\"title\":", out);
    page_string(out, p->title ? p->title : "");
    fputs(",\"axis\":", out);
    if (p->scale)
        page_string(out, p->scale->name);
    else
        fputs("null", out);
    fputs(",\"members\":[", out);
    for (size_t k = 0; k < vec_len(g->member); k++) {
        fputs(k ? ",[" : "[", out);
        page_string(out, view_member_name(v, g, k, buf));
        fprintf(out, ",%lld]", (long long)view_n_point(f, g->member[k]));
    }
    fputs("],", out);
    put_signals(p, out);
    fputc('}', out);
}

static void put_notes(const conv_notes *notes, FILE *out)
{
    char text[CONV_WHY];
    fputs(",\"notes\":[", out);
    for (size_t k = 0; notes && conv_note(notes, k, text); k++) {
        fputs(k ? "," : "", out);
        page_string(out, text);
    }
    fputc(']', out);
}

void view_index(const view *v, const char *program, FILE *out)
{
    fprintf(out, "{\"program\":");
    page_string(out, program);
    fprintf(out, ",\"generation\":%lld,\"files\":[", (long long)v->generation);
    for (size_t k = 0; k < vec_len(v->file); k++) {
        fputs(k ? ",{\"name\":" : "{\"name\":", out);
        page_string(out, base_name(v->file[k].path));
        fputs(",\"why\":", out);
        page_string(out, v->file[k].why);
        put_notes(v->file[k].notes, out);
        fputs(v->file[k].live ? ",\"live\":true}" : "}", out);
    }
    fputs("],\"groups\":[", out);
    for (size_t k = 0; k < vec_len(v->group); k++)
        put_group(v, &v->group[k], k, out);
    fputs("]}", out);
}
