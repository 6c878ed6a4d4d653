/* Whole decks: the examples, files that include each other, input of no sense, large input. */
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "flat_test.h"

static void read_path(fixture *t, const char *path)
{
    deck_init(t);
    t->read = net_read(&t->deck, &t->d, &t->names, &t->mem, path, NULL);
    t->build = flat_build(&t->f, &t->deck, &t->d, &t->names, &t->mem, 27, NULL, 0, NULL, NULL);
}

static size_t count_letter(const flat *f, char letter)
{
    size_t n = 0;
    for (size_t i = 0; i < vec_len(f->inst); i++)
        n += f->inst[i].letter == letter;
    return n;
}

START_TEST(example_decks_have_their_counts)
{
    static const struct {
        const char *name;
        char letter;
        size_t n_letter, n_inst, n_node, n_save;
    } t[] = {{"rc", 'r', 1, 3, 3, 2},
             {"graetz", 'd', 4, 9, 5, 4},
             {"mul", 'c', 4, 10, 6, 5},
             {"ring", 'n', 18, 20, 11, 9},
             {"c6288", 'n', 10112, 10178, 5123, 34}};
    const char *root = getenv("VSIM_SOURCE_ROOT");
    for (size_t i = 0; i < VS_COUNT(t); i++) {
        char path[1000];
        snprintf(path, sizeof path, "%s/netlists/%s.sp", root ? root : ".", t[i].name);
        fixture f;
        read_path(&f, path);
        ck_assert_msg(f.read == VS_OK && f.build == VS_OK, "%s", path);
        ck_assert_uint_eq(vec_len(f.d.msg), 0);
        ck_assert_uint_eq(count_letter(&f.f, t[i].letter), t[i].n_letter);
        ck_assert_uint_eq(vec_len(f.f.inst), t[i].n_inst);
        ck_assert_uint_eq(vec_len(f.f.node), t[i].n_node);
        ck_assert_uint_eq(vec_len(f.f.save), t[i].n_save);
        ck_assert_uint_eq(vec_len(f.f.ana), 1);
        deck_fini(&f);
    }
}
END_TEST

/* -- files -- */

static char folder[] = "/tmp/flat_test_XXXXXX";

static void put_file(const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *fp = fopen(path, "w");
    ck_assert_ptr_nonnull(fp);
    fputs(text, fp);
    fclose(fp);
}

static void read_file(fixture *t, const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    read_path(t, path);
}

static void check_file(const char *name, const char *flat_text)
{
    fixture t;
    read_file(&t, name);
    char *text = deck_text(&t), *msg = deck_messages(&t);
    ck_assert_msg(!strcmp(text, flat_text) && !*msg, "%s gives\n%s%s", name, text, msg);
    vs_free(text);
    vs_free(msg);
    deck_fini(&t);
}

static void check_message(const char *name, const char *part)
{
    fixture t;
    read_file(&t, name);
    char *msg = deck_messages(&t);
    ck_assert_msg(strstr(msg, part) != NULL && t.d.n_error == 1, "%s gives\n%s", name, msg);
    vs_free(msg);
    deck_fini(&t);
}

static void make_folder(void)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    char path[200];
    snprintf(path, sizeof path, "%s/sub dir", folder);
    mkdir(path, 0777);
}

static void remove_folder(void)
{
    char cmd[80];
    snprintf(cmd, sizeof cmd, "rm -rf %s", folder);
    ck_assert_int_eq(system(cmd), 0);
}

START_TEST(files_are_included)
{
    make_folder();
    put_file("a.sp", "t\n.include 'sub dir/b.inc'\nr1 a 0 1\n.end\n");
    put_file("sub dir/b.inc", ".inc c.inc\nr2 a 0 2\n");
    put_file("sub dir/c.inc", "r3 a 0 3\n");
    check_file("a.sp", "r3 a 0 value=3\nr2 a 0 value=2\nr1 a 0 value=1\n");
    setenv("VSIM_TEST_DIR", folder, 1);
    put_file("env.sp", "t\n.include $VSIM_TEST_DIR/e.inc\n.include \"${VSIM_TEST_DIR}/f.inc\"\n");
    put_file("e.inc", "r1 a 0 1");
    put_file("f.inc", "r2 a 0 2\r\n");
    check_file("env.sp", "r1 a 0 value=1\nr2 a 0 value=2\n");
    put_file("sub.sp", "t\n.subckt s a\n.include e.inc\n.ends\nx1 p s\n");
    check_file("sub.sp", "x1.r1 p 0 value=1\n");
    put_file("hdl.sp", "t\n.hdl 'sub dir/c.inc'\n");
    char text[300];
    snprintf(text, sizeof text, ".hdl \"%s/sub dir/c.inc\"\n", folder);
    check_file("hdl.sp", text);
    put_file("bracket.sp", "t\nr1 a 0 (1\n  ) \n+ m=2\n)\nr2 a 0 2\n)");
    check_file("bracket.sp", "r1 a 0 value=1 m=2\nr2 a 0 value=2\n");
    remove_folder();
}
END_TEST

START_TEST(sections_are_chosen)
{
    make_folder();
    put_file("m.lib", "* models\n.lib tt\n.param v=1\n.lib 'm.lib' common\n.endl tt\n.lib "
                      "ff\n.param v=2 'broken\n.endl\n"
                      ".lib common\nr9 c 0 9\n.endl\n");
    put_file("a.sp", "t\n.lib 'm.lib' TT\nr1 a 0 {v}\n");
    check_file("a.sp", "r9 c 0 value=9\nr1 a 0 value=1\n");
    put_file("all.sp", "t\n.lib m.lib\n.lib own\nr2 b 0 1\n.endl\nr1 a 0 5\n");
    check_file("all.sp", "r1 a 0 value=5\n");
    put_file("b.sp", "t\n.lib m.lib tf\n");
    check_message("b.sp", "2:12: error: no section 'tf' in");
    remove_folder();
}
END_TEST

START_TEST(includes_that_do_not_end_are_refused)
{
    make_folder();
    put_file("a.sp", "t\n.include b.inc\n");
    put_file("b.inc", ".include c.inc\n");
    put_file("c.inc", ".include b.inc\n");
    check_message("a.sp", "includes itself\nnote: '");
    put_file("self.sp", "t\n.include self.sp\n");
    check_message("self.sp", "2:10: error: '");
    for (int i = 0; i < 130; i++) {
        char name[20], text[60];
        snprintf(name, sizeof name, "d%d.inc", i);
        snprintf(text, sizeof text, ".include d%d.inc\n.include d%d.inc\n", i + 1, i + 1);
        put_file(name, i < 14 || i >= 30 ? text : ".include d31.inc\n");
    }
    put_file("deep.sp", "t\n.include d31.inc\n");
    fixture t;
    read_file(&t, "deep.sp");
    ck_assert_int_ge(t.d.n_error, 1);
    deck_fini(&t);
    remove_folder();
}
END_TEST

START_TEST(folders_and_missing_decks_are_refused)
{
    make_folder();
    check_message("none.sp", "error: deck '");
    check_message("sub dir", "is a directory");
    remove_folder();
}
END_TEST

/* -- input of no sense -- */

static const char sample[] =
    "title\n* comment\n.param a=1 b={a*2} c='b+1'\n.func f(x,y) {x*y+a}\n.global vdd\n"
    ".subckt inv in out params: w=1u l=0.2u\n.param q={w*2}\nmp out in vdd vdd pm w={q} l={l}\n"
    "mn out in 0 0 nm w={w} l={l} m=2\n.model nm nmos (level=1 vto={a*0.5})\n.ends inv\n"
    ".model pm pmos level=1 vto=-0.5\n.if (a==1)\nr9 x 0 1k\n.elseif (a==2)\nr9 x 0 2k\n.else\nr9 "
    "x 0 3k\n.endif\n"
    "x1 i o inv w={f(1u,2)} $ end\nv1 i 0 dc 1 ac 1 90 pulse(0 1 0 1n 1n 5n 10n)\nv2 vdd 0 pwl(0 0 "
    "1n 1\n+ 2n 2) r=0\n"
    "e1 e 0 poly(2) i 0 o 0 1 2 3\ne2 g 0 table {v(i,o)} = (0,0) (1,2)\nb1 h 0 v={if(v(i)>0.5, "
    "time, i(v1))}\n"
    "c1 o 0 c='1p*(1+v(o))' ic=0.5\nl1 p 0 1u\nl2 q 0 1u\nk1 l1 l2 0.9\nf1 p 0 v1 2\nt1 a 0 b 0 "
    "z0=50 td=1n\n"
    ".ic v(o)=1\n.nodeset v(i)=0\n.options method=trap reltol=1e-4\n.temp 27\n.save v(o) i(v1) "
    "@r9[i] {v(o)*2}\n"
    ".dc v1 0 1 0.1 temp 0 100 50\n.tran 1n 100n 0 1n uic\n.control\nrun\n.endc\n.end\nrest\n";

START_TEST(every_prefix_is_survived)
{
    fixture t;
    deck_from(&t, sample, strlen(sample));
    ck_assert_int_eq(t.d.n_error, 0);
    deck_fini(&t);
    for (size_t n = 0; n < sizeof sample; n++) {
        deck_from(&t, sample, n);
        deck_fini(&t);
    }
}
END_TEST

START_TEST(every_suffix_and_deletion_is_survived)
{
    char buf[sizeof sample];
    for (size_t i = 0; i + 1 < sizeof sample; i++) {
        fixture t;
        deck_from(&t, sample + i, sizeof sample - 1 - i);
        deck_fini(&t);
        memcpy(buf, sample, i);
        memcpy(buf + i, sample + i + 1, sizeof sample - i - 1);
        deck_from(&t, buf, sizeof sample - 2);
        deck_fini(&t);
    }
}
END_TEST

START_TEST(zero_bytes_are_one_error)
{
    char buf[5000];
    memset(buf, 0, sizeof buf);
    memcpy(buf, "title\nr1 a 0 1\n", 15);
    fixture t;
    deck_from(&t, buf, sizeof buf);
    char *msg = deck_messages(&t);
    ck_assert_str_eq(
        msg, "3:1: error: zero byte: 't.sp' is not a text file; the rest of it is not read\n");
    vs_free(msg);
    deck_fini(&t);
    for (size_t i = 15; i < sizeof buf; i++)
        buf[i] = (char)(i * 2654435761u >> 13);
    deck_from(&t, buf, sizeof buf);
    deck_fini(&t);
}
END_TEST

START_TEST(lines_of_a_megabyte_are_read)
{
    static const char *const part[] = {"a", " a",  " a=1", "(",  " {",   "'", ",", " 1",
                                       "=", " \"", "$",    "\\", " x y", ".", "*"};
    for (size_t i = 0; i < VS_COUNT(part); i++)
        for (int k = 0; k < 4; k++) {
            static const char *const head[] = {"x1", "r1 a b", ".param ", "v1 a 0 pwl("};
            size_t n = 1 << 20, h = strlen(head[k]), m = strlen(part[i]);
            char *s = vs_malloc(n + 20);
            ck_assert_ptr_nonnull(s);
            memcpy(s, "t\n", 2);
            memcpy(s + 2, head[k], h);
            size_t p = 2 + h;
            for (; p + m < n; p += m)
                memcpy(s + p, part[i], m);
            s[p++] = '\n';
            fixture t;
            deck_from(&t, s, p);
            vs_free(deck_messages(&t));
            deck_fini(&t);
            vs_free(s);
        }
}
END_TEST

START_TEST(hierarchies_that_explode_are_refused)
{
    static const char *const leaf[] = {"r1 a 0 1\n", ""};
    for (int k = 0; k < 2; k++) {
        char deck[20000] = "t\n";
        sprintf(deck + 2, ".subckt s0 a\n%s.ends\n", leaf[k]);
        for (int i = 1; i < 60; i++)
            sprintf(deck + strlen(deck), ".subckt s%d a\nx1 a s%d\nx2 a s%d\n.ends\n", i, i - 1,
                    i - 1);
        strcat(deck, "x1 p s59\n");
        fixture t;
        deck_from(&t, deck, strlen(deck));
        ck_assert_int_eq(t.d.n_error, 1);
        ck_assert_ptr_nonnull(strstr(t.d.msg[0].text, "elements when subcircuits are expanded"));
        deck_fini(&t);
    }
    /* a chain deeper than the limit */
    char deck[20000] = "t\n.subckt s0 a\nr1 a 0 1\n.ends\n";
    for (int i = 1; i < 250; i++)
        sprintf(deck + strlen(deck), ".subckt s%d a\nx1 a s%d\n.ends\n", i, i - 1);
    strcat(deck, "x1 p s249\n");
    fixture t;
    deck_from(&t, deck, strlen(deck));
    ck_assert_int_eq(t.d.n_error, 1);
    ck_assert_str_eq(t.d.msg[0].text, "subcircuits are nested more than 200 deep");
    deck_fini(&t);
}
END_TEST

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* others may have the processor in between */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The bound is ten times what it needs: it catches quadratic growth only. */
START_TEST(large_flat_decks_are_read_in_linear_time)
{
    size_t n = 100000, len = 0;
    char *s = vs_malloc(n * 160);
    ck_assert_ptr_nonnull(s);
    len = (size_t)sprintf(s, "t\n.model nm nmos level=1\n.param p0=1\n");
    for (size_t i = 1; i <= n; i++) {
        if (i % 4)
            len += (size_t)sprintf(s + len, "m%zu n%zu n%zu 0 0 nm w=1u l={p%zu*0.1u}\n", i, i,
                                   i / 2, i / 4);
        else
            len += (size_t)sprintf(s + len, ".param p%zu={p%zu+1}\n", i / 4, i / 4 - 1);
    }
    double t0 = now();
    fixture t;
    deck_from(&t, s, len);
    double dt = now() - t0;
    ck_assert_int_eq(t.d.n_error, 0);
    ck_assert_uint_eq(vec_len(t.f.inst), 75000);
    ck_assert_double_lt(dt, 3);
    deck_fini(&t);
    vs_free(s);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {example_decks_have_their_counts,
                                  files_are_included,
                                  sections_are_chosen,
                                  includes_that_do_not_end_are_refused,
                                  folders_and_missing_decks_are_refused,
                                  every_prefix_is_survived,
                                  every_suffix_and_deletion_is_survived,
                                  zero_bytes_are_one_error,
                                  lines_of_a_megabyte_are_read,
                                  hierarchies_that_explode_are_refused,
                                  large_flat_decks_are_read_in_linear_time};
    return run_tests("flat/decks", tests, VS_COUNT(tests));
}
