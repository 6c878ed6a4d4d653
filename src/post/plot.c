/* plot.c - plots in memory. See plot.h. */
#include "plot.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "out_name.h"
#include "post_priv.h"
#include "vec.h"

void post_set_init(post_set *s, str_pool *names) { *s = (post_set){.names = names, .number = 1}; }

static void free_vec(post_vec *v)
{
    vs_free(v->v);
    vec_free(v->dim);
    vs_free(v);
}

void post_index_clear(post_index *x)
{
    map_free(&x->last);
    vec_free(x->before);
    *x = (post_index){0};
}

static void free_plot(post_plot *p)
{
    post_index_clear(&p->index);
    for (size_t i = 0; i < vec_len(p->vec); i++)
        free_vec(p->vec[i]);
    vec_free(p->vec);
    vec_free(p->eye);
    vec_free(p->z0);
    vs_free(p);
}

void post_set_fini(post_set *s)
{
    for (size_t i = 0; i < vec_len(s->plot); i++)
        free_plot(s->plot[i]);
    vec_free(s->plot);
    post_close_sources(s);
    s->current = NULL;
}

/* As ngspice: one number for all types, which grows when a name would be there twice. */
post_plot *post_plot_new(post_set *s, const char *type, const char *title, const char *what)
{
    char name[64];
    for (;; s->number++) {
        snprintf(name, sizeof name, "%s%d", type, s->number);
        const bool taken = vec_len(s->plot) && !str_casecmp(vec_last(s->plot)->name, name);
        if (!taken && (s->number > s->highest || !post_set_find(s, name)))
            break;
    }
    if (s->number > s->highest)
        s->highest = s->number;
    post_plot *p = vs_calloc(1, sizeof *p);
    p->name = str_intern0(s->names, name);
    p->title = str_intern0(s->names, title);
    p->what = str_intern0(s->names, what);
    p->band[0] = p->band[1] = NAN;
    time_t t = time(NULL);
    struct tm tm;
    localtime_r(&t, &tm);
    if (!s->no_date)
        strftime(p->date, sizeof p->date, "%a %b %d %H:%M:%S  %Y", &tm);
    vec_push(s->plot, p);
    s->current = p;
    return p;
}

void post_plot_destroy(post_set *s, post_plot *p)
{
    size_t n = 0;
    for (size_t i = 0; i < vec_len(s->plot); i++)
        if (s->plot[i] != p)
            s->plot[n++] = s->plot[i];
    if (s->plot)
        vec_head_of(s->plot)->len = n;
    if (s->current == p)
        s->current = n ? s->plot[n - 1] : NULL;
    free_plot(p);
}

post_plot *post_set_find(const post_set *s, const char *name)
{
    for (size_t i = 0; i < vec_len(s->plot); i++)
        if (!str_casecmp(s->plot[i]->name, name))
            return s->plot[i];
    return NULL;
}

/* "Gradient of gain", "Gradient of gain, r=1k" of a family */
post_plot *post_set_gradient(const post_set *s, const char *measure)
{
    static const char begin[] = "Gradient of ";
    const size_t n = strlen(measure);
    for (size_t i = vec_len(s->plot); i-- > 0;) {
        const char *what = s->plot[i]->what;
        if (!strncmp(what, begin, strlen(begin)) &&
            !str_ncasecmp(what + strlen(begin), measure, n) &&
            (!what[strlen(begin) + n] || what[strlen(begin) + n] == ','))
            return s->plot[i];
    }
    return NULL;
}

static bool is_of(const post_plot *p, const char *type)
{
    const size_t n = strlen(type);
    return p && !str_ncasecmp(p->name, type, n) && p->name[n] >= '0' && p->name[n] <= '9';
}

static bool has_one(const post_plot *p, const char *const *name, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (post_plot_find(p, name[i]))
            return true;
    return false;
}

static post_plot *usual_plot(const post_set *s, const char *type)
{
    post_plot *any = is_of(s->current, type) ? s->current : NULL;
    if (any && any->scale)
        return any;
    for (size_t i = vec_len(s->plot); i-- > 0;) {
        post_plot *p = s->plot[i];
        if (is_of(p, type) && p->scale)
            return p;
        any = !any && is_of(p, type) ? p : any;
    }
    return any;
}

/* Whether an analysis after that of plot i made one like it, or there are plots of others between.
 */
static bool is_older(const post_set *s, const char *type, size_t i, size_t newest)
{
    for (size_t k = i + 1; k <= newest; k++)
        if (!is_of(s->plot[k], type) || s->plot[k]->what == s->plot[i]->what)
            return true;
    return false;
}

/* Among plots with a vector each: v(a,b) is in none of those of v(a) and v(b). */
static post_plot *plot_of_vector(const post_set *s, const char *type, post_plot *usual,
                                 const char *const *name, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        if (post_plot_find(usual, name[k]))
            return usual;
        for (size_t i = vec_len(s->plot); i-- > 0;)
            if (is_of(s->plot[i], type) && post_plot_find(s->plot[i], name[k]))
                return s->plot[i];
    }
    return usual;
}

post_plot *post_set_of(const post_set *s, const char *type, const char *const *name, size_t n)
{
    post_plot *usual = usual_plot(s, type);
    size_t newest = vec_len(s->plot);
    if (usual && (!strcmp(type, "fft") || !strcmp(type, "eye")))
        return plot_of_vector(s, type, usual, name, n);
    if (!usual || !n || has_one(usual, name, n))
        return usual;
    while (newest-- > 0 && !is_of(s->plot[newest], type))
        ;
    for (size_t i = newest + 1; i-- > 0 && !is_older(s, type, i, newest);)
        if (is_of(s->plot[i], type) && has_one(s->plot[i], name, n))
            return s->plot[i];
    return usual;
}

post_vec *post_plot_append(post_set *s, post_plot *p, const char *name, const char *type,
                           bool complex)
{
    post_vec *v = vs_calloc(1, sizeof *v);
    *v = (post_vec){.name = str_intern0(s->names, name),
                    .type = str_intern0(s->names, type),
                    .complex = complex};
    vec_push(p->vec, v);
    return v;
}

/* 0: no; 1: another way to write it, "out" or "v1#branch"; 2: the same name. */
static int match(const char *vector, const char *name)
{
    if (!str_casecmp(vector, name))
        return 2;
    size_t nv = strlen(vector), n = strlen(name);
    bool call = nv > 3 && vector[1] == '(' && vector[nv - 1] == ')';
    const char *hash = strchr(name, '#');
    if (call && str_lower_char(vector[0]) == 'v')
        return n == nv - 3 && !str_ncasecmp(vector + 2, name, n);
    if (call && str_lower_char(vector[0]) == 'i' && hash && !str_casecmp(hash, "#branch"))
        return (size_t)(hash - name) == nv - 3 && !str_ncasecmp(vector + 2, name, nv - 3);
    bool asked = n > 3 && name[1] == '(' && str_lower_char(name[0]) == 'v';
    return asked && nv == n - 3 && !str_ncasecmp(vector, name + 2, nv);
}

/* The same for names in ngspice's forms, "l.x1.l1#branch": ours as well. */
static int match_any(const char *vector, const char *name)
{
    char own[OUT_NAME];
    const int m = match(vector, name);
    const char *other = m ? name : out_own_name(own, name);
    return other == name ? m : match(vector, other) > 0;
}

bool post_name_matches(const char *vector, const char *name) { return match_any(vector, name) > 0; }

/* A number that all ways to write a name share: of "out" for "v(out)", of "v1#branch" for "i(v1)".
 * FNV-1a, 64 bits. */
static uint64_t hash_of(const char *name)
{
    size_t n = strlen(name);
    while (n > 3 && str_lower_char(name[0]) == 'v' && name[1] == '(' && name[n - 1] == ')') {
        name += 2;
        n -= 3;
    }
    const bool current =
        n > 3 && str_lower_char(name[0]) == 'i' && name[1] == '(' && name[n - 1] == ')';
    if (current) {
        name += 2;
        n -= 3;
    }
    static const char branch[] = "#branch";
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < n + (current ? sizeof branch - 1 : 0); i++)
        h = (h ^ (unsigned char)str_lower_char(i < n ? name[i] : branch[i - n])) *
            UINT64_C(0x100000001b3);
    return h;
}

void post_index_add(post_index *x, const char *name)
{
    const uint64_t h = hash_of(name);
    const int32_t i = (int32_t)vec_len(x->before);
    vec_push(x->before, map_get(&x->last, h, -1));
    map_set(&x->last, h, i);
}

int32_t post_index_last(const post_index *x, const char *name)
{
    return map_get(&x->last, hash_of(name), -1);
}

void post_plot_index(post_plot *p)
{
    while (vec_len(p->index.before) < vec_len(p->vec))
        post_index_add(&p->index, p->vec[vec_len(p->index.before)]->name);
}

/* Takes name i out; those behind it have numbers less by one. Costs what there are. */
static void index_remove(post_index *x, const char *name, int32_t i)
{
    const uint64_t h = hash_of(name);
    const int32_t last = map_get(&x->last, h, -1), before = x->before[i];
    const size_t n = vec_len(x->before);
    if (last == i && before < 0)
        map_remove(&x->last, h);
    else if (last == i)
        map_set(&x->last, h, before);
    for (int32_t k = last; k > i; k = x->before[k])
        if (x->before[k] == i) {
            x->before[k] = before;
            break;
        }
    memmove(x->before + i, x->before + i + 1, (n - (size_t)i - 1) * sizeof *x->before);
    (void)vec_pop(x->before);
    for (size_t k = (size_t)i; k + 1 < n; k++)
        x->before[k] -= x->before[k] > i;
    for (size_t k = 0; k < x->last.cap; k++)
        x->last.slot[k].value -= x->last.slot[k].value > i;
}

void post_plot_remove(post_plot *p, post_vec *v)
{
    const size_t n = vec_len(p->vec);
    size_t at = 0;
    while (at < n && p->vec[at] != v)
        at++;
    if (at == n)
        return;
    if (at < vec_len(p->index.before))
        index_remove(&p->index, v->name, (int32_t)at);
    memmove(p->vec + at, p->vec + at + 1, (n - at - 1) * sizeof *p->vec);
    vec_head_of(p->vec)->len = n - 1;
    if (p->scale == v)
        p->scale = NULL;
    free_vec(v);
}

/* Of the vectors that `name` means by itself, or as `also` (name: there is no other form): the
 * first that has the very name, else the first. */
static post_vec *find_indexed(const post_plot *p, const char *name, const char *also)
{
    int32_t best = -1, other = -1;
    for (int32_t i = post_index_last(&p->index, name); i >= 0; i = p->index.before[i]) {
        const int m = match(p->vec[i]->name, name);
        best = m == 2 ? i : best;
        other = m ? i : other;
    }
    for (int32_t i = also == name ? -1 : post_index_last(&p->index, also); i >= 0;
         i = p->index.before[i])
        if (match(p->vec[i]->name, also) && (other < 0 || i < other))
            other = i;
    return best >= 0 ? p->vec[best] : other >= 0 ? p->vec[other] : NULL;
}

post_vec *post_plot_find(const post_plot *p, const char *name)
{
    post_vec *other = NULL;
    char own[OUT_NAME];
    const char *also = out_own_name(own, name);
    if (vec_len(p->index.before) == vec_len(p->vec))
        return find_indexed(p, name, also);
    for (size_t i = 0; i < vec_len(p->vec); i++) {
        int m = match(p->vec[i]->name, name);
        m = m || also == name ? m : match(p->vec[i]->name, also) > 0;
        if (m == 2)
            return p->vec[i];
        if (m && !other)
            other = p->vec[i];
    }
    return other;
}

post_vec *post_plot_add(post_set *s, post_plot *p, const char *name, const char *type, bool complex)
{
    post_plot_index(p);
    int32_t first = -1;
    for (int32_t i = post_index_last(&p->index, name); i >= 0; i = p->index.before[i])
        first = str_casecmp(p->vec[i]->name, name) ? first : i;
    if (first < 0) {
        post_vec *added = post_plot_append(s, p, name, type, complex);
        post_plot_index(p);
        return added;
    }
    post_vec *v = p->vec[first];
    v->name = str_intern0(s->names, name);
    v->type = str_intern0(s->names, type);
    v->complex = complex;
    vs_free(v->v);
    vec_free(v->dim);
    v->v = NULL;
    v->n = v->cap = 0;
    return v;
}

void post_vec_push(post_vec *v, double re, double im)
{
    size_t w = 1 + v->complex;
    if (v->n == v->cap) {
        int64_t cap = v->cap ? 2 * v->cap : 64;
        v->v = vs_realloc(v->v, (size_t)cap * w * sizeof *v->v);
        v->cap = cap;
    }
    v->v[(size_t)v->n * w] = re;
    if (v->complex)
        v->v[(size_t)v->n * w + 1] = im;
    v->n++;
}

void post_vec_set(post_vec *v, const double *x, int64_t n, bool complex)
{
    size_t bytes = (size_t)n * (1 + complex) * sizeof *x;
    double *copy = vs_malloc(bytes + 1);
    if (n > 0) /* of a vector without values x may be NULL */
        memcpy(copy, x, bytes);
    vs_free(v->v);
    v->v = copy;
    v->n = v->cap = n;
    v->complex = complex;
    vec_free(v->dim);
}

void post_vec_shape(post_vec *v, const int64_t *dim, size_t n_dim)
{
    int64_t *sizes = NULL, product = 1;
    for (size_t i = 0; i < n_dim; i++) {
        product *= dim[i];
        vec_push(sizes, dim[i]);
    }
    assert(n_dim < 2 || product == v->n);
    vec_free(v->dim);
    if (n_dim < 2)
        vec_free(sizes);
    v->dim = sizes;
}

/* -- as an image -- */

enum { MOST_LOBE = 1000000 }; /* lines: windows have a few */

/* Whether an array of these sizes has n values. */
static bool is_product(const int64_t *dim, size_t n_dim, int64_t n)
{
    int64_t product = 1;
    for (size_t i = 0; i < n_dim; i++) {
        if (dim[i] < 1 || dim[i] > n / product)
            return false;
        product *= dim[i];
    }
    return n_dim > 1 && product == n;
}

static void vec_image(post_set *s, post_vec *v, image *im)
{
    v->name = image_word(im, s->names, v->name);
    v->type = image_word(im, s->names, v->type);
    IMAGE_ONE(im, v->complex);
    const size_t w = 1 + (size_t)v->complex;
    const size_t n = image_count(im, (size_t)v->n, w * sizeof *v->v);
    if (im->giving) {
        v->n = v->cap = (int64_t)n;
        v->v = vs_malloc((n + 1) * w * sizeof *v->v);
    }
    IMAGE_ARRAY(im, v->v, n * w);
    const size_t n_dim = image_count(im, vec_len(v->dim), sizeof *v->dim);
    if (im->giving && n_dim)
        vec_extend(v->dim, n_dim);
    IMAGE_ARRAY(im, v->dim, n_dim);
    if (im->giving && n_dim && (im->wrong || !is_product(v->dim, n_dim, v->n))) {
        vec_free(v->dim);
        image_refuse(im);
    }
}

static void plot_image(post_set *s, post_plot *p, image *im)
{
    p->name = image_word(im, s->names, p->name);
    p->title = image_word(im, s->names, p->title);
    p->what = image_word(im, s->names, p->what);
    IMAGE_ONE(im, p->date);
    p->date[sizeof p->date - 1] = 0;
    IMAGE_WITHIN(im, p->lobe, 0, MOST_LOBE);
    IMAGE_ONE(im, p->tone);
    IMAGE_ONE(im, p->band);
    IMAGE_VEC(im, p->eye);
    const size_t n = image_count(im, vec_len(p->vec), 1);
    for (size_t i = 0; i < n && !im->wrong; i++) {
        bool scale = !im->giving && p->scale == p->vec[i];
        if (im->giving)
            vec_push(p->vec, vs_calloc(1, sizeof(post_vec)));
        vec_image(s, p->vec[i], im);
        IMAGE_ONE(im, scale);
        if (im->giving && scale)
            p->scale = p->vec[i];
    }
}

void post_image(post_set *s, image *im)
{
    const size_t had = vec_len(s->plot), n = image_count(im, had, 1);
    IMAGE_COUNTED(im, s->number);
    IMAGE_COUNTED(im, s->highest);
    for (size_t i = 0; i < n && im->giving; i++)
        vec_push(s->plot, vs_calloc(1, sizeof(post_plot)));
    for (size_t i = im->giving ? had : 0; i < vec_len(s->plot); i++) {
        bool current = s->current == s->plot[i];
        plot_image(s, s->plot[i], im);
        IMAGE_ONE(im, current);
        if (im->giving && current)
            s->current = s->plot[i];
    }
}
