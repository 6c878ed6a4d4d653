/* The loader: no object, however damaged, makes it read or write outside. */
#include "jit_check.h"

#include <dirent.h>

enum {
    HEADER = 64
}; /* of a cache file: magic, key, size, checksum and how much of the file it is of */

/* What jit_compile leaves in the cache for fn, without the header. */
static void *pack_of(const ir_fn *fn, int piece, int threads, size_t *size)
{
    simple_layout s;
    char *dir = new_folder(), path[400] = "";
    const jit_opt opt = {
        .cache_dir = dir, .opt_level = 2, .exact = true, .piece = piece, .threads = threads};
    jit *j = jit_open(&opt);
    simple_layout_init(&s, fn, 1);
    compile(j, fn, &s.lay);
    jit_close(&j);
    DIR *d = opendir(dir);
    for (struct dirent *e; (e = readdir(d));)
        if (strstr(e->d_name, ".vso"))
            snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
    closedir(d);
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    char *buf = vs_malloc(1 << 18);
    size_t n = fread(buf, 1, 1 << 18, f);
    fclose(f);
    remove_folder(dir);
    ck_assert_uint_gt(n, HEADER);
    *size = n - HEADER;
    void *pack = vs_malloc(*size);
    memcpy(pack, buf + HEADER, *size);
    vs_free(buf);
    return pack;
}

/* out 0: v^1.5, to the power 1.0625 n times; out 1: -sin(v). Many powers make several objects. */
static void *powers(int n, int piece, int threads, size_t *size)
{
    ir_fn fn;
    ir_fn_init(&fn, "f");
    ir_val v = ir_in(&fn, IR_IN_PROBE, 0, IR_F64, false),
           p = ir_bin(&fn, IR_POW, v, ir_const(&fn, 1.5));
    for (int i = 0; i < n; i++)
        p = ir_bin(&fn, IR_POW, p, ir_const(&fn, 1.0625));
    ir_out_add(&fn, IR_OUT_RES, 0, 0, p);
    ir_out_add(&fn, IR_OUT_RES, 1, 0, ir_un(&fn, IR_NEG, ir_un(&fn, IR_SIN, v)));
    void *pack = pack_of(&fn, piece, threads, size);
    ir_fn_fini(&fn);
    return pack;
}

enum { MANY = 80, PIECE = 900 }; /* weight 12,000 */

START_TEST(objects_run_after_loading)
{
    const int n = _i ? MANY : 0;
    size_t size;
    void *pack = powers(n, PIECE, 0, &size);
    jit_code *code = NULL;
    jit_kernel kernel = NULL;
    const char *why = NULL;
    ck_assert_int_eq(jit_pack_load(pack, size, &code, &kernel, &why), VS_OK);
    vs_free(pack); /* not needed any more */
    ck_assert_int_eq(vec_len(code), _i ? 3 : 1);
    double x[2] = {0, 2.25}, out[2], want = pow(2.25, 1.5);
    for (int i = 0; i < n; i++)
        want = pow(want, 1.0625);
    int32_t nodes = 1;
    kernel(&(jit_batch){.x = x, .map = &nodes, .out = out}, 0, 1);
    ck_assert_double_eq(out[0], want);
    ck_assert_double_eq(out[1], -sin(2.25));
    jit_pack_unload(&code);
}
END_TEST

START_TEST(threads_change_no_byte)
{
    size_t n1, n3;
    void *one = powers(MANY, PIECE, 1, &n1), *three = powers(MANY, PIECE, 3, &n3);
    ck_assert_uint_eq(n1, n3);
    ck_assert_mem_eq(one, three, n1);
    vs_free(one);
    vs_free(three);
}
END_TEST

/* Only loaded, never run: a checksum stands before running. */
START_TEST(damaged_objects_are_refused_or_loaded_but_never_crash)
{
    size_t size;
    unsigned char *obj = powers(_i ? MANY : 0, PIECE, 0, &size);
    int refused = 0;
    for (int i = 0; i < 20000; i++) {
        size_t at = (size_t)rand() % (i % 20 ? size : 64),
               n = i % 10 ? size : (size_t)rand() % size;
        unsigned char old = obj[at];
        jit_code *code = NULL;
        jit_kernel kernel;
        const char *why = NULL;
        obj[at] = (unsigned char)rand();
        unsigned char *part = vs_malloc(n); /* its end is the end of the memory */
        memcpy(part, obj, n);
        if (jit_pack_load(part, n, &code, &kernel, &why) != VS_OK)
            refused += why != NULL;
        jit_pack_unload(&code);
        vs_free(part);
        obj[at] = old;
    }
    ck_assert_int_gt(refused, 1000);
    vs_free(obj);
}
END_TEST

START_TEST(text_is_not_an_object)
{
    jit_code one, *code = NULL;
    jit_kernel kernel;
    const char *why = NULL;
    static const uint64_t text[32] = {0x1234};
    ck_assert_int_eq(jit_obj_load(text, sizeof text, NULL, &one, &kernel, &why), VS_EUNSUPPORTED);
    ck_assert_ptr_nonnull(why);
    why = NULL;
    ck_assert_int_eq(jit_pack_load(text, sizeof text, &code, &kernel, &why), VS_EUNSUPPORTED);
    ck_assert_ptr_nonnull(why);
    jit_pack_unload(&code);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("jit obj");
    TCase *t = tcase_create("obj");
    tcase_add_loop_test(t, objects_run_after_loading, 0, 2);
    tcase_add_test(t, threads_change_no_byte);
    tcase_add_loop_test(t, damaged_objects_are_refused_or_loaded_but_never_crash, 0, 2);
    tcase_add_test(t, text_is_not_an_object);
    tcase_set_timeout(t, TEST_PATIENCE);
    suite_add_tcase(s, t);
    return run_suite_here(s);
}
