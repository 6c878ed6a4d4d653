/* mdl_pass.c: the pipeline shows and verifies what its passes make. */
#include "mdl_check.h"
#include "mdl_pass.h"
#include "stream.h"

static const char DIODE[] =
    "`include \"disciplines.vams\"\n"
    "module dio(a, c); inout a, c; electrical a, c, m;\n"
    "parameter real is = 1e-14 from (0:inf); parameter real rs = 0 from [0:inf);\n"
    "parameter real cj = 1e-12; parameter real g2 = 0;\n"
    "analog begin\n"
    "  I(m,c) <+ is * (limexp(V(m,c)/$vt) - 1) + g2 * V(m,c) * ddt(V(m,c)) + ddt(cj * V(m,c));\n"
    "  I(m,c) <+ white_noise(3.2e-19 * is, \"shot\");\n"
    "  if (rs > 0) I(a,m) <+ V(a,m) / rs; else V(a,m) <+ 0;\n"
    "end endmodule\n";

/* All that the pipeline shows for one instance, in three forms; a string to be freed. */
static char *dump_of(int pass, bool no_specialize, int *n_error)
{
    static const mdl_form_kind form[] = {MDL_DC, MDL_TRAN, MDL_AC};
    char *text = NULL;
    size_t size = 0;
    bench b;
    FILE *out = stream_text(&text, &size);
    bench_open_opt(&b, (mdl_opt){.interpret = true,
                                 .no_specialize = no_specialize,
                                 .dump = pass == MDL_DUMP_NONE ? NULL : out,
                                 .dump_pass = pass});
    ck_assert_int_eq(mdl_load_text(b.lib, "dio.va", DIODE), VS_OK);
    mdl_model *m = mdl_find(b.lib, "dio");
    ck_assert_ptr_nonnull(m);
    const int32_t row = row_with(&b, m, standard_env(), 0, NULL, NULL);
    for (size_t i = 0; i < VS_COUNT(form); i++) {
        mdl_variant *v;
        ck_assert_int_eq(mdl_variant_get(m, row, form[i], &v), VS_OK);
    }
    *n_error = b.d.n_error;
    bench_close(&b);
    fclose(out);
    return text;
}

/* Functions in a dump, each read back by the reader of the text form, which verifies it. */
static int count_functions(const char *text)
{
    int n = 0;
    for (const char *at = strstr(text, "fn \""); at; n++) {
        const char *next = strstr(at + 1, "\nfn \"");
        const size_t len = next ? (size_t)(next + 1 - at) : strlen(at);
        char *one = vs_strndup(at, len);
        const char *why = "";
        arena mem;
        ir_fn fn;
        arena_init(&mem);
        ck_assert_msg(ir_read(&fn, one, &mem, &why) == VS_OK, "%s", why);
        ir_fn_fini(&fn);
        arena_fini(&mem);
        vs_free(one);
        at = next ? next + 1 : NULL;
    }
    return n;
}

static int count(const char *text, const char *word)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, word)); at++)
        n++;
    return n;
}

START_TEST(every_pass_is_a_file_and_found_by_its_name)
{
    char path[1024];
#define X(id, name, file, needs, gives, breaks)                             \
    ck_assert_int_eq(mdl_pass_find(name), MDL_PASS_##id);                   \
    ck_assert_str_eq(mdl_pass_name(MDL_PASS_##id), name);                   \
    snprintf(path, sizeof path, "%s/%s", getenv("VSIM_SOURCE_ROOT"), file); \
    ck_assert_msg(access(path, R_OK) == 0, "%s: there is no %s", name, path);
    MDL_PASS_LIST(X)
#undef X
    ck_assert_int_eq(mdl_pass_find("all"), MDL_DUMP_ALL);
    ck_assert_int_eq(mdl_pass_find("sccpx"), MDL_DUMP_NONE);
    ck_assert_ptr_null(mdl_pass_name(MDL_N_PASS));
    ck_assert_ptr_null(mdl_pass_name(-1));
}
END_TEST

/* lower: two functions of one module; opt: three times of the module, and per variant; pick: also
 * the topology and the unknowns that may idle; a variant's pass: before and after, per form; split:
 * two functions after. */
START_TEST(each_pass_is_shown_before_and_after_it)
{
    static const struct {
        mdl_pass pass;
        int n;
    } want[] = {{MDL_PASS_LOWER, 2}, {MDL_PASS_OPT, 2 * (3 + 3)}, {MDL_PASS_CHARGE, 2},
                {MDL_PASS_MULT, 2},  {MDL_PASS_ZERO, 2},          {MDL_PASS_DERIV, 2},
                {MDL_PASS_QUIET, 2}, {MDL_PASS_SCCP, 2 * 3},      {MDL_PASS_MERGE, 2 * 3},
                {MDL_PASS_RECIP, 6}, {MDL_PASS_SPLIT, 3 * 3},     {MDL_PASS_IFCONV, 2 * 3}};
    for (size_t i = 0; i < VS_COUNT(want); i++) {
        int n_error;
        char *text = dump_of((int)want[i].pass, false, &n_error), head[64];
        snprintf(head, sizeof head, "# pass %s (", mdl_pass_name((int)want[i].pass));
        ck_assert_msg(count_functions(text) == want[i].n && count(text, head) == want[i].n,
                      "%s: %d functions, %d heads", head, count_functions(text), count(text, head));
        ck_assert_int_eq(n_error, 0);
        vs_free(text);
    }
}
END_TEST

START_TEST(a_pass_does_what_its_name_says)
{
    int n_error;
    char *text = dump_of(MDL_PASS_CHARGE, false, &n_error);
    const char *after = strstr(text, ", after,");
    ck_assert_int_eq(count(text, "out react"), count(after, "out react"));
    ck_assert_int_gt(count(after, "out react"), 0);
    ck_assert_int_eq(count(after, "out ddtarg"), 0);
    vs_free(text);
    text = dump_of(MDL_PASS_DERIV, false, &n_error);
    after = strstr(text, ", after,");
    ck_assert_int_gt(count(after, "out G "), 3);
    ck_assert_int_eq(count(text, "out G "), count(after, "out G "));
    vs_free(text);
    text = dump_of(MDL_PASS_IFCONV, true, &n_error); /* not specialised: the branch on rs stays */
    after = strstr(text, ", after,");
    ck_assert_int_eq(n_error, 0);
    ck_assert_int_eq(count_functions(text), 6);
    vs_free(text);
}
END_TEST

START_TEST(all_shows_each_result_and_last_the_code_of_kernels)
{
    int n_error;
    char *all = dump_of(MDL_DUMP_ALL, false, &n_error),
         *last = dump_of(MDL_DUMP_LAST, false, &n_error);
    for (int k = 0; k < MDL_N_PASS; k++) {
        char head[64];
        snprintf(head, sizeof head, "# pass %s (", mdl_pass_name(k));
        ck_assert_msg(count(all, head) > 0, "%s", head);
        ck_assert_int_eq(count(last, head), k == MDL_PASS_IFCONV ? 3 : 0);
    }
    ck_assert_int_eq(count_functions(last), 3);
    ck_assert_int_eq(count(all, ", before,"), 0);
    vs_free(all);
    vs_free(last);
}
END_TEST

START_TEST(a_spoilt_function_is_an_error_that_names_the_pass)
{
    bench b;
    bench_open(&b, true, false);
    ck_assert_int_eq(mdl_load_text(b.lib, "dio.va", DIODE), VS_OK);
    mdl_model *m = mdl_find(b.lib, "dio");
    ir_fn fn;
    ir_opt(&fn, &m->mod->eval, (ir_opt_flags){.once = true});
    mdl_pipe p = mdl_pipe_of(m, MDL_TRAN, &fn);
    ck_assert(mdl_pass_verify(&p, MDL_PASS_SCCP, &fn));
    for (size_t k = 0; k < vec_len(fn.inst); k++)
        if (fn.inst[k].op == IR_MUL)
            fn.inst[k].b = (ir_val)vec_len(fn.inst) - 1; /* a value that is not there yet */
    ck_assert_int_eq(b.d.n_error, 0);
    ck_assert(!mdl_pass_verify(&p, MDL_PASS_SCCP, &fn));
    ck_assert_int_eq(b.d.n_error, 1);
    ck_assert_ptr_nonnull(strstr(vec_last(b.d.msg).text, "pass 'sccp' (src/ir/ir_sccp.c)"));
    ck_assert_ptr_nonnull(strstr(vec_last(b.d.msg).text, "module 'dio', form tran"));
    ir_fn_fini(&fn);
    bench_close(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("mdl pass");
    TCase *t = tcase_create("all");
    tcase_add_test(t, every_pass_is_a_file_and_found_by_its_name);
    tcase_add_test(t, each_pass_is_shown_before_and_after_it);
    tcase_add_test(t, a_pass_does_what_its_name_says);
    tcase_add_test(t, all_shows_each_result_and_last_the_code_of_kernels);
    tcase_add_test(t, a_spoilt_function_is_an_error_that_names_the_pass);
    suite_add_tcase(s, t);
    return run_suite(s);
}
