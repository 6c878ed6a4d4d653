/* fuzz_hdf5.c - the target `hdf5`: files of HDF5 and MATLAB 7.3, by the plug-in.
 * Input: what begins as HDF5 does is a file, mostly a damaged one. libhdf5 may break on it, and the
 * command reads such files in a process of its own; what breaks outside of libhdf5 is a finding.
 * With libFuzzer the process that fuzzes reads it, and ends without a word where libhdf5 breaks
 * (-fork=1 goes on); otherwise a child does.
 * Other bytes say what a file is made of, one for each decision (`draw`): groups, datasets of all
 * types, sizes and layouts, links, attributes. It has no damage: it must be read, each vector of
 * numbers with its name and its values, nothing may be left open, and what is written of it as HDF5
 * must be read as the same. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <execinfo.h>
#include <hdf5.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conv.h"
#include "fuzz.h"
#include "vec.h"

enum { LEFT = 99, LIBRARY_S = 2, PATIENCE = 10, MOST_RANK = 4, MOST_VALUES = 400, MOST_PARTS = 60 };
#define FILE_NAME "input.h5"
#define BACK_NAME "back.h5"

/* -- damaged files -- */

static bool reading; /* a file that may be damaged */
static int patience; /* times LIBRARY_S */

/* Whether libhdf5 is at work: it is called by the plug-in, and calls nothing of ours. */
static bool in_library(void)
{
    void *at[200];
    const int n = backtrace(at, (int)VS_COUNT(at));
    for (int k = 0; k < n; k++) {
        Dl_info d;
        if (!dladdr(at[k], &d) || !d.dli_fname)
            continue;
        if (strstr(d.dli_fname, "libhdf5"))
            return true;
        if (strstr(d.dli_fname, "libvsim-hdf5"))
            return false;
    }
    return false;
}

static const int faults[] = {SIGPROF,
#if !defined __SANITIZE_ADDRESS__ && !defined FUZZ_LIBFUZZER
                             SIGSEGV, SIGBUS, SIGFPE, SIGILL,
#endif
                             SIGABRT};
static struct sigaction before[VS_COUNT(faults)];

static void on_fault(int sig)
{
    if (reading && in_library())
        _exit(LEFT);
    if (sig == SIGPROF && --patience > 0)
        return; /* ours may take longer */
    for (size_t k = 0; k < VS_COUNT(faults); k++)
        sigaction(faults[k], &before[k], NULL);
    raise(sig);
}

/* From here on a fault is looked at, and time is counted. */
static void watch(bool on)
{
    const struct itimerval limit = {{LIBRARY_S, 0}, {LIBRARY_S, 0}}, none = {{0, 0}, {0, 0}};
    const struct sigaction act = {.sa_handler = on_fault};
    reading = on;
    patience = PATIENCE;
    setitimer(ITIMER_PROF, on ? &limit : &none, NULL);
    for (size_t k = 0; k < VS_COUNT(faults); k++)
        sigaction(faults[k], on ? &act : &before[k], on ? &before[k] : NULL);
}

/* What ASan calls before a report. */
void __asan_on_error(void);
void __asan_on_error(void)
{
    if (reading && in_library())
        _exit(LEFT);
}

static void read_plots(post_set *set, const char *name)
{
    const conv_opt o = {.low = NAN, .high = NAN};
    char why[CONV_WHY] = "";
    if (conv_read(set, name, &o, why) && !*why)
        finding("a file is refused without a word");
}

static void read_damaged(void)
{
    str_pool names;
    post_set set;
    str_pool_init(&names);
    post_set_init(&set, &names);
    watch(true);
    read_plots(&set, FILE_NAME);
    watch(false);
    post_set_fini(&set);
    str_pool_fini(&names);
}

#ifdef FUZZ_LIBFUZZER

static void read_apart(void) { read_damaged(); }

#else

static void read_apart(void)
{
    const pid_t child = fork();
    if (child < 0)
        finding("no process can be made");
    if (!child) {
#ifndef __SANITIZE_ADDRESS__
        setrlimit(RLIMIT_AS, &(struct rlimit){(rlim_t)4 << 30, (rlim_t)4 << 30});
#endif
        read_damaged();
        _exit(0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        ;
    if (!WIFEXITED(status) || (WEXITSTATUS(status) && WEXITSTATUS(status) != LEFT))
        finding("a damaged file ended the reader, outside of libhdf5 (%d)", status);
}

#endif

/* -- whole files -- */

static const unsigned char *bytes;
static size_t n_byte;

/* The next decision: below n. */
static int draw(int n)
{
    if (!n_byte)
        return 0;
    n_byte--;
    return *bytes++ % n;
}

/* A dataset of numbers. Value k is (31 number + k) % 100, its imaginary part one more. */
typedef struct expected {
    char group[16], name[16];
    int number, rank;
    hsize_t dim[MOST_RANK];
    bool turned, complex, empty;
} expected;

static expected made[MOST_PARTS];
static int n_made;

static double value(const expected *e, int64_t k) { return (double)((31 * e->number + k) % 100); }

static void put_text(hid_t at, const char *name, const char *text, bool variable_length)
{
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, variable_length ? H5T_VARIABLE : strlen(text) ? strlen(text) : 1);
    const hid_t a = H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (a < 0 || H5Awrite(a, type, variable_length ? (const void *)&text : text) < 0)
        finding("no attribute '%s' can be made", name);
    H5Aclose(a);
    H5Sclose(space);
    H5Tclose(type);
}

/* A type of numbers in the file. */
static hid_t type_of_numbers(int which, bool *complex)
{
    static const char *const parts[][2] = {{"r", "i"}, {"real", "imag"}};
    const hid_t simple[] = {H5T_IEEE_F64LE, H5T_IEEE_F64BE, H5T_IEEE_F32LE, H5T_STD_I8LE,
                            H5T_STD_U8BE,   H5T_STD_I16BE,  H5T_STD_I32LE,  H5T_STD_U64LE};
    *complex = which >= (int)VS_COUNT(simple);
    if (!*complex)
        return H5Tcopy(simple[which]);
    which -= (int)VS_COUNT(simple);
    const hid_t of = which & 1 ? H5T_IEEE_F32BE : H5T_IEEE_F64LE;
    const size_t size = H5Tget_size(of);
    const bool last_first = which & 4;
    const hid_t t = H5Tcreate(H5T_COMPOUND, 2 * size + (which & 1));
    const char *const *name = parts[which >> 1 & 1];
    H5Tinsert(t, name[last_first], 0, of);
    H5Tinsert(t, name[!last_first], size + (which & 1), of);
    return t;
}

static void put_numbers(hid_t set, const expected *e, int64_t n)
{
    static const char *const name[2] = {"r", "i"}, *const other[2] = {"real", "imag"};
    double x[2 * MOST_VALUES];
    const int w = 1 + e->complex;
    for (int64_t k = 0; k < n; k++) {
        x[w * k] = value(e, k);
        x[w * k + w - 1] = e->complex ? value(e, k + 1) : x[w * k];
    }
    const hid_t in_file = H5Dget_type(set);
    hid_t as = H5Tcopy(H5T_NATIVE_DOUBLE);
    if (e->complex) {
        const char *const *part = H5Tget_member_index(in_file, "r") >= 0 ? name : other;
        H5Tclose(as);
        as = H5Tcreate(H5T_COMPOUND, 2 * sizeof(double));
        H5Tinsert(as, part[0], 0, H5T_NATIVE_DOUBLE);
        H5Tinsert(as, part[1], sizeof(double), H5T_NATIVE_DOUBLE);
    }
    if (n && H5Dwrite(set, as, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) < 0)
        finding("no values can be written");
    H5Tclose(as);
    H5Tclose(in_file);
}

/* How the values of a dataset lie in the file. */
static hid_t layout(int which, const hsize_t *dim, int rank)
{
    const hid_t p = H5Pcreate(H5P_DATASET_CREATE);
    bool any = rank > 0;
    for (int i = 0; i < rank; i++)
        any &= dim[i] > 0;
    if (which == 1 && any)
        H5Pset_layout(p, H5D_COMPACT);
    if (which < 2 || !any)
        return p;
    hsize_t chunk[MOST_RANK];
    for (int i = 0; i < rank; i++)
        chunk[i] = (dim[i] + 1) / 2;
    H5Pset_chunk(p, rank, chunk);
    if (which == 3)
        H5Pset_shuffle(p);
    if (which >= 3 && H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0)
        H5Pset_deflate(p, 6);
    return p;
}

static hid_t draw_space(hsize_t *dim, int *rank)
{
    static const hsize_t size[] = {1, 2, 3, 5, 4, 0, 40, 1};
    int64_t n = 1;
    *rank = draw(MOST_RANK + 1);
    for (int i = 0; i < *rank; i++) {
        dim[i] = size[draw(VS_COUNT(size))];
        if (n * (int64_t)dim[i] > MOST_VALUES)
            dim[i] = 1;
        n *= (int64_t)dim[i];
    }
    if (!*rank)
        return H5Screate(draw(3) ? H5S_SCALAR : H5S_NULL);
    return H5Screate_simple(*rank, dim, NULL);
}

/* Attributes that say what MATLAB keeps there. Returns whether it is text or empty. */
static bool put_class(hid_t set, expected *e)
{
    const int which = draw(6);
    e->turned = which > 2;
    if (which > 2)
        put_text(set, "MATLAB_class",
                 which == 5   ? "char"
                 : which == 4 ? "double"
                              : "logical",
                 false);
    if (which == 3 && draw(2)) {
        put_text(set, "MATLAB_empty", "1", false);
        e->empty = true;
    }
    return which == 5;
}

static void make_numbers(hid_t at, const char *group, int number)
{
    expected e = {.number = number};
    snprintf(e.group, sizeof e.group, "%s", group);
    snprintf(e.name, sizeof e.name, "s%d", number);
    const hid_t type = type_of_numbers(draw(16), &e.complex), space = draw_space(e.dim, &e.rank),
                how = layout(draw(5), e.dim, e.rank),
                set = H5Dcreate2(at, e.name, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
    const int64_t n = H5Sget_simple_extent_npoints(space);
    if (set < 0)
        finding("no dataset can be made");
    put_numbers(set, &e, n);
    const bool text = put_class(set, &e);
    e.empty |= !n;
    const int named = draw(4);
    if (named == 1)
        snprintf(e.name, sizeof e.name, "v(n%d)", number);
    if (named)
        put_text(set, "name", named == 1 ? e.name : "", named == 3);
    if (draw(2))
        put_text(set, "type", "voltage", false);
    if (*group != '#' && (!text || e.complex))
        made[n_made++] = e;
    H5Dclose(set);
    H5Pclose(how);
    H5Sclose(space);
    H5Tclose(type);
}

/* What is no number: the reader tells of it, or leaves it out. */
static void make_other(hid_t at, int number)
{
    char name[16];
    const hsize_t n = 2;
    snprintf(name, sizeof name, "o%d", number);
    const hid_t string = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &n, NULL),
                compound = H5Tcreate(H5T_COMPOUND, 16);
    H5Tset_size(string, draw(2) ? 5 : H5T_VARIABLE);
    H5Tinsert(compound, draw(2) ? "r" : "a", 0, H5T_NATIVE_DOUBLE);
    H5Tinsert(compound, "b", 8, H5T_NATIVE_DOUBLE);
    const hsize_t three = 3;
    const hid_t array = H5Tarray_create2(H5T_NATIVE_DOUBLE, 1, &three),
                list = H5Tvlen_create(H5T_NATIVE_DOUBLE);
    const hid_t type[] = {string, compound, array, list, H5T_STD_REF_OBJ, H5T_STD_B8LE};
    const hid_t set = H5Dcreate2(at, name, type[draw(VS_COUNT(type))], space, H5P_DEFAULT,
                                 H5P_DEFAULT, H5P_DEFAULT);
    H5Dclose(set);
    H5Tclose(list);
    H5Tclose(array);
    H5Tclose(compound);
    H5Tclose(string);
    H5Sclose(space);
}

static void make_link(hid_t file, hid_t at, int number)
{
    char name[16];
    snprintf(name, sizeof name, "l%d", number);
    switch (draw(5)) {
    case 0: H5Lcreate_soft("nowhere", at, name, H5P_DEFAULT, H5P_DEFAULT); break;
    case 1: H5Lcreate_soft(".", at, name, H5P_DEFAULT, H5P_DEFAULT); break;
    case 2: H5Lcreate_external("absent.h5", "/", at, name, H5P_DEFAULT, H5P_DEFAULT); break;
    case 3: H5Lcreate_hard(file, ".", at, name, H5P_DEFAULT, H5P_DEFAULT); break;
    default: H5Lcreate_soft(name, at, name, H5P_DEFAULT, H5P_DEFAULT);
    }
}

static hid_t make_group(hid_t file, char group[16], int number)
{
    const hid_t p = H5Pcreate(H5P_GROUP_CREATE);
    snprintf(group, 16, draw(8) == 7 ? "#refs%d#" : "tran%d", number);
    if (draw(2))
        H5Pset_link_creation_order(p, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    const hid_t g = H5Gcreate2(file, group, H5P_DEFAULT, p, H5P_DEFAULT);
    H5Pclose(p);
    if (g < 0)
        finding("no group can be made");
    if (draw(2))
        put_text(g, "title", "t", draw(4) == 3);
    if (draw(2))
        put_text(g, "plot", "", false);
    return g;
}

/* Text in front of the file, where MATLAB has its own. */
static void put_head(const char *head)
{
    FILE *fp = fopen(FILE_NAME, "r+");
    if (!fp || fwrite(head, 1, strlen(head), fp) != strlen(head) || fclose(fp))
        finding("no head can be written");
}

static void make_file(void)
{
    const hid_t create = H5Pcreate(H5P_FILE_CREATE), access = H5Pcreate(H5P_FILE_ACCESS);
    char group[16] = "";
    const bool matlab = draw(2);
    if (matlab)
        H5Pset_userblock(create, 512);
    if (draw(2))
        H5Pset_link_creation_order(create, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    if (draw(2))
        H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    const hid_t file = H5Fcreate(FILE_NAME, H5F_ACC_TRUNC, create, access);
    hid_t at = H5Gopen2(file, "/", H5P_DEFAULT);
    n_made = 0;
    for (int k = 0; k < MOST_PARTS && n_byte; k++)
        switch (draw(8)) {
        case 0:
            H5Gclose(at);
            at = make_group(file, group, k);
            break;
        case 1: make_other(at, k); break;
        case 2: make_link(file, at, k); break;
        case 3:
            H5Gclose(
                H5Gcreate2(at, k & 1 ? "inner" : "sub", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
            break;
        default: make_numbers(at, group, k);
        }
    H5Gclose(at);
    H5Fclose(file);
    H5Pclose(access);
    H5Pclose(create);
    if (matlab)
        put_head("MATLAB 7.3 MAT-file");
}

/* The values of column `column` of e, or of all of it, are those of v. */
static void same_values(const expected *e, const post_vec *v, int64_t rows, int64_t columns,
                        int64_t column)
{
    if (v->n != rows || v->complex != e->complex)
        finding("'%s' has %lld values, not %lld", v->name, (long long)v->n, (long long)rows);
    for (int64_t k = 0; k < rows; k++) {
        const int64_t at = e->turned ? column * rows + k : k * columns + column;
        const double *x = v->v + k * (1 + e->complex);
        if (x[0] != value(e, at) || (e->complex && x[1] != value(e, at + 1)))
            finding("'%s' has another value %lld", v->name, (long long)k);
    }
}

static const post_vec *vector_of(const post_set *set, const expected *e, const char *name)
{
    const char *what = *e->group ? e->group : "Table";
    for (size_t i = 0; i < vec_len(set->plot); i++) {
        const post_plot *p = set->plot[i];
        for (size_t k = 0; k < vec_len(p->vec) && !strcmp(p->what, what); k++)
            if (!strcmp(p->vec[k]->name, name))
                return p->vec[k];
    }
    finding("'%s' is not read", name);
}

/* The first dimension that is not 1, the last one of MATLAB, has the rows. */
static void must_have(const post_set *set, const expected *e)
{
    int64_t n = 1, rows = 1;
    char name[64];
    for (int i = 0; i < e->rank; i++) {
        const int64_t d = (int64_t)e->dim[e->turned ? e->rank - 1 - i : i];
        rows = rows == 1 ? d : rows;
        n *= d;
    }
    if (e->empty) {
        same_values(e, vector_of(set, e, e->name), 0, 1, 0);
        return;
    }
    for (int64_t c = 0; c < n / rows; c++) {
        snprintf(name, sizeof name, n == rows ? "%s" : "%s_%lld", e->name, (long long)c + 1);
        same_values(e, vector_of(set, e, name), rows, n / rows, c);
    }
}

static void same_plots(const post_set *a, const post_set *b)
{
    if (vec_len(a->plot) != vec_len(b->plot))
        finding("%zu plots are written, %zu read", vec_len(a->plot), vec_len(b->plot));
    for (size_t i = 0; i < vec_len(a->plot); i++) {
        const post_plot *p = a->plot[i], *q = b->plot[i];
        if (vec_len(p->vec) != vec_len(q->vec) || strcmp(p->what, q->what))
            finding("plot %zu is read as another one", i);
        for (size_t k = 0; k < vec_len(p->vec); k++) {
            const post_vec *v = p->vec[k], *w = q->vec[k];
            const size_t bytes_of = (size_t)v->n * (1 + v->complex) * sizeof *v->v;
            if (strcmp(v->name, w->name) || strcmp(v->type, w->type) || v->n != w->n ||
                v->complex != w->complex || memcmp(v->v, w->v, bytes_of))
                finding("'%s' is read as another vector", v->name);
        }
    }
}

static void write_and_read(const post_set *set, str_pool *names)
{
    const conv_opt o = {.low = NAN, .high = NAN};
    char why[CONV_WHY] = "";
    post_set back;
    if (conv_write(set->plot, vec_len(set->plot), BACK_NAME, CONV_HDF5, &o, why))
        finding("what was read is not written: %s", why);
    post_set_init(&back, names);
    if (conv_read(&back, BACK_NAME, &o, why))
        finding("what was written is not read: %s", why);
    same_plots(set, &back);
    post_set_fini(&back);
}

static void read_made(void)
{
    const conv_opt o = {.low = NAN, .high = NAN};
    char why[CONV_WHY] = "";
    str_pool names;
    post_set set;
    str_pool_init(&names);
    post_set_init(&set, &names);
    if (conv_read(&set, FILE_NAME, &o, why) && n_made)
        finding("a whole file is refused: %s", why);
    if (H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL))
        finding("something of a file stays open");
    for (int k = 0; k < n_made; k++)
        must_have(&set, &made[k]);
    if (vec_len(set.plot))
        write_and_read(&set, &names);
    post_set_fini(&set);
    str_pool_fini(&names);
}

void fuzz_hdf5(const char *text, size_t n)
{
    const bool file = n > 10 && (!memcmp(text, "\x89HDF", 4) || !memcmp(text, "MATLAB 7.3", 10));
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    if (file) {
        write_file(FILE_NAME, text, n);
        read_apart();
        return;
    }
    bytes = (const unsigned char *)text;
    n_byte = n;
    make_file();
    read_made();
}
