/* fuzz.c - mutated inputs for the readers: netlist and wires, decks that run, start-up files,
 * Verilog-A, .control blocks, raw, CSV and Matrix Market files, their indices, journals of sweeps,
 * expressions and measures, kept models, heads of HTTP requests, changes of a circuit, checkpoints,
 * sweeps that go on, pictures and comparisons of results, reports of runs, matrices, messages of
 * ranks, runs without memory, modules and their machine code, the relay of a rank, HDF5.
 * Use:    fuzz TARGET [-n RUNS] [-t SECONDS] [-s SEED] [-k FOLDER] INPUT-OR-FOLDER... -k keeps
 *         inputs that reach new code. An input alone (-n 0) is run as it is.
 * Every input must be read or refused within LIMIT seconds; whatever ends the process by a signal
 * (built with -Dfuzz=true also each finding of ASan and UBSan) is a finding, and FOUND_FILE holds
 * the input. Compilers that instrument edges (-fsanitize-coverage=trace-pc) lead the choice of
 * parents: an input that reaches new code joins the corpus. With clang, meson links libFuzzer
 * instead (FUZZ_LIBFUZZER, one target for each program). Inputs run in an empty folder and cannot
 * name files outside of it. */
#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "conv.h"
#include "ctl.h"
#include "fuzz.h"
#include "http.h"
#include "idx_priv.h"
#include "jit_priv.h"
#include "mdl_priv.h"
#include "meas.h"
#include "spa.h"
#include "swp_priv.h"
#include "va.h"
#include "vec.h"

enum { MOST = 16384, LIMIT = 20, WAIT = 600, MAP_BITS = 16 };
#define FOUND_FILE "fuzz-found"

/* -- what is fuzzed -- */

FILE *nowhere(void)
{
    static FILE *null;
    if (!null && !(null = fopen("/dev/null", "w")))
        finding("no stream can be opened");
    return null;
}

void write_file(const char *name, const char *text, size_t n)
{
    FILE *f = fopen(name, "w");
    if (!f || fwrite(text, 1, n, f) != n || fclose(f)) {
        perror(name);
        exit(1);
    }
}

void read_back(kept_file *f)
{
    struct stat sb;
    FILE *fp = fopen(f->name, "rb");
    free(f->bytes);
    f->bytes = NULL;
    f->n = 0;
    if (!fp || fstat(fileno(fp), &sb)) {
        if (fp)
            fclose(fp);
        return;
    }
    f->n = (size_t)sb.st_size;
    f->bytes = malloc(f->n + 1);
    if (fread(f->bytes, 1, f->n, fp) != f->n)
        finding("'%s' cannot be read", f->name);
    fclose(fp);
}

void finding(const char *what, ...)
{
    va_list ap;
    va_start(ap, what);
    fputs("fuzz: ", stderr);
    vfprintf(stderr, what, ap);
    fputs("\n", stderr);
    va_end(ap);
    abort();
}

size_t next_mark(const char *s, size_t n, size_t from)
{
    static const char mark[] = "\n*---\n";
    const size_t len = sizeof mark - 1;
    for (; from + len <= n; from++)
        if (!memcmp(s + from, mark, len))
            return from;
    return n;
}

/* Writes what follows the first line "*---" to the file `other` (wires, tables), and what follows
 * the second one to the start-up file. Returns the length of the deck in front of them. */
static size_t write_parts(const char *text, size_t n)
{
    const size_t deck = next_mark(text, n, 0), other = deck < n ? deck + 6 : n;
    const size_t end = next_mark(text, n, other), start = end < n ? end + 6 : n;
    write_file("other", text + other, end - other);
    write_file(".spiceinit", text + start, n - start);
    return deck;
}

/* The start-up file there is the user's own. */
const char *variable(void *user, const char *name)
{
    (void)user;
    return strcmp(name, "HOME") ? NULL : ".";
}

/* The file `input` is the deck itself: tables, sections and includes that name it are read too. */
static void fuzz_net(const char *text, size_t n)
{
    n = write_parts(text, n);
    write_file("input", text, n);
    diag d;
    str_pool names;
    arena mem;
    diag_init(&d);
    str_pool_init(&names);
    arena_init(&mem);
    net_deck deck;
    if (net_read_text(&deck, &d, &names, &mem, "fuzz", text, n, NULL) == VS_OK) {
        flat f;
        if (flat_build(&f, &deck, &d, &names, &mem, 27, NULL, 0, NULL, NULL) != VS_OK && !d.n_error)
            abort(); /* refused without a message */
    } else if (!d.n_error) {
        abort();
    }
    arena_fini(&mem);
    str_pool_fini(&names);
    diag_fini(&d);
}

static void fuzz_va(const char *text, size_t n)
{
    diag d;
    str_pool names;
    diag_init(&d);
    str_pool_init(&names);
    va_unit u = {0};
    const va_opt o = {0};
    if (va_compile_text(&u, &d, &names, "fuzz", text, n, &o) != VS_OK && !d.n_error)
        abort();
    va_unit_fini(&u);
    str_pool_fini(&names);
    diag_fini(&d);
}

static void read_matrix(void)
{
    diag d;
    arena mem;
    csc a;
    spa_mm info;
    diag_init(&d);
    arena_init(&mem);
    if (spa_mm_read(&a, &info, &d, "input", &mem) != VS_OK && !d.n_error)
        abort();
    arena_fini(&mem);
    diag_fini(&d);
}

static void read_plots(void)
{
    for (int32_t k = 0; k < 3; k++) {
        out_plot p;
        const char *why = NULL;
        if (out_read(&p, "input", k, &why) != VS_OK) {
            if (!why)
                abort();
            break;
        }
        out_plot_free(&p);
    }
}

/* Windows and cursors of each plot: they may fail with a sentence, no more. */
static void look_at_plot(idx *x, int32_t k)
{
    const idx_plot *p = idx_plot_of(x, k);
    const idx_window w = {NAN, NAN, 3, p->n_vec % 2 == 0, p->n_vec % 3 == 0};
    const int32_t col = p->n_vec - 1;
    const char *why = NULL;
    double axis[2], y[2];
    int64_t at;
    idx_view v;
    if (idx_look(x, k, &w, &col, 1, &v, &why) != VS_OK && !why)
        abort();
    idx_view_fini(&v);
    if (idx_at(x, k, 1e-9, &col, 1, &at, axis, y, &why) != VS_OK && !why)
        abort();
}

static void read_index(void)
{
    idx *x;
    const char *why = NULL;
    if (idx_open(&x, "input", false, &why) != VS_OK) {
        if (!why)
            abort();
        return;
    }
    for (int32_t k = 0; k < idx_n_plot(x) && k < 3; k++)
        look_at_plot(x, k);
    (void)idx_refresh(x);
    idx_close(&x);
}

static void fuzz_raw(const char *text, size_t n)
{
    write_file("input", text, n);
    if (spa_mm_is("input")) {
        read_matrix();
        return;
    }
    read_plots();
    read_index();
}

static int n_asked;

void ask_anew(void) { n_asked = 0; }

bool was_stopped(void) { return n_asked > MOST_ASKED; }

bool enough(void *user)
{
    (void)user;
    return ++n_asked > MOST_ASKED;
}

/* The deck `input` in the interpreter: its block, or else its analyses; each loop or analysis ends
 * after 2000 steps. */
static void run_input(bool block)
{
    const net_opt no = {.init = !block};
    diag d;
    str_pool names;
    sim *s;
    mdl_lib *lib = NULL;
    const mdl_opt mo = {.interpret = true};
    diag_init(&d);
    d.variable = variable;
    str_pool_init(&names);
    if (!(s = sim_new(&d, &names)) || mdl_lib_new(&lib, &d, &names, &mo) != VS_OK)
        abort();
    sim_opts(s)->hook.stop = enough;
    sim_opts(s)->lib = lib;
    n_asked = 0;
    vs_status st = sim_read(s, "input", &no);
    if (!st)
        st = sim_read_options(s);
    if (!st)
        st = sim_flatten(s);
    if (!st) {
        const ctl_opt o = {.log = nowhere(), .quiet = true, .version = "fuzz"};
        bool quit;
        int code;
        if (ctl_check(s, block) != VS_OK && !d.n_error)
            abort();
        ctl *c = ctl_new(s, &o);
        ctl_want(s);
        st = block ? ctl_run(c, &quit, &code) : ctl_deck(c, false);
        ctl_free(&c);
    }
    if (st < 0 && !block && !d.n_error && n_asked <= MOST_ASKED)
        abort(); /* no results, and not a word */
    sim_free(&s);
    mdl_lib_free(&lib);
    str_pool_fini(&names);
    diag_fini(&d);
}

/* Some elements and the input between .control and .endc. */
static void fuzz_control(const char *text, size_t n)
{
    static const char head[] =
        "fuzz\n.param k=2\nV1 in 0 dc 1 ac 1 pulse(0 1 1u 1u 1u 5u 20u)\nR1 in out {k*1k}\n"
        "C1 out 0 1n\n.tran 1u 20u\n.control\n";
    static const char tail[] = "\n.endc\n.end\n";
    char *deck = NULL;
    vec_extend(deck, sizeof head + n + sizeof tail);
    const size_t len =
        (size_t)snprintf(deck, sizeof head + n + sizeof tail, "%s%.*s%s", head, (int)n, text, tail);
    write_file("input", deck, len);
    vec_free(deck);
    run_input(true);
}

/* A whole deck, with the files of write_parts: what builds its circuit, and its analyses. */
static void fuzz_deck(const char *text, size_t n)
{
    n = write_parts(text, n);
    write_file("input", text, n);
    run_input(false);
}

/* The lines of a journal, each with the sum of all lines up to it, which a mutation would break:
 * what is behind the sums shall be reached. What stands behind "\t#" was a sum and is left out. */
void write_sealed(const char *name, const char *s, size_t n)
{
    FILE *f = fopen(name, "w");
    uint64_t sum = 0xcbf29ce484222325u; /* FNV-1a, as swp_book.c has it */
    for (size_t from = 0; f && from < n;) {
        const char *end = memchr(s + from, '\n', n - from);
        const size_t line = end ? (size_t)(end - s) - from : n - from;
        size_t len = line;
        for (size_t i = 0; i + 1 < line; i++)
            if (s[from + i] == '\t' && s[from + i + 1] == '#') {
                len = i;
                break;
            }
        for (size_t i = 0; i < len; i++)
            sum = (sum ^ (unsigned char)s[from + i]) * 0x100000001b3u;
        fwrite(s + from, 1, len, f);
        fprintf(f, "\t#%016llx\n", (unsigned long long)sum);
        from += line + 1;
    }
    if (!f || fclose(f)) {
        perror(name);
        exit(1);
    }
}

/* A journal and its results, 4096 zeros: read, and merged as the only part of a sweep. */
static void fuzz_journal(const char *text, size_t n)
{
    static const char zero[4096];
    char why[300] = "";
    vs_status worst;
    arena mem;
    swp_journal j;
    write_file("part", zero, sizeof zero);
    write_sealed("part.journal", text, n);
    arena_init(&mem);
    if (swp_journal_open(&j, "part.journal", &mem)) {
        while (swp_journal_next(&j, &mem))
            (void)swp_sum_is(-1, j.start, j.end, j.sum);
        swp_journal_close(&j);
    }
    arena_fini(&mem);
    const char *part = "part";
    if (swp_merge("out", "table", &part, 1, nowhere(), nowhere(), &worst, why) != VS_OK && !*why)
        abort();
}

/* Lines: an expression each, or behind ".meas " a measure, over a plot of 9 points in time. */
static void eval_line(post_env *e, const char *s)
{
    post_val v;
    post_meas m;
    const int before = e->d->n_error;
    bool ok;
    if (!strncmp(s, ".meas ", 6)) {
        ok = post_measure(e, s + 6, DIAG_NOWHERE, &m) == VS_OK;
    } else {
        const char *rest = s;
        for (ok = true; ok && rest;)
            ok = post_eval_next(e, &rest, &v) || e->d->n_error == before;
    }
    if (!ok && e->d->n_error == before)
        abort();
}

static void fuzz_expr(const char *text, size_t n)
{
    static const char *const name[] = {"time", "v(out)", "v(in)", "i(v1)", "z"};
    diag d;
    str_pool names;
    arena mem;
    post_set set;
    uint64_t seed = 1;
    diag_init(&d);
    str_pool_init(&names);
    arena_init(&mem);
    post_set_init(&set, &names);
    post_plot *p = post_plot_new(&set, "tran", "fuzz", "Transient Analysis");
    for (size_t i = 0; i < VS_COUNT(name); i++) {
        post_vec *v = post_plot_add(&set, p, name[i], i ? "voltage" : "time", i == 4);
        for (int k = 0; k < 9; k++)
            post_vec_push(v, i ? (k % 4) * (double)i - 2 : k * 1e-6, k);
        if (!i)
            p->scale = v;
    }
    char *all = vs_malloc(n + 1);
    memcpy(all, text, n);
    all[n] = 0;
    for (char *line = all, *end; line < all + n; line = end + 1) {
        end = line + strcspn(line, "\n");
        *end = 0;
        post_env e = {.set = &set, .d = &d, .span = DIAG_NOWHERE, .mem = &mem, .seed = &seed};
        eval_line(&e, line);
        const char **list = NULL;
        post_names(&names, line, &list);
        vec_free(list);
    }
    vs_free(all);
    post_set_fini(&set);
    arena_fini(&mem);
    str_pool_fini(&names);
    diag_fini(&d);
}

static const char kept_text[] =
    "`include \"disciplines.vams\"\n"
    "module kept(a, c); inout a, c; electrical a, c, b;\n"
    "parameter real g = 1e-3 from (0:inf); parameter integer n = 3 from [1:9];\n"
    "parameter string kind = \"exp\" from '{\"exp\", \"lin\"};\naliasparam gg = g;\n"
    "(* desc=\"current\" *) real i0;\nreal s, v; integer k;\nanalog begin\n"
    "v = V(a, b); s = 0;\nfor (k = 0; k < n; k = k + 1) s = s * v + 1.0 / (k + 1);\n"
    "if (kind == \"exp\") i0 = g * (limexp(v) - 1) * s; else i0 = g * v * s;\n"
    "I(a, b) <+ i0 + ddt(1e-12 * v * v * s) + white_noise(4e-21 * g, \"th\");\n"
    "V(b, c) <+ 10 * I(b, c);\nif ($abstime > 1) $strobe(\"v = %g\", v);\nend\nendmodule\n";

/* A run that finds a model in the folder `kept`, or makes it and leaves it there. No pass is run:
 * they trust what the front end made, and a record that fits its sums came from there. */
static void use_kept(void)
{
    const mdl_opt mo = {.jit = {.cache_dir = "kept", .opt_level = 0, .lanes = 1, .exact = true}};
    diag d;
    str_pool names;
    mdl_lib *lib = NULL;
    diag_init(&d);
    str_pool_init(&names);
    if (mdl_lib_new(&lib, &d, &names, &mo) != VS_OK)
        abort();
    /* names and messages are edited too: it may not be found */
    mdl_model *m = mdl_load(lib, "kept.va") == VS_OK ? mdl_find(lib, "kept") : NULL;
    for (int part = 0; m && part < N_MOD; part++)
        if (m->part_state[part] == FN_ON_DISK)
            (void)mdl_store_load_part(m, part);
    mdl_lib_free(&lib);
    str_pool_fini(&names);
    diag_fini(&d);
}

enum { KEPT_HEAD = 64 /* store.c: magic, key at 8, ... */, MOST_KEPT = 16 };
typedef struct kept_part { /* the first bytes say place, length and sum of those behind them */
    size_t at, place, n;
} kept_part;
static struct kept_record {
    hash128 key;
    char *data;
    size_t size, now;
    kept_part *part; /* vec */
} kept_record[MOST_KEPT];
static int n_kept;

static void find_parts(struct kept_record *r)
{
    for (size_t k = 0; k + 32 <= r->now; k++) {
        uint64_t place, n;
        memcpy(&place, r->data + k, 8);
        memcpy(&n, r->data + k + 8, 8);
        if (place % 16 || !n || place > r->size - r->now || n > r->size - r->now - place)
            continue;
        const hash128 sum = store_sum(r->data + r->now + place, n);
        if (!memcmp(&sum, r->data + k + 16, sizeof sum))
            vec_push(r->part, ((kept_part){k + 16, r->now + place, n}));
    }
}

static void make_kept(void)
{
    char name[300];
    write_file("kept.va", kept_text, sizeof kept_text - 1);
    use_kept();
    DIR *dir = opendir("kept");
    for (struct dirent *e; dir && n_kept < MOST_KEPT && (e = readdir(dir));) {
        struct kept_record *r = &kept_record[n_kept];
        char head[KEPT_HEAD];
        struct stat st;
        snprintf(name, sizeof name, "kept/%s", e->d_name);
        FILE *f = strstr(name, ".vsm") ? fopen(name, "rb") : NULL;
        if (!f)
            continue;
        if (fstat(fileno(f), &st) || fread(head, 1, sizeof head, f) != sizeof head)
            abort();
        r->size = (size_t)st.st_size - KEPT_HEAD;
        r->data = malloc(r->size);
        memcpy(&r->key, head + 8, sizeof r->key);
        memcpy(&r->now, head + 48, sizeof r->now);
        if (fread(r->data, 1, r->size, f) != r->size || r->now > r->size)
            abort();
        fclose(f);
        find_parts(r);
        n_kept++;
    }
    if (dir)
        closedir(dir);
    if (!n_kept)
        abort();
}

/* Edits of the records, 16 bytes each: which record, how many bytes, 2 of nothing, where, what. All
 * sums are made to fit again. */
static void fuzz_kept(const char *text, size_t n)
{
    char *copy[MOST_KEPT] = {NULL};
    const char *why;
    store c;
    if (!n_kept)
        make_kept();
    for (int i = 0; i < n_kept; i++) {
        copy[i] = malloc(kept_record[i].size);
        memcpy(copy[i], kept_record[i].data, kept_record[i].size);
    }
    for (; n >= 16; text += 16, n -= 16) {
        const int k = (unsigned char)text[0] % n_kept;
        const size_t bytes = (size_t)1 << ((unsigned char)text[1] & 3);
        uint32_t at;
        memcpy(&at, text + 4, sizeof at);
        if (kept_record[k].size >= bytes)
            memcpy(copy[k] + at % (kept_record[k].size - bytes + 1), text + 8, bytes);
    }
    store_open(&c, "kept", &why);
    for (int i = 0; i < n_kept; i++) {
        const struct kept_record *r = &kept_record[i];
        for (size_t k = 0; k < vec_len(r->part); k++) {
            const hash128 sum = store_sum(copy[i] + r->part[k].place, r->part[k].n);
            memcpy(copy[i] + r->part[k].at, &sum, sizeof sum);
        }
        if (store_put_now(&c, STORE_MODEL, r->key, copy[i], r->size, r->now, &why))
            abort();
        free(copy[i]);
    }
    store_close(&c);
    use_kept();
}

/* The same bytes under each ending, since the ending decides where the first bytes do not. HDF5 has
 * a target of its own. */
static void fuzz_convert(const char *text, size_t n)
{
    static const char *const name[] = {"input.s2p",     "input.ts",  "input.mat",
                                       "input.parquet", "input.psf", "input.vcd"};
    const conv_opt o = {.low = NAN, .high = NAN};
    if (n > 10 && (!memcmp(text, "\x89HDF", 4) || !memcmp(text, "MATLAB 7.3", 10)))
        return;
    for (size_t i = 0; i < VS_COUNT(name); i++) {
        char why[CONV_WHY] = "";
        str_pool names;
        post_set set;
        write_file(name[i], text, n);
        str_pool_init(&names);
        post_set_init(&set, &names);
        if (conv_read(&set, name[i], &o, why) != VS_OK && !*why)
            abort();
        post_set_fini(&set);
        str_pool_fini(&names);
    }
}

/* What the cache has behind the sum of a kernel's file: loaded and let go, never called. */
static void fuzz_kernel(const char *text, size_t n)
{
    const char *why = NULL;
    jit_code *code;
    jit_kernel kernel = NULL;
    char *pack = vs_malloc(n + 1); /* aligned, as the cache maps it */
    memcpy(pack, text, n);
    if (jit_pack_load(pack, n, &code, &kernel, &why) ? !why : !kernel)
        abort();
    jit_pack_unload(&code);
    vs_free(pack);
}

/* -- indices: edits of the index of a small file -- */

enum { INDEX_POINTS = 5000, INDEX_VECTORS = 3, INDEX_HEAD = 4096, N_LOOK = 5, MOST_CELLS = 4096 };
static char *index_made; /* vec: the whole file */
static hash128 look_made[N_LOOK];

/* The numbers that a window gives; a damaged index may give none, with a sentence. */
static hash128 sum_of_look(idx *x, int which)
{
    static const idx_window w[N_LOOK] = {{NAN, NAN, 3, false, false},
                                         {10, 3000.5, 7, false, false},
                                         {NAN, 4999, 40, true, false},
                                         {1e3, 4999, 300, false, true},
                                         {NAN, NAN, MOST_CELLS, false, false}};
    static const int32_t col[] = {2, 1, 0};
    const char *why = NULL;
    hash128 sum = {{0, 0}};
    idx_view v;
    const vs_status st = idx_look(x, 0, &w[which], col, VS_COUNT(col), &v, &why);
    if (st && !why)
        abort();
    if (!st)
        sum = hash128_of(v.y, vec_len(v.y) * sizeof *v.y);
    idx_view_fini(&v);
    return sum;
}

static void make_index(void)
{
    const char *why;
    double done = 0;
    idx *x;
    FILE *f = fopen("big", "w");
    fprintf(f,
            "Title: fuzz\nPlotname: Transient Analysis\nFlags: real\nNo. Variables: %d\n"
            "No. Points: %d\nVariables:\n0 time time\n1 v(a) voltage\n2 v(b) voltage\n"
            "Binary:\n",
            INDEX_VECTORS, INDEX_POINTS);
    for (int k = 0; k < INDEX_POINTS; k++) {
        const double row[INDEX_VECTORS] = {k, sin(0.01 * k), k % 97 ? k % 13 : NAN};
        fwrite(row, sizeof *row, INDEX_VECTORS, f);
    }
    if (fclose(f) || idx_open(&x, "big", true, &why))
        abort();
    while (done < 1)
        if (idx_build(x, 1 << 20, &done, &why))
            abort();
    for (int k = 0; k < N_LOOK; k++)
        look_made[k] = sum_of_look(x, k);
    idx_close(&x);
    f = fopen("big.idx", "rb");
    vec_extend(index_made, INDEX_HEAD + INDEX_VECTORS * sizeof(idx_record));
    if (!f || fread(index_made, 1, vec_len(index_made), f) != vec_len(index_made) ||
        fgetc(f) != EOF)
        abort();
    fclose(f);
}

/* Edits, 16 bytes each: what (1: the file ends there; 2: the sums of the records fit again), how
 * many bytes, 2 of nothing, where, the bytes. An index whose sums do not fit must change nothing;
 * where they do, its numbers may be any. */
static void fuzz_index(const char *text, size_t n)
{
    enum { CUT = 1, SEAL = 2 };
    if (!index_made)
        make_index();
    const size_t size = vec_len(index_made);
    char *copy = vs_malloc(size);
    memcpy(copy, index_made, size);
    size_t end = size;
    bool seal = false;
    for (; n >= 16; text += 16, n -= 16) {
        const size_t bytes = (size_t)1 << ((unsigned char)text[1] & 3);
        uint32_t at;
        memcpy(&at, text + 4, sizeof at);
        seal |= text[0] & SEAL;
        if (text[0] & CUT)
            end = at % (size + 1);
        else
            memcpy(copy + at % (size - bytes + 1), text + 8, bytes);
    }
    for (size_t k = 0; seal && k < INDEX_VECTORS; k++) {
        idx_record r;
        memcpy(&r, copy + INDEX_HEAD + k * sizeof r, sizeof r);
        idx_record_seal(&r, true);
        memcpy(copy + INDEX_HEAD + k * sizeof r, &r, sizeof r);
    }
    write_file("big.idx", copy, end);
    vs_free(copy);
    const char *why = NULL;
    idx *x;
    if (idx_open(&x, "big", true, &why))
        abort(); /* the results are whole, whatever the index is */
    for (int k = 0; k < N_LOOK; k++) {
        const hash128 sum = sum_of_look(x, k);
        if (!seal && memcmp(&sum, &look_made[k], sizeof sum))
            abort();
    }
    look_at_plot(x, 0);
    idx_close(&x);
}

/* -- requests -- */

/* A head as a browser sends it, without the empty line: what is accepted must name this server. */
static void fuzz_http(const char *text, size_t n)
{
    enum { PORT = 4000, FEW = 5 };
    static const char secret[] = "00112233445566778899aabbccddeeff";
    http_request q = {0};
    bool keep;
    char *head = vs_malloc(n + 1), value[64], few[FEW];
    memcpy(head, text, n);
    head[n] = 0;
    const bool named = strstr(head, "127.0.0.1:4000") || strstr(head, "localhost:4000");
    const bool origin = strstr(head, "http://"), known = strstr(head, secret);
    const int status = http_parse(head, n, PORT, &q, &keep);
    if (!status && (!named || (q.post && !origin)))
        abort();
    if (!status && http_unlock(&q, secret)) {
        if (!known || (http_value(q.query, "g", value, sizeof value) && !memchr(value, 0, 64)))
            abort();
        (void)http_value(q.query, "window", few, sizeof few);
    }
    vs_free(head);
}

static const struct target {
    const char *name;
    void (*run)(const char *text, size_t n);
    bool bytes; /* no text: nothing in it could name a file */
} targets[] = {{"net", fuzz_net, false},         {"va", fuzz_va, false},
               {"control", fuzz_control, false}, {"raw", fuzz_raw, false},
               {"journal", fuzz_journal, false}, {"expr", fuzz_expr, false},
               {"kept", fuzz_kept, true},        {"convert", fuzz_convert, true},
               {"kernel", fuzz_kernel, true},    {"index", fuzz_index, true},
               {"http", fuzz_http, true},        {"deck", fuzz_deck, false},
               {"change", fuzz_change, false},   {"checkpoint", fuzz_checkpoint, true},
               {"sweep", fuzz_sweep, true},      {"results", fuzz_results, false},
               {"reports", fuzz_reports, false}, {"matrix", fuzz_matrix, true},
               {"rank", fuzz_rank, true},        {"memory", fuzz_memory, false},
               {"module", fuzz_module, true},    {"relay", fuzz_relay, true},
#ifdef FUZZ_HDF5
               {"hdf5", fuzz_hdf5, true}
#endif
};

/* Names that lead out of the folder are made harmless: a slash stays only behind a letter, digit or
 * bracket, or before a blank, bracket or digit, where it divides. "~" is the folder itself, see
 * `variable`. */
static size_t tame(char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char before = i ? s[i - 1] : ' ', next = i + 1 < n ? s[i + 1] : ' ';
        const bool divides = isalnum((unsigned char)before) || before == ')' || before == '/' ||
                             isdigit((unsigned char)next) || next == ' ' || next == '(';
        if ((s[i] == '/' && !divides) || (s[i] == '.' && before == '.'))
            s[i] = '*';
    }
    return n;
}

static void enter_folder(void)
{
    char memory[] = "/dev/shm/vsim-fuzz-XXXXXX", disk[] = "/tmp/vsim-fuzz-XXXXXX";
    const char *folder = mkdtemp(memory);
    folder = folder ? folder : mkdtemp(disk);
    if (!folder || chdir(folder)) {
        perror(disk);
        exit(1);
    }
}

#ifdef FUZZ_LIBFUZZER

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    enter_folder();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static char text[MOST + 1];
    if (n > MOST)
        return -1;
    memcpy(text, data, n);
    targets[FUZZ_LIBFUZZER].run(text, targets[FUZZ_LIBFUZZER].bytes ? n : tame(text, n));
    return 0;
}

#else

/* -- coverage: called at each edge where the compiler does that -- */

typedef struct coverage {
    int n_new_edge;
    uint8_t seen[1 << MAP_BITS];
} coverage;
static coverage own_coverage, *cover = &own_coverage;

void __sanitizer_cov_trace_pc(void);
__attribute__((no_sanitize_coverage, no_sanitize("address", "undefined"))) void
__sanitizer_cov_trace_pc(void)
{
    const uintptr_t pc = (uintptr_t)__builtin_return_address(0);
    uint8_t *e = &cover->seen[(pc ^ pc >> MAP_BITS) & ((1 << MAP_BITS) - 1)];
    cover->n_new_edge += !*e;
    *e = 1;
}

#ifdef FUZZ_HDF5
/* Of a target whose inputs run in children. */
static void share_coverage(void)
{
    coverage *c = mmap(NULL, sizeof *c, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (c == MAP_FAILED)
        finding("no memory can be shared");
    *c = *cover;
    cover = c;
}
#endif

/* -- mutation -- */

typedef struct input {
    char *s;    /* vec */
    bool found; /* by reaching new code */
} input;

static input *corpus; /* vec */
static uint64_t rng = 1;

static uint64_t below(uint64_t n)
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return n ? rng % n : 0;
}

static void cut(char *s, size_t *n, size_t at, size_t len)
{
    memmove(s + at, s + at + len, *n - at - len);
    *n -= len;
}

static void paste(char *s, size_t *n, size_t at, const char *t, size_t len)
{
    if (*n + len > MOST)
        return;
    memmove(s + at + len, s + at, *n - at);
    memmove(s + at, t, len);
    *n += len;
}

/* The word (or the run of other characters) around a place. */
static void word_at(const char *s, size_t n, size_t *at, size_t *len)
{
    size_t a = *at, b = a;
    while (a > 0 && isalnum((unsigned char)s[a - 1]))
        a--;
    while (b < n && isalnum((unsigned char)s[b]))
        b++;
    *at = a;
    *len = b > a ? b - a : n > a;
}

static void mutate_once(char *s, size_t *n)
{
    static const char *const odd[] = {"{",
                                      "}",
                                      "(",
                                      ")",
                                      "'",
                                      "\"",
                                      "\n",
                                      "\n+",
                                      "=",
                                      ",",
                                      "*",
                                      "-",
                                      "1e999",
                                      "-1",
                                      "0",
                                      "nan",
                                      "1e-320",
                                      "2147483648",
                                      "9999999999999999999",
                                      "\\",
                                      "$",
                                      ";",
                                      "[",
                                      "]",
                                      ".",
                                      "^",
                                      "**",
                                      "?",
                                      ":",
                                      "\xff",
                                      "\t",
                                      "//",
                                      "/*",
                                      "`",
                                      "@",
                                      "#",
                                      "<",
                                      "<<",
                                      ".end\n",
                                      "m=0",
                                      "0.0",
                                      "inf"};
    const char *t = odd[below(VS_COUNT(odd))];
    const input *other = &corpus[below(vec_len(corpus))];
    char part[256];
    size_t at = below(*n + 1), len = 1 + below(below(8) ? 6 : 200);
    if (len > *n - at)
        len = *n - at;
    switch (below(9)) {
    case 0:
        if (at < *n)
            s[at] ^= (char)(1 << below(8));
        break;
    case 1:
        if (at < *n)
            s[at] = (char)below(256);
        break;
    case 2: cut(s, n, at, len); break;
    case 3: paste(s, n, at, t, strlen(t)); break;
    case 4: /* a part of another input */
        if (vec_len(other->s)) {
            const size_t from = below(vec_len(other->s)), m = below(vec_len(other->s) - from + 1);
            paste(s, n, at, other->s + from, m < 120 ? m : 120);
        }
        break;
    case 5: /* a part twice */
        len = len < sizeof part ? len : sizeof part;
        memcpy(part, s + at, len);
        paste(s, n, at, part, len);
        break;
    case 6: /* a word elsewhere */
    case 7:
        word_at(s, *n, &at, &len);
        if (len < sizeof part && at + len <= *n) {
            memcpy(part, s + at, len);
            size_t to = below(*n + 1), old;
            word_at(s, *n, &to, &old);
            if (to + old <= *n)
                cut(s, n, to, old);
            paste(s, n, to, part, len);
        }
        break;
    case 8:
        word_at(s, *n, &at, &len);
        if (at + len <= *n)
            cut(s, n, at, len);
        paste(s, n, at, t, strlen(t));
        break;
    }
}

static size_t make(char *s)
{
    const input *parent = &corpus[below(vec_len(corpus))];
    size_t n = vec_len(parent->s);
    memcpy(s, parent->s, n);
    for (uint64_t k = 1 + below(below(4) ? 4 : 24); k > 0; k--)
        mutate_once(s, &n);
    return n;
}

/* -- the run -- */

static char text[2 * MOST];
static size_t n_text;
static char found_path[PATH_MAX];

static void save_finding(void)
{
    FILE *f = fopen(found_path, "w");
    if (!f)
        return;
    fwrite(text, 1, n_text, f);
    fclose(f);
    fprintf(stderr, "fuzz: the input is in %s\n", found_path);
}

static void on_signal(int sig)
{
    signal(sig, SIG_DFL);
    signal(SIGABRT, SIG_DFL);
    const bool late = sig == SIGPROF || sig == SIGALRM;
    fprintf(stderr, "fuzz: signal %d%s\n", sig, late ? ": no end within the limit" : "");
    save_finding();
    raise(late ? SIGABRT : sig);
}

/* ASan and UBSan: report, then SIGABRT. A sanitizer keeps its own handler of bad accesses. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "abort_on_error=1:detect_leaks=0"; }

const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
    return "abort_on_error=1:halt_on_error=1:print_stacktrace=1";
}

static void catch_signals(void)
{
    signal(SIGABRT, on_signal);
    signal(SIGPROF, on_signal);
    signal(SIGALRM, on_signal);
#ifndef __SANITIZE_ADDRESS__
    signal(SIGSEGV, on_signal);
    signal(SIGBUS, on_signal);
    signal(SIGFPE, on_signal);
    signal(SIGILL, on_signal);
#endif
}

static void add_input(const char *s, size_t n, bool found)
{
    input in = {.found = found};
    vec_extend(in.s, n);
    memcpy(in.s, s, n);
    vec_push(corpus, in);
}

static void add_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(1);
    }
    n_text = fread(text, 1, MOST, f);
    fclose(f);
    add_input(text, n_text, false);
}

static void add_path(const char *path)
{
    struct stat st;
    DIR *dir = stat(path, &st) || !S_ISDIR(st.st_mode) ? NULL : opendir(path);
    if (!dir) {
        add_file(path);
        return;
    }
    for (struct dirent *e; (e = readdir(dir));) {
        char name[PATH_MAX];
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        if (e->d_name[0] != '.')
            add_file(name);
    }
    closedir(dir);
}

static void run_one(const struct target *t)
{
    const struct itimerval limit = {.it_value.tv_sec = LIMIT}, none = {0},
                           wait = {.it_value.tv_sec = WAIT};
    char *copy = malloc(n_text + 1); /* its own allocation: reading beyond the end is seen */
    memcpy(copy, text, n_text);
    setitimer(ITIMER_PROF, &limit, NULL);
    setitimer(ITIMER_REAL, &wait, NULL);
    t->run(copy, n_text);
    setitimer(ITIMER_PROF, &none, NULL);
    setitimer(ITIMER_REAL, &none, NULL);
    free(copy);
}

static void empty_folder(const char *folder)
{
    char name[PATH_MAX];
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        snprintf(name, sizeof name, "%s/%s", folder, e->d_name);
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
            unlink(name);
    }
    if (dir)
        closedir(dir);
}

/* What the inputs wrote; no input makes folders, only the target `kept` has one. */
static void leave_folder(void)
{
    char folder[PATH_MAX];
    empty_folder("kept");
    rmdir("kept");
    empty_folder(".");
    if (getcwd(folder, sizeof folder))
        rmdir(folder);
}

static void keep_input(const char *folder, long k)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/new%06ld", folder, k);
    write_file(path, text, n_text);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    long runs = -1, done = 0;
    double limit = 10;
    const char *keep = NULL;
    int opt;
    while ((opt = getopt(argc, argv, "n:t:s:k:")) != -1) {
        if (opt == 'n')
            runs = atol(optarg);
        else if (opt == 't')
            limit = atof(optarg);
        else if (opt == 's')
            rng = strtoull(optarg, NULL, 10) * 2654435761u + 1;
        else if (opt == 'k')
            keep = realpath(optarg, NULL);
        else
            return 2;
    }
    const struct target *t = NULL;
    for (size_t i = 0; i < VS_COUNT(targets) && optind < argc; i++)
        if (!strcmp(targets[i].name, argv[optind]))
            t = &targets[i];
    if (!t || optind + 1 >= argc) {
        fprintf(stderr,
                "usage: fuzz net|va|control|raw|journal|expr|kept|convert|kernel|index|http|deck|"
                "change|checkpoint|sweep|results|reports|matrix|rank|memory|module|relay|hdf5 "
                "[-n RUNS] [-t SECONDS] [-s SEED] [-k FOLDER] INPUT...\n");
        return 2;
    }
    for (int i = optind + 1; i < argc; i++)
        add_path(argv[i]);
    snprintf(found_path, sizeof found_path, "%s/%s-%s", getcwd(text, sizeof text), FOUND_FILE,
             t->name);
    enter_folder();
    catch_signals();
#ifdef FUZZ_HDF5
    if (t->run == fuzz_hdf5)
        share_coverage();
#endif
    const size_t n_seed = vec_len(corpus);
    for (size_t i = 0; i < n_seed; i++) {
        n_text = vec_len(corpus[i].s);
        memcpy(text, corpus[i].s, n_text);
        run_one(t);
    }
    const double t0 = seconds();
    for (; runs < 0 ? seconds() - t0 < limit : done < runs; done++) {
        n_text = make(text);
        if (!t->bytes)
            n_text = tame(text, n_text);
        cover->n_new_edge = 0;
        run_one(t);
        if (!cover->n_new_edge)
            continue;
        add_input(text, n_text, true);
        if (keep)
            keep_input(keep, done);
    }
    leave_folder();
    int edges = 0;
    for (size_t i = 0; i < sizeof cover->seen; i++)
        edges += cover->seen[i];
    printf("%s: %ld inputs in %.1f s, %zu seeds, %zu that reached new code, %d edges, no finding\n",
           t->name, done, seconds() - t0, n_seed, vec_len(corpus) - n_seed, edges);
    return 0;
}

#endif
