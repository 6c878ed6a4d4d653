/* va_builtin.c - functions, operators and system tasks of Verilog-A, and those that are refused.
 * Source: Verilog-AMS LRM 2.4, clauses 4.3 (mathematical), 4.5 (analog operators), 9 (system). */
#include "va_ast.h"

#include <string.h>

#define MATH(name, op) {name, FC_MATH, FN_MATH, 1, 1, IR_##op}
#define MATH2(name, op) {name, FC_MATH, FN_MATH, 2, 2, IR_##op}
#define REFUSE(name) {name, FC_REFUSE, FN_REFUSE, 0, -1, 0}
#define SKIP(name) {name, FC_NOTASK, FN_SKIP, 0, -1, 0}
#define PRINT(name, kind) {name, FC_TASK, FN_PRINT, 0, -1, IR_EFF_##kind}

/* A mathematical function may also be written with a leading $. */
const va_builtin va_builtins[] = {
    MATH("exp", EXP),
    MATH("ln", LN),
    MATH("log", LOG10),
    MATH("log10", LOG10),
    MATH("sqrt", SQRT),
    MATH("floor", FLOOR),
    MATH("ceil", CEIL),
    MATH("sin", SIN),
    MATH("cos", COS),
    MATH("tan", TAN),
    MATH("asin", ASIN),
    MATH("acos", ACOS),
    MATH("atan", ATAN),
    MATH("sinh", SINH),
    MATH("cosh", COSH),
    MATH("tanh", TANH),
    MATH("asinh", ASINH),
    MATH("acosh", ACOSH),
    MATH("atanh", ATANH),
    MATH("expm1", EXPM1),
    MATH("ln1p", LOG1P),
    MATH("log1p", LOG1P),
    MATH2("pow", POW),
    MATH2("atan2", ATAN2),
    MATH2("hypot", HYPOT),
    {"abs", FC_OTHER, FN_ABS, 1, 1, 0},
    {"min", FC_OTHER, FN_MIN, 2, 2, 0},
    {"max", FC_OTHER, FN_MAX, 2, 2, 0},
    {"int", FC_OTHER, FN_INT, 1, 1, 0},
    {"clog2", FC_OTHER, FN_CLOG2, 1, 1, 0},
    {"$rtoi", FC_OTHER, FN_RTOI, 1, 1, 0},
    {"$itor", FC_OTHER, FN_ITOR, 1, 1, 0},
    {"limexp", FC_OTHER, FN_LIMEXP, 1, 1, 0},
    {"ddt", FC_OPERATOR, FN_DDT, 1, 2, 0},
    {"ddx", FC_OPERATOR, FN_DDX, 2, 2, 0},
    {"idt", FC_OPERATOR, FN_IDT, 1, 4, 0},
    {"white_noise", FC_OPERATOR, FN_WHITE, 1, 2, 0},
    {"flicker_noise", FC_OPERATOR, FN_FLICKER, 2, 3, 0},
    {"noise_table", FC_OPERATOR, FN_TABLE, 1, 2, 0},
    {"noise_table_log", FC_OPERATOR, FN_TABLE_LOG, 1, 2, 0},
    {"transition", FC_OPERATOR, FN_TRANSITION, 1, 5, 0},
    {"slew", FC_OPERATOR, FN_SLEW, 1, 3, 0},
    {"laplace_nd", FC_OPERATOR, FN_LAPLACE, 3, 4, 0},
    {"laplace_np", FC_OPERATOR, FN_LAPLACE, 3, 4, 0},
    {"laplace_zd", FC_OPERATOR, FN_LAPLACE, 3, 4, 0},
    {"laplace_zp", FC_OPERATOR, FN_LAPLACE, 3, 4, 0},
    {"idtmod", FC_OPERATOR, FN_IDTMOD, 1, 5, 0},
    {"absdelay", FC_OPERATOR, FN_ABSDELAY, 2, 3, 0},
    {"last_crossing", FC_OPERATOR, FN_LAST_CROSSING, 1, 2, 0},
    {"cross", FC_EVENT, FN_CROSS, 1, 4, 0},
    {"above", FC_EVENT, FN_ABOVE, 1, 3, 0},
    {"timer", FC_EVENT, FN_TIMER, 1, 3, 0},
    {"$limit", FC_OPERATOR, FN_LIMIT, 1, -1, 0},
    {"$simparam", FC_OTHER, FN_SIMPARAM, 1, 2, 0},
    {"$param_given", FC_OTHER, FN_PARAM_GIVEN, 1, 1, 0},
    {"$port_connected", FC_OTHER, FN_PORT_CONN, 1, 1, 0},
    {"$temperature", FC_OTHER, FN_TEMPERATURE, 0, 0, 0},
    {"$vt", FC_OTHER, FN_VT, 0, 1, 0},
    {"$mfactor", FC_OTHER, FN_MFACTOR, 0, 0, 0},
    {"$xposition", FC_OTHER, FN_ZERO, 0, 0, 0},
    {"$yposition", FC_OTHER, FN_ZERO, 0, 0, 0},
    {"$angle", FC_OTHER, FN_ZERO, 0, 0, 0},
    {"$hflip", FC_OTHER, FN_ONE, 0, 0, 0},
    {"$vflip", FC_OTHER, FN_ONE, 0, 0, 0},
    {"$abstime", FC_OTHER, FN_ABSTIME, 0, 0, 0},
    {"$realtime", FC_OTHER, FN_ABSTIME, 0, 1, 0},
    {"analysis", FC_OTHER, FN_ANALYSIS, 1, -1, 0},
    {"$bound_step", FC_TASK, FN_BOUND_STEP, 1, 1, 0},
    {"bound_step", FC_TASK, FN_BOUND_STEP, 1, 1, 0},
    {"$discontinuity", FC_TASK, FN_DISCONTINUITY, 0, 1, 0},
    {"discontinuity", FC_TASK, FN_DISCONTINUITY, 0, 1, 0},
    PRINT("$strobe", STROBE),
    PRINT("$display", DISPLAY),
    PRINT("$write", WRITE),
    PRINT("$monitor", MONITOR),
    PRINT("$debug", DEBUG),
    PRINT("$info", INFO),
    PRINT("$warning", WARNING),
    PRINT("$error", ERROR),
    {"$fatal", FC_TASK, FN_FINISH, 0, -1, IR_EFF_FATAL},
    {"$finish", FC_TASK, FN_FINISH, 0, -1, IR_EFF_FINISH},
    {"$stop", FC_TASK, FN_FINISH, 0, -1, IR_EFF_STOP},
    SKIP("$fopen"),
    SKIP("$fclose"),
    SKIP("$fstrobe"),
    SKIP("$fwrite"),
    SKIP("$fdisplay"),
    SKIP("$fmonitor"),
    SKIP("$fdebug"),
    SKIP("$fflush"),
    SKIP("$monitoron"),
    SKIP("$monitoroff"),
    REFUSE("$fscanf"),
    REFUSE("$fgets"),
    REFUSE("$sscanf"),
    REFUSE("$swrite"),
    REFUSE("$sformat"),
    REFUSE("$fseek"),
    REFUSE("$ftell"),
    REFUSE("$rewind"),
    REFUSE("$feof"),
    REFUSE("$ferror"),
    REFUSE("delay"),
    REFUSE("zi_zp"),
    REFUSE("zi_zd"),
    REFUSE("zi_np"),
    REFUSE("zi_nd"),
    REFUSE("ac_stim"),
    REFUSE("absdelta"),
    REFUSE("$random"),
    REFUSE("$arandom"),
    REFUSE("$rdist_uniform"),
    REFUSE("$rdist_normal"),
    REFUSE("$rdist_exponential"),
    REFUSE("$rdist_poisson"),
    REFUSE("$rdist_chi_square"),
    REFUSE("$rdist_t"),
    REFUSE("$rdist_erlang"),
    REFUSE("$dist_uniform"),
    REFUSE("$dist_normal"),
    REFUSE("$dist_exponential"),
    REFUSE("$dist_poisson"),
    REFUSE("$dist_chi_square"),
    REFUSE("$dist_t"),
    REFUSE("$dist_erlang"),
    REFUSE("$table_model"),
    REFUSE("$simprobe"),
    REFUSE("$simparam$str"),
    REFUSE("$test$plusargs"),
    REFUSE("$value$plusargs"),
    REFUSE("$analog_node_alias"),
    REFUSE("$analog_port_alias"),
    REFUSE("$cross"),
};
const size_t va_n_builtin = VS_COUNT(va_builtins);

void va_builtins_init(va_ctx *c)
{
    for (size_t i = 0; i < va_n_builtin; i++) {
        const va_builtin *b = &va_builtins[i];
        map_set(&c->fn, map_key(str_intern0(c->names, b->name)), (int32_t)i);
        if (b->name[0] != '$' && (b->cls == FC_MATH || b->id == FN_ABS || b->id == FN_MIN ||
                                  b->id == FN_MAX || b->id == FN_CLOG2)) {
            char buf[32];
            snprintf(buf, sizeof buf, "$%s", b->name);
            map_set(&c->fn, map_key(str_intern0(c->names, buf)), (int32_t)i);
        }
    }
}

const va_builtin *va_find_builtin(const va_ctx *c, const char *name)
{
    int32_t k = map_get(&c->fn, map_key(name), -1);
    return k < 0 ? NULL : &va_builtins[k];
}
