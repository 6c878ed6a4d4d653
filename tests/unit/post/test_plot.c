/* test_plot.c - vectors are found by all ways to write their names, with and without the index. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../suite.h"
#include "plots.h"

/* Each is the name of a vector as well as what is asked for: all pairs meet. */
static const char *const name[] = {"time",
                                   "v(out)",
                                   "V(Out)",
                                   "out",
                                   "OUT",
                                   "i(v1)",
                                   "v1#branch",
                                   "v(v(out))",
                                   "i(out)",
                                   "v(i(v1))",
                                   "v()",
                                   "i()",
                                   "v",
                                   "a",
                                   "v(a",
                                   "v(a)",
                                   "@m1[gm]",
                                   "v1#b",
                                   "#branch",
                                   "i(l1)",
                                   "l.x1.l1#branch",
                                   "i(l.x1.l1)",
                                   "i(x1.l1)",
                                   "x1.l1#branch",
                                   "v(x1.l1#branch)",
                                   "i(v(a))",
                                   "v(a)#branch",
                                   "@m.x1.m1[gm]",
                                   "@x1.m1[gm]",
                                   ""};

static post_plot *plot_of(bench *b, bool indexed)
{
    post_plot *p = post_plot_new(&b->set, "op", "t", "Operating Point");
    for (size_t i = 0; i < VS_COUNT(name); i++)
        if (indexed && !post_plot_find(p, name[i])) /* names that are alike would be one vector */
            (void)post_plot_add(&b->set, p, name[i], "notype", false);
        else if (!indexed)
            (void)post_plot_append(&b->set, p, name[i], "notype", false);
    return p;
}

static int place(const post_plot *p, const post_vec *v)
{
    for (size_t i = 0; i < vec_len(p->vec) && v; i++)
        if (p->vec[i] == v)
            return (int)i;
    return -1;
}

START_TEST(the_index_finds_what_a_search_finds)
{
    bench b;
    bench_init(&b);
    post_plot *plain = plot_of(&b, false), *indexed = plot_of(&b, false);
    post_plot_index(indexed);
    ck_assert_uint_eq(vec_len(indexed->index.before), vec_len(indexed->vec));
    ck_assert_uint_eq(vec_len(plain->index.before), 0);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < VS_COUNT(name); i++)
            ck_assert_msg(place(plain, post_plot_find(plain, name[i])) ==
                              place(indexed, post_plot_find(indexed, name[i])),
                          "%s", name[i]);
        ck_assert_ptr_null(post_plot_find(indexed, "nowhere"));
        post_plot_remove(plain, plain->vec[1]); /* numbers move */
        post_plot_remove(indexed, indexed->vec[1]);
        ck_assert_uint_eq(vec_len(indexed->index.before), vec_len(indexed->vec));
        (void)post_plot_add(&b.set, indexed, "last", "notype", false);
    }
    bench_fini(&b);
}
END_TEST

/* After each removal it has all vectors, and finds what a plot without it finds. */
START_TEST(the_index_outlives_a_removal)
{
    static const char *const word[] = {"a", "v(a)", "b", "A", "i(v1)", "v1#branch", "v(b)", "c"};
    static const size_t order[] = {1, 5, 0, 2, 3, 0, 1, 0};
    bench b;
    bench_init(&b);
    post_plot *plain = post_plot_new(&b.set, "op", "", ""),
              *indexed = post_plot_new(&b.set, "op", "", "");
    for (size_t i = 0; i < VS_COUNT(word); i++) {
        (void)post_plot_append(&b.set, plain, word[i], "notype", false);
        (void)post_plot_append(&b.set, indexed, word[i], "notype", false);
    }
    post_plot_index(indexed);
    for (size_t k = 0; k < VS_COUNT(order); k++) {
        post_plot_remove(plain, plain->vec[order[k]]);
        post_plot_remove(indexed, indexed->vec[order[k]]);
        ck_assert_uint_eq(vec_len(indexed->index.before), vec_len(indexed->vec));
        for (size_t i = 0; i < VS_COUNT(word); i++) {
            const post_vec *want = post_plot_find(plain, word[i]),
                           *got = post_plot_find(indexed, word[i]);
            ck_assert_str_eq(want ? want->name : "none", got ? got->name : "none");
        }
    }
    bench_fini(&b);
}
END_TEST

START_TEST(a_plot_that_was_loaded_has_an_index)
{
    char path[] = "/tmp/vsim-plot-XXXXXX";
    const int fd = mkstemp(path);
    static const char text[] = "x,a,b\n1,2,3\n2,3,4\n";
    const char *why = "";
    bench b;
    bench_init(&b);
    ck_assert_int_eq(write(fd, text, sizeof text - 1), (ssize_t)sizeof text - 1);
    close(fd);
    for (int64_t small = 0; small <= 1000; small += 1000) {
        ck_assert_int_eq(post_load_late(&b.set, path, small, false, &why), VS_OK);
        const post_plot *p = b.set.current;
        ck_assert_uint_eq(vec_len(p->vec), 3);
        ck_assert_uint_eq(vec_len(p->index.before), 3);
    }
    unlink(path);
    bench_fini(&b);
}
END_TEST

START_TEST(a_name_alone_is_found_by_its_other_forms)
{
    bench b;
    bench_init(&b);
    int found = 0;
    for (size_t k = 0; k < VS_COUNT(name); k++) {
        post_plot *plain = post_plot_new(&b.set, "op", "t", "Operating Point");
        post_plot *indexed = post_plot_new(&b.set, "op", "t", "Operating Point");
        (void)post_plot_append(&b.set, plain, name[k], "notype", false);
        (void)post_plot_add(&b.set, indexed, name[k], "notype", false);
        for (size_t i = 0; i < VS_COUNT(name); i++) {
            const int at = place(plain, post_plot_find(plain, name[i]));
            ck_assert_msg(at == place(indexed, post_plot_find(indexed, name[i])), "%s of %s",
                          name[i], name[k]);
            found += at == 0 && i != k;
        }
    }
    ck_assert_int_gt(found, 20);
    bench_fini(&b);
}
END_TEST

START_TEST(a_vector_of_the_same_name_is_replaced)
{
    bench b;
    bench_init(&b);
    post_plot *p = plot_of(&b, true);
    const size_t n = vec_len(p->vec);
    post_vec *v = post_plot_find(p, "v(out)");
    post_vec_push(v, 1, 0);
    ck_assert_ptr_eq(post_plot_add(&b.set, p, "V(OUT)", "voltage", true), v);
    ck_assert_uint_eq(vec_len(p->vec), n);
    ck_assert_int_eq(v->n, 0);
    ck_assert(v->complex);
    ck_assert_str_eq(v->name, "V(OUT)");
    bench_fini(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("post/plot");
    TCase *t = tcase_create("post/plot");
    tcase_add_test(t, the_index_finds_what_a_search_finds);
    tcase_add_test(t, the_index_outlives_a_removal);
    tcase_add_test(t, a_plot_that_was_loaded_has_an_index);
    tcase_add_test(t, a_name_alone_is_found_by_its_other_forms);
    tcase_add_test(t, a_vector_of_the_same_name_is_replaced);
    suite_add_tcase(s, t);
    return run_suite(s);
}
