/* ir_text.c - the text form of a function, docs/ir.md: printer and reader. */
#include "ir_priv.h"

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
static const char *const eff_name[] = {"strobe", "display", "write", "monitor", "debug", "info",
    "warning", "error", "fatal", "finish", "stop", "discontinuity"};

/* ---- printer ---- */

/* The shortest decimal that reads back to x; a NaN with its bits. */
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
