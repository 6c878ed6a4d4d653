/* net.h - netlist text to cards: tokens with spans, grouped into subcircuit bodies, and
 * expressions.
 * Use:    str_pool_init, diag_init, arena_init; net_read; then flat_build (flat.h) expands the
 *         cards.
 * This room knows the shape of the language (comments, continuation, includes, sections, nesting).
 * It knows no device.
 * Source: ngspice manual ch. 2 and 3, SPICE3 user's guide; docs/netlist.md is the reference. */
#ifndef NET_H
#define NET_H

#include "diag.h"
#include "map.h"

/* -- expressions -- */

/* clang-format off */
#define NET_OP_LIST(X)                                                                            \
    X(NET_NUM, "num")         /* num */                                                           \
    X(NET_STR, "str")         /* name: the text */                                                \
    X(NET_PARAM, "param")     /* name: parameter or argument of a .func; gone after flat_build */ \
    X(NET_VNODE, "v")         /* v(a), v(a,b): name, name2 as written; node[0], node[1] resolved, \
                                 node[1] is 0 (ground) for v(a) */                                \
    X(NET_IBRANCH, "i")       /* i(src): name; after flat_build with the path of the element */   \
    X(NET_TIME, "time")       /* second */                                                        \
    X(NET_TEMPER, "temper")   /* degree Celsius */                                                \
    X(NET_HERTZ, "hertz")                                                                         \
    X(NET_S, "s")             /* of a transfer function: in the second argument of laplace() */   \
    X(NET_NEG, "neg") X(NET_NOT, "!")                                                             \
    X(NET_ADD, "+") X(NET_SUB, "-") X(NET_MUL, "*") X(NET_DIV, "/") X(NET_MOD, "%")               \
    X(NET_POW, "**")                                                                              \
    X(NET_LT, "<") X(NET_LE, "<=") X(NET_GT, ">") X(NET_GE, ">=") X(NET_EQ, "==") X(NET_NE, "!=") \
    X(NET_AND, "&&") X(NET_OR, "||")                                                              \
    X(NET_COND, "?:")         /* arg[0] ? arg[1] : arg[2]; also if() and ternary_fcn() */         \
    X(NET_CALL, "call")       /* fn, or a .func: name, fn NET_FN_USER; gone after flat_build */
/* clang-format on */

typedef enum net_op {
#define X(name, text) name,
    NET_OP_LIST(X)
#undef X
        NET_N_OP
} net_op;

/* Built-in functions: id, name, least and greatest number of arguments. */
/* clang-format off */
#define NET_FN_LIST(X)                                                                            \
    X(SIN, "sin", 1, 1) X(COS, "cos", 1, 1) X(TAN, "tan", 1, 1)                                   \
    X(ASIN, "asin", 1, 1) X(ACOS, "acos", 1, 1) X(ATAN, "atan", 1, 1) X(ATAN2, "atan2", 2, 2)     \
    X(SINH, "sinh", 1, 1) X(COSH, "cosh", 1, 1) X(TANH, "tanh", 1, 1)                             \
    X(ASINH, "asinh", 1, 1) X(ACOSH, "acosh", 1, 1) X(ATANH, "atanh", 1, 1)                       \
    X(EXP, "exp", 1, 1) X(LN, "ln", 1, 1) X(LOG10, "log10", 1, 1) X(SQRT, "sqrt", 1, 1)           \
    X(ABS, "abs", 1, 1) X(MIN, "min", 1, 99) X(MAX, "max", 1, 99)                                 \
    X(POWF, "pow", 2, 2)      /* x**y */                                                          \
    X(PWR, "pwr", 2, 2)       /* sgn(x)*|x|**y */                                                 \
    X(SGN, "sgn", 1, 1)                                                                           \
    X(INT, "int", 1, 1)       /* towards 0 */                                                     \
    X(FLOOR, "floor", 1, 1) X(CEIL, "ceil", 1, 1)                                                 \
    X(NINT, "nint", 1, 1)     /* to nearest, ties to even */                                      \
    X(ROUND, "round", 1, 1)   /* ties away from 0 */                                              \
    X(U, "u", 1, 1)           /* x > 0; 1/2 at 0 */                                               \
    X(U2, "u2", 1, 1)         /* clamp(x, 0, 1) */                                                \
    X(EQ0, "eq0", 1, 1) X(NE0, "ne0", 1, 1) X(GT0, "gt0", 1, 1) X(LT0, "lt0", 1, 1)               \
    X(GE0, "ge0", 1, 1) X(LE0, "le0", 1, 1) /* comparisons with 0: 1 or 0 */                      \
    X(URAMP, "uramp", 1, 1)   /* max(x, 0) */                                                     \
    X(LIMIT, "limit", 2, 3)   /* clamp(x, lo, hi); two arguments: HSPICE's variation, nominal x */ \
    X(PWLF, "pwl", 3, 100000) /* x, x1,y1, x2,y2 ...: the first and last line go on outside */    \
    X(TABLE, "table", 3, 100000) /* the same, constant outside */                                 \
    X(HYPOT, "hypot", 2, 2) X(FMOD, "fmod", 2, 2) X(SQR, "sqr", 1, 1)                             \
    X(GAUSS, "gauss", 3, 3) X(AGAUSS, "agauss", 3, 3) X(UNIF, "unif", 2, 2)                       \
    X(AUNIF, "aunif", 2, 2)   /* the first argument: nominal */                                   \
    X(DDT, "ddt", 1, 1)       /* time derivative; behavioural expressions only */                 \
    X(IDT, "idt", 1, 2)       /* time integral; behavioural expressions only */                   \
    X(LAPLACE, "laplace", 2, 2) /* x, transfer function; behavioural expressions only */          \
    X(FREQTABLE, "freqtable", 5, 100000) /* x, delay, then f1, re1, im1, f2 ...: x times a gain   \
                                            over frequency; behavioural expressions only */
/* clang-format on */

typedef enum net_fn {
#define X(id, text, lo, hi) NET_FN_##id,
    NET_FN_LIST(X)
#undef X
        NET_FN_USER,
    NET_N_FN
} net_fn;

typedef struct net_expr {
    net_op op;
    net_fn fn;
    int32_t n_arg;
    int32_t node[2];
    double num;
    const char *name, *name2; /* interned lower case */
    const char *label;        /* the .var, with path, whose value this is; NULL: none */
    diag_span span;
    const struct net_expr *arg[]; /* [n_arg] */
} net_expr;

const char *net_op_text(net_op op);
const char *net_fn_text(net_fn fn);

/* Parses the expression in at.off .. at.off + at.len of a file of d; continuation lines inside are
 * skipped. The tree is in mem. NULL: a message was given.
 *   end  NULL: text behind the expression is an error. Else out: offset of the end of the
 *        expression, what follows is the caller's */
const net_expr *net_expr_parse(diag *d, str_pool *names, arena *mem, diag_span at, uint32_t *end);
/* Gives the tree e the meaning that Xyce's language has: log() is to base 10, and ^ between truth
 * values is exclusive or. */
void net_expr_as_xyce(const net_expr *e);
/* In the tree e, replaces each parameter named s by NET_S, the variable of a transfer function. */
void net_expr_in_s(const net_expr *e);
/* One operation or built-in function on numbers. false: *why is a sentence with the values
 * ("division by zero", "sqrt of a negative number (-1)"), in a buffer of `why_size` bytes. */
bool net_apply(net_op op, net_fn fn, const double *x, int32_t n, double *y, char *why,
               size_t why_size);
/* Fully bracketed text. `node` (or NULL) gives names of resolved nodes. */
void net_expr_print(const net_expr *e, const char *const *node, FILE *out);

/* -- tokens and cards -- */

typedef enum net_tok_kind {
    NET_T_WORD, /* text: interned lower case */
    NET_T_STR,  /* "...": text interned as written, without quotes */
    NET_T_EXPR, /* {...} or '...': text NULL; inside is off + 1, len - 2 */
    NET_T_PUNCT /* one of ( ) = , [ ] */
} net_tok_kind;
typedef struct net_tok {
    const char *text;
    uint32_t off, len; /* with quotes or braces */
    uint8_t kind;
    char punct; /* PUNCT: the character, else 0 */
    bool glued; /* no blank between it and the token before */
} net_tok;

/* Dot cards: id, word. Several words may have one id. */
/* clang-format off */
#define NET_CARD_LIST(X)                                                                          \
    X(PARAM, "param") X(PARAM, "params") X(PARAM, "parameter") X(PARAM, "global_param")           \
    X(FUNC, "func") X(VAR, "var") X(CSPARAM, "csparam")                                           \
    X(FOR, "for") X(ENDFOR, "endfor")                                                             \
    X(SUBCKT, "subckt") X(SUBCKT, "macro")                                                        \
    X(ENDS, "ends") X(ENDS, "eom") X(MODEL, "model") X(INCLUDE, "include") X(INCLUDE, "inc")      \
    X(INCLUDE, "incl") X(LIB, "lib") X(ENDL, "endl") X(IF, "if") X(ELSEIF, "elseif")              \
    X(ELSE, "else") X(ENDIF, "endif") X(GLOBAL, "global") X(OPTION, "option")                     \
    X(OPTION, "options") X(OPTION, "opt") X(TEMP, "temp") X(IC, "ic") X(NODESET, "nodeset")       \
    X(SAVE, "save") X(SAVE, "probe") X(POST, "print") X(POST, "plot") X(OP, "op") X(DC, "dc")    \
    X(TRAN, "tran") X(END, "end") X(HDL, "hdl") X(HDL, "load") X(HDL, "pre_osdi")                 \
    X(HDL, "osdi") X(TITLE, "title") X(CONTROL, "control") X(ENDC, "endc")                        \
    X(AC, "ac") X(NOISE, "noise") X(TF, "tf") X(SENS, "sens") X(PZ, "pz") X(SP, "sp")              \
    X(HB, "hb") X(HB, "hbosc") X(HB, "pss") X(HBAC, "hbac") X(HBNOISE, "hbnoise")                  \
    X(HBNOISE, "phasenoise") X(HBSP, "hbsp") X(HBXF, "hbxf") X(LSTB, "lstb")                       \
    X(TRANNOISE, "trannoise")                                                                      \
    X(ACXF, "acxf") X(DCXF, "dcxf") X(DCMATCH, "dcmatch") X(ACMATCH, "acmatch") X(DISTO, "disto")  \
    X(POST, "four") X(POST, "fft") X(POST, "eye") X(POST, "meas") X(POST, "measure")               \
    X(POST, "width") X(STEP, "step")                                                               \
    X(IGNORED, "protect") X(IGNORED, "unprotect")       \
    X(IGNORED, "prot") X(IGNORED, "unprot") X(DATA, "data") X(DATA, "enddata")              \
    X(SPEF, "spef")                                                                                \
    X(ALTER, "alter") X(IGNORED, "connect") X(IGNORED, "graph") X(IGNORED, "wave")              \
    X(IGNORED, "backanno") X(DEL, "del") X(IGNORED, "malias") X(IGNORED, "stim")              \
    X(IGNORED, "distribution") X(STEP, "mc") X(STEP, "limits") X(IGNORED, "wcase")  \
    X(CORRELATE, "correlate") X(IC, "dcvolt") X(IGNORED, "preprocess") X(IGNORED, "result")       \
    X(IGNORED, "sampling") X(IGNORED, "embeddedsampling") X(IGNORED, "pce") X(IGNORED, "mpde")     \
    X(IGNORED, "mor") X(IGNORED, "lin") X(IGNORED, "initcond") X(IGNORED, "output")
/* clang-format on */

/* What only Xyce's decks have: dot words (.lin and .dcvolt are HSPICE's too); packages, the first
 * word of an .options card, whether options of it have an effect here or not; words of .print that
 * say how its file is written. */
/* clang-format off */
#define NET_XYCE_CARD_LIST(X)                                                                   \
    X("global_param") X("preprocess") X("result") X("sampling") X("embeddedsampling") X("pce")  \
    X("mpde") X("mor") X("initcond")
#define NET_XYCE_PACKAGE_LIST(X)                                                                \
    X("device") X("timeint") X("nonlin") X("nonlin-tran") X("nonlin-hb")            \
    X("nonlin-twolevel") X("timeint-mpde") X("timeint-hb") X("loca") X("linsol") X("linsol-hb") \
    X("linsol-ac") X("linsol-es") X("linsol-pce") X("output") X("restart") X("sensitivity")     \
    X("hbint") X("samples") X("embeddedsamples") X("pces") X("measure") X("fft") X("mpdeint")   \
    X("mpde") X("mor_opts") X("topology") X("diagnostic") X("dist") X("parallel")
#define NET_XYCE_PRINT_LIST(X)                                                                  \
    X("format") X("file") X("precision") X("width") X("delimiter") X("filter")                  \
    X("timescalefactor") X("timewidth")
/* clang-format on */

typedef enum net_card_kind {
    NET_ELEMENT,      /* name: first word, letter */
    NET_CARD_UNKNOWN, /* a message was given */
    NET_CARD_MISSING, /* include inside .if that could not be read; name: the message, given if the
                         branch is taken */
    NET_CARD_PARAM,
    NET_CARD_FUNC,
    NET_CARD_VAR,
    NET_CARD_CSPARAM, /* a parameter that only commands of .control blocks see */
    NET_CARD_FOR,
    NET_CARD_ENDFOR,
    NET_CARD_SUBCKT,
    NET_CARD_ENDS,
    NET_CARD_MODEL,
    NET_CARD_INCLUDE,
    NET_CARD_LIB,
    NET_CARD_ENDL,
    NET_CARD_IF,
    NET_CARD_ELSEIF,
    NET_CARD_ELSE,
    NET_CARD_ENDIF,
    NET_CARD_GLOBAL,
    NET_CARD_OPTION,
    NET_CARD_TEMP,
    NET_CARD_IC,
    NET_CARD_NODESET,
    NET_CARD_SAVE,
    NET_CARD_DATA, /* a table of points for .step, .dc and others; the card behind it */
    NET_CARD_POST, /* computed from results: .meas .four .fft .eye .print .plot; read by src/ctl */
    NET_CARD_OP,
    NET_CARD_DC,
    NET_CARD_TRAN,
    NET_CARD_END,
    NET_CARD_HDL,
    NET_CARD_TITLE,
    NET_CARD_CONTROL,
    NET_CARD_ENDC,
    NET_CARD_AC,
    NET_CARD_NOISE,
    NET_CARD_TF,
    NET_CARD_SENS,
    NET_CARD_PZ,
    NET_CARD_SP,
    NET_CARD_HB, /* .hb .hbosc .pss */
    NET_CARD_HBAC,
    NET_CARD_HBNOISE, /* .hbnoise .phasenoise */
    NET_CARD_HBSP,
    NET_CARD_HBXF,
    NET_CARD_LSTB,
    NET_CARD_ACXF,
    NET_CARD_DCXF,
    NET_CARD_TRANNOISE, /* noise in every .tran */
    NET_CARD_DISTO,
    NET_CARD_DCMATCH,
    NET_CARD_ACMATCH,
    NET_CARD_STEP,      /* .step .mc .limits: families of runs */
    NET_CARD_CORRELATE, /* random numbers that vary together */
    NET_CARD_ALTER,     /* a run with changed cards */
    NET_CARD_SPEF,      /* wires of a layout */
    NET_CARD_DEL,       /* .del lib in .alter */
    NET_CARD_IGNORED    /* known elsewhere, without effect here */
} net_card_kind;

typedef struct net_sub net_sub;
typedef struct net_card {
    int32_t file;
    int32_t kind; /* net_card_kind */
    int32_t n_tok;
    net_tok *tok;     /* [n_tok]; [0] is the name or the dot word */
    const char *name; /* interned lower case; dot cards without the dot */
    net_sub *sub;     /* SUBCKT: the definition */
} net_card;

/* A card of a definition. A deck may have a million elements, and an expansion reads each once:
 * their tokens are not kept, see net_line_full. */
typedef struct net_line {
    int32_t file : 23;
    uint32_t kind : 7; /* net_card_kind */
    uint32_t is_element : 1;
    uint32_t is_first : 1; /* element: no text before it had its name */
    uint32_t off;          /* element: where its name stands */
    union {
        const char *name; /* element: interned lower case */
        net_card *card;   /* others */
    };
} net_line;
/* The definition that a card begins; NULL: it begins none. */
static inline net_sub *net_line_sub(const net_line *l)
{
    return l->kind == NET_CARD_SUBCKT ? l->card->sub : NULL;
}

/* The card of a .param line, else NULL. */
static inline const net_card *net_line_param(const net_line *l)
{
    return l->kind == NET_CARD_PARAM ? l->card : NULL;
}

struct net_sub {          /* the deck itself or a subcircuit's body */
    const char *name;     /* NULL: the deck */
    net_sub *parent;      /* enclosing definition */
    net_line *line;       /* vec: its cards */
    const net_card *head; /* the .subckt card; NULL: the deck */
    diag_span span;       /* of its name */
    int32_t index;
};

/* A random number that an expansion draws: the k-th of a parameter or an element. */
typedef struct net_draw {
    const char *path, *name; /* "x1.x2." or "", "dvt"; interned */
    int32_t k;
    double sigma; /* of the number: 1, of uniform ones 1 / sqrt(3) */
} net_draw;
/* What an expansion does with random numbers beside drawing them: it lists them, and may move some.
 */
typedef struct net_draws {
    net_draw *seen;       /* vec: each number that a result depends on, once */
    map known;            /* of keys of `seen` */
    const net_draw *like; /* numbers with its name and k, in instances as deep, are moved */
    double by;            /* how far they are moved, in standard deviations; 0: none is */
} net_draws;

typedef struct net_var {      /* of .control blocks, set by the start-up file */
    const char *name, **word; /* word: vec; none: a flag */
    diag_span at;
} net_var;

typedef struct net_deck {
    arena *mem;
    const char *title;
    net_sub *top;
    int32_t n_sub;       /* definitions, the deck itself is number 0 */
    const char **hdl;    /* vec; pre_osdi files of .control blocks, resolved */
    diag_span *hdl_span; /* vec */
    net_var *start;      /* vec; each name once */
    bool vary; /* gauss, agauss, unif, aunif, limit(a,b) draw with `seed`, `sample` (flat_random):
                  set by the owner before an expansion. Else they have their nominal values */
    uint64_t seed;
    int64_t sample;
    net_draws *draws; /* the owner's, or NULL */
    bool taken;       /* the owner has its analyses from an earlier expansion: skip values of .dc */
    bool stepping;    /* the owner has its .step cards from an earlier expansion: skip them */
    const char **metered; /* vec, the owner's: device, name, device, name ... of the values inside
                             of devices that commands save, name "": of the currents i(device) that
                             cards of results name; interned lower case */
    diag_span *control;   /* vec; the lines of .control blocks, with what continues them */
    diag_span control_at; /* the first .control card; DIAG_NOWHERE: none */
    bool xyce;            /* a card of the deck's own file is Xyce's alone: some words mean what
                             they mean there */
    int threads; /* the owner's: that may read elements; 0: as many as there are processors */
} net_deck;

typedef struct net_define { /* a parameter of the top level that is set from outside */
    const char *name;
    double value;
    bool used; /* out: a bound of a .for loop or an index has read it */
} net_define;
typedef struct net_opt {
    const char *const *include; /* [n_include] folders to search */
    size_t n_include;
    net_define *define; /* [n_define]; for bounds of loops and indices */
    size_t n_define;
    bool init; /* read .spiceinit: beside the deck, here or at home */
    const int32_t
        *section; /* [n_section] for each .step lib card, which of its sections; NULL: the first */
    size_t n_section;
    int32_t alter; /* how many .alter blocks are applied; later ones are left out */
    bool no_title; /* the first line is a card (text from standard input) */
    bool ngspice;  /* decks are ngspice's, whatever cards are in them */
    int threads;   /* that may read a large file; 0: as many as there are processors */
} net_opt;

/* Whether the word is a package of Xyce's options, or one of its .print, lower case. */
bool net_xyce_package(const char *word);
bool net_xyce_print(const char *word);

/* Reads a deck with its includes; `opt` may be NULL. Everything is allocated in `mem`, names in
 * `names`, source text in `d`.
 * Status: VS_OK (warnings possible), VS_EINPUT, VS_EIO (the deck itself cannot be read); messages
 * in d. */
VS_MUST_USE vs_status net_read(net_deck *deck, diag *d, str_pool *names, arena *mem,
                               const char *path, const net_opt *opt);
VS_MUST_USE vs_status net_read_text(net_deck *deck, diag *d, str_pool *names, arena *mem,
                                    const char *name, const char *text, size_t len,
                                    const net_opt *opt);
/* The path of a file named in a card. The caller removed quotes; d->variable gives $NAME and ~.
 * Looked for beside file `from` and in the include folders. If it is nowhere, the expanded name is
 * returned. The text is in mem. */
const char *net_find_file(const diag *d, arena *mem, const char *name, int32_t from,
                          const net_opt *opt);

/* The first word that the start-up file gives a variable; "": a flag; NULL: it does not set it. */
const char *net_start_value(const net_deck *deck, const char *name);

diag_span net_tok_span(const net_card *c, const net_tok *t);
diag_span net_card_span(const net_card *c); /* the first word */
diag_span net_line_span(const net_line *l); /* the same */
/* The card with its tokens. Those of an element are made again in the caller's vec *tok and live
 * until the next call with it. */
net_card net_line_full(const net_line *l, diag *d, str_pool *names, net_tok **tok);
/* The file name that token k of a card begins, as one token: what is quoted, or else all up to the
 * next blank or the punctuation `stop` (0: none), for the name may contain what splits words.
 * *next: the token behind it. */
net_tok net_file_tok(const net_card *c, int32_t k, char stop, int32_t *next);
/* The text of such a token without quotes or braces, in mem. */
const char *net_file_text(const diag *d, arena *mem, const net_card *c, const net_tok *t);
/* Whether an element's card is its name and three words of letters, digits, indices and _.-+:# on
 * one line, as most cards of a large deck are; flat_read_plain then needs no tokens. The third may
 * be a text in braces.
 *   s[0..len)  in   text of the file
 *   word       out  where the three words stand */
bool net_three_words(const net_line *l, const char *s, uint32_t len, diag_span word[3]);
/* Whether work on a text of so many bytes is shared with another thread. */
bool net_is_shared(size_t bytes, int threads);
/* Writes the text form for --dump=cards. */
void net_print(const net_deck *deck, diag *d, str_pool *names, FILE *out);

#endif
