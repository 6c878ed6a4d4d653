/* Prepared models on disk: the same model, whatever stands in the files. Faults of the files themselves and what
 * users see of them: tests/cli. */
#include "mdl_check.h"

#include <dirent.h>
#include <malloc.h>
#include <sys/stat.h>

static char dir[32], path[64];
static const char TEXT[] =
    "`include \"disciplines.vams\"\n"
    "module kept(a, c); inout a, c; electrical a, c, b;\n"
    "parameter real g = 1e-3 from (0:inf); parameter integer n = 3 from [1:9];\n"
    "parameter string kind = \"exp\" from '{\"exp\", \"lin\"};\n"
    "aliasparam gg = g;\n"
    "(* desc=\"current\" *) real i0;\n"
    "real s, v; integer k;\n"
    "analog begin\n"
    "  v = V(a, b); s = 0;\n"
    "  for (k = 0; k < n; k = k + 1) s = s * v + 1.0 / (k + 1);\n"
    "  if (kind == \"exp\") i0 = g * (limexp(v) - 1) * s; else i0 = g * v * s;\n"
    "  I(a, b) <+ i0 + ddt(1e-12 * v * v * s) + white_noise(4e-21 * g, \"th\");\n"
    "  V(b, c) <+ 10 * I(b, c);\n"
    "  if ($abstime > 1) $strobe(\"v = %g\", v);\n"
    "end\n"
    "endmodule\n";

typedef struct world {
    diag d;
    str_pool names;
    mdl_lib *lib;
    mdl_model *m;
} world;

static int n_from_cache, n_other_note;
static void count_note(void *user, const char *text)
{
    (void)user;
    if (strstr(text, "model file"))
        n_from_cache++;
    else if (!strstr(text, "kernel"))
        n_other_note++;
}

static void world_open(world *w)
{
    mdl_opt opt = {.jit = {.cache_dir = dir, .opt_level = 2, .lanes = 1, .exact = true, .verbose = true,
                           .note = count_note}};
    *w = (world){0};
    n_from_cache = n_other_note = 0;
    diag_init(&w->d);
    str_pool_init(&w->names);
    ck_assert_int_eq(mdl_lib_new(&w->lib, &w->d, &w->names, &opt), VS_OK);
    ck_assert_int_eq(mdl_load(w->lib, path), VS_OK);
    w->m = mdl_find(w->lib, "kept");
}

static void world_close(world *w)
{
    mdl_lib_free(&w->lib);
    diag_fini(&w->d);
    str_pool_fini(&w->names);
}

static void begin(void)
{
    strcpy(dir, "/tmp/vsim-keep-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/kept.va", dir);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(TEXT, f);
    fclose(f);
}

static void end(void)
{
    char cmd[64];
    snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
    ck_assert_int_eq(system(cmd), 0);
}

static char *text_of(const ir_fn *fn)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    ir_print(fn, f);
    fclose(f);
    return text;
}

static void check_same_fn(const ir_fn *a, const ir_fn *b)
{
    char *ta = text_of(a), *tb = text_of(b);
    ck_assert_str_eq(ta, tb);
    free(ta);
    free(tb);
}

static void check_same_model(const mdl_model *a, const mdl_model *b)
{
    const va_module *p = a->mod, *q = b->mod;
    check_same_fn(&p->eval, &q->eval);
    check_same_fn(&p->params, &q->params);
    check_same_fn(&a->full, &b->full);
    ck_assert_int_eq(p->n_port, q->n_port);
    ck_assert_int_eq(p->n_ddt, q->n_ddt);
    ck_assert_int_eq(p->n_state, q->n_state);
    ck_assert_int_eq(a->n_derivative, b->n_derivative);
    ck_assert_int_eq(mdl_n_unknown(a), mdl_n_unknown(b));
    for (int32_t u = 0; u < mdl_n_unknown(a); u++) {
        ck_assert_str_eq(mdl_unknown(a, u)->name, mdl_unknown(b, u)->name);
        ck_assert(mdl_unknown(a, u)->abstol == mdl_unknown(b, u)->abstol);
    }
    ck_assert_uint_eq(vec_len(p->param), vec_len(q->param));
    for (size_t i = 0; i < vec_len(p->param); i++) {
        ck_assert_str_eq(p->param[i].name, q->param[i].name);
        ck_assert_str_eq(p->param[i].dflt, q->param[i].dflt);
        ck_assert_str_eq(p->param[i].range, q->param[i].range);
        ck_assert_uint_eq(p->param[i].span.off, q->param[i].span.off);
        ck_assert_uint_eq(vec_len(p->param[i].alias), vec_len(q->param[i].alias));
    }
    ck_assert_uint_eq(vec_len(p->noise), vec_len(q->noise));
    ck_assert_uint_eq(vec_len(p->opvar), vec_len(q->opvar));
    ck_assert_uint_eq(vec_len(p->branch), vec_len(q->branch));
}

START_TEST(a_kept_model_is_the_model)
{
    world a, b;
    world_open(&a);
    ck_assert_int_eq(n_from_cache, 0);
    world_open(&b);
    ck_assert_int_eq(n_from_cache, 1);
    ck_assert(a.m && b.m);
    check_same_model(a.m, b.m);
    ck_assert_str_eq(b.d.file[b.m->mod->span.file].name, path);
    ck_assert_int_ge(va_find_param(b.m->mod, "GG"), 0);
    world_close(&a);
    world_close(&b);
}
END_TEST

START_TEST(a_changed_text_is_compiled)
{
    world w;
    world_open(&w);
    world_close(&w);
    FILE *f = fopen(path, "a");
    fputs("\n", f);
    fclose(f);
    world_open(&w);
    ck_assert_int_eq(n_from_cache, 0);
    world_close(&w);
    world_open(&w);
    ck_assert_int_eq(n_from_cache, 1);
    world_close(&w);
}
END_TEST

/* The record of the unit: its key and data. */
static char *read_record(jit_hash *key, size_t *size)
{
    char name[400] = "";
    DIR *d = opendir(dir);
    for (struct dirent *e; (e = readdir(d));)
        if (strstr(e->d_name, ".vsm"))
            snprintf(name, sizeof name, "%s/%s", dir, e->d_name);
    closedir(d);
    FILE *f = fopen(name, "rb");
    ck_assert_ptr_nonnull(f);
    struct stat st;
    ck_assert_int_eq(fstat(fileno(f), &st), 0);
    char *all = malloc((size_t)st.st_size), *data = malloc((size_t)st.st_size);
    ck_assert_uint_eq(fread(all, 1, (size_t)st.st_size, f), (size_t)st.st_size);
    fclose(f);
    memcpy(key, all + 8, sizeof *key);
    *size = (size_t)st.st_size - 48; /* behind the head: magic, key, size, sum */
    memcpy(data, all + 48, *size);
    free(all);
    return data;
}

/* Nothing of what stood in memory before goes into a record. */
START_TEST(a_record_is_the_same_each_time)
{
    char *record[2], cmd[64];
    size_t size[2];
    jit_hash key;
    for (int k = 0; k < 2; k++) {
        world w;
        mallopt(M_PERTURB, k ? 0x5a : 0xa5);
        snprintf(cmd, sizeof cmd, "rm -f %s/*.vsm", dir);
        ck_assert_int_eq(system(cmd), 0);
        world_open(&w);
        ck_assert_int_eq(n_from_cache, 0);
        world_close(&w);
        record[k] = read_record(&key, &size[k]);
    }
    mallopt(M_PERTURB, 0);
    ck_assert_uint_eq(size[0], size[1]);
    ck_assert_int_eq(memcmp(record[0], record[1], size[0]), 0);
    free(record[0]);
    free(record[1]);
}
END_TEST

/* Data that are wrong although their sum is right: nothing is read or called outside of them. */
START_TEST(wrong_lengths_and_indices_are_refused)
{
    world w;
    jit_hash key;
    size_t size, n_refused = 0;
    const char *why;
    jit_cache c;
    world_open(&w);
    world_close(&w);
    char *good = read_record(&key, &size), *bad = malloc(size);
    uint64_t seed = 1;
    jit_cache_open(&c, dir, &why);
    for (int k = 0; k < 1500; k++) {
        memcpy(bad, good, size);
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const size_t at = (size_t)(seed >> 33) % size;
        bad[at] = (char)(k % 3 ? bad[at] ^ (1 << (seed >> 29 & 7)) : k % 2 ? 0xff : 0x7f);
        const size_t n = k % 7 ? size : at;
        ck_assert_int_eq(jit_cache_put(&c, JIT_CACHE_MODEL, key, bad, n, &why), VS_OK);
        world_open(&w); /* perhaps with other names and numbers: the sum would have told */
        ck_assert_int_eq(w.d.n_error, 0);
        n_refused += !n_from_cache;
        world_close(&w);
    }
    ck_assert_uint_gt(n_refused, 300);
    jit_cache_close(&c);
    free(good);
    free(bad);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("mdl keep");
    TCase *t = tcase_create("keep");
    tcase_add_checked_fixture(t, begin, end);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, a_kept_model_is_the_model);
    tcase_add_test(t, a_changed_text_is_compiled);
    tcase_add_test(t, a_record_is_the_same_each_time);
    tcase_add_test(t, wrong_lengths_and_indices_are_refused);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
