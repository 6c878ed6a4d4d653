/* Any input: no crash, no hang, no runaway memory. */
#include "va_check.h"

#include <unistd.h>

static const char SAMPLE[] =
    "`include \"constants.vams\"\n`include \"disciplines.vams\"\n"
    "`define CLIP(x, lo) ((x) > (lo) ? (x) : (lo))\n`ifdef NO\n junk \" `else\n`define G "
    "1e-12\n`endif\n"
    "`define OPP(n, d) (* desc=d, units=\"V\" *) real n;\n"
    "(* desc=\"diode\" *) module d(a, c);\n inout a, c; electrical a, c, i; branch (a, i) r;\n"
    " (* type=\"instance\" *) parameter real area = 1 from (0:inf) exclude [5:6);\n"
    " parameter real is = 1e-14 from [0:inf); aliasparam js = is; parameter string t = \"n\" from "
    "'{\"n\", \"p\"};\n"
    " parameter real k[0:1] = '{1, 2}; `OPP(vd, \"voltage\") integer n; genvar g; real v[0:2];\n"
    " analog function real f; input x, y; output z; real x, y, z; begin z = x; f = x * y; end "
    "endfunction\n"
    " analog begin : main real q, z;\n  vd = $limit(V(i, c), \"pnjlim\", $vt, 0.7); q = f(vd, 2.0, "
    "z) + `CLIP(z, 0);\n"
    "  for (g = 0; g < 3; g = g + 1) v[g] = g ** 2;\n"
    "  case (n) 0, 1: q = q + 1; default: q = q - 1; endcase\n"
    "  while (n < 3 && q > 0) n = n + 1; repeat (2) q = q * 0.5;\n"
    "  @(initial_step(\"dc\") or final_step) $strobe(\"%g %s\", q, t);\n"
    "  if (area > 2) V(r) <+ 0; else I(r) <+ V(r) / 10;\n"
    "  I(i, c) <+ is * (limexp(vd / $vt) - 1) + ddt(q) + white_noise(1n, \"w\") + ddx(q, V(i));\n"
    " end\nendmodule\nparamset dd d; parameter real w = 1; .area = w; endparamset\n";

static void swallow(const char *text, size_t len)
{
    diag d;
    str_pool names;
    va_unit u;
    diag_init(&d);
    str_pool_init(&names);
    (void)!va_compile_text(&u, &d, &names, "x.va", text, len, NULL);
    FILE *fp = fopen("/dev/null", "w");
    diag_render(&d, fp, false);
    fclose(fp);
    va_unit_fini(&u);
    str_pool_fini(&names);
    diag_fini(&d);
}

START_TEST(the_sample_itself_is_fine)
{
    bench b;
    bench_compile(&b, SAMPLE);
    char *msg = bench_messages(&b);
    ck_assert_msg(b.st == VS_OK, "%s", msg);
    check_ir(&b);
    vs_free(msg);
    bench_free(&b);
}
END_TEST

START_TEST(every_prefix_and_every_hole)
{
    size_t n = strlen(SAMPLE);
    char buf[sizeof SAMPLE];
    for (size_t i = 0; i <= n; i++)
        swallow(SAMPLE, i);
    for (size_t i = 0; i < n; i++) {
        memcpy(buf, SAMPLE, n);
        memmove(buf + i, buf + i + 1, n - i - 1);
        swallow(buf, n - 1);
        memcpy(buf, SAMPLE, n);
        buf[i] = "();{}[]\"`\\,+=<>@#$'*/ \n\0\377x1"[i * 7 % 28];
        swallow(buf, n);
    }
}
END_TEST

START_TEST(shuffled_words)
{
    uint32_t seed = 12345;
    for (int round = 0; round < 400; round++) {
        char buf[6000];
        size_t n = 0;
        while (n < 2500) {
            seed = seed * 1664525u + 1013904223u;
            size_t from = (seed >> 8) % (sizeof SAMPLE - 40), len = 1 + (seed >> 3) % 30;
            memcpy(buf + n, SAMPLE + from, len);
            n += len;
        }
        swallow(buf, n);
    }
}
END_TEST

static char *repeat(const char *head, const char *part, int n, const char *mid, const char *close,
                    const char *tail)
{
    char *s = vs_malloc(strlen(head) + (strlen(part) + strlen(close)) * (size_t)n + strlen(mid) +
                        strlen(tail) + 1);
    char *p = s + sprintf(s, "%s", head);
    for (int i = 0; i < n; i++)
        p += sprintf(p, "%s", part);
    p += sprintf(p, "%s", mid);
    for (int i = 0; i < n; i++)
        p += sprintf(p, "%s", close);
    sprintf(p, "%s", tail);
    return s;
}

START_TEST(deep_nesting_is_an_error)
{
    static const struct {
        const char *head, *part, *mid, *close, *tail;
    } t[] = {{"x = ", "(", "1", ")", ";"},
             {"x = ", "-", "1", "", ";"},
             {"x = ", "1 + ", "1", "", ";"},
             {"x = ", "f(", "1", ")", ";"},
             {"", "begin ", "", " end", ""},
             {"", "if (x) ", "x = 1;", "", ""},
             {"", "if (x) x = 1; else ", "x = 1;", "", ""},
             {"x = ", "1 ? 2 : ", "1", "", ";"},
             {"x = ", "1 ? ", "1", " : 2", ";"},
             {"x = '", "{", "1", "}", ";"},
             {"x = ", "2 ** ", "2", "", ";"},
             {"", "for (n = 0; n < 1; n = n + 1) ", "x = 1;", "", ""},
             {"", "case (n) 1: ", "x = 1;", " endcase", ""},
             {"x = x", "[", "1", "]", ";"},
             {"", "(* a *) ", "x = 1;", "", ""},
             {"", "@(initial_step) ", "x = 1;", "", ""}};
    for (size_t i = 0; i < VS_COUNT(t); i++)
        for (int n = 1500; n <= 200000; n *= 12) {
            char *body = repeat(t[i].head, t[i].part, n, t[i].mid, t[i].close, t[i].tail);
            char *text =
                repeat(HEAD "module m(a); inout a; electrical a; real x; integer n; analog begin ",
                       "", 0, body, "", " end endmodule");
            swallow(text, strlen(text));
            vs_free(body);
            vs_free(text);
        }
}
END_TEST

static bool fails_with(const char *text, const char *part)
{
    bench b;
    bench_compile(&b, text);
    bool ok = b.st && vec_len(b.d.msg) && strstr(b.d.msg[0].text, part);
    if (!ok) {
        char *msg = bench_messages(&b);
        fprintf(stderr, "%s\n", msg);
        vs_free(msg);
    }
    bench_free(&b);
    return ok;
}

START_TEST(exploding_macros_are_stopped)
{
    char text[20000] = "", *p = text;
    p += sprintf(p, "`define A0 1 1\n");
    for (int i = 1; i < 40; i++)
        p += sprintf(p, "`define A%d `A%d `A%d\n", i, i - 1, i - 1);
    sprintf(p, "`A39\n");
    ck_assert(fails_with(text, "20 million"));
    p = text + sprintf(text, "`define A0\n");
    for (int i = 1; i < 40; i++)
        p += sprintf(p, "`define A%d `A%d `A%d\n", i, i - 1, i - 1);
    sprintf(p, "`A39\n");
    ck_assert(fails_with(text, "20 million"));
    p = text + sprintf(text, "`define A0 1\n");
    for (int i = 1; i < 600; i++)
        p += sprintf(p, "`define A%d `A%d\n", i, i - 1);
    sprintf(p, "`A599\n");
    ck_assert(fails_with(text, "500 levels"));
}
END_TEST

START_TEST(a_file_that_includes_itself_is_stopped)
{
    char dir[] = "/tmp/varb.XXXXXX", path[100], text[300];
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/a.inc", dir);
    FILE *fp = fopen(path, "w");
    fputs("`include \"a.inc\"\n`include \"a.inc\"\n", fp);
    fclose(fp);
    snprintf(text, sizeof text, "`include \"%s\"\n", path);
    ck_assert(fails_with(text, "includes itself"));
    unlink(path);
    rmdir(dir);
}
END_TEST

START_TEST(exploding_programs_are_stopped)
{
    char text[30000], *p = text;
    p += sprintf(p, HEAD "module m(a); inout a; electrical a; real x;\n"
                         "analog function real f0; input x; real x; f0 = x * x + 1; endfunction\n");
    for (int i = 1; i < 40; i++)
        p += sprintf(
            p,
            "analog function real f%d; input x; real x; f%d = f%d(x) + f%d(x + 1); endfunction\n",
            i, i, i - 1, i - 1);
    sprintf(p, "analog I(a) <+ f39(V(a)); endmodule\n");
    ck_assert(fails_with(text, "module grows beyond"));
    ck_assert(fails_with(
        HEAD "module m(a); inout a; electrical a; real x; integer i, j, k, v[0:9]; analog begin"
             " for (i = 0; i < 9999; i = i + 1) for (j = 0; j < 9999; j = j + 1)"
             " for (k = 0; k < 9999; k = k + 1) v[k] = k; I(a) <+ v[1]; end endmodule",
        "index 10 is outside"));
    ck_assert(fails_with(HEAD "module m(a); inout a; electrical a; genvar i, j, k; analog begin"
                              " for (i = 0; i < 9999; i = i + 1) for (j = 0; j < 9999; j = j + 1)"
                              " for (k = 0; k < 9999; k = k + 1) ; I(a) <+ V(a); end endmodule",
                         ""));
    ck_assert(fails_with(HEAD "module m(a); inout a; electrical [0:99999999] a; endmodule",
                         "more than 100000 elements"));
    ck_assert(fails_with(HEAD "module m(a); inout a; electrical a; real v[0:99999999]; endmodule",
                         "more than 100000 elements"));
}
END_TEST

RUN_SUITE("va/robust", the_sample_itself_is_fine, every_prefix_and_every_hole, shuffled_words,
          deep_nesting_is_an_error, exploding_macros_are_stopped,
          a_file_that_includes_itself_is_stopped, exploding_programs_are_stopped)
