/* The loader: no object, however damaged, makes it read or write outside. */
#include "jit_check.h"

#include <dirent.h>

enum { HEADER = 48 }; /* of a cache file: magic, key, size, checksum */

/* The object of a small function, from the cache that jit_compile filled. */
static void *an_object(size_t *size)
{
    ir_fn fn;
    simple_layout s;
    char *dir = new_folder(), path[400] = "";
    ir_fn_init(&fn, "f");
    ir_val v = ir_in(&fn, IR_IN_PROBE, 0, IR_F64, false);
    ir_out_add(&fn, IR_OUT_RES, 0, 0, ir_bin(&fn, IR_POW, v, ir_const(&fn, 1.5)));
    ir_out_add(&fn, IR_OUT_RES, 1, 0, ir_un(&fn, IR_NEG, ir_un(&fn, IR_SIN, v)));
    simple_layout_init(&s, &fn, 1);
    jit *j = open_jit(dir);
    compile(j, &fn, &s.lay);
    jit_close(&j);
    ir_fn_fini(&fn);
    DIR *d = opendir(dir);
    for (struct dirent *e; (e = readdir(d));)
        if (strstr(e->d_name, ".vso"))
            snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
    closedir(d);
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    char *buf = malloc(1 << 16);
    size_t n = fread(buf, 1, 1 << 16, f);
    fclose(f);
    remove_folder(dir);
    ck_assert_uint_gt(n, HEADER);
    *size = n - HEADER;
    void *obj = malloc(*size);
    memcpy(obj, buf + HEADER, *size);
    free(buf);
    return obj;
}

START_TEST(object_runs_after_loading)
{
    size_t size;
    void *obj = an_object(&size);
    jit_code code = {0};
    jit_kernel kernel = NULL;
    const char *why = NULL;
    ck_assert_int_eq(jit_obj_load(obj, size, &code, &kernel, &why), VS_OK);
    free(obj); /* not needed any more */
    double x[2] = {0, 2.25}, out[2];
    int32_t nodes = 1;
    kernel(&(jit_batch){.x = x, .map = &nodes, .out = out}, 0, 1);
    ck_assert_double_eq(out[0], pow(2.25, 1.5));
    ck_assert_double_eq(out[1], -sin(2.25));
    jit_obj_unload(&code);
}
END_TEST

/* Only loaded, never run: a checksum stands before running. */
START_TEST(damaged_objects_are_refused_or_loaded_but_never_crash)
{
    size_t size;
    unsigned char *obj = an_object(&size);
    int refused = 0;
    for (int i = 0; i < 20000; i++) {
        size_t at = (size_t)rand() % size, n = i % 10 ? size : (size_t)rand() % size;
        unsigned char old = obj[at];
        jit_code code = {0};
        jit_kernel kernel;
        const char *why = NULL;
        obj[at] = (unsigned char)rand();
        unsigned char *part = malloc(n); /* its end is the end of the memory */
        memcpy(part, obj, n);
        if (jit_obj_load(part, n, &code, &kernel, &why) == VS_OK)
            jit_obj_unload(&code);
        else
            refused += why != NULL;
        free(part);
        obj[at] = old;
    }
    ck_assert_int_gt(refused, 1000);
    free(obj);
}
END_TEST

START_TEST(text_is_not_an_object)
{
    jit_code code;
    jit_kernel kernel;
    const char *why = NULL;
    static const uint64_t text[32] = {0x1234};
    ck_assert_int_eq(jit_obj_load(text, sizeof text, &code, &kernel, &why), VS_EUNSUPPORTED);
    ck_assert_ptr_nonnull(why);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("jit obj");
    TCase *t = tcase_create("obj");
    tcase_add_test(t, object_runs_after_loading);
    tcase_add_test(t, damaged_objects_are_refused_or_loaded_but_never_crash);
    tcase_add_test(t, text_is_not_an_object);
    tcase_set_timeout(t, 60);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_set_fork_status(r, CK_NOFORK);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
