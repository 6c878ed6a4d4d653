/* conv_hdf5.c - HDF5: a group for each plot, a dataset for each vector. The plug-in: nothing else
 * of vsim knows of libhdf5.
 * Layout: groups "tran1", ... with the attributes title, plot and axis (a vector's name); datasets
 *         of one dimension, doubles or compounds {r, i}, which h5py reads as complex numbers, with
 *         the attribute type; order of creation is kept. "/" in a name is written "|", and the
 *         attribute name has the name as it is. Datasets outside of groups are a table.
 * Others: the columns of a dataset A of two dimensions are A_1, A_2, ... (its rows in files of
 *         MATLAB 7.3, which turns its matrices); of more dimensions the last one runs first.
 * Memory: a plug-in has no guard to go back to where there is none, so it asks and looks (room). */
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

#include "conv_build.h"
#include "conv_priv.h"

extern const conv_hdf5_table conv_hdf5;

static hid_t handle_of(void *file) { return (hid_t)(intptr_t)file - 1; }
static void *pointer_of(hid_t h) { return (void *)(intptr_t)(h + 1); }

static void close_file(void *file, size_t n)
{
    (void)n;
    H5Fclose(handle_of(file));
}

static bool say(char *why, const char *text)
{
    snprintf(why, CONV_WHY, "%s", text);
    return false;
}

/* n elements; NULL: there is no memory for so many. */
static void *room(size_t n, size_t size)
{
    return n > SIZE_MAX / 2 / size ? NULL : vs_try_realloc(NULL, n * size);
}

/* What members of complex numbers are called by h5py, and by MATLAB and Octave. */
static const char *const parts[][2] = {{"r", "i"}, {"real", "imag"}};

static hid_t complex_type(const char *const name[2])
{
    const hid_t t = H5Tcreate(H5T_COMPOUND, 2 * sizeof(double));
    H5Tinsert(t, name[0], 0, H5T_NATIVE_DOUBLE);
    H5Tinsert(t, name[1], sizeof(double), H5T_NATIVE_DOUBLE);
    return t;
}

/* -- attributes of text -- */

/* Writes a text attribute of fixed length: libhdf5 reads outside of its memory where a text of
 * variable length is damaged (H5HG_read, 1.10.8). h5py reads it as bytes. */
static bool put_text(hid_t at, const char *name, const char *text)
{
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, strlen(text) ? strlen(text) : 1);
    H5Tset_cset(type, H5T_CSET_UTF8);
    const hid_t a = H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool ok = a >= 0 && H5Awrite(a, type, text) >= 0;
    H5Aclose(a);
    H5Sclose(space);
    H5Tclose(type);
    return ok;
}

/* Reads a text attribute; "": there is none of fixed length. */
static void get_text(hid_t at, const char *name, char *buf, size_t size)
{
    memset(buf, 0, size);
    if (H5Aexists(at, name) <= 0)
        return;
    const hid_t a = H5Aopen(at, name, H5P_DEFAULT), type = H5Aget_type(a), space = H5Aget_space(a);
    const bool fits = H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
                      H5Tget_size(type) < size && H5Sget_simple_extent_npoints(space) == 1;
    if (fits && H5Aread(a, type, buf) < 0)
        memset(buf, 0, size);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(a);
}

/* -- writing -- */

typedef struct writer {
    hid_t file, group, complex; /* group < 0: none yet */
    bool in_memory;
    size_t n;
    hid_t set[CONV_VECTORS]; /* [n] vectors that are open */
    bool pairs[CONV_VECTORS];
} writer;

static void shut(void *file)
{
    writer *w = file;
    for (size_t i = 0; i < w->n; i++)
        H5Dclose(w->set[i]);
    w->n = 0;
}

static void drop(void *file, size_t n)
{
    writer *w = file;
    (void)n;
    shut(w);
    if (w->group >= 0)
        H5Gclose(w->group);
    H5Tclose(w->complex);
    H5Fclose(w->file);
    vs_free(w);
}

static void *begin(const char *path, char why[CONV_WHY])
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const hid_t p = H5Pcreate(H5P_FILE_ACCESS);
    if (!path)
        H5Pset_fapl_core(p, (size_t)1 << 20, false);
    H5Pset_sieve_buf_size(p, 0); /* pieces are large: no copy of 64 KiB in each open vector */
    /* the image of a newer superblock has a wrong checksum (H5Fget_file_image clears its flags) */
    H5Pset_libver_bounds(p, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18);
    const hid_t root = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_link_creation_order(root, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    const hid_t file = H5Fcreate(path ? path : "vsim", H5F_ACC_TRUNC, root, p);
    H5Pclose(root);
    H5Pclose(p);
    if (file < 0) {
        say(why, path ? "cannot be made by libhdf5" : "cannot be made in memory by libhdf5");
        return NULL;
    }
    writer *w = room(1, sizeof *w);
    if (!w) {
        H5Fclose(file);
        say(why, "does not fit into memory");
        return NULL;
    }
    *w = (writer){.file = file, .group = -1, .complex = complex_type(parts[0]), .in_memory = !path};
    return w;
}

/* The name of a vector's link, which no other in the group has. */
static void name_link(hid_t group, const char *of, char name[1024])
{
    snprintf(name, 1024, "%s", *of ? of : "_");
    for (char *s = name; *s; s++)
        *s = *s == '/' ? '|' : *s;
    if (!strcmp(name, "."))
        snprintf(name, 1024, "_");
    const size_t n = strlen(name);
    for (int twice = 2; H5Lexists(group, name, H5P_DEFAULT) > 0 && twice < 1000; twice++)
        snprintf(name + (n < 1000 ? n : 1000), 24, "#%d", twice);
}

static bool open_vector(writer *w, const conv_hdf5_vector *v)
{
    char name[1024];
    name_link(w->group, v->name, name);
    const hsize_t points = (hsize_t)v->n;
    const hid_t space = H5Screate_simple(1, &points, NULL),
                set = H5Dcreate2(w->group, name, v->complex ? w->complex : H5T_NATIVE_DOUBLE, space,
                                 H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Sclose(space);
    if (set < 0)
        return false;
    w->pairs[w->n] = v->complex;
    w->set[w->n++] = set;
    return put_text(set, "type", v->type) && put_text(set, "name", v->name) &&
           (!v->axis || put_text(w->group, "axis", v->name));
}

static bool open_vectors(void *file, const conv_hdf5_vector *v, size_t n, char why[CONV_WHY])
{
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++)
        ok = open_vector(file, &v[i]);
    return ok ? true : say(why, "libhdf5 refuses a vector");
}

static bool put_values(void *file, size_t k, int64_t from, int64_t n, const double *x,
                       char why[CONV_WHY])
{
    const writer *w = file;
    const hsize_t at = (hsize_t)from, many = (hsize_t)n;
    if (!n)
        return true;
    const hid_t space = H5Dget_space(w->set[k]), part = H5Screate_simple(1, &many, NULL);
    const bool ok = H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &many, NULL) >= 0 &&
                    H5Dwrite(w->set[k], w->pairs[k] ? w->complex : H5T_NATIVE_DOUBLE, part, space,
                             H5P_DEFAULT, x) >= 0;
    H5Sclose(part);
    H5Sclose(space);
    return ok ? true : say(why, "is not written: libhdf5 finds no room for its values");
}

static bool make_group(void *file, const char *name, const char *title, const char *what,
                       char why[CONV_WHY])
{
    writer *w = file;
    const hid_t p = H5Pcreate(H5P_GROUP_CREATE);
    if (w->group >= 0)
        H5Gclose(w->group);
    H5Pset_link_creation_order(p, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    w->group = H5Gcreate2(w->file, name, H5P_DEFAULT, p, H5P_DEFAULT);
    H5Pclose(p);
    const bool ok =
        w->group >= 0 && put_text(w->group, "title", title) && put_text(w->group, "plot", what);
    return ok ? true : say(why, "libhdf5 refuses a group");
}

static bool write_image(hid_t file, FILE *out)
{
    const ssize_t n = H5Fget_file_image(file, NULL, 0);
    char *bytes = n > 0 ? room((size_t)n, 1) : NULL;
    const bool ok = bytes && H5Fget_file_image(file, bytes, (size_t)n) == n &&
                    fwrite(bytes, 1, (size_t)n, out) == (size_t)n;
    vs_free(bytes);
    return ok;
}

static bool end(void *file, FILE *out, char why[CONV_WHY])
{
    writer *w = file;
    const bool in_memory = w->in_memory, flushed = H5Fflush(w->file, H5F_SCOPE_GLOBAL) >= 0,
               ok = flushed && (!in_memory || write_image(w->file, out));
    drop(w, 0);
    return ok ? true
              : say(why, in_memory ? "does not fit into memory"
                                   : "is not written: libhdf5 finds no room for it");
}

/* -- reading -- */

typedef struct reader {
    const conv_hdf5_sink *to;
    const char *group, *axis; /* "": none */
} reader;

/* Tells that something is not read.  what  in  a verb and what it is */
static void leave_out(const reader *r, const char *link, const char *what)
{
    r->to->left_out(r->to->user, r->group, link, what);
}

/* A dataset that is open. */
typedef struct dataset {
    hid_t set, type, space;
    H5T_class_t kind;
    const char *const *pair; /* names of a complex number's members; NULL: it is real */
    hssize_t n;
    hsize_t rows; /* values of a vector */
    bool turned;  /* the rows are the vectors, not the columns */
} dataset;

/* The names of a complex number's parts; NULL: it is none. */
static const char *const *pair_of(hid_t type)
{
    if (H5Tget_class(type) != H5T_COMPOUND || H5Tget_nmembers(type) != 2)
        return NULL;
    for (size_t i = 0; i < VS_COUNT(parts); i++)
        if (H5Tget_member_index(type, parts[i][0]) >= 0 &&
            H5Tget_member_index(type, parts[i][1]) >= 0)
            return parts[i];
    return NULL;
}

static bool open_dataset(dataset *d, hid_t at, const char *link)
{
    char class[32];
    hsize_t dims[H5S_MAX_RANK] = {0};
    *d = (dataset){.set = H5Dopen2(at, link, H5P_DEFAULT)};
    if (d->set < 0)
        return false;
    d->type = H5Dget_type(d->set);
    d->space = H5Dget_space(d->set);
    d->kind = H5Tget_class(d->type);
    d->pair = pair_of(d->type);
    d->n = H5Sget_simple_extent_npoints(d->space);
    get_text(d->set, "MATLAB_class", class, sizeof class);
    d->turned = *class;
    if (H5Aexists(d->set, "MATLAB_empty") > 0)
        d->n = 0; /* its values are dimensions */
    if (!strcmp(class, "char"))
        d->kind = H5T_STRING;
    const int rank = H5Sget_simple_extent_dims(d->space, dims, NULL);
    d->rows = 1;
    for (int i = 0; i < rank && d->rows == 1; i++)
        d->rows = dims[d->turned ? rank - 1 - i : i];
    return true;
}

static void close_dataset(const dataset *d)
{
    H5Sclose(d->space);
    H5Tclose(d->type);
    H5Dclose(d->set);
}

/* Reads all values: doubles, or pairs of them. */
static bool read_values(const dataset *d, double *x)
{
    const hid_t as = d->pair ? complex_type(d->pair) : H5Tcopy(H5T_NATIVE_DOUBLE);
    const bool ok = !d->n || H5Dread(d->set, as, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0;
    H5Tclose(as);
    return ok;
}

/* Reads a matrix: a vector for each of its columns. */
static bool take_columns(const reader *r, const dataset *d, const char *link, const char *name,
                         const char *type)
{
    const size_t w = d->pair ? 2 : 1, rows = d->rows, columns = (size_t)d->n / rows;
    double *all = room((size_t)d->n, w * sizeof *all);
    if (!all) {
        leave_out(r, link, "needs more memory than there is, and is not read");
        return true;
    }
    const bool ok = read_values(d, all);
    for (size_t c = 0; c < columns && ok; c++) {
        double *x =
            r->to->vector(r->to->user, name, (int64_t)c, type, (int64_t)rows, d->pair, false);
        for (size_t k = 0; k < rows; k++)
            memcpy(x + k * w, all + (d->turned ? c * rows + k : k * columns + c) * w,
                   w * sizeof *x);
    }
    vs_free(all);
    return ok;
}

static bool take_numbers(const reader *r, const dataset *d, const char *link)
{
    char name[1024], word[64];
    get_text(d->set, "name", name, sizeof name);
    get_text(d->set, "type", word, sizeof word);
    if (!*name)
        snprintf(name, sizeof name, "%s", link);
    const char *type = *word ? word : "notype";
    if (d->n && (hsize_t)d->n / d->rows > CONV_MOST_COLUMNS) {
        leave_out(r, link, "has more than 1048576 columns, and is not read");
        return true;
    }
    if (d->n && d->rows != (hsize_t)d->n)
        return take_columns(r, d, link, name, type);
    double *x = r->to->vector(r->to->user, name, -1, type, d->n, d->pair, !strcmp(name, r->axis));
    return read_values(d, x);
}

/* What a dataset is that is not read. */
static const char *word_of(const dataset *d)
{
    switch (d->kind) {
    case H5T_STRING: return "is text, and is not read";
    case H5T_COMPOUND: return "is a table of its own, and is not read";
    case H5T_REFERENCE: return "is a list of references, and is not read";
    default: return "has no numbers, and is not read";
    }
}

/* Bytes that values of the dataset take in the file, or in the files that it names. */
static hsize_t stored_bytes(const dataset *d)
{
    const hsize_t stored = H5Dget_storage_size(d->set);
    const hid_t file = H5Iget_file_id(d->set), how = H5Dget_create_plist(d->set);
    hsize_t size = 0;
    const bool elsewhere = H5Pget_external_count(how) > 0;
    if (H5Fget_filesize(file, &size) < 0)
        size = 0;
    H5Pclose(how);
    H5Fclose(file);
    return elsewhere || stored < size ? stored : size;
}

static bool take_dataset(const reader *r, hid_t at, const char *link)
{
    dataset d;
    if (!open_dataset(&d, at, link))
        return true;
    /* no filter packs more than a thousand times: a length beyond that is damage */
    bool ok = d.n <= 0 || (hsize_t)d.n / 1100 * H5Tget_size(d.type) <= stored_bytes(&d) + 1000000;
    const bool number =
        d.pair || d.kind == H5T_FLOAT || d.kind == H5T_INTEGER || d.kind == H5T_ENUM;
    if (ok && d.n >= 0 && number)
        ok = take_numbers(r, &d, link);
    else if (ok)
        leave_out(r, link, word_of(&d));
    close_dataset(&d);
    return ok;
}

/* Calls in the order in which links were made, if the group knows it. */
static H5_index_t order_of(hid_t group)
{
    unsigned order = 0;
    const hid_t p = H5Gget_create_plist(group);
    H5Pget_link_creation_order(p, &order);
    H5Pclose(p);
    return order & H5P_CRT_ORDER_INDEXED ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
}

static bool take_all(const reader *r, hid_t at)
{
    H5G_info_t info;
    char link[1024];
    if (H5Gget_info(at, &info) < 0)
        return false;
    const H5_index_t by = order_of(at);
    bool ok = true;
    for (hsize_t i = 0; i < info.nlinks && ok; i++) {
        if (H5Lget_name_by_idx(at, ".", by, H5_ITER_INC, i, link, sizeof link, H5P_DEFAULT) < 0)
            return false;
        H5O_info_t what;
        if (H5Oget_info_by_name(at, link, &what, H5P_DEFAULT) < 0)
            leave_out(r, link, "is a link that leads nowhere");
        else if (what.type == H5O_TYPE_DATASET)
            ok = take_dataset(r, at, link);
        else if (what.type == H5O_TYPE_GROUP && *r->group)
            leave_out(r, link, "is a group inside of a group, and is not read");
    }
    return ok;
}

static bool take_group(hid_t file, const char *name, const conv_hdf5_sink *to)
{
    char title[2048], plot[1024], axis[1024];
    const reader r = {to, name, axis};
    const hid_t group = H5Gopen2(file, name, H5P_DEFAULT);
    if (group < 0)
        return false;
    get_text(group, "title", title, sizeof title);
    get_text(group, "plot", plot, sizeof plot);
    get_text(group, "axis", axis, sizeof axis);
    to->plot(to->user, name, title, *plot ? plot : name);
    const bool ok = take_all(&r, group);
    H5Gclose(group);
    return ok;
}

/* Order by the number behind the letters, for files that do not know their order: tran2 before
 * tran10. */
static int by_number(const void *a, const void *b)
{
    const char *s = a, *t = b;
    const long m = strtol(s + strcspn(s, "0123456789"), NULL, 10),
               n = strtol(t + strcspn(t, "0123456789"), NULL, 10);
    return m < n ? -1 : m > n ? 1 : strcmp(s, t);
}

/* The groups of a file, and whether there are datasets beside them. A link that leads nowhere is
 * told by take_all; what MATLAB refers to from elsewhere ("#refs#") is no group of the user's. */
typedef struct content {
    char (*group)[1024]; /* [n] */
    size_t n;
    bool loose;
} content;

static bool look_around(hid_t root, content *c)
{
    H5G_info_t info;
    if (root < 0 || H5Gget_info(root, &info) < 0)
        return false;
    const H5_index_t by = order_of(root);
    c->group = room((size_t)info.nlinks + 1, sizeof *c->group);
    if (!c->group)
        return false;
    for (hsize_t i = 0; i < info.nlinks; i++) {
        H5O_info_t what;
        char *name = c->group[c->n];
        if (H5Lget_name_by_idx(root, ".", by, H5_ITER_INC, i, name, sizeof *c->group, H5P_DEFAULT) <
            0)
            return false;
        const bool there = H5Oget_info_by_name(root, name, &what, H5P_DEFAULT) >= 0;
        c->loose |= !there || what.type == H5O_TYPE_DATASET;
        c->n += there && what.type == H5O_TYPE_GROUP && *name != '#';
    }
    if (c->n && by == H5_INDEX_NAME)
        qsort(c->group, c->n, sizeof *c->group, by_number);
    return true;
}

static bool read_file(const char *path, const conv_hdf5_sink *to, char why[CONV_WHY])
{
    content c = {0};
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0)
        return say(why, "is damaged HDF5");
    to->own(to->user, pointer_of(file));
    const hid_t root = H5Gopen2(file, "/", H5P_DEFAULT);
    bool ok = look_around(root, &c);
    if (ok && c.loose) {
        to->plot(to->user, "table", "", "Table");
        ok = take_all(&(reader){to, "", ""}, root);
    }
    H5Gclose(root);
    for (size_t i = 0; i < c.n && ok; i++)
        ok = take_group(file, c.group[i], to);
    vs_free(c.group);
    to->own(to->user, NULL);
    H5Fclose(file);
    return ok ? true : say(why, "is HDF5 with something that cannot be read");
}

__attribute__((visibility("default")))
const conv_hdf5_table conv_hdf5 = {CONV_VERSION, read_file, begin, make_group, open_vectors,
                                   put_values,   shut,      end,   drop,       close_file};
