/* ctl_shape.c - vectors as arrays: let v[i][j], reshape, transpose, cross.
 * An array is a vector with sizes (post_vec.dim); the last index runs fastest. What is computed
 * from arrays is a list again, but for parts v[i] and copies.
 * Source: ngspice manual, chapter "Interactive interpreter": reshape, transpose, cross, let. */
#include <math.h>
#include <string.h>

#include "ctl_priv.h"

enum { MOST_DIM = 8 };

/* -- sizes and indices in brackets -- */

/* index = ("[" expr ("," expr)* "]")+
 * The numbers, and how many there are; -1: a message was given. */
static int bracketed(ctl *c, const char *text, double *x)
{
    int n = 0;
    for (const char *s = text; *(s += strspn(s, " \t"));) {
        if (*s++ != '[')
            return ctl_fail(c, "'[' is expected, not '%s'", s - 1), -1;
        for (bool more = true; more;) {
            const char *a = s;
            for (int depth = 0; *s && (depth || !strchr("],", *s)); s++)
                depth += *s == '[' || *s == '(' ? 1 : *s == ']' || *s == ')' ? -1 : 0;
            if (!*s)
                return ctl_fail(c, "']' is expected at the end of '%s'", text), -1;
            if (n == MOST_DIM)
                return ctl_fail(c, "an array has at most %d indices", MOST_DIM), -1;
            if (!post_eval_number(&c->e, arena_strndup(&c->scratch, a, (size_t)(s - a)), &x[n++]))
                return -1;
            more = *s++ == ',';
        }
    }
    return n;
}

/* Copies v into the values of `to` from `at` on. */
static void put_values(post_vec *to, int64_t at, const post_val *v)
{
    for (int64_t k = 0; k < v->n; k++) {
        const double *from = &v->v[k * (1 + v->complex)];
        double *x = &to->v[(at + k) * (1 + to->complex)];
        x[0] = from[0];
        if (to->complex)
            x[1] = v->complex ? from[1] : 0;
    }
}

vs_status ctl_assign_part(ctl *c, post_vec *old, const char *name, const char *index,
                          const post_val *v)
{
    double x[MOST_DIM];
    if (!old)
        return ctl_fail(c, "there is no vector '%s' of which a value could be set", name);
    const int n = bracketed(c, index, x), n_dim = old->dim ? (int)vec_len(old->dim) : 1;
    if (n < 0)
        return VS_EINPUT;
    if (n > n_dim)
        return ctl_fail(c, "'%s' has %d ind%s, %d given", name, n_dim, n_dim > 1 ? "ices" : "ex",
                        n);
    int64_t at = 0, left = old->n;
    for (int i = 0; i < n; i++) {
        const int64_t size = old->dim ? old->dim[i] : old->n;
        x[i] = floor(x[i] + 0.5); /* as in expressions */
        if (!(x[i] >= 0 && x[i] < (double)size))
            return ctl_fail(c, "the index %g is outside 0 .. %lld", x[i], (long long)size - 1);
        left /= size;
        at += (int64_t)x[i] * left;
    }
    if (v->n != left)
        return left == 1 ? ctl_fail(c, "a single value is needed, not %lld", (long long)v->n)
                         : ctl_fail(c, "%lld values are needed, not %lld", (long long)left,
                                    (long long)v->n);
    if (v->complex && !old->complex)
        return ctl_fail(c, "'%s' is real, the value is complex", name);
    put_values(old, at, v);
    return VS_OK;
}

/* -- commands -- */

static post_vec *find(ctl *c, const char *name)
{
    post_plot *p = sim_plots(c->s)->current;
    post_vec *v = p ? post_plot_find(p, name) : NULL;
    if (!v)
        ctl_fail(c, "there is no vector '%s'", name);
    return v;
}

static bool check_sizes(ctl *c, const double *x, int n, int64_t *dim, int64_t *product)
{
    *product = 1;
    for (int i = 0; i < n; i++) {
        if (!(x[i] >= 1 && x[i] <= 1e9) || x[i] != floor(x[i]) ||
            *product > INT64_MAX / (int64_t)x[i]) {
            ctl_fail(c, "%g is not a size", x[i]);
            return false;
        }
        dim[i] = (int64_t)x[i];
        *product *= dim[i];
    }
    return true;
}

/* reshape name... [a][b]... | reshape name... [a,b,...] */
vs_status ctl_reshape(ctl *c, const char *text)
{
    const char *open = strchr(text, '[');
    char **w =
        ctl_words(c, arena_strndup(&c->scratch, text, open ? (size_t)(open - text) : strlen(text)));
    double x[MOST_DIM];
    int64_t dim[MOST_DIM], product = 0;
    vs_status st = VS_OK;
    int n = -1;
    if (!vec_len(w) || !open)
        st = ctl_fail(c, "reshape takes vectors and sizes: reshape v [2][3]");
    else if ((n = bracketed(c, open, x)) < 0 || !check_sizes(c, x, n, dim, &product))
        st = VS_EINPUT;
    for (size_t i = 0; i < vec_len(w) && !st; i++) {
        post_vec *v = find(c, w[i]);
        if (!v)
            st = VS_EINPUT;
        else if (v->n != product)
            st = ctl_fail(c, "'%s' has %lld values, not %lld", w[i], (long long)v->n,
                          (long long)product);
        else
            post_vec_shape(v, dim, (size_t)n);
    }
    vec_free(w);
    return st;
}

/* Whether a vector is an array whose sizes fit its values: a run may have added some. */
static bool is_array(const post_vec *v)
{
    int64_t product = 1;
    for (size_t i = 0; i < vec_len(v->dim); i++)
        product *= v->dim[i];
    return vec_len(v->dim) >= 2 && vec_len(v->dim) <= MOST_DIM && product == v->n;
}

/* Exchanges the last two indices of an array. */
static void transpose(ctl *c, post_vec *v)
{
    const size_t n_dim = vec_len(v->dim), w = 1 + (size_t)v->complex;
    int64_t dim[MOST_DIM];
    memcpy(dim, v->dim, n_dim * sizeof *dim);
    const int64_t rows = dim[n_dim - 2], columns = dim[n_dim - 1];
    double *x = arena_alloc(&c->scratch, (size_t)v->n * w * sizeof *x);
    for (int64_t k = 0; k < v->n; k++) {
        const int64_t of = k % (rows * columns), to = k - of + of % columns * rows + of / columns;
        memcpy(&x[(size_t)to * w], &v->v[(size_t)k * w], w * sizeof *x);
    }
    dim[n_dim - 2] = columns;
    dim[n_dim - 1] = rows;
    post_vec_set(v, x, v->n, v->complex);
    post_vec_shape(v, dim, n_dim);
}

vs_status ctl_transpose(ctl *c, const char *text)
{
    char **w = ctl_words(c, text);
    vs_status st = VS_OK;
    if (!vec_len(w))
        st = ctl_fail(c, "transpose takes vectors that reshape made arrays");
    for (size_t i = 0; i < vec_len(w) && !st; i++) {
        post_vec *v = find(c, w[i]);
        if (!v)
            st = VS_EINPUT;
        else if (!is_array(v))
            st = ctl_fail(c, "'%s' is a list: reshape makes an array of it", w[i]);
        else
            transpose(c, v);
    }
    vec_free(w);
    return st;
}

/* cross name index expr...: the values at that index, 0 where there are fewer */
vs_status ctl_cross(ctl *c, const char *text)
{
    const char *a = text + strcspn(text, " \t"), *index = a + strspn(a, " \t"),
               *list = index + strcspn(index, " \t");
    const char *name = arena_strndup(&c->scratch, text, (size_t)(a - text));
    post_plot *p = sim_plots(c->s)->current;
    post_val *v = NULL;
    double k;
    if (!*name || !list[strspn(list, " \t")])
        return ctl_fail(c, "cross takes a name, an index and vectors: cross x 3 a b");
    if (!post_eval_number(&c->e, arena_strndup(&c->scratch, index, (size_t)(list - index)), &k))
        return VS_EINPUT;
    if (!(k >= 0 && k < 9e15) || k != floor(k))
        return ctl_fail(c, "%g is not an index", k);
    if (!ctl_values(c, list, &v))
        return VS_EINPUT;
    bool complex = false;
    for (size_t i = 0; i < vec_len(v); i++)
        complex |= v[i].complex;
    double *all = arena_array(&c->scratch, double, 2 * vec_len(v)); /* `name` may be one of them */
    for (size_t i = 0; i < vec_len(v); i++) {
        const double *x = (int64_t)k < v[i].n ? &v[i].v[(int64_t)k * (1 + v[i].complex)] : NULL;
        all[i * (1 + complex)] = x ? x[0] : 0;
        if (complex)
            all[2 * i + 1] = x && v[i].complex ? x[1] : 0;
    }
    post_vec *made =
        post_plot_add(sim_plots(c->s), p, name, vec_len(v) ? v[0].type : "notype", complex);
    post_vec_set(made, all, (int64_t)vec_len(v), complex);
    vec_free(v);
    return VS_OK;
}
