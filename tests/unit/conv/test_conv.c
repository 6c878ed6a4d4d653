/* test_conv.c - formats of other programs: what is written is read back bit by bit, what is damaged
 * is refused or read in part, and never more than that. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../suite.h"
#include "conv.h"
#include "vec.h"

typedef struct bench {
    str_pool names;
    post_set set, back;
    char dir[32];
} bench;

static post_vec *add(bench *b, post_plot *p, const char *name, const char *type, bool complex)
{
    return post_plot_add(&b->set, p, name, type, complex);
}

/* tran with r=1 and r=2 (7 and 5 points), ac (complex), op (no axis). */
static void bench_init(bench *b)
{
    str_pool_init(&b->names);
    post_set_init(&b->set, &b->names);
    post_set_init(&b->back, &b->names);
    strcpy(b->dir, "/tmp/vsim-conv-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(b->dir));
    for (int r = 1; r <= 2; r++) {
        post_plot *p =
            post_plot_new(&b->set, "tran", "a \"title\" <&>",
                          r == 1 ? "Transient Analysis, r=1" : "Transient Analysis, r=2");
        p->scale = add(b, p, "time", "time", false);
        post_vec *v = add(b, p, "v(x1.out)", "voltage", false),
                 *i = add(b, p, "i(v1)", "current", false),
                 *g = add(b, p, "@m1[gm]", "notype", false);
        for (int k = 0; k < 9 - 2 * r; k++) {
            post_vec_push(p->scale, k * 1e-9 / 3, 0);
            post_vec_push(v, sin(k) * r, 0);
            post_vec_push(i, -1e-300 * k, 0);
            post_vec_push(g, 1 / (k + 0.1), 0);
        }
    }
    post_plot *p = post_plot_new(&b->set, "sp", "ports", "SP Analysis");
    p->scale = add(b, p, "frequency", "frequency", false);
    for (int m = 0; m < 9; m++) {
        char name[8];
        snprintf(name, sizeof name, "S_%d_%d", m / 3 + 1, m % 3 + 1);
        post_vec *s = add(b, p, name, "notype", true);
        for (int k = 0; k < 4; k++) {
            if (!m)
                post_vec_push(p->scale, pow(10, k) / 7, 0);
            post_vec_push(s, m / 9.0, k / 3.0);
        }
    }
    p = post_plot_new(&b->set, "op", "t", "Operating Point");
    post_vec_push(add(b, p, "v(a)", "voltage", false), 0.1, 0);
    post_vec_push(add(b, p, "i(v1)", "current", false), -1e-3, 0);
}

static void bench_fini(bench *b)
{
    char text[64];
    snprintf(text, sizeof text, "rm -rf %s", b->dir);
    ck_assert_int_eq(system(text), 0);
    post_set_fini(&b->set);
    post_set_fini(&b->back);
    str_pool_fini(&b->names);
}

static const char *path_of(const bench *b, const char *name)
{
    static char path[64];
    snprintf(path, sizeof path, "%s/%s", b->dir, name);
    return path;
}

static void same(const post_plot *a, const post_plot *b, bool types)
{
    ck_assert_uint_eq(vec_len(a->vec), vec_len(b->vec));
    for (size_t i = 0; i < vec_len(a->vec); i++) {
        const post_vec *v = a->vec[i], *w = b->vec[i];
        ck_assert_str_eq(v->name, w->name);
        ck_assert(!types || !strcmp(v->type, w->type));
        ck_assert_int_eq(v->n, w->n);
        ck_assert_int_eq(v->complex, w->complex);
        ck_assert(!memcmp(v->v, w->v, (size_t)v->n * (1 + v->complex) * sizeof *v->v));
    }
    ck_assert((a->scale != NULL) == (b->scale != NULL));
}

static const struct {
    const char *name;
    size_t first, n; /* plots of the bench */
    bool titles, types, mutants;
} formats[] = {
    {"a.raw", 0, 4, true, true, true},      {"a.csv", 0, 1, false, false, true},
    {"a.mat", 0, 4, true, true, true},      {"a.parquet", 0, 2, true, true, true},
    {"a.parquet", 2, 1, true, true, false}, {"a.s3p", 2, 1, false, true, true},
    {"a.ts", 2, 1, false, true, true},      {"a.psf", 0, 1, true, false, true},
    {"a.psf", 2, 1, true, true, false},     {"a.psf", 3, 1, true, true, true},
};

static vs_status put(bench *b, size_t k, conv_format *f, char why[CONV_WHY])
{
    const double z0[] = {50, 50};
    const conv_opt o = {.low = NAN, .z0 = z0, .n_z0 = 2};
    ck_assert(conv_format_of(formats[k].name, f));
    return conv_write(b->set.plot + formats[k].first, formats[k].n, path_of(b, formats[k].name), *f,
                      &o, why);
}

START_TEST(what_is_written_is_read_back)
{
    bench b;
    conv_format f;
    char why[CONV_WHY] = "";
    const conv_opt o = {.low = NAN};
    bench_init(&b);
    ck_assert_msg(put(&b, (size_t)_i, &f, why) == VS_OK, "%s", why);
    ck_assert_msg(conv_read(&b.back, path_of(&b, formats[_i].name), &o, why) == VS_OK, "%s", why);
    ck_assert_uint_eq(vec_len(b.back.plot), formats[_i].n);
    for (size_t i = 0; i < formats[_i].n; i++) {
        const post_plot *p = b.set.plot[formats[_i].first + i], *q = b.back.plot[i];
        same(p, q, formats[_i].types);
        ck_assert(!formats[_i].titles ||
                  (!strcmp(p->title, q->title) && !strcmp(p->what, q->what)));
    }
    bench_fini(&b);
}
END_TEST

static char *bytes_of(const char *path, size_t *n);

/* Values that stand in a file, not in memory, give the same bytes. */
START_TEST(what_is_late_is_written_as_well)
{
    bench b;
    conv_format f;
    char why[CONV_WHY] = "", path[64];
    const conv_opt o = {.low = NAN}, late = {.low = NAN, .late = 1, .axes_late = true};
    const size_t first = formats[_i].first, n = formats[_i].n;
    size_t size, size_late;
    bench_init(&b);
    ck_assert_msg(put(&b, (size_t)_i, &f, why) == VS_OK, "%s", why);
    char *s = bytes_of(path_of(&b, formats[_i].name), &size);
    ck_assert_int_eq(conv_write(b.set.plot, 4, path_of(&b, "all.raw"), CONV_RAW, &o, why), VS_OK);
    ck_assert_int_eq(conv_read(&b.back, path_of(&b, "all.raw"), &late, why), VS_OK);
    ck_assert_ptr_null(b.back.plot[first]->vec[0]->v);
    snprintf(path, sizeof path, "%s/late%s", b.dir, strchr(formats[_i].name, '.'));
    const conv_opt ports = {.low = NAN, .z0 = (const double[]){50, 50}, .n_z0 = 2};
    ck_assert_int_eq(conv_write(b.back.plot + first, n, path, f, &ports, why), VS_OK);
    char *t = bytes_of(path, &size_late);
    ck_assert_uint_eq(size_late, size);
    ck_assert(f == CONV_RAW || !memcmp(s, t, size)); /* raw files have a date */
    free(s);
    free(t);
    bench_fini(&b);
}
END_TEST

static char *bytes_of(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    char *s = malloc(1 << 20);
    *n = fread(s, 1, 1 << 20, f);
    fclose(f);
    return s;
}

static void read_mutant(bench *b, const char *path, const char *s, size_t n)
{
    char why[CONV_WHY] = "";
    const conv_opt o = {.low = NAN};
    FILE *f = fopen(path, "wb");
    fwrite(s, 1, n, f);
    fclose(f);
    post_set_init(&b->back, &b->names);
    const vs_status st = conv_read(&b->back, path, &o, why);
    ck_assert(st == VS_OK || *why);
    post_set_fini(&b->back);
}

/* Files that are cut off at each place, and with bytes changed, are read without harm. */
START_TEST(damaged_files_do_no_harm)
{
    bench b;
    conv_format f;
    char why[CONV_WHY] = "";
    size_t n;
    bench_init(&b);
    if (formats[_i].mutants) {
        ck_assert_int_eq(put(&b, (size_t)_i, &f, why), VS_OK);
        char *s = bytes_of(path_of(&b, formats[_i].name), &n), path[64];
        snprintf(path, sizeof path, "%s/m%s", b.dir, strchr(formats[_i].name, '.'));
        for (size_t k = 0; k < n; k += 1 + n / 60)
            read_mutant(&b, path, s, k);
        uint64_t seed = 1;
        for (int k = 0; k < 250; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            /* the tables of contents, at the ends, more often than the numbers between */
            const size_t r = (size_t)(seed >> 33), w = n / 4 + 1;
            const size_t at = k % 3 == 0 ? r % n : k % 3 == 1 ? r % w : n - 1 - r % w;
            const char old = s[at];
            s[at] = (char)(seed >> 25);
            read_mutant(&b, path, s, n);
            s[at] = old;
        }
        free(s);
    }
    bench_fini(&b);
}
END_TEST

/* A line from 0 to 1 V in 10 ns passes 0.25 V at 2.5 ns and 0.75 V at 7.5 ns, between points. */
START_TEST(crossings_are_found_between_points)
{
    bench b;
    char why[CONV_WHY] = "";
    size_t n;
    bench_init(&b);
    post_plot *p = post_plot_new(&b.set, "tran", "t", "Transient Analysis");
    p->scale = add(&b, p, "time", "time", false);
    post_vec *v = add(&b, p, "v(x1.x2.a)", "voltage", false),
             *w = add(&b, p, "v(b)", "voltage", false);
    const double t[] = {0, 10e-9, 20e-9, 30e-9, 40e-9}, x[] = {0, 1, 0.5, 1, 0};
    for (int k = 0; k < 5; k++) {
        post_vec_push(p->scale, t[k], 0);
        post_vec_push(v, x[k], 0);
        post_vec_push(w, k == 2 ? NAN : 1 - x[k], 0);
    }
    const conv_opt o = {.low = 0.25, .high = 0.75};
    ck_assert_int_eq(conv_write(&p, 1, path_of(&b, "a.vcd"), CONV_VCD, &o, why), VS_OK);
    char *s = bytes_of(path_of(&b, "a.vcd"), &n);
    s[n] = 0;
    /* a: the dip to 0.5 V is between the thresholds; b: x where it is no number */
    const char *want = "$timescale 1fs $end\n"
                       "$scope module top $end\n"
                       "$var wire 1 \" b $end\n"
                       "$scope module x1 $end\n"
                       "$scope module x2 $end\n"
                       "$var wire 1 ! a $end\n"
                       "$upscope $end\n$upscope $end\n$upscope $end\n$enddefinitions $end\n"
                       "#0\n$dumpvars\n0!\n1\"\n$end\n"
                       "#7500000\n1!\n0\"\n"
                       "#20000000\nx\"\n"
                       "#30000000\n0\"\n"
                       "#37500000\n0!\n1\"\n"
                       "#40000000\n";
    ck_assert_str_eq(strstr(s, "$timescale"), want);
    free(s);
    bench_fini(&b);
}
END_TEST

static const struct {
    const char *name;
    size_t first, n;
    const char *why;
} refused[] = {
    {"a.vcd", 3, 1, "signals over time"},
    {"a.s2p", 2, 1, "call it .s3p"},
    {"a.s3p", 0, 1, "S-parameters"},
    {"a.parquet", 0, 3, "other vectors"},
};

START_TEST(what_has_no_room_is_refused)
{
    bench b;
    conv_format f;
    char why[CONV_WHY] = "";
    const conv_opt o = {.low = NAN};
    bench_init(&b);
    ck_assert(conv_format_of(refused[_i].name, &f));
    ck_assert_int_eq(conv_write(b.set.plot + refused[_i].first, refused[_i].n,
                                path_of(&b, refused[_i].name), f, &o, why),
                     VS_EINPUT);
    ck_assert_msg(strstr(why, refused[_i].why), "%s", why);
    ck_assert_int_ne(access(path_of(&b, refused[_i].name), F_OK), 0);
    bench_fini(&b);
}
END_TEST

static const struct {
    const char *name, *text;
    double re, im; /* of the second parameter at the first frequency */
    double hz;
} touchstones[] = {
    {"a.s2p", "! old\n# MHz S DB R 50\n1 0 0 20 90 0 0 0 0\n2 0 0 0 0 0 0 0 0\n1 0.5 0.1 20 1\n", 0,
     0, 1e6},
    {"b.s2p", "# GHz S MA\n1 1 0 2 180 3 0 1 0\n", 3, 0, 1e9},
    {"a.s1p", "# Hz Z RI R 100\n5 1 2 ! open\n", 100, 200, 5},
    {"a.ts",
     "[Version] 2.0\n# kHz S RI R 50\n[Number of Ports] 2\n[Two-Port Data Order] 12_21\n"
     "[Matrix Format] Lower\n[Reference] 50\n75\n[Network Data]\n3 1 0 4 5 6 0\n[End]\n",
     4, 5, 3e3},
    /* of a triangle the order of two ports says nothing */
    {"b.ts",
     "[Version] 2.0\n# kHz S RI R 50\n[Number of Ports] 2\n[Two-Port Data Order] 21_12\n"
     "[Matrix Format] Upper\n[Network Data]\n3 1 0 4 5 6 0\n[End]\n",
     4, 5, 3e3},
};

START_TEST(touchstone_files_of_others)
{
    bench b;
    char why[CONV_WHY] = "";
    const conv_opt o = {.low = NAN};
    bench_init(&b);
    FILE *fp = fopen(path_of(&b, touchstones[_i].name), "w");
    fputs(touchstones[_i].text, fp);
    fclose(fp);
    ck_assert_msg(conv_read(&b.back, path_of(&b, touchstones[_i].name), &o, why) == VS_OK, "%s",
                  why);
    const post_plot *p = b.back.plot[0];
    const post_vec *v = p->vec[vec_len(p->vec) > 2 ? 2 : 1];
    ck_assert_double_eq(p->scale->v[0], touchstones[_i].hz);
    ck_assert_int_eq(p->scale->n, _i ? 1 : 2); /* without the noise */
    const bool turned = !_i;                   /* S_1_2 is the third pair of an old two-port */
    ck_assert_double_eq_tol(v->v[0], turned ? 1 : touchstones[_i].re, 1e-12);
    ck_assert_double_eq_tol(v->v[1], turned ? 0 : touchstones[_i].im, 1e-12);
    bench_fini(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("conv");
    TCase *t = tcase_create("conv");
    tcase_add_loop_test(t, what_is_written_is_read_back, 0, VS_COUNT(formats));
    tcase_add_loop_test(t, what_is_late_is_written_as_well, 0, VS_COUNT(formats));
    tcase_add_loop_test(t, damaged_files_do_no_harm, 0, VS_COUNT(formats));
    tcase_add_test(t, crossings_are_found_between_points);
    tcase_add_loop_test(t, what_has_no_room_is_refused, 0, VS_COUNT(refused));
    tcase_add_loop_test(t, touchstone_files_of_others, 0, VS_COUNT(touchstones));
    suite_add_tcase(s, t);
    return run_suite(s);
}
