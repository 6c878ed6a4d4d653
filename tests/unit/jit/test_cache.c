/* The cache on disk: found again, and never trusted. */
#include "jit_check.h"
#include "store.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>

static ir_fn fn;
static simple_layout lay;
static char *dir;

static void begin(void)
{
    dir = new_folder();
    ir_fn_init(&fn, "f");
    ir_val v = ir_in(&fn, IR_IN_PROBE, 0, IR_F64, false);
    ir_out_add(&fn, IR_OUT_RES, 0, 0, ir_un(&fn, IR_EXP, ir_bin(&fn, IR_MUL, v, v)));
    simple_layout_init(&lay, &fn, 1);
}

static void end(void)
{
    remove_folder(dir);
    ir_fn_fini(&fn);
}

/* Compiles, evaluates, returns the counts. */
static jit_stat use(const char *where)
{
    jit *j = open_jit(where);
    double x[2] = {0, 1.25}, out = 0;
    int32_t nodes = 1;
    compile(j, &fn, &lay.lay)(&(jit_batch){.x = x, .map = &nodes, .out = &out}, 0, 1);
    ck_assert_double_eq(out, exp(1.25 * 1.25));
    jit_stat st = *jit_stats(j);
    jit_close(&j);
    return st;
}

static char *only_file(void)
{
    static char path[400];
    int n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; (e = readdir(d));)
        if (strstr(e->d_name, ".vso"))
            n++, snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
    closedir(d);
    ck_assert_int_eq(n, 1);
    return path;
}

static bool llvm_is_loaded(void)
{
    char line[1000];
    bool found = false;
    FILE *f = fopen("/proc/self/maps", "r");
    while (f && fgets(line, sizeof line, f))
        found |= strstr(line, "LLVM") || strstr(line, "vsim-llvm");
    if (f)
        fclose(f);
    return found;
}

/* Runs before any other test: another process fills the cache. */
START_TEST(warm_start_does_not_load_llvm)
{
    pid_t child = fork();
    if (child == 0) {
        jit_kernel kernel;
        const char *why;
        jit_opt opt = {.cache_dir = dir, .opt_level = 2, .exact = true};
        jit *j = jit_open(&opt);
        _exit(jit_compile(j, &fn, &lay.lay, &kernel, NULL, &why) || !llvm_is_loaded());
    }
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(use(dir).n_from_cache, 1);
    ck_assert(!llvm_is_loaded());
}
END_TEST

START_TEST(second_use_comes_from_the_cache)
{
    jit_stat st = use(dir);
    ck_assert_int_eq(st.n_compiled, 1);
    ck_assert_int_eq(st.n_from_cache, 0);
    st = use(dir);
    ck_assert_int_eq(st.n_compiled, 0);
    ck_assert_int_eq(st.n_from_cache, 1);
    ck_assert_uint_gt(st.code_bytes, 0);
    ck_assert_int_eq(n_note, 0);
}
END_TEST

START_TEST(another_function_or_layout_is_another_key)
{
    use(dir);
    jit *j = open_jit(dir);
    jit_layout other = lay.lay;
    other.n_u = 2;
    compile(j, &fn, &other);
    ck_assert_int_eq(jit_stats(j)->n_compiled, 1);
    ir_out_add(&fn, IR_OUT_RES, 1, 0, 0);
    simple_layout_init(&lay, &fn, 1);
    compile(j, &fn, &lay.lay);
    compile(j, &fn, &lay.lay);
    ck_assert_int_eq(jit_stats(j)->n_compiled, 2);
    jit_close(&j);
}
END_TEST

enum { FLIP_MAGIC, FLIP_KEY, FLIP_BODY, CUT, CUT_HEAD, EMPTY, LONGER, WRITABLE, N_FAULT };
static void damage(const char *path, int fault)
{
    struct stat st;
    ck_assert_int_eq(stat(path, &st), 0);
    int fd = open(path, O_RDWR);
    off_t at = fault == FLIP_MAGIC ? 2 : fault == FLIP_KEY ? 9 : st.st_size - 100;
    off_t size = fault == CUT        ? st.st_size - 8
                 : fault == CUT_HEAD ? 20
                 : fault == EMPTY    ? 0
                 : fault == LONGER   ? st.st_size + 8
                                     : st.st_size;
    char c;
    if (fault <= FLIP_BODY) {
        ck_assert_int_eq(pread(fd, &c, 1, at), 1);
        c ^= 4;
        ck_assert_int_eq(pwrite(fd, &c, 1, at), 1);
    }
    ck_assert_int_eq(ftruncate(fd, size), 0);
    if (fault == WRITABLE)
        ck_assert_int_eq(fchmod(fd, 0666), 0);
    close(fd);
}

START_TEST(damaged_file_is_compiled_again_with_a_note)
{
    use(dir);
    damage(only_file(), _i);
    jit_stat st = use(dir);
    ck_assert_int_eq(st.n_cache_bad, 1);
    ck_assert_int_eq(st.n_compiled, 1);
    ck_assert_int_eq(n_note, 1);
    ck_assert_ptr_nonnull(strstr(last_note, "compiling again"));
    st = use(dir); /* the file was replaced */
    ck_assert_int_eq(st.n_from_cache, 1);
}
END_TEST

START_TEST(file_under_the_name_of_another_kernel_is_refused)
{
    use(dir);
    char first[400], second[400];
    snprintf(first, sizeof first, "%s", only_file());
    snprintf(second, sizeof second, "%s/kept", dir);
    ck_assert_int_eq(rename(first, second), 0);
    ir_out_add(&fn, IR_OUT_RES, 1, 0, 0);
    simple_layout_init(&lay, &fn, 1);
    jit *j = open_jit(dir);
    compile(j, &fn, &lay.lay);
    jit_close(&j);
    ck_assert_int_eq(rename(second, only_file()), 0);
    j = open_jit(dir);
    compile(j, &fn, &lay.lay);
    ck_assert_int_eq(jit_stats(j)->n_cache_bad, 1);
    jit_close(&j);
}
END_TEST

START_TEST(folder_that_cannot_be_made_is_a_note_only)
{
    char path[400];
    snprintf(path, sizeof path, "%s/file", dir);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    strcat(path, "/cache");
    jit_stat st = use(path);
    ck_assert_int_eq(st.n_compiled, 1);
    ck_assert_ptr_nonnull(strstr(last_note, "cannot be made"));
}
END_TEST

START_TEST(folder_open_to_others_is_not_used)
{
    ck_assert_int_eq(chmod(dir, 0777), 0);
    jit_stat st = use(dir);
    ck_assert_int_eq(st.n_compiled, 1);
    ck_assert_ptr_nonnull(strstr(last_note, "other users"));
    ck_assert_int_eq(use(dir).n_from_cache, 0);
}
END_TEST

START_TEST(write_failure_is_a_note_only)
{
    store c;
    const char *why = NULL;
    store_open(&c, dir, &why);
    ck_assert_ptr_null(why);
    ck_assert_int_eq(rmdir(dir), 0);
    ck_assert_int_eq(store_put(&c, STORE_KERNEL, (hash128){{1, 2}}, "abc", 3, &why), VS_EIO);
    ck_assert_ptr_nonnull(why);
    store_close(&c);
    ck_assert_int_eq(mkdir(dir, 0700), 0);
}
END_TEST

START_TEST(oldest_files_go_when_the_folder_is_full)
{
    store c;
    const char *why = NULL;
    static char body[4000];
    store_item item;
    store_open(&c, dir, &why);
    c.max_bytes = 13000; /* three files */
    for (uint64_t k = 0; k < 3; k++)
        ck_assert_int_eq(store_put(&c, STORE_KERNEL, (hash128){{k, k}}, body, sizeof body, &why),
                         VS_OK);
    usleep(20000);
    ck_assert_int_eq(store_get(&c, STORE_KERNEL, (hash128){{0, 0}}, &item, &why), STORE_HIT);
    ck_assert_uint_eq(item.size, sizeof body);
    store_release(&item);
    ck_assert_int_eq(store_put(&c, STORE_KERNEL, (hash128){{9, 9}}, body, sizeof body, &why),
                     VS_OK);
    ck_assert_int_eq(store_get(&c, STORE_KERNEL, (hash128){{1, 1}}, &item, &why), STORE_MISS);
    ck_assert_int_eq(store_get(&c, STORE_KERNEL, (hash128){{0, 0}}, &item, &why), STORE_HIT);
    store_release(&item);
    store_close(&c);
}
END_TEST

/* Functions of different lengths; the last is the first again. */
enum { N_TOGETHER = 9 };
static void many_functions(ir_fn f[N_TOGETHER], simple_layout l[N_TOGETHER])
{
    for (int k = 0; k < N_TOGETHER; k++) {
        ir_fn_init(&f[k], "f");
        ir_val x = ir_in(&f[k], IR_IN_PROBE, 0, IR_F64, false), y = x;
        for (int n = 0; n < 20 + 15 * (k % (N_TOGETHER - 1)); n++)
            y = ir_bin(&f[k], IR_ADD, ir_bin(&f[k], IR_MUL, y, x),
                       ir_un(&f[k], n % 5 ? IR_NEG : IR_EXP, x));
        ir_out_add(&f[k], IR_OUT_RES, 0, 0, y);
        simple_layout_init(&l[k], &f[k], 1);
    }
}

static void compile_together(const char *where, int threads, const ir_fn *f, const simple_layout *l,
                             double out[N_TOGETHER])
{
    jit_opt opt = {.cache_dir = where, .opt_level = 2, .exact = true, .threads = threads};
    jit_job job[N_TOGETHER];
    const char *why = NULL;
    jit *j = jit_open(&opt);
    for (int k = 0; k < N_TOGETHER; k++)
        job[k] = (jit_job){.eval = &f[k], .lay = &l[k].lay};
    jit_compile_all(j, job, N_TOGETHER, &why);
    for (int k = 0; k < N_TOGETHER; k++) {
        double x[2] = {0, 0.7};
        int32_t nodes = 1;
        ck_assert_int_eq(job[k].st, VS_OK);
        ck_assert_uint_gt(job[k].code_bytes, 0);
        ck_assert(!job[k].from_cache && job[k].seconds >= 0);
        job[k].kernel(&(jit_batch){.x = x, .map = &nodes, .out = &out[k]}, 0, 1);
    }
    ck_assert_int_eq(jit_stats(j)->n_compiled, N_TOGETHER - 1);
    ck_assert_ptr_eq((void *)(uintptr_t)job[0].kernel,
                     (void *)(uintptr_t)job[N_TOGETHER - 1].kernel);
    jit_close(&j);
}

START_TEST(kernels_compiled_together_are_those_compiled_one_by_one)
{
    ir_fn f[N_TOGETHER];
    simple_layout l[N_TOGETHER];
    double one[N_TOGETHER], many[N_TOGETHER];
    char *other = new_folder(), cmd[200];
    many_functions(f, l);
    compile_together(dir, 1, f, l, one);
    compile_together(other, 5, f, l, many);
    ck_assert_mem_eq(one, many, sizeof one);
    snprintf(cmd, sizeof cmd, "diff -r %s %s", dir, other); /* the same names, the same bytes */
    ck_assert_int_eq(system(cmd), 0);
    for (int k = 0; k < N_TOGETHER; k++)
        ir_fn_fini(&f[k]);
    remove_folder(other);
}
END_TEST

START_TEST(hash_depends_on_each_byte_and_the_length)
{
    char text[64] = {0};
    hash128 h[65];
    for (int n = 0; n <= 64; n++) {
        h[n] = hash128_of(text, (size_t)n);
        for (int k = 0; k < n; k++)
            ck_assert(memcmp(&h[k], &h[n], sizeof h[k]));
    }
    for (int k = 0; k < 64; k++) {
        text[k] ^= 1;
        hash128 other = hash128_of(text, 64);
        ck_assert(h[64].w[0] != other.w[0] && h[64].w[1] != other.w[1]);
        text[k] ^= 1;
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("jit cache");
    TCase *t = tcase_create("cache");
    tcase_add_checked_fixture(t, begin, end);
    tcase_add_test(t, warm_start_does_not_load_llvm);
    tcase_add_test(t, second_use_comes_from_the_cache);
    tcase_add_test(t, another_function_or_layout_is_another_key);
    tcase_add_loop_test(t, damaged_file_is_compiled_again_with_a_note, 0, N_FAULT);
    tcase_add_test(t, file_under_the_name_of_another_kernel_is_refused);
    tcase_add_test(t, folder_that_cannot_be_made_is_a_note_only);
    tcase_add_test(t, folder_open_to_others_is_not_used);
    tcase_add_test(t, write_failure_is_a_note_only);
    tcase_add_test(t, oldest_files_go_when_the_folder_is_full);
    tcase_add_test(t, kernels_compiled_together_are_those_compiled_one_by_one);
    tcase_add_test(t, hash_depends_on_each_byte_and_the_length);
    tcase_set_timeout(t, TEST_PATIENCE);
    suite_add_tcase(s, t);
    return run_suite_here(s);
}
