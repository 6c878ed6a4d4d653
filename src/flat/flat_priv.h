/* flat_priv.h - between the files that expand a deck (flat*.c).
 * A subcircuit body is read once into a `body` (elements with their nodes as slots, right sides as
 * trees); every instance of it is a `scope`: arrays over the body's slots. Parameters and models
 * are evaluated at their first use. The files:
 *
 *     flat.c        driver
 *     flat_body.c   body: declarations, .if branches; .model, .param, .func
 *     flat_elem.c   element cards to `elem`
 *     flat_code.c   A elements, values in square brackets
 *     flat_logic.c  digital U elements; flat_logicexp.c: their expressions
 *     flat_eval.c   parameters, evaluation and folding of expressions
 *     flat_model.c  values of model cards, bins
 *     flat_inst.c   expansion
 *     flat_like.c   instances that are copies of one before
 *     flat_share.c  heavy expressions of several elements become unknowns
 *     flat_correlate.c  random numbers that vary together
 *     flat_card.c   dc and transient, options, saves, initial conditions
 *     flat_probe.c  .probe of currents, voltages and powers of elements
 *     flat_ana.c    small-signal analyses
 *     flat_step.c   families of runs
 *     flat_file.c   tables of numbers in files
 *     flat_redo.c   which values depend on what, and their evaluation again
 *     flat_again.c   subcircuit instances, expanded again
 *     flat_print.c  text form */
#ifndef FLAT_PRIV_H
#define FLAT_PRIV_H

#include "flat.h"
#include "map.h"
#include "vec.h"

/* Bits of a mask: over[i], and these. */
enum { KNOB_MANY = 60, KNOB_TEMPER = FLAT_KNOB_TEMPER, KNOB_DRAW = FLAT_KNOB_DRAW };
static inline uint64_t knob_bit(size_t i) { return UINT64_C(1) << (i < KNOB_MANY ? i : KNOB_MANY); }

typedef struct body body;
typedef struct scope scope;

typedef struct rhs {   /* what stands behind "key=" or at a place for a value */
    const net_expr *e; /* NULL: absent, or wrong (a message was given) */
    const char *word;  /* a bare word or "text": the value if no parameter has that name */
    diag_span span;
    bool text; /* "text" */
    bool given;
    bool maybe_dynamic; /* contains v(), i(), time, hertz or a user's function */
} rhs;
typedef struct keyval {
    const char *key;
    diag_span key_span;
    rhs v;
} keyval;

typedef struct source_def {
    rhs dc, ac_mag, ac_phase;
    rhs disto_mag[2], disto_phase[2];
    flat_wave_kind wave;
    rhs *arg;      /* vec in the arena */
    double *table; /* vec in the arena: PWL pairs of a file */
    rhs repeat, delay;
    rhs draw; /* TRNOISE, TRRANDOM */
    rhs port, z0, power, frequency;
    bool external;
    diag_span span;
} source_def;

/* What the instance of an element had that was made last: the next one mostly has the same. */
typedef struct elem_made {
    flat_rare *rare; /* NULL: none yet */
    flat_param *param;
} elem_made;

/* Instances of a subcircuit with the same parameters, in which equal elements get equal values:
 * what they were is kept, by the number of the element. */
typedef struct flat_kin {
    const struct flat_kin *caller;
    const struct elem
        *e; /* the element of all of them; NULL: of any whose parameters are `given` */
    struct keyval *given;         /* vec of e or of the first one: numbers */
    elem_made *made;              /* [elements] */
    const struct flat_like *like; /* NULL: others are no copies, or none was expanded yet */
    int n_try;
} flat_kin;

typedef struct elem {
    char letter;
    const char *name;
    const net_line *line;
    int32_t guard;
    int32_t n_node;
    int32_t *slot; /* [n_node] */
    diag_span *node_span;
    const char *word; /* model or subcircuit name, NULL: none */
    diag_span word_span;
    rhs value; /* positional value */
    const char *value_key;
    keyval *kv; /* vec in the arena */
    rhs m;
    source_def *src;
    rhs expr; /* behavioural; becomes a value if nothing in it depends on the circuit */
    bool expr_is_v;
    keyval *ref;             /* vec; key: the name, span; v unused */
    flat_conn *conn;         /* vec; A */
    const flat_logic *logic; /* U of PSpice's digital devices */
    rhs *poly;               /* vec */
    int32_t poly_dim;
    bool off;
    rhs ic[4];
    int32_t n_ic;
    elem_made *made; /* NULL: there are no others */
} elem;

/* An element of a body, in the order of the text. Most of a large deck are plain: R, C or L, two
 * nodes, a number. */
typedef struct item {
    const net_line *line;
    int32_t guard;
    int32_t elem;         /* index of what was read of it; -1: it is plain */
    int32_t slot[2];      /* plain */
    double value;         /* plain */
    uint32_t at, n_digit; /* plain: where its value stands */
} item;

typedef struct param_def {
    const char *name;
    int32_t slot, guard, prev; /* prev: earlier definition of the same slot, -1 */
    rhs v;
    diag_span span;
    bool port; /* on the .subckt line */
    bool var;  /* of a .var card: an expression, evaluated where it is used */
} param_def;
typedef struct func_def {
    const char *name;
    const char **arg; /* [n_arg] */
    int32_t n_arg, guard, prev;
    const net_expr *e;
    diag_span span;
} func_def;
typedef struct model_def {
    const char *name;
    const net_card *card;
    int32_t guard, prev;
    int32_t bin_prev, n_bin; /* model name.k: the bin before, -1; bins so far */
    bool parsed;
    const char *type; /* NULL: that of `like` */
    const char *like; /* .model NAME ako: LIKE: has its values too; NULL */
    diag_span like_span;
    int32_t first; /* token of the first value */
    keyval *kv;
    flat_model *constant; /* evaluated, and the same for every instance */
    bool has_limits;      /* limit[] is known, and the same for every instance */
    double limit[4];      /* of a bin: lmin lmax wmin wmax */
    /* A card inside a subcircuit: instances in which these parameters are equal share it. */
    enum { READS_UNKNOWN, READS_KNOWN, READS_MORE } reads_state; /* MORE: it reads other things */
    const char **reads;                                          /* vec: their names */
} model_def;
typedef struct sub_def {
    net_sub *sub;
    int32_t guard, prev;
} sub_def;
typedef struct branch { /* one branch of an .if; `guard` is an index of these */
    int32_t parent;     /* branch it is in, -1 */
    int32_t before;     /* previous branch of the same .if, -1 */
    rhs cond;           /* not given: .else */
    bool has_param;     /* defines parameters */
} branch;
typedef struct card_ref {
    const net_card *card;
    int32_t guard;
} card_ref;

enum { FLAT_N_KIN = 8 }; /* further ones are evaluated each for itself */
struct body {
    const net_sub *sub;
    body *parent;
    int32_t *port;    /* vec of slots */
    struct optional { /* vec: the last ports, which an instance may leave out; */
        int32_t slot;
        const char *node; /* then they are this node of the top level */
    } *optional;
    const char **slot_name;  /* vec */
    map slot;                /* name -> slot */
    param_def *param;        /* vec, order of the text */
    const char **param_name; /* vec by slot */
    map param_slot;          /* name -> slot */
    int32_t *param_last;     /* vec by slot: last definition */
    func_def *func;
    model_def *model;
    sub_def *subs;
    map func_of, model_of, sub_of; /* name -> last definition */
    map bin_of;                    /* name without .k -> last bin */
    branch *branch;                /* vec */
    item *item;                    /* vec */
    elem *elem;                    /* vec */
    flat_kin *kin[FLAT_N_KIN];     /* NULL from some number on */
    map item_of;                   /* name -> item, of the first n_item_of */
    size_t n_item_of;
    card_ref *other;  /* .ic .nodeset .save .print and missing includes; at top level all others */
    bool in_progress; /* being expanded (recursion) */
    bool recursive_said;
    double count; /* instances below, < 0: not counted */
};

typedef enum pstate { P_NEW, P_BUSY, P_DONE, P_BAD } pstate;
typedef struct pval {
    const rhs *v; /* NULL: not defined in this scope */
    scope *where; /* v is evaluated there */
    scope *in;    /* the instance whose line gives it; NULL: none does */
    double value;
    const char *str;
    pstate state;
    bool fixed;          /* given by the instance or from outside */
    const rhs *own;      /* of a watched one that has a value from outside: what it has else */
    const char *path;    /* of the instance it belongs to */
    bool used;           /* an expression asked for it */
    bool listed;         /* in the plan */
    bool again;          /* redoing: it had a value before */
    uint64_t knob, mask; /* the knob that it is itself, those that choose its definition; all that
                            its value depends on */
    uint64_t watch;      /* the knob of a watched one */
    const net_expr *folded; /* of a behavioural expression, one tree for all uses */
    diag_span span;
} pval;
struct scope {
    scope *lex, *caller;
    body *b;
    const flat_kin *kin; /* NULL: it may be the only one of its kind */
    const char *path;    /* "x1.x2." or "" */
    size_t path_len;
    double m;
    uint64_t m_mask, guard_mask; /* knobs that m depends on; that the branches taken depend on */
    int depth;
    pval *param; /* [param slots] */
    struct extra {
        const keyval *kv;
        pval p;
    } *extra; /* [n_extra] parameters of its line that the subcircuit does not declare */
    size_t n_extra;
    int32_t *node;      /* [slots], -1: not yet */
    flat_model **model; /* [models] */
    uint8_t *on;  /* [branches] bit 0: taken; bit 1: this one or one before it in the .if is */
    int32_t n_on; /* guards decided so far; later ones count as off */
    enum {
        SCOPE_HERE,
        SCOPE_GOES,
        SCOPE_GONE
    } life; /* flat_again.c: GOES: it is being replaced by a new one; GONE: it has been */
};

typedef struct busy {
    const char *name, *path;
    diag_span span;
    int32_t n_draw; /* statistical functions so far */
} busy;
typedef struct pending { /* a name that is looked up when all nodes and elements are there */
    net_expr *e;         /* VNODE or IBRANCH */
    int32_t k;           /* VNODE: which node */
    const char *path;    /* of the scope, tried first */
} pending;
typedef struct pending_node {
    enum { PEND_IC, PEND_NODESET, PEND_SAVE, PEND_DEVICE } what;
    int32_t index, k;
    const char *path, *name;
    diag_span span;
} pending_node;

typedef struct probe_item { /* an item of .probe that needs the elements */
    char kind; /* 'i' current, 'a' all currents, 'v' voltage, 'p' power; 0: another item */
    int32_t n;
    const char *word[5]; /* [n]; element, terminal ... */
    bool comma[5];       /* is there one before it? else a colon */
    const char *path;    /* of the scope where it stands; NULL: the top */
    const char *as;      /* the vector's name, NULL: ngspice's */
    diag_span span;
} probe_item;

typedef struct pin { /* a terminal of a subcircuit instance with a source of 0 V before it */
    const char *inst, *port;
    int32_t number; /* from 1 */
    int32_t node;   /* outside */
    const char *source;
} pin;

typedef struct flat_ctx {
    flat *f;
    const net_deck *deck;
    diag *d;
    str_pool *names;
    arena *mem;
    arena scratch; /* scopes, released when an instance is done */
    double temper;
    const flat_override *over;
    size_t n_over;
    const char **altered; /* [n_altered] names in over that have a dot, lower case, interned */
    size_t n_altered;
    body **body;                 /* [deck->n_sub] */
    bool number_models;          /* some model's name begins as a number does */
    const flat_rare *plain_rare; /* of plain elements; NULL: there is none yet */
    flat_plain *plain;           /* [n_plain] for the next of them */
    int32_t n_plain, plain_room;
    scope *root;
    map top_node;             /* name -> node: ground, top level, .global */
    const char **top;         /* vec; with a plan: names of top_node, except ground */
    const scope **model_home; /* vec; with a plan: where each of f->model was evaluated */
    struct lent {
        flat_model *m; /* NULL: the instance has asked for it again */
        const scope *home;
    } *lent; /* vec; while an instance is expanded again: the model cards that its old form was the
                first to ask for, and that others use too */
    map is_global;
    map sub_param;      /* names that are parameters of some subcircuit */
    bool touched_local; /* evaluation used a parameter that a subcircuit defines */
    busy *busy;         /* vec: parameters being evaluated */
    const pval *giving; /* the last of them, if an instance gives it, else NULL */
    busy drawing;       /* what is evaluated if no parameter is: an element, a model */
    diag_span nominal;  /* the first statistical function that had its nominal value */
    int depth;          /* of evaluation */
    int64_t steps;      /* budget of one evaluation */
    map said;           /* places with a message already */
    map inst_of;        /* name -> instance, filled at the end */
    map node_of;
    pending *pend;
    pending_node *pend_node;
    probe_item *probe; /* vec */
    bool has_save;     /* a card .save was read */
    map pin_of;        /* instances of subcircuits whose currents are asked for */
    bool all_pins;     /* those of all of the top level */
    pin *pin;          /* vec */
    int64_t n_made;
    int64_t n_apart;   /* what was expanded that says more than elements and nodes */
    int n_error;       /* errors in d before this expansion */
    bool stop;         /* give up: the circuit is too large, or d is full of errors */
    bool declarations; /* read no elements: for the options alone */
    flat_plan *plan;   /* NULL: nobody asks what depends on what */
    uint64_t mask;     /* knobs that values depend on which were evaluated since it was set to 0 */
    map shared;        /* hash of a card and of what it reads -> its place in `share`, + 1 */
    struct share {     /* a card inside subcircuits, for one set of values that it reads */
        const model_def *def;
        const double *value; /* [vec_len(def->reads)] */
        flat_model *m;
        int32_t next; /* the one before with this hash; 0: none */
    } *share;         /* vec; [0] is not used */
    double scale;     /* .option scale, once it is needed; 0: not looked up yet */
    bool per_finger;  /* .option wnflag, looked up with it: bins hold w/nf */
    int muted;        /* > 0: a factor 0 multiplies the present value, draws do not matter */
    bool amperes;     /* the present value is a current: 1A is one ampere, not one atto */
    bool ever_drew;   /* a statistical function that matters was evaluated, in all */
    bool drew;        /* the same, since somebody set it to false */
    bool redoing;     /* the expansion is over, values are evaluated again */
    bool structural;  /* redoing: more would change than values */
    int32_t
        first_new; /* 0; or an instance is expanded again, and its nodes begin here: nodes of the
                          top level from here on were made after it */
    const char **alter; /* vec: names of runs: "main", those of .alter cards */
    diag_span alter_at;
    diag_span temp_at; /* of the last .temp card */
} flat_ctx;

/* flat_eval.c. On an error each function gives a message and returns false or NULL. */
bool flat_eval(flat_ctx *c, scope *s, const rhs *v, double *y);
/* Number or text: *str is NULL for a number. */
bool flat_value(flat_ctx *c, scope *s, const rhs *v, double *y, const char **str);
/* The expression with parameters folded, functions inlined and nodes resolved. */
const net_expr *flat_fold(flat_ctx *c, scope *s, const rhs *v);
pval *flat_find_param(flat_ctx *c, scope *s, const char *name);
/* The name under which a parameter of .csparam is stored. No expression can contain this name. */
const char *flat_csparam_name(const flat_ctx *c, const char *name);
/* True at the first call for this place: an element of a subcircuit is read many times, but its
 * message is given once. */
bool flat_first(flat_ctx *c, diag_span at);
/* Like flat_first, where several messages can belong to a place; `what` tells them apart. */
bool flat_first_of(flat_ctx *c, diag_span at, uint64_t what);
/* The one of cand [n] that `name` is likely to mean, of those of about its length, so that large
 * circuits cost little; NULL: none. */
const char *flat_near(flat_ctx *c, const char *name, const char *const *cand, size_t n);
/* diag_suggest with that. */
void flat_suggest(flat_ctx *c, const char *name, const char *const *cand, size_t n);
void flat_where(flat_ctx *c, const scope *s); /* the note "in instance x1.x2" */
void flat_start_eval(flat_ctx *c); /* a new value: its budget of operations is whole again */
/* Evaluates all parameters of a scope; flat_decide_guards: which of its .if branches are taken.
 * false: a message was given. */
void flat_eval_all(flat_ctx *c, scope *s);
bool flat_decide_guards(flat_ctx *c, scope *s);
/* Chooses the definition of each parameter that counts, the last one in a branch that is taken, and
 * forgets the values. */
void flat_choose_params(scope *s);
static inline bool flat_on(const scope *s, int32_t guard)
{
    return guard < 0 || (guard < s->n_on && (s->on[guard] & 1));
}

/* The parameter of this name, evaluated; NULL: it has no number. */
const pval *flat_number_of(flat_ctx *c, scope *s, const char *name);

/* flat_body.c: the body of a definition, read at the first call; c owns it. */
body *flat_body(flat_ctx *c, const net_sub *sub);
void flat_body_free(body *b);
/* Whether the name is that of a model, a binned model or a parameter that the body can see, in any
 * branch of an .if. */
bool flat_names_model(const body *b, const char *name);
const func_def *flat_find_func(scope *s, const char *name);
/* The model in scope; NULL: none of that name. *bad: it exists, but has an error. */
flat_model *flat_find_model(flat_ctx *c, scope *s, const char *name, bool *bad);
/* flat_model.c: the bin among the cards name.1, name.2 ... that holds the geometry of an element.
 * Of the other bins only the limits are evaluated. NULL: none holds it, or *bad: a message was
 * given. */
flat_model *flat_find_bin(flat_ctx *c, scope *s, const char *name, const flat_inst *x, bool *bad);
/* Says that no bin holds it, and which are near. */
void flat_no_bin(flat_ctx *c, scope *s, const elem *e, const flat_inst *x, const char *name);
/* All bins that this search looks at, a vec in c->mem. */
const flat_model **flat_bins(flat_ctx *c, scope *s, const char *name);
/* A value of a model card, its own or that of a card that it is like (ako:), and the scope to
 * evaluate it in. */
typedef struct model_value {
    const keyval *kv;
    scope *where;
} model_value;
model_def *flat_find_def(scope **s, const char *name, const model_def *but);
bool flat_model_values(flat_ctx *c, scope *s, model_def *m, model_value **v, const char **type);
/* The definition of a subcircuit that s can see; NULL: none.  lex  out  the scope around it */
net_sub *flat_find_sub(scope *s, const char *name, scope **lex);
/* The slot of a node's name in the body, made at its first use. */
int32_t flat_slot(flat_ctx *c, body *b, const char *name);
/* The same for text[0..n) in lower case, whose hash is str_hash_folded's. */
int32_t flat_slot_of(flat_ctx *c, body *b, const char *text, size_t n, uint32_t hash);
/* Index of the body's last item of that name so far, -1: none. */
int32_t flat_item(body *b, const char *name);

/* A cursor over the tokens of a card, and values read from it. */
typedef struct cur {
    flat_ctx *c;
    body *b;
    const net_card *card;
    int32_t i;
} cur;
static inline bool cur_more(const cur *q) { return q->i < q->card->n_tok; }
static inline const net_tok *cur_tok(const cur *q) { return &q->card->tok[q->i]; }
diag_span cur_span(const cur *q); /* the token, or just behind the last one */
bool cur_is(const cur *q, char punct);
bool cur_is_word(const cur *q, const char *word);
bool cur_at_key(const cur *q); /* word "=" */
void cur_skip_punct(cur *q);   /* commas and brackets */
rhs cur_value(cur *q);         /* one value */
rhs cur_expr(cur *q);          /* an expression that may contain blanks */
rhs flat_number(flat_ctx *c, double x, diag_span span);
/* A call of a function whose n arguments the caller sets; a op b; v(plus,minus). */
net_expr *flat_call(flat_ctx *c, net_fn fn, const char *name, int32_t n, diag_span span);
const net_expr *flat_operation(flat_ctx *c, net_op op, const net_expr *a, const net_expr *b);
const net_expr *flat_voltage(flat_ctx *c, const char *plus, const char *minus, diag_span span);

/* flat_gain.c: whether a transfer function of HSPICE's form begins here, and its expression, read
 * up to keys of other meaning; plus, minus: the source's nodes. NULL: a message was given. */
bool flat_at_gain(const cur *q);
const net_expr *flat_gain(cur *q, const char *plus, const char *minus);

bool cur_keyval(cur *q, keyval *kv); /* key "=" value */
/* Warns about a key that was given before. */
void flat_warn_twice(flat_ctx *c, const char *key, diag_span at, diag_span first);
/* The same of all of a list, which keeps the last of each. */
void flat_unique_keys(flat_ctx *c, keyval *kv);
/* The message that this token is not expected. */
void cur_unexpected(const cur *q, const char *what);

/* flat_file.c: reads the file that the cursor's word or quoted text names, relative to the file of
 * the card. false: a message was given.
 *   what  the message if there is no name
 *   at    out  place of the name
 *   file  out  number of the file in c->d */
bool cur_file(cur *q, const char *what, diag_span *at, int32_t *file);
/* Offset of the end of the line that begins at i of a table as text. */
size_t flat_table_line_end(const diag_file *f, size_t i);
/* Is s[i..end) empty, or a comment behind #? */
bool flat_table_line_blank(const char *s, size_t i, size_t end);
/* The file of a PWL: lines of time and value. pairs: vec in the arena. false: a message was given.
 */
bool flat_pwl_file(cur *q, double **pairs);

/* flat_code.c: a copy of the card in which brackets are tokens of their own. The lexer cannot know
 * them, since names may contain brackets.
 *   element  true: an A element, whose %type and ~ become tokens too; false: only the brackets of
 *            lists "name=[value value ...]" */
const net_card *flat_split_brackets(flat_ctx *c, const net_card *card, bool element);
/* If the cursor is at a unit behind a blank, as in "delay=200 ps", multiplies *v, the number before
 * it, by the unit's scale, with a warning. false: there is no unit, or v is NULL (no number). */
bool flat_take_unit(cur *q, rhs *v);
/* list = "[" value* "]" behind "name=": appends the entries name[0], name[1], ... to *kv. false: a
 * message was given. */
bool flat_read_list(cur *q, const char *name, keyval **kv);
/* The connections and the model of an A element, from the token behind its name; vecs. false: a
 * message was given. */
typedef struct code_card {
    flat_conn *conn;
    int32_t *slot;
    diag_span *span; /* of the slots */
    keyval *ref;
    const char *model;
    diag_span model_span;
} code_card;
bool flat_read_code(cur *q, code_card *a);
/* flat_logic.c: whether a U element is a digital device, at its type; reads it from there. false: a
 * message was given. */
typedef struct logic_card {
    const flat_logic *logic;
    int32_t *slot;
    diag_span *span;   /* of the slots */
    const char *model; /* the timing model, NULL: none */
    diag_span model_span;
} logic_card;
bool flat_is_logic(const cur *q);
bool flat_read_logic(cur *q, logic_card *a);
/* flat_elem.c: reads an element card into *e. false: a message was given. */
bool flat_read_elem(flat_ctx *c, body *b, const net_card *card, elem *e);
/* What the text of a line alone tells of a plain element; another thread can find it ahead. */
typedef struct plain_text {
    bool three;       /* R, C, L with three words; else nothing else is valid */
    bool number;      /* the third is a number, */
    double value;     /* this one */
    uint32_t hash[2]; /* of the nodes (str_hash_folded) */
    diag_span word[3];
} plain_text;
void flat_find_plain(const net_line *line, const char *text, uint32_t len, plain_text *out);
/* Like flat_read_elem for a plain element, into *x. false: it is not plain, nothing was done, or a
 * message was given. */
bool flat_read_plain(flat_ctx *c, body *b, const net_line *line, const plain_text *t, item *x);

/* flat_inst.c: flat_root makes the scope of the deck itself; flat_expand all elements of a scope;
 * flat_expand_elem one. flat_node: the node of a slot in this scope, made at its first use.
 * flat_resolve_pending looks up the names that had to wait for all nodes and elements. */
scope *flat_root(flat_ctx *c);
void flat_expand(flat_ctx *c, scope *s);
void flat_expand_elem(flat_ctx *c, scope *s, const elem *e);
int32_t flat_node(flat_ctx *c, scope *s, int32_t slot);
/* Whether n more elements are not too many. */
bool flat_may_make(const flat_ctx *c, int64_t n);
flat_plain *flat_new_plain(flat_ctx *c);
flat_param *flat_copy_params(arena *mem, const flat_param *p); /* a vec; NULL for NULL */
/* flat_like.c: around the expansion of an instance e: it becomes what others of its kind are copied
 * from, unless it said anything else or there is one already. */
typedef struct flat_before {
    int32_t inst, node; /* in flat->inst, flat->node */
    int64_t n_made;
    size_t others;
} flat_before;
flat_before flat_like_begin(const flat_ctx *c);
void flat_like_end(flat_ctx *c, const scope *in, const elem *e, flat_kin *kin, flat_before before);
/* An instance e in s as a copy; false: it is to be expanded. */
bool flat_like_copy(flat_ctx *c, scope *s, const elem *e, const struct flat_like *like);
bool flat_is_global(const flat_ctx *c, const char *name);
const char *flat_join(flat_ctx *c, const scope *s, const char *name);
const char *flat_join_path(flat_ctx *c, const char *path, size_t path_len, const char *name);
void flat_resolve_pending(flat_ctx *c);
void flat_fill_maps(flat_ctx *c); /* names of all nodes and elements */
/* A name with the colons that Xyce has between levels of hierarchy as dots, interned. */
const char *flat_with_dots(flat_ctx *c, const char *name);

/* The element `name` as seen from a scope, also in ngspice's form "v.x1.v1"; -1: there is none. */
int32_t flat_find_element(flat_ctx *c, const char *path, const char *name);
/* The element, or instance of a subcircuit, that `name` is likely to mean; NULL. */
const char *flat_near_element(flat_ctx *c, const char *name);
/* "did you mean" among the elements. */
void flat_suggest_element(flat_ctx *c, const char *name);
/* Drops the items of .save whose text is NULL. */
void flat_drop_saves(flat *f);

/* flat_probe.c: stores the item of .probe at the cursor, of a card in s, for flat_probes. false:
 * the item is none of its kinds, the cursor is where it was. */
bool flat_read_probe(cur *q, const scope *s);
/* Before the expansion of a scope: which instances of subcircuits need flat_put_pins. */
void flat_want_pins(flat_ctx *c, const scope *s);
/* Whether e or what is within it may need them: it is no copy of another one. */
bool flat_has_pins(flat_ctx *c, const scope *s, const elem *e);
/* The ports of an instance e of b, whose nodes stand in node [n_slot] of its scope, get sources of
 * 0 V if somebody asks for their currents. s: where e stands. */
void flat_put_pins(flat_ctx *c, const scope *s, const elem *e, const body *b, int32_t *node);
/* An item of .save, i(m1:d) or p(m1), with the device and terminal that p->name means, as seen from
 * its scope; flat_probes puts its source. false after a message: there is none. */
bool flat_take_terminal(flat_ctx *c, const pending_node *p, flat_save *s);
/* id(m1), i2(q1), p(m1), of the element or terminal `arg`: "m1:d", "q1:2", "m1:power", interned.
 * NULL: another function. */
const char *flat_terminal_call(flat_ctx *c, const char *fn, const char *arg);
/* Carries out the stored items, after all elements were made. true: it added elements, or saves
 * voltages at them, so that none of them may be expanded again alone. */
bool flat_probes(flat_ctx *c);

/* flat_share.c: makes unknowns of heavy expressions that several elements have in common.
 *   dry  change nothing, only tell
 * true: there are such expressions. */
bool flat_share(flat_ctx *c, bool dry);

/* flat_redo.c: dependences. The caller evaluates a value between flat_slot_begin and flat_slot_end,
 * which notes it as slot of an owner if it depends on a knob. */
typedef enum flat_slot_kind {
    SLOT_NUMBER,
    SLOT_PARAM,
    SLOT_M,
    SLOT_IC,
    SLOT_EXPR,
    SLOT_RCL,
    SLOT_BIN,
    SLOT_NODE_IC,
    SLOT_NODESET,
    SLOT_ANA
} flat_slot_kind;
typedef struct flat_slot_at { /* where the value goes */
    flat_slot_kind kind;
    const flat_model
        *model;           /* its owner; NULL: the instance under way, or none (NODE_IC, NODESET) */
    double *number;       /* NUMBER */
    flat_param *param;    /* PARAM, RCL */
    int32_t k;            /* IC; NODE_IC, NODESET, ANA: index */
    const net_card *card; /* ANA: its numbers are read again */
    const char *name;     /* BIN: of the model */
} flat_slot_at;
busy flat_slot_begin(flat_ctx *c);
void flat_slot_end(flat_ctx *c, scope *s, const rhs *v, busy before, flat_slot_at at);
size_t flat_n_slot(const flat_ctx *c); /* so far; 0 without a plan */
/* Notes that the values evaluated since c->mask was 0 decide which elements there are. */
void flat_structural(flat_ctx *c);
/* Notes facts that are decided once per scope, to decide them again when a knob of `mask` changes:
 * which branches are taken; its m (m: the value on the instance's line, NULL: that of its caller).
 */
void flat_guards_fact(flat_ctx *c, scope *s, uint64_t mask);
/* Gives the parameters that the plan watches their knobs; s: the root. */
void flat_watch_params(const flat_ctx *c, scope *s);
void flat_m_fact(flat_ctx *c, scope *s, const rhs *m, uint64_t mask);
/* To call when element i was taken out of a parameter list of the present instance. */
void flat_slots_shift(flat_ctx *c, const flat_param *list, size_t i);
/* To call around the evaluation of a parameter; end takes what begin returns, of c as it was. */
typedef struct flat_outer {
    uint64_t mask;
    const pval *giving;
} flat_outer;
flat_outer flat_param_begin(flat_ctx *c, const pval *p);
void flat_param_end(flat_ctx *c, pval *p, flat_outer outer);
void flat_plan_keep(flat_plan *p, const flat_ctx *c, bool shares); /* takes c over */

/* flat_again.c: to call around the expansion of a subcircuit instance; end takes what begin
 * returns. */
int32_t flat_extent_begin(flat_ctx *c, scope *s, const elem *e);
void flat_extent_end(flat_ctx *c, int32_t k);

/* flat.c */
void flat_ctx_free(flat_ctx *c);
/* flat_inst.c: checks of values, at the expansion and when values have changed. flat_pwl_goes_back:
 * do times of a PWL decrease?  at  out  index of the first that does */
bool flat_pwl_goes_back(const flat_source *o, size_t *at);
bool flat_take_m(flat_ctx *c, scope *in, const rhs *m); /* in->m; m NULL: 1 */

/* flat_card.c */
void flat_local_card(flat_ctx *c, scope *s, const net_card *card); /* .ic .nodeset .save .print */
void flat_top_card(flat_ctx *c, const net_card *card);             /* after expansion: analyses */
void flat_option_card(flat_ctx *c, const net_card *card);          /* .option .temp */
void flat_read_option(cur *q);                                     /* one: name, or name=value */
bool flat_find_sweep(cur *q, flat_sweep *w); /* what the name at the cursor stands for in .dc */

/* flat_xyce.c: reads the card if it is of a package of Xyce's options. false: it is not. */
bool flat_xyce_options(cur *q);

/* flat_step.c: .step .mc .limits */
/* target = ["param"] name | "temp" | "option" name | element ["[" name "]"] | model "(" name ")"
 * of .step and .sens. false: a message was given. */
bool flat_read_target(cur *q, flat_target *t);
void flat_step_card(flat_ctx *c, const net_card *card);
void flat_alter_card(flat_ctx *c, const net_card *card);

/* flat_data.c: tables of .data. flat_data_card warns of one that nothing reads. The table whose
 * name is at the cursor is opened at its first column (*at); flat_at_column: whether there is
 * another one; flat_table_rows: of n numbers behind `width` columns, 0 with a message if they are
 * rows. flat_read_rows reads it for an analysis, whose kind is set. false: a message was given. */
void flat_data_card(flat_ctx *c, const net_card *card);
bool flat_open_table(cur *q, cur *at);
bool flat_at_column(cur *at);
int64_t flat_table_rows(const cur *at, size_t n, size_t width);
bool flat_read_rows(cur *q, flat_ana *a);
/* flat_correlate.c: reads the .correlate cards into c->f, before any parameter that counts is
 * evaluated. flat_correlate_met: a statistical function is the k-th of what is evaluated; _report
 * warns of names that none has had. */
void flat_correlate_cards(flat_ctx *c);
void flat_correlate_met(flat_ctx *c, const busy *of, int32_t k);
void flat_correlate_report(flat_ctx *c);
/* The value of a number that others are correlated with, 0 if the deck does not draw. false: there
 * are no others, *y is as it was, or 0. Gives messages. */
bool flat_correlated(flat_ctx *c, const net_draw *w, flat_dist kind, double *y);
void flat_step_finish(flat_ctx *c); /* the families of .temp and .alter, behind all steps */

/* flat_ana.c: .ac .noise .tf .sens .pz .sp */
void flat_small_card(flat_ctx *c, const net_card *card);
void flat_trannoise_card(flat_ctx *c, const net_card *card);

#endif
