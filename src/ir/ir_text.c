/* ir_text.c - the text form of a function, docs/ir.md: printer and reader. */
#include "ir_priv.h"
#include "str.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const type_name[] = {"void", "f64", "i32", "bool"};
static const char *const in_name[] = {
#define X(kind, name, cls) name,
    IR_IN_LIST(X)
#undef X
};
static const char *const out_name[] = {
#define X(kind, name) name,
    IR_OUT_LIST(X)
#undef X
};
/* same order as ir_eff_kind */
static const char *const eff_name[] = {"strobe", "display", "write",   "monitor",
                                       "debug",  "info",    "warning", "error",
                                       "fatal",  "finish",  "stop",    "discontinuity"};

/* ---- printer ---- */

/* Prints the shortest decimal that reads back as x; a NaN with its bits. */
static void print_f64(FILE *out, double x)
{
    if (isnan(x)) {
        uint64_t bits;
        memcpy(&bits, &x, sizeof bits);
        fprintf(out, "nan:%016" PRIx64, bits);
        return;
    }
    char buf[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buf, sizeof buf, "%.*g", digits, x);
        if (strtod(buf, NULL) == x)
            break;
    }
    fputs(buf, out);
    if (!strpbrk(buf, ".en")) /* e: exponent; n: inf */
        fputs(".0", out);
}

static void print_string(FILE *out, const char *s)
{
    putc('"', out);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 32 || c >= 127)
            fprintf(out, "\\x%02x", c);
        else
            putc(c, out);
    }
    putc('"', out);
}

static void print_inst(const ir_fn *fn, ir_val i, FILE *out)
{
    const ir_inst *p = &fn->inst[i];
    if (p->type != IR_VOID)
        fprintf(out, "v%d = ", i);
    fputs(ir_op_name(p->op), out);
    switch (p->op) {
    case IR_CONST:
        fprintf(out, " %s ", type_name[p->type]);
        if (p->type == IR_F64)
            print_f64(out, fn->con[p->a]);
        else if (p->type == IR_BOOL)
            fputs(fn->con[p->a] != 0 ? "true" : "false", out);
        else
            fprintf(out, "%" PRId32, (int32_t)fn->con[p->a]);
        break;
    case IR_IN: {
        const ir_input *in = &fn->in[p->a];
        fprintf(out, " %s %s %d%s", type_name[in->type], in_name[in->kind], in->k,
                in->inst ? " inst" : "");
        break;
    }
    case IR_EFFECT: {
        const ir_effect *e = &fn->eff[p->a];
        fprintf(out, " %s %d ", eff_name[e->kind], e->where);
        if (e->format)
            print_string(out, e->format);
        else
            fputs("null", out);
        for (size_t k = 0; k < vec_len(e->arg); k++)
            fprintf(out, ", v%d", e->arg[k]);
        break;
    }
    default:
        for (int k = 0; k < ir_op_arity(p->op); k++)
            fprintf(out, "%s v%d", k ? "," : "", ir_operand(p, k));
        if (p->op == IR_LIMIT)
            fprintf(out, ", %d", p->b);
    }
    putc('\n', out);
}

void ir_print(const ir_fn *fn, FILE *out)
{
    fputs("fn ", out);
    print_string(out, fn->name ? fn->name : "");
    putc('\n', out);
    int depth = 1;
    for (size_t i = 0; i < vec_len(fn->inst); i++) {
        int op = fn->inst[i].op;
        bool outdent = op == IR_ELSE || op == IR_END || op == IR_WHILE || op == IR_ENDLOOP;
        depth -= outdent;
        fprintf(out, "%*s", 2 * (depth < 20 ? depth : 20), "");
        print_inst(fn, (ir_val)i, out);
        depth += op == IR_IF || op == IR_ELSE || op == IR_LOOP || op == IR_WHILE;
    }
    for (size_t i = 0; i < vec_len(fn->out); i++) {
        const ir_out *o = &fn->out[i];
        fprintf(out, "  out %s %d %d v%d\n", out_name[o->kind], o->a, o->b, o->v);
    }
}

/* ---- reader ---- */

typedef enum token { T_END, T_WORD, T_NUMBER, T_STRING, T_EQUALS, T_COMMA, T_BAD } token;

typedef struct reader {
    ir_fn *fn;
    const char *p;
    int line;
    token tok;
    const char *word; /* of T_WORD, interned; of T_STRING, in scratch */
    double number;
    bool is_real; /* the number has a point, an exponent, or is inf or nan */
    str_pool names;
    map value; /* interned name -> value */
    struct next {
        ir_val lphi;
        const char *name;
    } *next; /* vec: lphis waiting for a name */
    arena *scratch;
    const char *why;
} reader;

/* Notes the first fault, with its line. Returns false. */
static bool wrong(reader *r, const char *what)
{
    if (!r->why)
        r->why = arena_printf(r->scratch, "line %d: %s", r->line, what);
    return false;
}

/* scan: the next token of the text. read, skip: take what they are called for and the token behind
 * it; false: it is not there, and `why` says so. */
static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '$';
}

static void scan_string(reader *r)
{
    size_t n = strcspn(r->p, "\n"), k = 0;
    char *s = arena_alloc(r->scratch, n + 1);
    const char *p = r->p + 1;
    for (; *p && *p != '"' && *p != '\n'; p++) {
        if (*p != '\\') {
            s[k++] = *p;
        } else if (p[1] == 'x' && p[2] && p[3]) {
            char hex[3] = {p[2], p[3], 0};
            s[k++] = (char)strtol(hex, NULL, 16);
            p += 3;
        } else if (p[1]) {
            s[k++] = *++p;
        }
    }
    r->tok = *p == '"' ? T_STRING : T_BAD;
    r->p = *p == '"' ? p + 1 : p;
    r->word = s;
}

/* number = ["-"] (digits ["." digits] [exponent] | "inf" | "nan" | "nan:" 16 hex digits) */
static bool scan_number(reader *r)
{
    const char *p = r->p + (*r->p == '-');
    bool inf = !strncmp(p, "inf", 3) && !is_word_char(p[3]);
    bool nan_ = !strncmp(p, "nan", 3) && !is_word_char(p[3]);
    if (!inf && !nan_ && !(*p >= '0' && *p <= '9'))
        return false;
    char *end;
    if (nan_ && p[3] == ':') {
        uint64_t bits = strtoull(p + 4, &end, 16);
        memcpy(&r->number, &bits, sizeof bits);
    } else {
        r->number = strtod(r->p, &end);
    }
    r->is_real = inf || nan_;
    for (const char *q = p; q < end; q++)
        r->is_real |= *q == '.' || *q == 'e' || *q == 'E';
    r->p = end;
    r->tok = T_NUMBER;
    return true;
}

static void scan(reader *r)
{
    for (;; r->p++) {
        if (*r->p == '#')
            r->p += strcspn(r->p, "\n");
        if (*r->p == '\n')
            r->line++;
        else if (*r->p != ' ' && *r->p != '\t' && *r->p != '\r' && *r->p != ';')
            break;
    }
    if (!*r->p) {
        r->tok = T_END;
    } else if (*r->p == '"') {
        scan_string(r);
    } else if (*r->p == '=' || *r->p == ',') {
        r->tok = *r->p++ == '=' ? T_EQUALS : T_COMMA;
    } else if (!scan_number(r)) {
        const char *p = r->p;
        while (is_word_char(*p))
            p++;
        r->tok = p > r->p ? T_WORD : T_BAD;
        r->word = str_intern(&r->names, r->p, (size_t)(p - r->p));
        r->p = p;
    }
}

static bool is_word(const reader *r, const char *w)
{
    return r->tok == T_WORD && !strcmp(r->word, w);
}

/* Index of the word in a list of names, -1 if it is not there. */
static int one_of(const reader *r, const char *const *list, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (is_word(r, list[k]))
            return (int)k;
    return -1;
}

static bool read_int(reader *r, int32_t *k)
{
    if (r->tok != T_NUMBER || r->number != floor(r->number) || fabs(r->number) > INT32_MAX)
        return wrong(r, "expected an integer");
    *k = (int32_t)r->number;
    scan(r);
    return true;
}

static bool read_type(reader *r, ir_type *t)
{
    int k = one_of(r, type_name, VS_COUNT(type_name));
    if (k <= 0)
        return wrong(r, "expected a type: f64, i32 or bool");
    *t = (ir_type)k;
    scan(r);
    return true;
}

static bool skip_comma(reader *r)
{
    if (r->tok != T_COMMA)
        return wrong(r, "expected ','");
    scan(r);
    return true;
}

static bool read_name(reader *r, ir_val *v)
{
    *v = r->tok == T_WORD ? map_get(&r->value, map_key(r->word), IR_NONE) : IR_NONE;
    if (*v == IR_NONE)
        return wrong(r, r->tok == T_WORD ? arena_printf(r->scratch, "no value '%s'", r->word)
                                         : "expected the name of a value");
    scan(r);
    return true;
}

/* operand = name | number | "true" | "false"; a literal becomes an instruction of its own.
 * want: its type, or IR_VOID: as it is written */
static bool read_operand(reader *r, ir_type want, ir_val *v)
{
    bool t = is_word(r, "true");
    if (t || is_word(r, "false")) {
        *v = ir_const_b(r->fn, t);
    } else if (r->tok != T_NUMBER) {
        return read_name(r, v);
    } else if (want == IR_F64 || (want == IR_VOID && r->is_real)) {
        *v = ir_const(r->fn, r->number);
    } else if (r->number == floor(r->number) && fabs(r->number) <= 2147483648.0) {
        *v = ir_emit(r->fn, IR_CONST, IR_I32, ir_con_index(r->fn, r->number), IR_NONE, IR_NONE);
    } else {
        return wrong(r, "expected an integer");
    }
    scan(r);
    return true;
}

/* const = "const" type literal */
static bool read_const(reader *r, ir_val *v)
{
    ir_type t;
    if (!read_type(r, &t))
        return false;
    bool literal = r->tok == T_NUMBER || is_word(r, "true") || is_word(r, "false");
    if (!literal)
        return wrong(r, "expected a constant");
    if (!read_operand(r, t, v))
        return false;
    return r->fn->inst[*v].type == t || wrong(r, "the constant is of another type");
}

/* in = "in" type kind integer ["inst"] */
static bool read_in(reader *r, ir_val *v)
{
    ir_type t;
    int32_t k;
    if (!read_type(r, &t))
        return false;
    int kind = one_of(r, in_name, IR_N_IN);
    if (kind < 0)
        return wrong(r, "expected a kind of input");
    scan(r);
    if (!read_int(r, &k))
        return false;
    bool inst = is_word(r, "inst");
    if (inst)
        scan(r);
    *v = ir_in(r->fn, (ir_in_kind)kind, k, t, inst);
    return true;
}

/* effect = "effect" kind line (string | "null") ("," operand)* */
static bool read_effect(reader *r)
{
    ir_effect e = {0};
    int kind = one_of(r, eff_name, VS_COUNT(eff_name));
    if (kind < 0)
        return wrong(r, "expected a kind of effect");
    scan(r);
    e.kind = (uint8_t)kind;
    if (!read_int(r, &e.where))
        return false;
    if (r->tok == T_STRING)
        e.format = r->word;
    else if (!is_word(r, "null"))
        return wrong(r, "expected a string or null");
    scan(r);
    while (r->tok == T_COMMA) {
        ir_val v;
        scan(r);
        if (!read_operand(r, IR_VOID, &v)) {
            vec_free(e.arg);
            return false;
        }
        vec_push(e.arg, v);
    }
    ir_effect_add(r->fn, e);
    return true;
}

/* out = "out" kind integer integer name */
static bool read_out(reader *r)
{
    int32_t a, b;
    ir_val v;
    int kind = one_of(r, out_name, IR_N_OUT);
    if (kind < 0)
        return wrong(r, "expected a kind of output");
    scan(r);
    if (!read_int(r, &a) || !read_int(r, &b) || !read_operand(r, IR_VOID, &v))
        return false;
    ir_out_add(r->fn, (ir_out_kind)kind, a, b, v);
    return true;
}

/* Whether a marker fits the regions that are open. */
static bool marker_fits(const reader *r, ir_op op)
{
    if (op == IR_IF || op == IR_LOOP)
        return true;
    if (!vec_len(r->fn->open))
        return false;
    const ir_inst *h = &r->fn->inst[vec_last(r->fn->open)];
    switch (op) {
    case IR_ELSE: return h->op == IR_IF && h->b == IR_NONE;
    case IR_END: return h->op == IR_IF && h->b != IR_NONE;
    case IR_WHILE: return h->op == IR_LOOP && h->a == IR_NONE;
    default: return h->op == IR_LOOP && h->a != IR_NONE;
    }
}

static bool read_marker(reader *r, ir_op op)
{
    ir_val cond = IR_NONE;
    if ((op == IR_IF || op == IR_WHILE) && !read_operand(r, IR_BOOL, &cond))
        return false;
    if (!marker_fits(r, op))
        return wrong(r, arena_printf(r->scratch, "'%s' does not fit here", ir_op_name(op)));
    ir_emit(r->fn, op, IR_VOID, cond, IR_NONE, IR_NONE);
    return true;
}

/* phi = "phi" name "," name, of the `if` that ended just before */
static bool read_phi(reader *r, ir_val *v)
{
    ir_val b, c;
    const ir_inst *last = vec_len(r->fn->inst) ? &vec_last(r->fn->inst) : NULL;
    if (!last || (last->op != IR_END && last->op != IR_PHI))
        return wrong(r, "a phi stands right behind the end of its if");
    ir_val iff = last->a;
    if (!read_name(r, &b) || !skip_comma(r) || !read_name(r, &c))
        return false;
    *v = ir_phi(r->fn, iff, b, c);
    return true;
}

/* lphi = "lphi" name "," name, of the loop just begun; the second may be defined later */
static bool read_lphi(reader *r, ir_val *v)
{
    ir_val init;
    ir_val last = (ir_val)vec_len(r->fn->inst) - 1;
    if (last < 0 || (r->fn->inst[last].op != IR_LOOP && r->fn->inst[last].op != IR_LPHI))
        return wrong(r, "an lphi stands right behind its loop");
    ir_val loop = r->fn->inst[last].op == IR_LOOP ? last : r->fn->inst[last].a;
    if (!read_name(r, &init) || !skip_comma(r))
        return false;
    if (r->tok != T_WORD)
        return wrong(r, "expected the name of a value");
    *v = ir_lphi(r->fn, loop, init);
    vec_push(r->next, (struct next){*v, r->word});
    scan(r);
    return true;
}

static bool read_pure(reader *r, ir_op op, ir_val *v)
{
    ir_val x[3] = {IR_NONE, IR_NONE, IR_NONE};
    for (int k = 0; k < ir_op_arity(op); k++)
        if ((k && !skip_comma(r)) || !read_operand(r, ir_operand_type(op, k), &x[k]))
            return false;
    if (op == IR_LIMIT && (!skip_comma(r) || !read_int(r, &x[1])))
        return false;
    ir_type t = op == IR_SELECT ? r->fn->inst[x[1]].type : ir_op_table[op].result;
    *v = ir_emit(r->fn, op, t, x[0], x[1], x[2]);
    return true;
}

static bool read_value(reader *r, ir_op op, ir_val *v)
{
    switch (op) {
    case IR_CONST: return read_const(r, v);
    case IR_IN: return read_in(r, v);
    case IR_PHI: return read_phi(r, v);
    case IR_LPHI: return read_lphi(r, v);
    default: return read_pure(r, op, v);
    }
}

static ir_op read_op(reader *r)
{
    for (int op = 0; op < IR_N_OP; op++)
        if (is_word(r, ir_op_name((ir_op)op))) {
            scan(r);
            return (ir_op)op;
        }
    wrong(r, r->tok == T_WORD ? arena_printf(r->scratch, "no operation '%s'", r->word)
                              : "expected an operation");
    return IR_N_OP;
}

/* statement = name "=" value | marker | effect | out */
static bool read_statement(reader *r)
{
    if (r->tok != T_WORD)
        return wrong(r, "expected a statement");
    const char *name = r->word;
    const char *p = r->p + strspn(r->p, " \t");
    if (*p != '=') {
        if (is_word(r, "out")) {
            scan(r);
            return read_out(r);
        }
        ir_op op = read_op(r);
        if (op == IR_N_OP)
            return false;
        if (op == IR_EFFECT)
            return read_effect(r);
        bool marker = op >= IR_IF && op != IR_PHI && op != IR_LPHI;
        return marker ? read_marker(r, op) : wrong(r, "a value needs a name");
    }
    scan(r);
    scan(r);
    ir_val v;
    ir_op op = read_op(r);
    if (op == IR_N_OP)
        return false;
    if (op == IR_EFFECT || (op >= IR_IF && op != IR_PHI && op != IR_LPHI))
        return wrong(r, "this is no value");
    if (map_get(&r->value, map_key(name), IR_NONE) != IR_NONE)
        return wrong(r, arena_printf(r->scratch, "'%s' is defined twice", name));
    if (!read_value(r, op, &v))
        return false;
    map_set(&r->value, map_key(name), v);
    return true;
}

/* Names of next values, which may stand behind their lphi, become values. */
static bool resolve_lphis(reader *r)
{
    for (size_t k = 0; k < vec_len(r->next); k++) {
        ir_val v = map_get(&r->value, map_key(r->next[k].name), IR_NONE);
        if (v == IR_NONE)
            return wrong(r, arena_printf(r->scratch, "no value '%s'", r->next[k].name));
        r->fn->inst[r->next[k].lphi].c = v;
    }
    return true;
}

/* function = "fn" (name | string) statement* */
static bool read_function(reader *r)
{
    scan(r);
    if (!is_word(r, "fn"))
        return wrong(r, "expected 'fn'");
    scan(r);
    if (r->tok != T_WORD && r->tok != T_STRING)
        return wrong(r, "expected the name of the function");
    r->fn->name = arena_strndup(r->scratch, r->word, strlen(r->word));
    scan(r);
    while (r->tok != T_END)
        if (!read_statement(r))
            return false;
    if (vec_len(r->fn->open))
        return wrong(r, "a region is not closed");
    return resolve_lphis(r) && ir_verify(r->fn, r->scratch, &r->why);
}

vs_status ir_read(ir_fn *fn, const char *text, arena *scratch, const char **why)
{
    reader r = {.fn = fn, .p = text, .line = 1, .scratch = scratch};
    ir_fn_init(fn, "");
    str_pool_init(&r.names);
    bool ok = read_function(&r);
    str_pool_fini(&r.names);
    map_free(&r.value);
    vec_free(r.next);
    if (why)
        *why = r.why;
    return ok ? VS_OK : VS_EINPUT;
}
