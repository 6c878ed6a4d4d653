/* Prepared models on disk: the same model, whatever stands in the files. Faults of the files
 * themselves and what users see of them: tests/cli. */
#include "mdl_check.h"
#include "stream.h"

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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
    mdl_opt opt = {.jit = {.cache_dir = dir,
                           .opt_level = 2,
                           .lanes = 1,
                           .exact = true,
                           .verbose = true,
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
    FILE *f = stream_text(&text, &size);
    ir_print(fn, f);
    fclose(f);
    return text;
}

static void check_same_fn(const ir_fn *a, const ir_fn *b)
{
    char *ta = text_of(a), *tb = text_of(b);
    ck_assert_str_eq(ta, tb);
    vs_free(ta);
    vs_free(tb);
}

static void check_same_model(const mdl_model *a, mdl_model *b)
{
    const va_module *p = a->mod, *q = b->mod;
    for (int part = 0; part < N_MOD; part++)
        mdl_need(b, part);
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

/* The record of the unit: its key and data, of which `now` are summed at once. */
static char *read_record(hash128 *key, size_t *size, size_t *now)
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
    char *all = vs_malloc((size_t)st.st_size), *data = vs_malloc((size_t)st.st_size);
    ck_assert_uint_eq(fread(all, 1, (size_t)st.st_size, f), (size_t)st.st_size);
    fclose(f);
    memcpy(key, all + 8, sizeof *key);
    memcpy(now, all + 48, sizeof *now);
    *size = (size_t)st.st_size - 64; /* behind the head: magic, key, size, sum, now, 0 */
    memcpy(data, all + 64, *size);
    vs_free(all);
    return data;
}

/* Nothing of what stood in memory before goes into a record. */
START_TEST(a_record_is_the_same_each_time)
{
    char *record[2], cmd[64];
    size_t size[2], now;
    hash128 key;
    for (int k = 0; k < 2; k++) {
        world w;
        mallopt(M_PERTURB, k ? 0x5a : 0xa5);
        snprintf(cmd, sizeof cmd, "rm -f %s/*.vsm", dir);
        ck_assert_int_eq(system(cmd), 0);
        world_open(&w);
        ck_assert_int_eq(n_from_cache, 0);
        world_close(&w);
        record[k] = read_record(&key, &size[k], &now);
    }
    mallopt(M_PERTURB, 0);
    ck_assert_uint_eq(size[0], size[1]);
    ck_assert_int_eq(memcmp(record[0], record[1], size[0]), 0);
    vs_free(record[0]);
    vs_free(record[1]);
}
END_TEST

/* The sum of the part that byte `at` belongs to, made right: it stands in the first `now` bytes,
 * behind place and length. */
static void mend_sum(const char *good, char *bad, size_t size, size_t now, size_t at)
{
    for (size_t k = 0; at >= now && k + 32 <= now; k++) {
        uint64_t place, n;
        memcpy(&place, good + k, 8);
        memcpy(&n, good + k + 8, 8);
        if (place % 16 || place > at - now || !n || n > size - now || place + n <= at - now ||
            place + n > size - now)
            continue;
        hash128 sum = store_sum(good + now + place, n);
        if (memcmp(&sum, good + k + 16, sizeof sum) != 0)
            continue;
        sum = store_sum(bad + now + place, n);
        memcpy(bad + k + 16, &sum, sizeof sum);
        return;
    }
}

/* Data that are wrong although their sum is right: nothing is read or called outside of them. */
START_TEST(wrong_lengths_and_indices_are_refused)
{
    world w;
    hash128 key;
    size_t size, now, n_refused = 0;
    const char *why;
    store c;
    world_open(&w);
    world_close(&w);
    char *good = read_record(&key, &size, &now), *bad = vs_malloc(size);
    uint64_t seed = 1;
    store_open(&c, dir, &why);
    for (int k = 0; k < 1500; k++) {
        memcpy(bad, good, size);
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const size_t at = (size_t)(seed >> 33) % size;
        bad[at] = (char)(k % 3 ? bad[at] ^ (1 << (seed >> 29 & 7)) : k % 2 ? 0xff : 0x7f);
        const size_t n = k % 7 ? size : at;
        mend_sum(good, bad, size, now, at);
        ck_assert_int_eq(store_put_now(&c, STORE_MODEL, key, bad, n, n < now ? n : now, &why),
                         VS_OK);
        world_open(&w); /* perhaps with other names and numbers: the sum would have told */
        for (int part = 0; w.m && part < N_MOD; part++)
            mdl_need(w.m, part);
        ck_assert_int_eq(w.d.n_error, 0);
        n_refused += !n_from_cache || n_other_note;
        world_close(&w);
    }
    ck_assert_uint_gt(n_refused, 300);
    store_close(&c);
    vs_free(good);
    vs_free(bad);
}
END_TEST

static void write_file(const char *name, const char *text, size_t n)
{
    FILE *f = fopen(name, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(text, 1, n, f), n);
    fclose(f);
}

/* As if the file had been written so many seconds from now. */
static void written_in(time_t seconds)
{
    const struct timespec when = {.tv_sec = time(NULL) + seconds};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, (struct timespec[2]){when, when}, 0), 0);
}

/* A file that was left alone for some seconds is known by its state; any write changes that, also
 * one that leaves length and time as they were, and a file written just now is read. */
START_TEST(states_of_files_are_asked_first)
{
    world w;
    struct stat st;
    const int32_t first = 0;
    written_in(3600); /* young for as long as this machine needs */
    world_open(&w);
    world_close(&w);
    world_open(&w);
    ck_assert_int_eq(n_from_cache, 1);
    ck_assert_ptr_nonnull(w.d.file[first].text); /* too young: read */
    world_close(&w);
    written_in(-3600);
    sleep(4); /* nobody sets the time of the last change of its state */
    for (int k = 0; k < 2; k++) {
        world_open(&w);
        ck_assert_int_eq(n_from_cache, 1);
        ck_assert((w.d.file[first].text == NULL) == (k > 0));
        ck_assert_str_eq(diag_text(&w.d, first), TEXT);
        world_close(&w);
    }
    for (int k = 0; k < 2; k++) {
        char *text = vs_strdup(TEXT);
        ck_assert_int_eq(stat(path, &st), 0);
        const struct timespec when[2] = {st.st_atim, st.st_mtim};
        text[strlen(text) - 1] = k ? ' ' : '\t';
        write_file(path, text, strlen(text));
        ck_assert_int_eq(utimensat(AT_FDCWD, path, when, 0), 0);
        world_open(&w);
        ck_assert_int_eq(n_from_cache, 0);
        world_close(&w);
        vs_free(text);
    }
}
END_TEST

/* A byte changed anywhere in a record: found when that part is read, and what it says is made
 * again. */
static void damage(const char *suffix, int k, int n)
{
    DIR *d = opendir(dir);
    for (struct dirent *e; (e = readdir(d));) {
        char name[400];
        struct stat st;
        if (!strstr(e->d_name, suffix))
            continue;
        snprintf(name, sizeof name, "%s/%s", dir, e->d_name);
        ck_assert_int_eq(stat(name, &st), 0);
        char byte;
        const off_t at = (st.st_size - 1) * k / n;
        const int fd = open(name, O_RDWR);
        ck_assert_int_eq(pread(fd, &byte, 1, at), 1);
        byte ^= 0x40;
        ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
        close(fd);
    }
    closedir(d);
}

START_TEST(damage_is_found_in_every_part)
{
    enum { N = 40 };
    world good;
    world_open(&good);
    for (int k = 0; k <= N; k++) {
        world w;
        damage(".vsm", k, N);
        world_open(&w);
        check_same_model(good.m, w.m);
        ck_assert_int_eq(w.d.n_error, 0);
        world_close(&w);
        world_open(&w); /* the record is whole again */
        ck_assert_int_eq(n_from_cache, 1);
        check_same_model(good.m, w.m);
        world_close(&w);
    }
    world_close(&good);
}
END_TEST

/* Of some size, so that rows and variants are kept too. */
static void write_large_model(void)
{
    char *text = NULL;
    size_t n;
    FILE *f = stream_text(&text, &n);
    fputs("`include \"disciplines.vams\"\nmodule kept(a, b); inout a, b; electrical a, b, i;\n"
          "parameter real g = 1e-3; parameter integer on = 1; real x;\nanalog begin\nx = 0;\n",
          f);
    for (int k = 1; k < 80; k++)
        fprintf(f,
                "if (on > 0) x = x + g * V(a, i) / (%d + V(a, i) * V(a, i) + g); else x = x - "
                "exp(%d * V(a, i));\n",
                k, k);
    fputs("I(a, i) <+ x;\nif (on > 1) V(i, b) <+ 0; else I(i, b) <+ V(i, b) / 10;\nend endmodule\n",
          f);
    fclose(f);
    write_file(path, text, n);
    vs_free(text);
}

static void check_variant(world *w, const mdl_given *g, mdl_form_kind form, const mdl_variant *want,
                          mdl_variant **got)
{
    static const double simparam[IR_N_SIMPARAM];
    const mdl_env env = {.temp = 300, .mfactor = 1, .simparam = simparam};
    int32_t row;
    ck_assert_int_eq(mdl_row(w->m, g, 1, &env, DIAG_NOWHERE, "x", &row), VS_OK);
    ck_assert_int_eq(mdl_variant_get(w->m, row, form, got), VS_OK);
    mdl_store_rows(w->lib);
    if (!want)
        return;
    check_same_fn(&want->eval, &(*got)->eval);
    check_same_fn(&want->setup, &(*got)->setup);
    check_same_fn(mdl_kernel_fn(want), mdl_kernel_fn(*got));
    ck_assert_uint_eq(mdl_variant_values(*got), vec_len((*got)->eval.inst));
    ck_assert_int_eq(want->lay.n_out, (*got)->lay.n_out);
    ck_assert_int_eq(memcmp(&((const variant_data *)want)->id, &((const variant_data *)*got)->id,
                            sizeof(hash128)),
                     0);
}

START_TEST(rows_and_variants_are_those_that_were_made)
{
    world a;
    mdl_variant *v[3], *u;
    int32_t on;
    write_large_model();
    world_open(&a);
    on = mdl_find_param(a.m, str_intern0(&a.names, "on"));
    for (int k = 0; k < 3; k++)
        check_variant(&a, &(mdl_given){on, k, DIAG_NOWHERE}, MDL_TRAN, NULL, &v[k]);
    ck_assert_uint_gt(vec_len(v[0]->eval.inst), 100);
    for (int damaged = 0; damaged <= 30; damaged++) {
        world b;
        if (damaged)
            damage(".vsm", damaged, 30);
        world_open(&b);
        for (int k = 0; k < 3; k++) {
            check_variant(&b, &(mdl_given){on, k, DIAG_NOWHERE}, MDL_TRAN, v[k], &u);
            ck_assert(damaged || (b.m->row[k].full->on_disk && !b.m->form[MDL_TRAN].made));
            ck_assert_int_eq(memcmp(a.m->row[k].full->topology, b.m->row[k].full->topology,
                                    4 * (size_t)mdl_n_unknown(a.m)),
                             0);
            ck_assert_int_eq(memcmp(a.m->row[k].full->param, b.m->row[k].full->param,
                                    8 * vec_len(a.m->mod->param)),
                             0);
        }
        ck_assert_int_eq(b.d.n_error, 0);
        world_close(&b);
    }
    world_close(&a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("mdl store");
    TCase *t = tcase_create("keep");
    tcase_add_checked_fixture(t, begin, end);
    tcase_set_timeout(t, TEST_PATIENCE);
    tcase_add_test(t, a_kept_model_is_the_model);
    tcase_add_test(t, a_changed_text_is_compiled);
    tcase_add_test(t, a_record_is_the_same_each_time);
    tcase_add_test(t, wrong_lengths_and_indices_are_refused);
    tcase_add_test(t, states_of_files_are_asked_first);
    tcase_add_test(t, damage_is_found_in_every_part);
    tcase_add_test(t, rows_and_variants_are_those_that_were_made);
    suite_add_tcase(s, t);
    return run_suite(s);
}
