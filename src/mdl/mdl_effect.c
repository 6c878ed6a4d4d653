/* mdl_effect.c - $strobe and its family as lines of text. */
#include "mdl_priv.h"

#include <stdio.h>
#include <string.h>

static void add_text(char **t, const char *s)
{
    for (; *s; s++)
        vec_push(*t, *s);
}

static void add_binary(char **t, uint32_t x)
{
    int k = 31;
    while (k > 0 && !(x >> k & 1))
        k--;
    for (; k >= 0; k--)
        vec_push(*t, (char)('0' + (x >> k & 1)));
}

static double real_of(ir_num v, int type) { return type == IR_F64 ? v.f : (double)v.i; }

static int32_t integer_of(ir_num v, int type)
{
    return type == IR_F64 ? ir_eval_op(IR_F2I, v, v, v).i : v.i;
}

/* The SPICE-style suffix form of %r. */
static void add_engineering(char **t, const char *flags, double x)
{
    static const struct {
        double unit;
        const char *suffix;
    } scale[] = {{1e12, "T"}, {1e9, "G"},  {1e6, "M"},   {1e3, "K"},   {1, ""},     {1e-3, "m"},
                 {1e-6, "u"}, {1e-9, "n"}, {1e-12, "p"}, {1e-15, "f"}, {1e-18, "a"}};
    size_t k = 4;
    double size = x < 0 ? -x : x;
    if (size > 0 && size < 1e300)
        for (k = 0; k + 1 < VS_COUNT(scale) && size < scale[k].unit;)
            k++;
    char fmt[64], buf[400];
    snprintf(fmt, sizeof fmt, "%%%sg%%s", flags);
    snprintf(buf, sizeof buf, fmt, x / scale[k].unit, scale[k].suffix);
    add_text(t, buf);
}

/* One argument by a conversion; flags: what stands between % and the letter. */
static void add_arg(char **t, const str_pool *names, const char *flags, char letter, ir_num v,
                    int type)
{
    char fmt[64], buf[400];
    switch (letter) {
    case 'd':
    case 'i':
    case 't':
        snprintf(fmt, sizeof fmt, "%%%sd", flags);
        snprintf(buf, sizeof buf, fmt, integer_of(v, type));
        break;
    case 'h':
    case 'x':
    case 'o':
        snprintf(fmt, sizeof fmt, "%%%s%c", flags, letter == 'o' ? 'o' : 'x');
        snprintf(buf, sizeof buf, fmt, (unsigned)integer_of(v, type));
        break;
    case 'b': add_binary(t, (uint32_t)integer_of(v, type)); return;
    case 'c': buf[0] = (char)integer_of(v, type), buf[1] = 0; break;
    case 's':
        if (type == IR_I32) {
            add_text(t, str_of_id(names, v.i));
            return;
        } /* fallthrough: a number printed as text */
        snprintf(buf, sizeof buf, "%g", real_of(v, type));
        break;
    case 'e':
    case 'f':
    case 'g':
        snprintf(fmt, sizeof fmt, "%%%s%c", flags, letter);
        snprintf(buf, sizeof buf, fmt, real_of(v, type));
        break;
    default: add_engineering(t, flags, real_of(v, type)); return;
    }
    add_text(t, buf);
}

/* Copies the flags, width and precision at *p, at most `size` characters. */
static void take_flags(const char **p, char *flags, size_t size)
{
    size_t n = 0;
    while (**p && strchr("-+ 0123456789.#", **p)) {
        if (n + 1 < size)
            flags[n++] = **p;
        (*p)++;
    }
    flags[n] = 0;
}

void mdl_effect_text(const str_pool *names, const ir_fn *fn, const ir_effect *eff,
                     const ir_num *val, const char *who, char **text)
{
    static const char *const word[] = {
        [IR_EFF_INFO] = "info: ",     [IR_EFF_WARNING] = "warning: ", [IR_EFF_ERROR] = "error: ",
        [IR_EFF_FATAL] = "fatal: ",   [IR_EFF_FINISH] = "$finish",    [IR_EFF_STOP] = "$stop",
        [IR_EFF_DISCONTINUITY] = NULL};
    size_t next = 0;
    if (word[eff->kind])
        add_text(text, word[eff->kind]);
    for (const char *p = eff->format ? eff->format : ""; *p; p++) {
        char flags[24];
        if (*p != '%') {
            vec_push(*text, *p);
            continue;
        }
        p++;
        take_flags(&p, flags, 12); /* longer ones are cut */
        if (*p == '%' || !*p) {
            vec_push(*text, '%');
            if (!*p)
                break;
        } else if (*p == 'm' || *p == 'M') {
            add_text(text, who);
        } else if (next < vec_len(eff->arg)) {
            ir_val a = eff->arg[next++];
            char letter = *p >= 'A' && *p <= 'Z' ? (char)(*p + 32) : *p;
            add_arg(text, names, flags, letter, val[a], fn->inst[a].type);
        }
    }
    while (vec_len(*text) && vec_last(*text) == '\n')
        (void)vec_pop(*text);
}

typedef struct effect_run {
    const mdl_variant *v;
    const char *who;
    void (*line)(void *user, ir_eff_kind kind, const char *text);
    void *user;
    int what;
} effect_run;

static void report(void *user, const ir_fn *fn, const ir_effect *eff, const ir_num *val)
{
    effect_run *e = user;
    char *text = NULL;
    if (eff->kind == IR_EFF_FINISH)
        e->what |= 1;
    if (eff->kind == IR_EFF_STOP)
        e->what |= 2;
    if (eff->kind == IR_EFF_FATAL || eff->kind == IR_EFF_ERROR)
        e->what |= 4;
    if (eff->kind == IR_EFF_DISCONTINUITY)
        return;
    mdl_effect_text(e->v->model->lib->names, fn, eff, val, e->who, &text);
    vec_push(text, 0);
    e->line(e->user, (ir_eff_kind)eff->kind, text);
    vec_free(text);
}

/* Of eval what decides which effects there are: conditions and arguments. An accepted point asks
 * for it, for each instance, and nearly always nothing is said: r3_cmc has 900 values, of which
 * warnings of its voltages and currents need a sixth. */
static const ir_fn *effects_fn(const mdl_variant *v)
{
    ir_fn *fn = &((variant_data *)(uintptr_t)v)->effects; /* v is its first member */
    if (!fn->inst) {
        ir_fn eval = v->eval;
        eval.out = NULL;
        ir_opt(fn, &eval, (ir_opt_flags){0});
    }
    return fn;
}

/* A kernel pays from some hundred packs on. */
enum { FLAG_CALLS = 256 };

static void make_flag(variant_data *d, bool row_per_lane)
{
    mdl_lib *lib = d->v.model->lib;
    const char *why = NULL;
    static const int32_t slot = 0;
    jit_layout lay = d->v.lay;
    lay.row_per_lane = row_per_lane;
    lay.n_out = 1;
    lay.out_slot = &slot;
    if (!lib->jit || (!d->flag.inst && !ir_flag(&d->flag, effects_fn(&d->v))))
        return;
    jit_job job = {.eval = &d->flag, .lay = &lay, .fn_key = jit_fn_key(&d->flag), .n_out = 1};
    jit_compile_all(lib->jit, &job, 1, &why);
    if (job.st == VS_OK)
        d->flag_kernel[row_per_lane] = job.kernel;
}

bool mdl_flagged(const mdl_variant *v, bool row_per_lane, const jit_batch *b, double *flag)
{
    variant_data *d = (variant_data *)(uintptr_t)v; /* v is its first member */
    if (d->n_flag[row_per_lane] <= FLAG_CALLS && d->n_flag[row_per_lane]++ == FLAG_CALLS)
        make_flag(d, row_per_lane);
    if (!d->flag_kernel[row_per_lane])
        return false;
    jit_batch own = *b;
    own.out = flag;
    d->flag_kernel[row_per_lane](&own, 0, 1);
    return true;
}

vs_status mdl_effects(const mdl_variant *v, bool row_per_lane, const jit_batch *b, int64_t i,
                      const char *who, void (*line)(void *user, ir_eff_kind kind, const char *text),
                      void *user, int *what)
{
    effect_run e = {.v = v, .who = who, .line = line, .user = user};
    ir_host host = {.effect = report, .user = &e};
    const ir_fn *fn = effects_fn(v);
    ir_num *val = vs_calloc(vec_len(fn->inst) + 1, sizeof *val);
    ir_num *input = vs_calloc(vec_len(fn->in) + 1, sizeof *input);
    jit_layout lay = v->lay;
    lay.row_per_lane = row_per_lane;
    jit_inputs(fn, &lay, b, i, input);
    const vs_status st = ir_interp(fn, input, val, NULL, &host);
    *what = e.what;
    vs_free(val);
    vs_free(input);
    return st;
}
