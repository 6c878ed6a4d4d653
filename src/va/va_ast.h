/* va_ast.h - what the stages of the Verilog-A front end pass on: tokens, tree, symbols.
 * Path:   text -> va_pp (va_lex) -> tokens -> va_parse -> va_mod tree -> va_sema (names, types in
 *         place) -> va_lower -> ir_fn. All objects live in va_ctx.mem, which ends with va_compile.
 */
#ifndef VA_AST_H
#define VA_AST_H

#include "va.h"

enum {
    VA_MAX_INCLUDE = 200,
    VA_MAX_EXPANSION = 500,
    VA_MAX_TOKEN = 20 * 1000 * 1000,
    VA_MAX_NEST = 2000,
    VA_MAX_UNROLL = 10000,
    VA_MAX_INST = 4 * 1000 * 1000,  /* instructions of one lowered function */
    VA_MAX_WORK = 20 * 1000 * 1000, /* statements lowered, unrolled ones counted each time */
    VA_MAX_ARRAY = 100 * 1000
};

/* -- tokens -- */

/* Single-character punctuation is its ASCII code. */
typedef enum va_tok_kind {
    T_EOF = 0,
    T_NAME = 256,
    T_SYSNAME,
    T_INT,
    T_REAL,
    T_STRING,
    T_ERROR,
    T_TICK,    /* `name; only before preprocessing */
    T_PARAM,   /* parameter `macro` of a macro body; only before preprocessing */
    T_NEWLINE, /* only while a directive's line is read */
    T_CONTRIB,
    T_LE,
    T_GE,
    T_EQ,
    T_NE,
    T_AND,
    T_OR,
    T_SHL,
    T_SHR,
    T_ASHR,
    T_POW,
    T_XNOR,
    T_NAND,
    T_NOR,
    T_ATTR_OPEN,
    T_ATTR_CLOSE,
    T_APOS_BRACE
} va_tok_kind;

/* Words with a meaning in the grammar; those after KW_FREE may also be names. */
/* clang-format off */
#define VA_KEYWORDS(X)                                                                          \
    X(MODULE, "module") X(MACROMODULE, "macromodule") X(ENDMODULE, "endmodule")                 \
    X(NATURE, "nature") X(ENDNATURE, "endnature") X(DISCIPLINE, "discipline")                   \
    X(ENDDISCIPLINE, "enddiscipline") X(PARAMSET, "paramset") X(ENDPARAMSET, "endparamset")     \
    X(CONNECTRULES, "connectrules") X(ENDCONNECTRULES, "endconnectrules")                       \
    X(CONNECTMODULE, "connectmodule") X(PRIMITIVE, "primitive") X(ENDPRIMITIVE, "endprimitive")  \
    X(BEGIN, "begin") X(END, "end") X(IF, "if") X(ELSE, "else") X(CASE, "case")                 \
    X(CASEX, "casex") X(CASEZ, "casez") X(ENDCASE, "endcase") X(DEFAULT, "default")             \
    X(FOR, "for") X(WHILE, "while") X(REPEAT, "repeat") X(FOREVER, "forever")                   \
    X(GENERATE, "generate") X(ENDGENERATE, "endgenerate") X(GENVAR, "genvar")                   \
    X(FUNCTION, "function") X(ENDFUNCTION, "endfunction") X(ANALOG, "analog")                   \
    X(INITIAL, "initial") X(ALWAYS, "always") X(ASSIGN, "assign") X(TASK, "task")               \
    X(ENDTASK, "endtask") X(INPUT, "input") X(OUTPUT, "output") X(INOUT, "inout")               \
    X(PARAMETER, "parameter") X(LOCALPARAM, "localparam") X(ALIASPARAM, "aliasparam")           \
    X(DEFPARAM, "defparam") X(SPECIFY, "specify") X(ENDSPECIFY, "endspecify")                   \
    X(REAL, "real") X(INTEGER, "integer") X(STRING, "string") X(REALTIME, "realtime")           \
    X(TIME, "time") X(REG, "reg") X(WIRE, "wire") X(WREAL, "wreal")                             \
    X(BRANCH, "branch") X(GROUND, "ground") X(SIGNED, "signed")                                 \
    X(FREE, "")                                                                                 \
    X(FROM, "from") X(EXCLUDE, "exclude") X(INF, "inf") X(POTENTIAL, "potential")               \
    X(FLOW, "flow") X(DOMAIN, "domain") X(DISCRETE, "discrete") X(CONTINUOUS, "continuous")
/* clang-format on */
typedef enum va_kw {
    KW_NONE,
#define X(id, text) KW_##id,
    VA_KEYWORDS(X)
#undef X
} va_kw;

typedef struct va_tok {
    int16_t kind;   /* va_tok_kind or ASCII */
    int16_t kw;     /* va_kw of a T_NAME */
    int32_t macro;  /* macro whose body holds it, -1: none; T_PARAM: its number */
    diag_span span; /* for a token of a macro body: where the outermost macro is used */
    union {
        const char *s; /* interned: names, strings (escapes resolved) */
        double num;    /* T_INT, T_REAL */
    };
} va_tok;

/* -- expressions -- */

typedef enum ex_kind {
    EX_ERROR,
    EX_NULL,
    EX_NUM,
    EX_STR,
    EX_NAME,
    EX_UN,
    EX_BIN,
    EX_COND,
    EX_CALL,
    EX_LIST,
    EX_PORT,
    EX_INF
} ex_kind;

/* Type of an expression: va_type, or one of these. */
enum { TY_ERROR = 16, TY_VOID, TY_LIST, TY_NODE, TY_BRANCH };

typedef struct va_sym va_sym;
typedef struct va_expr va_expr;
struct va_expr {
    uint8_t kind; /* ex_kind */
    uint8_t type; /* after va_sema */
    int16_t op;   /* EX_UN, EX_BIN: token kind; EX_CALL after va_sema: va_fn_id */
    int32_t macro;
    diag_span span;   /* the whole expression */
    diag_span at;     /* its operator or name */
    const char *name; /* EX_NAME, EX_CALL, EX_STR, EX_PORT */
    double num;       /* EX_NUM; EX_CALL of an access: 0 potential, 1 flow */
    va_sym *sym;      /* EX_NAME, user functions, parameter of $param_given */
    va_expr **arg;    /* operands, arguments, index [n_arg] */
    int32_t n_arg;
    int32_t depth; /* levels below */
};

/* -- symbols -- */

typedef enum sy_kind {
    SY_NODE,
    SY_BRANCH,
    SY_PARAM,
    SY_VAR,
    SY_GENVAR,
    SY_FUNC,
    SY_ALIAS,
    SY_BLOCK
} sy_kind;

typedef struct va_range {
    bool exclude, lo_open, hi_open;
    bool is_list;     /* lo: single value or EX_LIST */
    va_expr *lo, *hi; /* EX_INF (num +1, -1) for infinite */
    struct va_range *next;
} va_range;

typedef struct va_attr {
    const char *name;
    va_expr *value; /* NULL: none */
    struct va_attr *next;
} va_attr;

typedef struct va_discipline va_discipline;
typedef struct va_func va_func;

struct va_sym {
    uint8_t kind; /* sy_kind */
    uint8_t type; /* va_type of parameters, variables, functions */
    bool untyped; /* parameter without a type: that of its default */
    bool local;   /* localparam */
    bool array;
    bool ground, port, input, output; /* node; input, output also for function arguments */
    bool used;     /* node: probed or contributed to; parameter: default already checked */
    bool ddx;      /* node or branch: some ddx() derives by it */
    uint8_t event; /* variable: kind of events that assign it, as va_sema.event; 3: not one kind */
    bool typed;    /* variable of an analog function: its type was declared */
    bool bad_dims; /* bounds had errors */
    bool in_func;  /* variable of an analog function: slot counts from the frame */
    const char *name;
    diag_span span;
    int32_t macro;
    const char *text_dflt, *text_range; /* parameter: for people */
    va_expr *left, *right;              /* array bounds as written */
    int32_t first, step, n; /* elements first, first+step, ... n of them; 1 for scalars */
    int32_t index; /* node, branch, parameter: number of the first element; variable: slot */
    va_expr *init; /* parameter default, variable initialiser */
    va_range *range;
    va_attr *attr;
    const char *disc_name; /* node */
    diag_span disc_span;
    va_discipline *disc;
    va_expr *hi, *lo;   /* branch terminals; lo NULL: reference */
    const char *target; /* alias: name of the parameter */
    va_sym *alias_of;
    va_func *func;
    va_expr *bound;   /* base parameter of a paramset: the value it is bound to */
    bool pset;        /* parameter of a paramset */
    int32_t shadowed; /* binding of the name in the enclosing scope, while this one is open */
    int32_t n_assign; /* variable: assignments in the text */
};

/* -- statements -- */

typedef enum st_kind {
    ST_NULL,
    ST_BLOCK,
    ST_ASSIGN,
    ST_CONTRIB,
    ST_INDIRECT,
    ST_IF,
    ST_CASE,
    ST_FOR,
    ST_WHILE,
    ST_REPEAT,
    ST_EVENT,
    ST_TASK
} st_kind;

typedef struct va_stmt va_stmt;
struct va_stmt {
    uint8_t kind;
    uint8_t when; /* event: as va_sema.event */
    bool unroll;  /* loop: index or analog operator inside, or genvar */
    diag_span span;
    int32_t macro;
    const char *name;   /* block */
    va_sym **decl;      /* block: vec */
    va_expr *lhs, *rhs; /* assignment, contribution; rhs: condition, count, call */
    va_stmt **body;     /* block: statements; if: then, else; for: init, step, body; loops: body;
                           case: one per item; event: body */
    int32_t n_body;
    va_expr ***item; /* case: values of item k, NULL for default [n_body] */
    int32_t *n_item;
    va_expr **event; /* event: initial_step(...) or final_step(...) calls [n_event] */
    int32_t n_event;
};

struct va_func {
    va_sym *sym;
    va_sym **arg;   /* vec, in order */
    va_sym **local; /* vec: arguments, the result, variables of all blocks */
    va_sym **decl;  /* vec: local names of the function itself */
    va_sym *result;
    va_stmt *body;
    int32_t n_slot; /* of a frame */
    bool active;    /* being inlined */
};

typedef struct va_nature {
    const char *name, *access, *units, *parent, *ddt, *idt;
    double abstol;
    diag_span span;
} va_nature;

struct va_discipline {
    const char *name;
    va_nature *pot, *flow;
    bool discrete;
    diag_span span;
};

typedef struct va_mod {
    const char *name;
    diag_span span;
    va_attr *attr;
    va_sym **port;     /* vec */
    va_sym **decl;     /* vec; in order of declaration */
    va_stmt **initial; /* vec: analog initial */
    va_stmt **analog;  /* vec */
    /* paramset */
    const char *base_name;
    diag_span base_span;
    struct va_mod *base;
    va_sym **bind; /* vec: name, init = expression */
    bool bad;      /* had errors: not lowered */
    /* after va_sema */
    va_sym **param, **var, **node, **branch;   /* vecs in order; all scopes */
    int32_t n_node, n_branch, n_param, n_slot; /* elements */
    bool has_ddx;
    diag_span port_flow; /* first I(<port>), if there is one */
} va_mod;

/* -- functions and tasks -- */

typedef enum va_fn_class {
    FC_MATH,     /* one IR operation, real arguments */
    FC_OTHER,    /* its own code */
    FC_OPERATOR, /* analog operator: not inside functions */
    FC_EVENT,    /* only in @(...) */
    FC_TASK,     /* statement */
    FC_NOTASK,   /* statement that is not supported but changes nothing: warning */
    FC_REFUSE    /* not supported */
} va_fn_class;

typedef enum va_fn_id {
    FN_NONE,
    FN_MATH,
    FN_USER,
    FN_ACCESS,
    FN_ABS,
    FN_MIN,
    FN_MAX,
    FN_INT,
    FN_CLOG2,
    FN_RTOI,
    FN_ITOR,
    FN_DDT,
    FN_DDX,
    FN_IDT,
    FN_WHITE,
    FN_FLICKER,
    FN_TABLE,
    FN_TABLE_LOG,
    FN_LIMEXP,
    FN_LIMIT,
    FN_SIMPARAM,
    FN_PARAM_GIVEN,
    FN_PORT_CONN,
    FN_TEMPERATURE,
    FN_VT,
    FN_MFACTOR,
    FN_ZERO,
    FN_ONE,
    FN_ABSTIME,
    FN_ANALYSIS,
    FN_BOUND_STEP,
    FN_DISCONTINUITY,
    FN_PRINT,
    FN_FINISH,
    FN_SKIP,
    FN_TRANSITION,
    FN_SLEW,
    FN_LAPLACE,
    FN_IDTMOD,
    FN_ABSDELAY,
    FN_LAST_CROSSING,
    FN_CROSS,
    FN_ABOVE,
    FN_TIMER,
    FN_REFUSE
} va_fn_id;

typedef struct va_builtin {
    const char *name;
    uint8_t cls, id;
    int8_t n_min, n_max; /* n_max -1: any */
    int16_t op;          /* FC_MATH: ir_op; FN_PRINT, FN_FINISH: ir_eff_kind */
} va_builtin;

/* -- context of one compilation -- */

typedef struct va_macro {
    const char *name;
    diag_span def;
    va_tok *body;    /* vec */
    int32_t n_param; /* -1: no parentheses */
    bool active, undefined;
} va_macro;

typedef struct va_ctx {
    arena mem;
    diag *d;
    str_pool *names;
    const va_opt *opt;
    map kw, fn;           /* interned name -> va_kw; -> index of the builtin table */
    va_macro *macro;      /* vec */
    map macro_of;         /* name -> index of macro */
    va_tok *tok;          /* vec: the unit's tokens */
    va_nature **nature;   /* vec */
    va_discipline **disc; /* vec */
    map nature_of, disc_of;
    va_mod **mod;        /* vec */
    void **owned;        /* vec of vecs to free at the end */
    const char **absent; /* vec; as in va_unit */
    map said;            /* errors already given: span and format, against repeats by unrolling */
    int n_error;         /* errors in d before this compilation */
    bool fatal;          /* a limit was hit: stop reading */
    bool incomplete;     /* an included file is missing: only the preprocessor goes on */
} va_ctx;

/* Message at a place; a note names the macro whose body the token stands in: macro is va_tok.macro,
 * -1: none. */
void va_error(va_ctx *c, diag_span at, int32_t macro, const char *fmt, ...) VS_PRINTF(4, 5);
void va_warning(va_ctx *c, diag_span at, int32_t macro, const char *fmt, ...) VS_PRINTF(4, 5);

/* Gives a vec of the tree to the context, which frees it at the end. */
#define va_own(c, v) ((v) ? (void)vec_push((c)->owned, (void *)(v)) : (void)0)

/* -- va_lex.c -- */
typedef struct va_lexer {
    va_ctx *c;
    const char *text;
    size_t pos, len;
    int32_t file;
    bool line_mode; /* report T_NEWLINE, `\` newline continues */
    bool quiet;
} va_lexer;
/* Reads the next token. At the end it is T_EOF, however often one asks; after a message T_ERROR. */
va_tok va_lex(va_lexer *l);

/* -- va_pp.c -- */
/* Fills c->tok with the tokens of file `file` of c->d, directives done, macros replaced, and four
 * T_EOF behind them. Returns VS_OK: errors are messages of c->d. */
vs_status va_preprocess(va_ctx *c, int32_t file);
/* Text of a standard file such as "disciplines.vams", [*len]; NULL: there is none of this name.
 * From a generated table; lives as long as the program. */
const char *va_builtin_file(const char *name, size_t *len);
#define VA_BUILTIN_FOLDER "<built-in>/"

/* -- va_parse.c, va_parse_stmt.c -- */
typedef struct va_parser {
    va_ctx *c;
    const va_tok *t;          /* current */
    const va_tok *complained; /* token of the last message: one is enough */
    va_mod *mod;
    va_func *func;
    int depth;
    bool gave_up;  /* stands at the end of the text: too deep nesting, or d is full of errors */
    bool generate; /* inside a generate construct of the module level */
} va_parser;
/* Parses c->tok into c->nature, c->disc and c->mod. Trees are c->mem's. Errors are messages; the
 * module that has one is marked `bad`. */
void va_parse(va_ctx *c);
/* From the token p->t on, to behind what was read. Never NULL: after a message EX_ERROR,
 * ST_NULL. */
va_expr *va_parse_expr(va_parser *p);
va_stmt *va_parse_stmt(va_parser *p);
/* Goes to the end of the text if d is full of errors. */
void va_limit_errors(va_parser *p);
/* A declaration of variables; each is appended to the vec *decl and gets `attr`. */
void va_parse_var_decl(va_parser *p, va_sym ***decl, va_attr *attr);
/* All "(* ... *)" that stand here, as a list; NULL: none. */
va_attr *va_parse_attrs(va_parser *p);
/* Goes past a token of this kind, or keyword; false: another one stands here. va_expect gives a
 * message then: "expected ';' <after>". */
bool va_expect(va_parser *p, int kind, const char *after);
bool va_accept(va_parser *p, int kind);
bool va_accept_kw(va_parser *p, va_kw kw);
/* A name that may be given to something: no keyword, or one behind KW_FREE. */
bool va_is_name(const va_tok *t);
/* Recovery: goes behind the next ';', or before a word that ends or begins something larger. */
void va_skip_to_semi(va_parser *p);
/* The token as messages quote it: "'x'", "a string", "end of file". */
const char *va_tok_text(va_parser *p, const va_tok *t);
/* "expected <what>, not <token>", once for each place; the module becomes `bad`. */
void va_expected(va_parser *p, const char *what);
/* An expression at t, without type and arguments. */
va_expr *va_new_expr(va_parser *p, ex_kind kind, const va_tok *t);

/* -- va_builtin.c -- */
extern const va_builtin va_builtins[];
extern const size_t va_n_builtin;
/* Fills c->fn. */
void va_builtins_init(va_ctx *c);
/* NULL: there is no function of this (interned) name. */
const va_builtin *va_find_builtin(const va_ctx *c, const char *name);

/* -- va_sema.c, va_sema_expr.c -- */
typedef struct va_sema {
    va_ctx *c;
    va_mod *m;
    map bind;      /* name -> index of sym */
    va_sym **sym;  /* vec: everything ever bound */
    va_func *func; /* being checked */
    int depth;
    bool in_params; /* default and range expressions */
    bool in_event;  /* what comes next stands in @(...) */
    int n_index;    /* computed indices and analog operators met so far */
    int event;      /* inside an event: 1 initial_step without analysis, 2 final_step, 3 mixed */
    map unknown;    /* names already reported as unknown */
} va_sema;
/* Binds names, checks types and rules, counts what lowering needs; an error makes m `bad`. */
void va_sema_module(va_ctx *c, va_mod *m);
/* Checks one expression: sets e->type, TY_ERROR after a message. */
void va_sema_expr(va_sema *s, va_expr *e);
/* The symbol of an interned name in the present scope; NULL: none. */
va_sym *va_lookup(va_sema *s, const char *name);
/* "unknown <what> 'name'", with the nearest name that is known; once for each name. */
void va_unknown_name(va_sema *s, const va_expr *e, const char *what);
/* Notes where a variable is assigned: everywhere, or under one kind of event only. */
void va_count_assign(va_sema *s, va_sym *y);
/* Value of an expression of literals, localparams and operators; false if it is not constant. */
bool va_const_value(const va_expr *e, double *value);

/* -- va_lower.c -- */
/* Lowers a checked module, or paramset, and appends it to u->module; u's arena owns it.
 * Status: VS_OK; VS_EINPUT after messages: the module has its interface but no functions. */
vs_status va_lower_module(va_ctx *c, va_unit *u, va_mod *m);

#endif
