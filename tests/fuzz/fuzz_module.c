/* fuzz_module.c - the target `module`: bytes become a Verilog-A module that is always valid (nested
 * if, case and loops, functions, arrays, parameters of all types, ddx, ddt, laplace, idt, noise,
 * limiting, branches of both kinds, nodes that collapse), which goes through front end,
 * derivatives, specialisation, hoisting and code generator.
 * Input:  a head of 12 bytes (form, lanes, parameters, seed of the points), then what the generator
 *         draws; without bytes it draws 0.
 * At random points: exact machine code gives the interpreter's bits, whatever the lanes, rows and
 * pieces; fast code gives the same bits in all lanes and pieces, within the bound of mdl_compare.h;
 * a specialised function is the whole one within the bounds of both (ir_bound); where a function is
 * continuous, the slope between two points is in the range of its derivative between them
 * (intervals of ir_bound). */
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "mdl_compare.h"
#include "mdl_priv.h"

/* -- the text -- */

enum { MOST_DEPTH = 4, MOST_TEXT = 9000, N_REAL = 5, N_PARAM = 4, N_ARRAY = 4 };

typedef struct gen {
    const unsigned char *at;
    size_t left;
    char *text;   /* vec */
    int depth;    /* of blocks */
    bool inside;  /* a function: no probes, no variables of the module */
    bool in_loop; /* no analog operators there */
    bool bare;    /* arguments out of range too */
} gen;

static unsigned draw(gen *g, unsigned below)
{
    const unsigned v = g->left ? *g->at : 0;
    g->at += g->left > 0;
    g->left -= g->left > 0;
    return v % below;
}

__attribute__((format(printf, 2, 3))) static void put(gen *g, const char *what, ...)
{
    char s[400];
    va_list ap;
    va_start(ap, what);
    const int n = vsnprintf(s, sizeof s, what, ap);
    va_end(ap);
    const size_t had = vec_len(g->text);
    vec_extend(g->text, (size_t)n);
    memcpy(g->text + had, s, (size_t)n);
}

static bool is_long(const gen *g) { return vec_len(g->text) > MOST_TEXT || !g->left; }

static void put_real(gen *g, int depth);

static void put_integer(gen *g, int depth)
{
    static const char *const op[] = {"+", "-", "*", "/", "%", "&", "|", "^"};
    switch (depth > 0 && !is_long(g) ? draw(g, 8) : draw(g, 3)) {
    case 0: put(g, "%d", (int)draw(g, 9) - 3); break;
    case 1: put(g, g->inside ? "k" : "i%u", draw(g, 2)); break;
    case 2: put(g, g->inside ? "2" : "kind"); break;
    case 3: put(g, "(~("), put_integer(g, depth - 1), put(g, "))"); break;
    case 4:
        put(g, "(("), put_integer(g, depth - 1);
        put(g, draw(g, 2) ? ") << %u)" : ") >> %u)", draw(g, 9));
        break;
    default:
        put(g, "(("), put_integer(g, depth - 1), put(g, ") %s (", op[draw(g, 8)]);
        put_integer(g, depth - 1), put(g, "))");
    }
}

static void put_condition(gen *g, int depth)
{
    static const char *const order[] = {"<", ">", "<=", ">=", "==", "!="};
    if (depth <= 0 || is_long(g)) {
        put(g, g->inside ? "(x < y)" : "(r%u < 0.5)", draw(g, N_REAL));
        return;
    }
    switch (draw(g, 7)) {
    case 0:
        put(g, "("), put_condition(g, depth - 1), put(g, draw(g, 2) ? " && " : " || ");
        put_condition(g, depth - 1), put(g, ")");
        break;
    case 1: put(g, "(!"), put_condition(g, depth - 1), put(g, ")"); break;
    case 2:
        put(g, "("), put_integer(g, 1), put(g, " %s ", order[draw(g, 6)]), put_integer(g, 1);
        put(g, ")");
        break;
    case 3:
        put(g,
            g->inside    ? "(x > 0)"
            : draw(g, 2) ? "(name == \"one\")"
                         : "(p%u > 0.5)",
            draw(g, 4));
        break;
    default:
        put(g, "("), put_real(g, depth - 1), put(g, " %s ", order[draw(g, 4)]);
        put_real(g, depth - 1), put(g, ")");
    }
}

static void put_probe(gen *g)
{
    static const char *const probe[] = {"V(a,b)", "V(a)", "V(b,c)", "V(n,c)",
                                        "V(n)",   "V(c)", "I(br)"};
    put(g, "%s", probe[draw(g, 7)]);
}

static void put_literal(gen *g)
{
    static const char *const some[] = {"0.0", "1.0",   "-1.0", "0.5",     "2.0",  "1e-3",
                                       "3.7", "-0.25", "1e3",  "1.5e-12", "300.0"};
    put(g, "%s", some[draw(g, 11)]);
}

static void put_leaf(gen *g)
{
    static const char *const of_run[] = {"$temperature / 300",
                                         "$vt",
                                         "1e6 * $abstime",
                                         "$mfactor",
                                         "1e9 * $simparam(\"gmin\")",
                                         "$param_given(p0)",
                                         "$port_connected(c)",
                                         "analysis(\"tran\")"};
    switch (draw(g, 7)) {
    case 6:
        if (g->inside)
            put(g, "1.5");
        else
            put(g, "(%s)", of_run[draw(g, 8)]);
        break;
    case 0: put_literal(g); break;
    case 1: put(g, g->inside ? "y" : "p%u", draw(g, N_PARAM)); break;
    case 2: put(g, g->inside ? "x" : "r%u", draw(g, N_REAL)); break;
    case 3:
        if (g->inside)
            put(g, "z");
        else if (draw(g, 3))
            put(g, "t[%u]", draw(g, N_ARRAY));
        else
            put(g, "t[i%u & 3]", draw(g, 2));
        break;
    default:
        if (g->inside)
            put(g, "(x - y)");
        else
            put_probe(g);
    }
}

static void put_call(gen *g, int depth)
{
    static const char *const any[] = {"sin", "cos",   "atan", "tanh", "asinh",
                                      "abs", "floor", "ceil", "int"};
    static const struct {
        const char *call, *rest;
    } of_range[] = {{"sqrt(abs(", ") + 1e-9)"},
                    {"ln(abs(", ") + 1e-6)"},
                    {"log10(1e-3 + abs(", "))"},
                    {"exp(min(3, ", "))"},
                    {"limexp(", ")"},
                    {"sinh(tanh(", "))"},
                    {"cosh(atan(", "))"},
                    {"asin(0.9 * sin(", "))"},
                    {"acos(0.9 * cos(", "))"},
                    {"acosh(1.1 + abs(", "))"},
                    {"atanh(0.8 * tanh(", "))"},
                    {"expm1(min(2, ", "))"},
                    {"ln1p(abs(", "))"},
                    {"tan(atan(", "))"}},
      bare[] = {{"sqrt(", ")"}, {"ln(", ")"}, {"exp(", ")"}, {"acos(", ")"}, {"atanh(", ")"}};
    const unsigned k = draw(g, 16);
    if (k < 6) {
        put(g, "%s(", any[draw(g, 9)]), put_real(g, depth - 1), put(g, ")");
    } else if (g->bare && k == 15) {
        const unsigned f = draw(g, 5);
        put(g, "%s", bare[f].call), put_real(g, depth - 1), put(g, "%s", bare[f].rest);
    } else {
        const unsigned f = draw(g, 14);
        put(g, "%s", of_range[f].call), put_real(g, depth - 1), put(g, "%s", of_range[f].rest);
    }
}

static void put_two(gen *g, int depth)
{
    static const char *const f[] = {"min(", "max(", "hypot(", "atan2("};
    const unsigned k = draw(g, 7);
    if (k < 4) {
        put(g, "%s", f[k]), put_real(g, depth - 1), put(g, ", "), put_real(g, depth - 1);
        put(g, ")");
    } else if (k == 4) {
        put(g, "pow(abs("), put_real(g, depth - 1),
            put(g, ") + 0.1, %s)", draw(g, 2) ? "1.7" : "-0.5");
    } else if (k == 5) {
        put(g, "pow("), put_real(g, depth - 1), put(g, ", %u)", 1 + draw(g, 4));
    } else if (!g->inside) {
        put(g, "f("), put_real(g, depth - 1), put(g, ", "), put_real(g, depth - 1), put(g, ")");
    } else {
        put(g, "(x * y)");
    }
}

static void put_real(gen *g, int depth)
{
    static const char *const op[] = {"+", "-", "*"};
    if (depth <= 0 || is_long(g)) {
        put_leaf(g);
        return;
    }
    switch (draw(g, 14)) {
    case 0:
    case 1: put_leaf(g); break;
    case 2:
    case 3: put_call(g, depth); break;
    case 4: put_two(g, depth); break;
    case 5:
        put(g, "("), put_condition(g, 1), put(g, " ? "), put_real(g, depth - 1), put(g, " : ");
        put_real(g, depth - 1), put(g, ")");
        break;
    case 6: {
        const bool bare = g->bare && draw(g, 2);
        put(g, "("), put_real(g, depth - 1), put(g, bare ? ") / (" : ") / (1.25 + abs(");
        put_real(g, depth - 1), put(g, bare ? ")" : "))");
        break;
    }
    case 7: put(g, "(-"), put_real(g, depth - 1), put(g, ")"); break;
    case 8: put(g, "(1.0 * "), put_integer(g, 2), put(g, ")"); break;
    case 9:
        if (g->inside || g->in_loop)
            put_leaf(g);
        else
            put(g, "ddx(r%u, V(%c))", draw(g, N_REAL), "abcn"[draw(g, 4)]);
        break;
    default:
        put(g, "(("), put_real(g, depth - 1), put(g, ") %s (", op[draw(g, 3)]);
        put_real(g, depth - 1), put(g, "))");
    }
}

static void put_statement(gen *g);

static void put_block(gen *g)
{
    put(g, "begin\n");
    g->depth++;
    for (unsigned n = 1 + draw(g, 3); n > 0; n--)
        put_statement(g);
    g->depth--;
    put(g, "end\n");
}

static void put_loop(gen *g)
{
    const bool before = g->in_loop;
    g->in_loop = true;
    switch (draw(g, 3)) {
    case 0:
        put(g, "for (j%d = 0; j%d < %u; j%d = j%d + 1) ", g->depth, g->depth, draw(g, 6), g->depth,
            g->depth);
        break;
    case 1: put(g, "repeat (%u) ", draw(g, 5)); break;
    case 2:
        put(g, "j%d = 0;\nwhile (j%d < 4 && ", g->depth, g->depth), put_condition(g, 1);
        put(g, ") begin\nj%d = j%d + 1;\n", g->depth, g->depth), put_block(g), put(g, "end\n");
        g->in_loop = before;
        return;
    }
    put_block(g);
    g->in_loop = before;
}

static void put_statement(gen *g)
{
    const bool flat = g->depth >= MOST_DEPTH || is_long(g);
    switch (flat ? draw(g, 5) : draw(g, 10)) {
    case 0: put(g, "i%u = ", draw(g, 2)), put_integer(g, 2), put(g, ";\n"); break;
    case 1:
        if (draw(g, 3))
            put(g, "t[%u] = ", draw(g, N_ARRAY));
        else
            put(g, "t[i%u & 3] = ", draw(g, 2));
        put_real(g, 3), put(g, ";\n");
        break;
    case 5:
        put(g, "if "), put(g, "("), put_condition(g, 2), put(g, ") "), put_block(g);
        if (draw(g, 2))
            put(g, "else "), put_block(g);
        break;
    case 6:
        put(g, "case ("), put_integer(g, 1), put(g, ")\n0: "), put_block(g), put(g, "1, 2: ");
        put_block(g), put(g, "default: "), put_block(g), put(g, "endcase\n");
        break;
    case 7: put_loop(g); break;
    case 8:
        if (g->in_loop || g->depth)
            put(g, "r0 = r1;\n");
        else
            put(g, "r%u = $limit(V(%s), \"pnjlim\", $vt, 0.6);\n", draw(g, N_REAL),
                draw(g, 2) ? "a,b" : "n,c");
        break;
    default: put(g, "r%u = ", draw(g, N_REAL)), put_real(g, 4), put(g, ";\n");
    }
}

static void put_contribution(gen *g)
{
    static const char *const branch[] = {"a,b", "b,c", "n,c", "a,c", "n,b"};
    const char *b = branch[draw(g, 5)];
    switch (draw(g, 16)) {
    case 10: put(g, "I(%s) <+ transition(", b), put_integer(g, 1), put(g, ", 0, 1n, 1n);\n"); break;
    case 11: put(g, "I(%s) <+ slew(", b), put_real(g, 2), put(g, ", 1e9, -1e9);\n"); break;
    case 12: put(g, "I(%s) <+ 1e-3 * absdelay(", b), put_real(g, 2), put(g, ", 1n);\n"); break;
    case 13: put(g, "V(n,c) <+ idtmod(1e6 * ("), put_real(g, 1), put(g, "), 0, 1.0);\n"); break;
    case 14:
        put(g, "I(%s) <+ laplace_zp(", b), put_real(g, 2);
        put(g, ", {-1e3, 0}, {-1e6, 1e5, -1e6, -1e5});\nI(%s) <+ noise_table({1, 1e-18, 1e6, ", b);
        put(g, "1e-20}, \"t\");\n");
        break;
    case 15:
        put(g, "if ("), put_condition(g, 1), put(g, ")\nV(n,c) <+ 0.1 * "), put_real(g, 1);
        put(g, ";\nelse\nI(n,c) <+ "), put_real(g, 1), put(g, ";\n");
        break;
    case 0: put(g, "I(%s) <+ ddt(1e-9 * ", b), put_real(g, 3), put(g, ");\n"); break;
    case 1: put(g, "I(%s) <+ white_noise(abs(", b), put_real(g, 2), put(g, "), \"w\");\n"); break;
    case 2:
        put(g, "I(%s) <+ flicker_noise(abs(", b), put_real(g, 2), put(g, "), 1.1, \"f\");\n");
        break;
    case 3:
        put(g, "I(%s) <+ laplace_nd(", b), put_real(g, 2), put(g, ", {1.0, p0}, {1.0, 1e-6});\n");
        break;
    case 4: put(g, "I(%s) <+ 1e-3 * idt(", b), put_real(g, 2), put(g, ", 0);\n"); break;
    case 5:
        put(g, "if ("), put_condition(g, 1), put(g, ") I(%s) <+ ", b), put_real(g, 2);
        put(g, ";\n");
        break;
    case 6: put(g, "V(br) <+ 0.1 * "), put_real(g, 2), put(g, ";\n"); break;
    case 7: put(g, "V(br) <+ ddt(1e-9 * I(br) * ("), put_real(g, 1), put(g, "));\n"); break;
    default: put(g, "I(%s) <+ ", b), put_real(g, 4), put(g, ";\n");
    }
}

static void put_module(gen *g)
{
    put(g, "`include \"disciplines.vams\"\nmodule fz(a, b, c);\ninout a, b, c;\n"
           "electrical a, b, c, n;\nbranch (b, c) br;\n");
    for (unsigned k = 0; k < N_PARAM; k++)
        put(g, "parameter real p%u = %s%s;\n", k, draw(g, 2) ? "0.5" : "1.0",
            k == 3 ? " from [0:inf)" : "");
    put(g, "parameter integer kind = %u from [0:9];\n", draw(g, 4));
    put(g, "parameter string name = \"one\" from '{\"one\", \"two\"};\naliasparam q0 = p0;\n");
    put(g,
        "analog function real f;\ninput x, y;\nreal x, y, z;\ninteger k;\nbegin\nk = 1;\nz = x;\n");
    g->inside = true;
    put(g, "if "), put_condition(g, 1), put(g, " z = "), put_real(g, 3), put(g, ";\nf = ");
    put_real(g, 3), put(g, ";\nend\nendfunction\n");
    g->inside = false;
    put(g, "(* desc=\"seen\" *) real seen;\nreal r0, r1, r2, r3, r4, t[0:3];\n"
           "integer i0, i1, j0, j1, j2, j3, j4;\nanalog begin\n");
    put(g, "i0 = kind; i1 = 1; r0 = V(a,b); r1 = p1; r2 = p2 * p0; r3 = V(n,c); r4 = 0;\n"
           "t[0] = 0; t[1] = 1; t[2] = p3; t[3] = V(a);\n");
    if (draw(g, 2)) /* a node that may collapse */
        put(g, "if (p3 > 0) I(a,n) <+ V(a,n) / p3; else V(a,n) <+ 0;\n");
    else
        put(g, "I(a,n) <+ V(a,n);\n");
    put(g, "V(br) <+ 1e-2 * I(br);\n");
    static const char *const event[] = {"initial_step", "cross(V(a,b) - 0.1, 1)", "timer(0, 1u)",
                                        "above(V(n) - 0.2) or final_step"};
    if (draw(g, 3) == 2) {
        put(g, "@(%s) begin i1 = i1 + 1; r4 = r4 + ", event[draw(g, 4)]), put_real(g, 1);
        put(g, "; end\n");
    }
    for (unsigned n = 1 + draw(g, 8); n > 0; n--)
        put_statement(g);
    for (unsigned n = 1 + draw(g, 5); n > 0; n--)
        put_contribution(g);
    put(g,
        "seen = r0;\nI(a,c) <+ 1e-3 * (r0 + r1 + r2 + r3 + r4) + 1e-4 * V(a,c);\nend\nendmodule\n");
    vec_push(g->text, 0);
}

/* -- the model -- */

static const char *shown; /* text of the module, for findings */

#define MODULE_FINDING(...)                                \
    do {                                                   \
        fprintf(stderr, "fuzz: the module:\n%s\n", shown); \
        finding(__VA_ARGS__);                              \
    } while (0)

typedef struct lab {
    diag d;
    str_pool names;
    mdl_lib *lib;
    mdl_model *m;
    int32_t row;
} lab;

/* p0: NAN, or the value of this parameter whatever the head says */
static void open_lab(lab *l, const char *text, bool whole, const unsigned char *h, double p0)
{
    static const char *const name[] = {"p0", "p1", "p2", "p3", "kind", "name"};
    static const double value[] = {0, 1, 0.5, 2, 1e-3, 7};
    static const double simparam[IR_N_SIMPARAM] = {
#define X(id, type, dflt, ...) dflt,
        IR_SIMPARAM_LIST(X)
#undef X
    };
    const mdl_opt o = {
        .interpret = true, .verify = true, .no_specialize = whole, .check_kernels = 1};
    const mdl_env env = {.temp = 300.15, .mfactor = 1 + h[6] % 2, .simparam = simparam};
    mdl_given given[VS_COUNT(name)];
    size_t n = 0;
    diag_init(&l->d);
    str_pool_init(&l->names);
    if (mdl_lib_new(&l->lib, &l->d, &l->names, &o))
        finding("no library of models");
    if (mdl_load_text(l->lib, "fz.va", text)) {
        diag_render(&l->d, stderr, false);
        MODULE_FINDING("the module is refused");
    }
    l->m = mdl_find(l->lib, "fz");
    for (size_t k = 0; k < VS_COUNT(name); k++)
        if (h[4] >> k & 1 || (!k && !isnan(p0)))
            given[n++] = (mdl_given){
                va_find_param(mdl_module(l->m), name[k]),
                !k && !isnan(p0) ? p0
                : k == 4         ? h[5] % 10
                : k == 5 ? str_id(&l->names, str_intern(&l->names, h[5] & 1 ? "two" : "one", 3))
                         : value[(h[5] / 7u + k) % VS_COUNT(value)],
                DIAG_NOWHERE};
    if (mdl_row(l->m, given, n, &env, DIAG_NOWHERE, "x1", &l->row)) {
        diag_render(&l->d, stderr, false);
        MODULE_FINDING("the parameters are refused");
    }
}

static void close_lab(lab *l)
{
    mdl_lib_free(&l->lib);
    str_pool_fini(&l->names);
    diag_fini(&l->d);
}

/* -- points -- */

static uint32_t state;
static uint32_t rnd(uint32_t below)
{
    state = state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(state >> 4) * below >> 28);
}

static double some_x(void)
{
    static const double odd[] = {0, 1, -1, 1e-12, 40, -300, 1e6};
    return rnd(6) ? ((double)rnd(4001) - 2000) / 1000 : odd[rnd(VS_COUNT(odd))];
}

/* Instances of a variant, in packs of any width. */
enum { N_INST = 16 };
typedef struct bank {
    const mdl_variant *v;
    double *x, *state, *limold; /* by instance */
    double *cache;              /* of the row */
    double dyn[IR_N_DYN];
    double *out[3]; /* [instances][n_out + n_state + n_lim]: what was written, by instance */
    size_t n_out;
} bank;

static double *some(size_t n)
{
    double *x = vs_calloc(n + 1, sizeof *x);
    for (size_t k = 0; k < n; k++)
        x[k] = some_x();
    return x;
}

static void open_bank(bank *b, const mdl_variant *v, int32_t row)
{
    const jit_layout *l = &v->lay;
    *b = (bank){.v = v};
    b->x = some((size_t)l->n_u * N_INST);
    b->state = some((size_t)l->n_state * N_INST);
    b->limold = some((size_t)l->n_lim * N_INST);
    b->cache = vs_calloc((size_t)l->n_cache + 1, sizeof(double));
    b->n_out = (size_t)(l->n_out + l->n_state + l->n_lim);
    for (int k = 0; k < 3; k++)
        b->out[k] = vs_calloc(b->n_out * N_INST + 1, sizeof(double));
    b->dyn[IR_DYN_GMIN] = 1e-12;
    b->dyn[IR_DYN_SRCFACT] = 1;
    b->dyn[IR_DYN_ITER] = 1 + rnd(3);
    b->dyn[IR_DYN_LIMIT] = rnd(2);
    b->dyn[IR_DYN_ABSTIME] = 1e-6;
    b->dyn[IR_DYN_ALPHA] = v->form == MDL_TRAN ? 1e9 : 0;
    b->dyn[IR_DYN_IS_TRAN] = v->form == MDL_TRAN || v->form == MDL_APART || v->form == MDL_BACK;
    b->dyn[IR_DYN_IS_AC] = b->dyn[IR_DYN_IS_NOISE] = v->form == MDL_AC;
    b->dyn[IR_DYN_IS_DC] = b->dyn[IR_DYN_IS_STATIC] = v->form == MDL_DC;
    mdl_setup(v, row, b->cache);
}

static void close_bank(bank *b)
{
    void *all[] = {b->x, b->state, b->limold, b->cache, b->out[0], b->out[1], b->out[2]};
    for (size_t k = 0; k < VS_COUNT(all); k++)
        vs_free(all[k]);
}

/* [i][k] of n to packs of W lanes, each number where jit.h says. */
static double *packed(const double *from, size_t n, size_t w)
{
    double *to = vs_calloc(n * N_INST + 1, sizeof *to);
    for (size_t i = 0; i < N_INST; i++)
        for (size_t k = 0; k < n; k++)
            to[(i / w * n + k) * w + i % w] = from[i * n + k];
    return to;
}

static void unpack(double *to, size_t n_to, const double *from, size_t n, size_t w)
{
    for (size_t i = 0; i < N_INST; i++)
        for (size_t k = 0; k < n; k++)
            to[i * n_to + k] = from[(i / w * n + k) * w + i % w];
}

typedef struct arrays {
    double *x, *cache, *state, *limold, *out, *state_new, *limnew;
    int32_t *map, *row_of;
    jit_batch b;
} arrays;

static void pack(arrays *a, const bank *b, const jit_layout *l)
{
    const size_t w = (size_t)l->lanes, n_u = (size_t)l->n_u, n_cache = (size_t)l->n_cache;
    a->x = vs_calloc(n_u * N_INST + 1, sizeof(double));
    memcpy(a->x + 1, b->x, sizeof(double) * n_u * N_INST);
    a->map = vs_calloc(n_u * N_INST + 1, sizeof(int32_t));
    a->row_of = vs_calloc(N_INST, sizeof(int32_t));
    for (size_t i = 0; i < N_INST; i++)
        for (size_t u = 0; u < n_u; u++)
            a->map[(i / w * n_u + u) * w + i % w] = (int32_t)(1 + i * n_u + u);
    double *each = vs_calloc(n_cache * N_INST + 1, sizeof(double));
    for (size_t i = 0; i < N_INST && n_cache; i++)
        memcpy(each + i * n_cache, b->cache, n_cache * sizeof(double));
    a->cache = l->row_per_lane ? packed(each, n_cache, w) : each;
    if (l->row_per_lane)
        vs_free(each);
    a->state = packed(b->state, (size_t)l->n_state, w);
    a->limold = packed(b->limold, (size_t)l->n_lim, w);
    a->out = vs_calloc((size_t)l->n_out * N_INST + 1, sizeof(double));
    a->state_new = vs_calloc((size_t)l->n_state * N_INST + 1, sizeof(double));
    a->limnew = vs_calloc((size_t)l->n_lim * N_INST + 1, sizeof(double));
    a->b = (jit_batch){a->x,     a->map,    a->cache, a->row_of,    b->dyn,
                       a->state, a->limold, a->out,   a->state_new, a->limnew};
}

static void drop_arrays(arrays *a)
{
    void *all[] = {a->x,   a->cache,     a->state,  a->limold, a->out,
                   a->map, a->state_new, a->limnew, a->row_of};
    for (size_t k = 0; k < VS_COUNT(all); k++)
        vs_free(all[k]);
}

static const char *nobody(const void *user, int32_t which)
{
    (void)user;
    (void)which;
    return "x1";
}

/* In two calls: each runs its packs together as far as it has some (jit_cut.c). */
static void call_parts(jit_kernel kernel, const jit_batch *b, int64_t n)
{
    const int64_t first = n - n / 4;
    kernel(b, 0, first);
    kernel(b, first, n);
}

/* kernel NULL: by the interpreter. What is written goes to b->out[to], by instance. */
static void evaluate(bank *b, jit_kernel kernel, int lanes, bool per_lane, int to, bool compare)
{
    jit_layout l = b->v->lay;
    arrays a;
    l.lanes = lanes;
    l.row_per_lane = per_lane;
    pack(&a, b, &l);
    if (kernel)
        call_parts(kernel, &a.b, N_INST / lanes);
    else if (jit_interpret(&b->v->eval, &l, &a.b, 0, N_INST / lanes))
        MODULE_FINDING("a loop does not end");
    double *out = b->out[to];
    unpack(out, b->n_out, a.out, (size_t)l.n_out, (size_t)lanes);
    unpack(out + l.n_out, b->n_out, a.state_new, (size_t)l.n_state, (size_t)lanes);
    unpack(out + l.n_out + l.n_state, b->n_out, a.limnew, (size_t)l.n_lim, (size_t)lanes);
    if (compare) {
        const int32_t inst[N_INST] = {0};
        mdl_compare_batch(b->v, per_lane, &a.b, 0, N_INST / lanes, inst, nobody, NULL);
    }
    drop_arrays(&a);
}

static void check_same(const bank *b, int one, int other, const char *what, int lanes)
{
    for (size_t k = 0; k < b->n_out * N_INST; k++) {
        const double x = b->out[one][k], y = b->out[other][k];
        if (memcmp(&x, &y, sizeof x) != 0 && !(isnan(x) && isnan(y)))
            MODULE_FINDING("%s, form %s, %d lanes, instance %zu output %zu: %.17g, not %.17g", what,
                           mdl_form_name(b->v->form), lanes, k / b->n_out, k % b->n_out, y, x);
    }
}

/* -- machine code -- */

enum { MOST_KERNELS = 60, EXACT = 0, FAST = 1 };
static const int piece_of[] = {-1, 0, 24, 90}; /* instructions in a piece, jit.h: no piece, ... */
static jit *code[2][VS_COUNT(piece_of)];       /* of EXACT, FAST */
static int n_kernel, told;

static jit *open_code(int kind, size_t piece)
{
    jit **j = &code[kind][piece];
    if (n_kernel >= MOST_KERNELS) {
        for (size_t k = 0; k < 2 * VS_COUNT(piece_of); k++)
            jit_close(&code[k % 2][k / 2]);
        n_kernel = 0;
    }
    if (!*j)
        *j = jit_open(&(jit_opt){.no_cache = true,
                                 .opt_level = 2,
                                 .exact = kind == EXACT,
                                 .piece = piece_of[piece],
                                 .threads = 1});
    return *j;
}

static jit_kernel compile(jit *j, const mdl_variant *v, int lanes, bool per_lane)
{
    jit_layout l = v->lay;
    jit_kernel kernel = NULL;
    const char *why = NULL;
    size_t bytes;
    l.lanes = lanes;
    l.row_per_lane = per_lane;
    n_kernel++;
    const vs_status st = jit_compile(j, mdl_kernel_fn(v), &l, &kernel, &bytes, &why);
    if (st == VS_EUNSUPPORTED && !told++) /* a build without LLVM: the rest is compared */
        fprintf(stderr, "fuzz: machine code is not compared: %s\n", why ? why : "");
    if (st && st != VS_EUNSUPPORTED)
        MODULE_FINDING("no code: %s", why ? why : vs_status_text(st));
    return st ? NULL : kernel;
}

static void check_code(lab *l, mdl_variant *v, const unsigned char *h)
{
    const int lanes = 2 << h[1] % 3;
    const bool per_lane = h[2] & 1;
    const size_t piece = (h[2] >> 1) % VS_COUNT(piece_of);
    bank b;
    open_bank(&b, v, l->row);
    evaluate(&b, NULL, 1, false, 0, false);
    evaluate(&b, NULL, lanes, per_lane, 1, false);
    check_same(&b, 0, 1, "interpreter", lanes);
    jit_kernel kernel = compile(open_code(EXACT, piece), v, lanes, per_lane);
    if (kernel) {
        evaluate(&b, kernel, lanes, per_lane, 1, false);
        check_same(&b, 0, 1, "exact code", lanes);
    }
    kernel = compile(open_code(FAST, 0), v, 1, false);
    if (kernel) {
        v->kernel[0] = kernel;
        evaluate(&b, kernel, 1, false, 1, true);
        v->kernel[0] = NULL;
        kernel = compile(open_code(FAST, piece), v, lanes, per_lane);
        evaluate(&b, kernel, lanes, per_lane, 2, false);
        check_same(&b, 1, 2, "fast code", lanes);
        const mdl_compared found = mdl_compare_report(l->lib, NULL);
        if (found.n_beyond) {
            (void)mdl_compare_report(l->lib, stderr);
            MODULE_FINDING("fast code, form %s: %lld numbers are beyond their bound",
                           mdl_form_name(v->form), (long long)found.n_beyond);
        }
    }
    close_bank(&b);
}

/* -- specialised and whole -- */

/* Outputs of instance 0 and bounds of their rounding, in the order of v->out; others are left out.
 */
static bool bounds(const bank *b, double *value, double *bound)
{
    const mdl_variant *v = b->v;
    const ir_fn *fn = mdl_kernel_fn(v);
    jit_layout l = v->lay;
    arrays a;
    l.lanes = 1;
    pack(&a, b, &l);
    ir_num *input = vs_calloc(vec_len(fn->in) + 1, sizeof *input);
    ir_num *val = vs_calloc(vec_len(fn->inst) + 1, sizeof *val);
    double *err = vs_calloc(vec_len(fn->inst) + 1, sizeof *err);
    jit_inputs(fn, &l, &a.b, 0, input);
    const bool ok = ir_bound(fn, input, NULL, val, err) == VS_OK;
    for (size_t o = 0; o < vec_len(fn->out) && ok; o++) {
        const ir_out *w = &fn->out[o];
        if (w->kind == IR_OUT_STATE || w->kind == IR_OUT_LIMNEW)
            continue;
        value[l.out_slot[o]] = fn->inst[w->v].type == IR_F64 ? val[w->v].f : (double)val[w->v].i;
        bound[l.out_slot[o]] = err[w->v];
    }
    vs_free(input);
    vs_free(val);
    vs_free(err);
    drop_arrays(&a);
    return ok;
}

static bool is_number(int kind)
{
    return kind == IR_OUT_RES || kind == IR_OUT_REACT || kind == IR_OUT_G || kind == IR_OUT_C ||
           kind == IR_OUT_J || kind == IR_OUT_NOISE_PSD || kind == IR_OUT_NOISE_EXP ||
           kind == IR_OUT_NOISE_GAIN || kind == IR_OUT_NOISE_GAINC;
}

static int32_t find_out(const mdl_variant *v, const mdl_out *w)
{
    for (int32_t k = 0; k < v->lay.n_out; k++)
        if (v->out[k].kind == w->kind && v->out[k].a == w->a &&
            (v->out[k].b == w->b || w->kind == IR_OUT_RES || w->kind == IR_OUT_REACT))
            return k;
    return -1;
}

/* Whether a function lacks the power of a source: the source reaches no row of it. Its gains are 0
 * then, and those of the whole function, which compare_out compares, must be. */
static bool is_unheard(const mdl_out *w, int32_t at)
{
    return at < 0 && (w->kind == IR_OUT_NOISE_PSD || w->kind == IR_OUT_NOISE_EXP);
}

/* One number of both; what a specialised function does not have is 0. */
static void compare_out(const mdl_variant *v, const mdl_out *w, double x, double y, double most)
{
    if (isfinite(x) && isfinite(y) && isfinite(most) && !(fabs(x - y) <= 2 * most + DBL_MIN))
        MODULE_FINDING("form %s, output %d of %d %d: specialised %.17g, whole %.17g, allowed %g",
                       mdl_form_name(v->form), w->kind, w->a, w->b, x, y, most);
}

static void check_whole(const lab *l, const mdl_variant *v, const lab *of_all, const mdl_variant *w)
{
    bank b, c;
    const int32_t *topology = mdl_row_topology(l->m, l->row);
    for (int32_t u = 0; u < mdl_n_unknown(l->m); u++)
        if (topology[u] != u) /* rows are sums there, or missing */
            return;
    const uint32_t from = state;
    open_bank(&b, v, l->row);
    state = from;
    open_bank(&c, w, of_all->row);
    memcpy(c.dyn, b.dyn, sizeof c.dyn);
    const size_t n = (size_t)v->lay.n_out, n_all = (size_t)w->lay.n_out;
    double *x = vs_calloc(2 * (n + n_all) + 4, sizeof *x), *y = x + 2 * n + 2;
    if (bounds(&b, x, x + n) && bounds(&c, y, y + n_all))
        for (size_t k = 0; k < n_all; k++) {
            const int32_t at = find_out(v, &w->out[k]);
            if (is_number(w->out[k].kind) && !is_unheard(&w->out[k], at))
                compare_out(v, &w->out[k], at < 0 ? 0 : x[at], y[k],
                            y[n_all + k] + (at < 0 ? 0 : x[n + (size_t)at]));
        }
    vs_free(x);
    close_bank(&b);
    close_bank(&c);
}

/* -- a function where an unknown moves -- */

/* What instance 0 computes where its unknown u may be anywhere within `by` of its value: how far
 * each value of fn may be from the one at the middle, rounding included. Probes are rounded, too.
 * jumps: it may be no continuous function of u there. */
typedef struct tube {
    ir_num *val;  /* [n_inst] at the middle */
    double *err;  /* [n_inst] */
    bool *jumps;  /* [n_inst] */
    bool is_open; /* false: a loop does not end */
} tube;

/* Where rounding or u decides. What a loop hands out has none of it, or may jump: conditions of its
 * last round say nothing about those before. */
static void mark_jumps(const ir_fn *fn, tube *t)
{
    for (size_t i = 0; i < vec_len(fn->inst); i++) {
        const ir_inst *p = &fn->inst[i];
        const bool moves = t->err[i] > 0;
        switch (p->op) {
        case IR_CONST:
        case IR_IN: break;
        case IR_FLOOR:
        case IR_CEIL:
        case IR_LPHI: t->jumps[i] = moves; break;
        case IR_SELECT:
            t->jumps[i] = t->err[p->a] > 0 || t->jumps[t->val[p->a].i ? p->b : p->c];
            break;
        default:
            for (int k = 0; k < ir_op_arity(p->op) && p->type != IR_VOID; k++) {
                const ir_val x = k == 0 ? p->a : k == 1 ? p->b : p->c;
                t->jumps[i] |= t->jumps[x] || (fn->inst[x].type != IR_F64 && t->err[x] > 0);
            }
        }
    }
}

static tube tube_of(const bank *b, const ir_fn *fn, int32_t u, double by)
{
    arrays a;
    jit_layout l = b->v->lay;
    const size_t n = vec_len(fn->inst) + 1, n_in = vec_len(fn->in);
    l.lanes = 1;
    pack(&a, b, &l);
    ir_num *input = vs_calloc(n_in + 1, sizeof *input);
    double *moved = vs_calloc(n_in + 1, sizeof *moved);
    tube t = {vs_calloc(n, sizeof *t.val), vs_calloc(n, sizeof *t.err), vs_calloc(n, 1), false};
    jit_inputs(fn, &l, &a.b, 0, input);
    for (size_t k = 0; k < n_in; k++)
        if (fn->in[k].kind == IR_IN_PROBE) {
            const int32_t hi = l.probe_hi[fn->in[k].k], lo = l.probe_lo[fn->in[k].k];
            moved[k] = (hi == u || lo == u ? by : 0) + DBL_EPSILON * (fabs(input[k].f) + by);
        }
    t.is_open = ir_bound(fn, input, moved, t.val, t.err) == VS_OK;
    if (t.is_open)
        mark_jumps(fn, &t);
    vs_free(input);
    vs_free(moved);
    drop_arrays(&a);
    return t;
}

static void drop_tube(tube *t)
{
    vs_free(t->val);
    vs_free(t->err);
    vs_free(t->jumps);
}

/* The value of an output of fn; IR_NONE: there is none, it is 0. */
static ir_val out_of(const ir_fn *fn, int kind, int32_t a, int32_t b)
{
    for (size_t o = 0; o < vec_len(fn->out); o++)
        if (fn->out[o].kind == kind && fn->out[o].a == a &&
            (fn->out[o].b == b || kind == IR_OUT_RES || kind == IR_OUT_REACT))
            return fn->out[o].v;
    return IR_NONE;
}

/* Of an output, or 0 if v is IR_NONE. */
static double error_of(const tube *t, ir_val v) { return v == IR_NONE ? 0 : t->err[v]; }

/* -- derivatives -- */

enum { N_STEP = 4 };
static const double step[N_STEP] = {1e-5, -1e-5, 2.5e-6, -2.5e-6};

/* The mean value theorem: between x and x + h, where f is continuous, it changes by h times a value
 * that its derivative g has there. So the slope is within `range` of g, g's range around its value
 * at x, whatever f is: sin(1e6 x) too. noise: how far f may be wrong, at both ends together. */
static bool fits(double f, double there, double h, double noise, double g, double range)
{
    const double slope = (there - f) / h,
                 most = range + (noise + DBL_MIN) / fabs(h) + 4 * DBL_EPSILON * fabs(slope);
    return !isfinite(g) || !isfinite(slope) || !isfinite(most) || fabs(slope - g) <= most;
}

typedef struct at_point {
    double *value; /* vec */
    mdl_out *what; /* vec */
} at_point;

static double value_of(const at_point *p, int kind, int32_t a, int32_t b)
{
    for (size_t k = 0; k < vec_len(p->what); k++)
        if (p->what[k].kind == kind && p->what[k].a == a &&
            (p->what[k].b == b || kind == IR_OUT_RES || kind == IR_OUT_REACT))
            return p->value[k];
    return 0;
}

/* Limiting off, no hidden state yet. */
static at_point point(const lab *l, const bank *b)
{
    at_point p = {NULL, NULL};
    const size_t n = (size_t)b->v->lay.n_u;
    double *x = vs_calloc(n + 1, sizeof *x);
    int32_t *place = vs_calloc(n + 1, sizeof *place);
    memcpy(x + 1, b->x, n * sizeof *x);
    for (size_t u = 0; u < n; u++)
        place[u] = (int32_t)u + 1;
    const mdl_at at = {x, place, b->dyn, NULL};
    if (mdl_point(l->m, l->row, -1, 0, &at, &p.value, &p.what) == VS_EINPUT)
        MODULE_FINDING("a point is refused");
    vs_free(x);
    vs_free(place);
    return p;
}

static void drop_point(at_point *p)
{
    vec_free(p->value);
    vec_free(p->what);
}

typedef struct slopes { /* how outputs change with unknown u */
    const lab *l;
    bank *b;
    const ir_fn *fn;
    int32_t u;
    at_point here, there;
    tube at, to, between;
    double h;
} slopes;

static void check_slope(const slopes *s, int kind, int32_t row)
{
    const int derivative = kind == IR_OUT_RES ? IR_OUT_G : IR_OUT_C;
    const ir_val f = out_of(s->fn, kind, row, -1), g = out_of(s->fn, derivative, row, s->u);
    const double before = value_of(&s->here, kind, row, -1),
                 after = value_of(&s->there, kind, row, -1),
                 is = value_of(&s->here, derivative, row, s->u);
    if (f != IR_NONE && s->between.jumps[f])
        return;
    if (!fits(before, after, s->h, error_of(&s->at, f) + error_of(&s->to, f), is,
              error_of(&s->between, g) + error_of(&s->at, g)))
        MODULE_FINDING("d%s(%d)/dx(%d) is %.9g within %g, slope %.9g over %g",
                       kind == IR_OUT_RES ? "RES" : "REACT", row, s->u, is,
                       error_of(&s->between, g), (after - before) / s->h, s->h);
}

static void check_step(slopes *s, double by)
{
    double *x = &s->b->x[s->u];
    const double old = *x;
    *x = old + by * fmax(1, fabs(old));
    s->h = *x - old;
    s->there = point(s->l, s->b);
    s->to = tube_of(s->b, s->fn, s->u, 0);
    *x = old;
    s->between = tube_of(s->b, s->fn, s->u, fabs(s->h));
    for (int32_t row = 0; row < s->b->v->lay.n_u; row++)
        if (s->at.is_open && s->to.is_open && s->between.is_open) {
            check_slope(s, IR_OUT_RES, row);
            check_slope(s, IR_OUT_REACT, row);
        }
    drop_point(&s->there);
    drop_tube(&s->to);
    drop_tube(&s->between);
}

/* Of a function that is not specialised. */
static void check_derivatives(const lab *whole)
{
    mdl_variant *v;
    bank b;
    if (mdl_variant_get(whole->m, whole->row, MDL_APART, &v))
        MODULE_FINDING("no variant");
    open_bank(&b, v, whole->row);
    b.dyn[IR_DYN_LIMIT] = 0;
    memset(b.state, 0, sizeof(double) * (size_t)v->lay.n_state * N_INST);
    slopes s = {.l = whole, .b = &b, .fn = mdl_kernel_fn(v)};
    s.here = point(whole, &b);
    for (s.u = 0; s.u < v->lay.n_u; s.u++) {
        s.at = tube_of(&b, s.fn, s.u, 0);
        for (int k = 0; k < N_STEP; k++)
            check_step(&s, step[k]);
        drop_tube(&s.at);
    }
    drop_point(&s.here);
    close_bank(&b);
}

/* -- curvature -- */

/* How an output of instance 0 changes with unknown u of the curve; g: the derivative in `curve`. */
static void check_curve(bank *b, const ir_fn *curve, const mdl_curve *c, ir_val g)
{
    const ir_fn *fn = mdl_kernel_fn(b->v);
    const ir_val f = out_of(fn, c->of.kind, c->of.a, c->of.b);
    double *x = &b->x[c->by];
    const double old = *x;
    tube at = tube_of(b, fn, c->by, 0);
    for (int s = 0; s < N_STEP && f != IR_NONE; s++) {
        *x = old + step[s] * fmax(1, fabs(old));
        const double h = *x - old;
        tube to = tube_of(b, fn, c->by, 0);
        *x = old;
        tube between = tube_of(b, fn, c->by, fabs(h)), of = tube_of(b, curve, c->by, fabs(h));
        const double before = at.val[f].f, after = to.val[f].f;
        if (at.is_open && to.is_open && between.is_open && of.is_open && !between.jumps[f] &&
            !fits(before, after, h, at.err[f] + to.err[f], c->value, of.err[g]))
            MODULE_FINDING("output of kind %d, %d %d, changes with unknown %d by %.9g within %g, "
                           "slope %.9g over %g",
                           c->of.kind, c->of.a, c->of.b, c->by, c->value, of.err[g],
                           (after - before) / h, h);
        drop_tube(&to);
        drop_tube(&between);
        drop_tube(&of);
    }
    drop_tube(&at);
}

enum { MOST_CURVES = 12 };
static void check_curves(const lab *l, const mdl_variant *v)
{
    mdl_curve *curve = NULL;
    arrays a;
    bank b;
    jit_layout lay = v->lay;
    if (lay.n_lim) /* limits move what is computed, and not the derivative */
        return;
    open_bank(&b, v, l->row);
    lay.lanes = 1;
    pack(&a, &b, &lay);
    if (mdl_curves(v, false, &a.b, 0, &curve) == VS_OK && vec_len(curve)) {
        ir_fn straight;
        ir_ifconv(&straight, &((const variant_data *)v)->curve, NULL);
        for (size_t k = 0; k < vec_len(curve) && k < MOST_CURVES; k++)
            check_curve(&b, &straight, &curve[k], straight.out[k].v);
        ir_fn_fini(&straight);
    }
    drop_arrays(&a);
    vec_free(curve);
    close_bank(&b);
}

/* -- rows that are a number -- */

/* A row of a kin must be the row of the same parameters: outputs at the same points. */
static void check_kin(const lab *l, const char *text, mdl_form_kind form, unsigned char h[12])
{
    static const double other[] = {0.25, 3, 1e3};
    const int32_t param = va_find_param(mdl_module(l->m), "p0");
    const int32_t kin = mdl_kin(l->m, l->row, param);
    const double value = other[h[7] % VS_COUNT(other)];
    const int32_t row = kin >= 0 ? mdl_kin_row(l->m, kin, value) : -1;
    lab same;
    mdl_variant *v, *w;
    bank b, c;
    if (row < 0)
        return;
    open_lab(&same, text, false, h, value);
    if (mdl_variant_get(l->m, row, form, &v) || mdl_variant_get(same.m, same.row, form, &w))
        MODULE_FINDING("no variant of a kin");
    const uint32_t from = state;
    open_bank(&b, v, row);
    state = from;
    open_bank(&c, w, same.row);
    if (v->lay.n_out == w->lay.n_out) {
        evaluate(&b, NULL, 1, false, 0, false);
        evaluate(&c, NULL, 1, false, 0, false);
        memcpy(b.out[1], c.out[0], sizeof(double) * b.n_out * N_INST);
        check_same(&b, 0, 1, "a row of a kin", 1);
    } else {
        MODULE_FINDING("a row of a kin has %d outputs, not %d", v->lay.n_out, w->lay.n_out);
    }
    close_bank(&b);
    close_bank(&c);
    close_lab(&same);
}

void fuzz_module(const char *text, size_t n)
{
    enum { HEAD = 12 };
    static const mdl_form_kind forms[] = {MDL_DC, MDL_TRAN, MDL_AC, MDL_APART, MDL_BACK};
    unsigned char h[HEAD] = {0};
    lab special, whole;
    mdl_variant *v, *w;
    memcpy(h, text, n < HEAD ? n : HEAD);
    gen g = {.at = (const unsigned char *)text + HEAD, .left = n > HEAD ? n - HEAD : 0};
    g.bare = h[3] & 1;
    put_module(&g);
    shown = g.text;
    state = h[8] + 256u * h[9] + 65536u * h[10] + 16777216u * h[11];
    open_lab(&special, g.text, false, h, NAN);
    open_lab(&whole, g.text, true, h, NAN);
    const mdl_form_kind form = forms[h[0] % VS_COUNT(forms)];
    if (mdl_variant_get(special.m, special.row, form, &v) ||
        mdl_variant_get(whole.m, whole.row, form, &w))
        MODULE_FINDING("no variant");
    check_code(&special, v, h);
    if (form != MDL_BACK)
        check_whole(&special, v, &whole, w);
    check_derivatives(&whole);
    if (form == MDL_AC)
        check_curves(&special, v);
    check_kin(&special, g.text, form, h);
    close_lab(&special);
    close_lab(&whole);
    vec_free(g.text);
}
