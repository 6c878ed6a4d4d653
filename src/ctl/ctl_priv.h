/* ctl_priv.h - between the files of the interpreter:
 *     ctl.c       blocks, loops, conditions, the table of commands
 *     ctl_text.c  $variables, words, redirection; variables and their effects
 *     ctl_ana.c   analyses, alter
 *     ctl_list.c  listing
 *     ctl_event.c eprint, edisplay, eprvcd
 *     ctl_show.c  show, showmod, devhelp, rusage
 *     ctl_step.c  transients that pause: stop, step, resume
 *     ctl_vec.c   let, print, echo, write, wrdata, display, setplot
 *     ctl_shape.c vectors as arrays: let v[i][j], reshape, transpose, cross
 *     ctl_wave.c  whole curves: spectra, meas, pictures
 *     ctl_image.c the state of all of these as an image
 *     ctl_item.c  items with wildcards of such lists
 *     ctl_dot.c   .meas .four .print of the deck, also as points come; the table of measures */
#ifndef CTL_PRIV_H
#define CTL_PRIV_H

#include "ctl.h"
#include "expr.h"
#include "meas.h"
#include "table.h"
#include "vec.h"

typedef struct ctl_var {
    const char *name; /* interned lower case */
    char **word;      /* vec of heap copies; none: a flag */
} ctl_var;

typedef struct ctl_result { /* of a measure */
    const char *analysis, *plot;
    post_meas m; /* texts in the arena of the run */
} ctl_result;

/* The analysis that runs or has paused. */
typedef struct ctl_under_way {
    flat_ana a;
    sim_stat before;
    double t0;          /* s, when it began */
    bool paused, going; /* going: the engine is computing points of a transient */
    bool of_deck;       /* command `run`: the deck's cards and its further analyses follow */
    size_t number;      /* of_deck: number of the analysis */
    const post_plot *plot;
    int64_t n_point; /* since it began */
    int64_t step;    /* > 0: it pauses after so many points */
} ctl_under_way;

typedef struct ctl_break ctl_break;

/* The present statement of a list of statements. */
typedef struct ctl_frame {
    size_t at;         /* its number */
    bool other;        /* of `if`: the branch behind else runs */
    double turn, most; /* of loops: turns so far; of `repeat`: turns in all */
    int n_failed;      /* of loops: turns with errors since the last turn without */
    int n_error;       /* of loops: errors of the run before the present turn */
    const char **word; /* vec: of `foreach`, the variable and its values; of where: the loop's */
} ctl_frame;

/* A change that waits. */
typedef struct ctl_altered {
    const char *name, *param; /* interned */
    bool model;               /* of altermod */
    double *value;            /* vec */
    diag_span at;
} ctl_altered;

struct ctl {
    sim *s;
    ctl_opt o;
    diag *d;
    str_pool *names;
    arena mem;           /* of the whole run */
    arena scratch;       /* of one command */
    post_env e;          /* e.mem is scratch */
    ctl_var *var;        /* vec */
    ctl_result *result;  /* vec */
    post_flow *flow;     /* computes measures as points of the deck's transient come; NULL: a plot
                            of it is kept */
    uint8_t *flow_image; /* vec: post_flow_image of a transient that another process began */
    post_def *def;       /* vec */
    uint64_t seed;
    post_plot *constants;
    FILE *out;         /* of the command under way: o.log, or a file by > */
    diag_span at;      /* of the command: its line */
    diag_span line_at; /* place of `line`, if same_text */
    bool same_text;    /* `line` is the text in the file, so that columns agree */
    const char *line;  /* the command after substitution */
    diag_mark since;   /* before its messages */
    vs_status worst;   /* first failure */
    int64_t n_analysis;
    bool stopped; /* by a signal: the block may still write results; */
    bool saved;   /* it has written some; */
    bool ended;   /* it has reached a command that a stopped block may not run */
    bool quit;
    int code;
    double tran[3]; /* step, end, start of the last transient */
    int n_picture;
    ctl_under_way run;
    size_t first;    /* number of the deck's analysis that ctl_deck begins with; then of the present
                     one */
    vs_status cards; /* first failure of cards behind analyses since ctl_deck began */
    ctl_break *stop; /* vec: those of `stop` */
    int n_stop;
    int64_t n_pause;
    int n_inside;     /* nesting of ctl_lines, each called by a command of the lines around it */
    double n_turn;    /* turns of all loops of the outermost lines, for their budget */
    ctl_frame *where; /* vec: the present statements, outermost first */
    ctl_frame *back;  /* vec: those of an image, where a block goes on; */
    size_t n_back;    /* so many of them have been reached */
    int jump_errors, n_jump_failed; /* errors at the last goto; jumps in a row with new ones */
    const char *label;              /* where FLOW_GOTO leads to, in the memory of the statements */
    bool started;                   /* a start-up file has set its variables */
    bool spent;                     /* the budget of turns is spent, a message said so */
    bool none;    /* there is no circuit: a session has none yet, or a block removed its own */
    bool removed; /* a block removed it: nothing runs behind the block */
    bool esaves;  /* eprint and its like tell of some nodes only: */
    const char **esave;   /* vec of interned names */
    ctl_altered *altered; /* vec: changes that wait for who needs the circuit, */
    sim_saved *unaltered; /* values before the first of them; */
    size_t n_right;       /* so many waited and were right: as many more may; */
    bool no_wait;         /* one that waited was wrong: others do not wait */
    size_t n_saved;       /* so many names of `save` were looked for in a plot */
    int n_source; /* circuits that mc_source read from the deck and no remcirc has removed since */
};

typedef enum ctl_flow { FLOW_ON, FLOW_BREAK, FLOW_CONTINUE, FLOW_GOTO, FLOW_QUIT } ctl_flow;

/* A function named like a command runs it: `text` is the text behind the command's word, with
 * variables replaced. Status: VS_OK; VS_EINPUT after a message; VS_EIO; VS_STOP, VS_PAUSED of
 * analyses; others as an analysis ended. Texts in `scratch` live until the line has run. */

/* The place of a part of c->line. */
diag_span ctl_place(const ctl *c, const char *part, size_t len);

/* -- ctl_text.c -- */
/* The line with $name, $name[k], $#name, $?name, $&vector replaced; in scratch. NULL after a
 * message. */
const char *ctl_substitute(ctl *c, const char *line);
const ctl_var *ctl_get(const ctl *c, const char *name); /* NULL: not set */
/* The first word of a variable; "" for a flag, NULL: not set. */
const char *ctl_value(const ctl *c, const char *name);
/* The number of a variable; `absent` if it is not set, or no number. */
double ctl_number_value(const ctl *c, const char *name, double absent);
/* The value of a variable that must be a whole number from lo to hi; `absent` if it is not set.
 * false: a message was given. */
bool ctl_whole_value(ctl *c, const char *name, int absent, int lo, int hi, int *value);
/* Digits and width of printed tables, from the variables numdgt and width. false: a message was
 * given. */
bool ctl_table_form(ctl *c, post_table *t);
/* Restarts the sequence of numbers that sunif, sgauss and rnd draw. */
vs_status ctl_seed(ctl *c, double seed);
/* Sets what the start-up file of the first circuit sets, but for variables that have a value. */
void ctl_take_start(ctl *c);
/* Sets a variable to the words [n], which are copied; n = 0: a flag. */
void ctl_put(ctl *c, const char *name, const char *const *word, size_t n);
void ctl_free_vars(ctl *c);
/* Takes "> file" or ">> file" off the end of the text and opens it as c->out. *text in scratch. */
vs_status ctl_redirect(ctl *c, const char **text);
/* Closes that file. Status: VS_OK; VS_EIO: not all was written (message). */
vs_status ctl_end_redirect(ctl *c);
/* Opens a file to write. Status: VS_OK; VS_EINPUT: the run uses the file for something else;
 * VS_EIO; with messages. ctl_no_file gives the message of errno and returns its status. */
vs_status ctl_open(ctl *c, const char *path, bool append, files_role role, FILE **fp);
vs_status ctl_no_file(ctl *c, const char *path);
vs_status ctl_set(ctl *c, const char *text);
vs_status ctl_unset(ctl *c, const char *text);
vs_status ctl_option(ctl *c, const char *text);

/* -- ctl_image.c -- */
void ctl_free_place(ctl *c);

/* -- ctl_ana.c -- */
vs_status ctl_analysis(ctl *c, const char *text);
vs_status ctl_run_all(ctl *c, const char *text);
vs_status ctl_alter(ctl *c, const char *text);
/* Changes that wait take effect. */
void ctl_settle(ctl *c);
vs_status ctl_altermod(ctl *c, const char *text);
vs_status ctl_alterparam(ctl *c, const char *text);
vs_status ctl_reset(ctl *c, const char *text);
/* A note of what may be meant by the currents and powers in `text` that are not there. */
typedef void ctl_names_of(str_pool *names, const char *text, const char ***list);
void ctl_tell_lack(ctl *c, const char *text, ctl_names_of *names_of);
vs_status ctl_save(ctl *c, const char *text);
/* NULL: none. The name's first n letters count. */
const flat_inst *ctl_find_instance(const ctl *c, const char *name, size_t n);
/* @dev[param] of the netlist, for expressions. */
bool ctl_device_value(ctl *c, const char *name, double *value);
/* Goes on with a paused run. Status: VS_PAUSED: again. */
vs_status ctl_go_on(ctl *c);
/* Ends a paused run; its results so far stay. */
void ctl_end_run(ctl *c);

/* -- ctl_list.c -- */
vs_status ctl_listing(ctl *c, const char *text);
/* Number of the circuit's own file among the texts of the diag; -1: it has no cards. */
int32_t ctl_own_file(const ctl *c);

/* -- ctl_event.c -- */
vs_status ctl_eprint(ctl *c, const char *text);
vs_status ctl_edisplay(ctl *c, const char *text);
vs_status ctl_eprvcd(ctl *c, const char *text);
vs_status ctl_esave(ctl *c, const char *text);

/* -- ctl_show.c -- */
vs_status ctl_show(ctl *c, const char *text);
vs_status ctl_showmod(ctl *c, const char *text);
vs_status ctl_devhelp(ctl *c, const char *text);
vs_status ctl_rusage(ctl *c, const char *text);

/* -- ctl_step.c -- */
vs_status ctl_stop(ctl *c, const char *text);
vs_status ctl_status(ctl *c, const char *text);
vs_status ctl_delete(ctl *c, const char *text);
vs_status ctl_step(ctl *c, const char *text);
vs_status ctl_resume(ctl *c, const char *text);
void ctl_free_stops(ctl *c);

/* -- ctl_vec.c -- */
/* The expressions of a list; "all" and "plot.all" stand for many. vec, the caller frees it. */
bool ctl_values(ctl *c, const char *text, post_val **out);
vs_status ctl_let(ctl *c, const char *text);
vs_status ctl_unlet(ctl *c, const char *text);
vs_status ctl_compose(ctl *c, const char *text);
vs_status ctl_define(ctl *c, const char *text);
vs_status ctl_undefine(ctl *c, const char *text);
vs_status ctl_print(ctl *c, const char *text);
vs_status ctl_echo(ctl *c, const char *text);
vs_status ctl_write(ctl *c, const char *text);
vs_status ctl_load(ctl *c, const char *text);
vs_status ctl_wrdata(ctl *c, const char *text);
vs_status ctl_display(ctl *c, const char *text);
vs_status ctl_setplot(ctl *c, const char *text);
vs_status ctl_setscale(ctl *c, const char *text);
vs_status ctl_settype(ctl *c, const char *text);
vs_status ctl_destroy(ctl *c, const char *text);

/* -- ctl_shape.c: arrays -- */
/* Runs "let name[i][j] = expr" for the array `old`.
 *   index  the text from the first bracket on
 *   v      the value of expr, with as many values as the part of the array that the indices choose
 */
vs_status ctl_assign_part(ctl *c, post_vec *old, const char *name, const char *index,
                          const post_val *v);
vs_status ctl_reshape(ctl *c, const char *text);
vs_status ctl_transpose(ctl *c, const char *text);
vs_status ctl_cross(ctl *c, const char *text);

/* -- ctl_wave.c -- */
vs_status ctl_linearize(ctl *c, const char *text);
vs_status ctl_cutout(ctl *c, const char *text);
vs_status ctl_fft(ctl *c, const char *text);
vs_status ctl_psd(ctl *c, const char *text);
vs_status ctl_eye(ctl *c, const char *text);
/* The same of a text at a place: makes the eye of the current plot, and prints its figures. */
vs_status ctl_make_eye(ctl *c, const char *text, diag_span at);
vs_status ctl_spec(ctl *c, const char *text);
vs_status ctl_fourier(ctl *c, const char *text);
vs_status ctl_plot(ctl *c, const char *text);
vs_status ctl_gnuplot(ctl *c, const char *text); /* also hardcopy: the first word is a file */
vs_status ctl_meas(ctl *c, const char *text);

/* Reads all .print, .plot, .four and .meas cards before anything runs. Status: VS_OK; VS_EINPUT
 * after messages. */
vs_status ctl_check_cards(ctl *c);

/* -- ctl_item.c -- */
/* Whether item[len] has wildcards, v(1?) or id(*); then what it stands for goes to the vec *list,
 * in mem: nothing, if no node or element is so called. */
bool ctl_wild_items(const sim *s, arena *mem, const char *item, size_t len, const char ***list);

/* -- ctl_dot.c -- */
/* Computes a measure on the newest plot of that analysis. The result is printed, stored, and made a
 * vector of the plot. */
vs_status ctl_measure(ctl *c, const char *analysis, const char *text, diag_span at);
/* Called before and after an analysis of the deck. If nothing but measures needs a transient's
 * points, the measures are computed as the points come, and no plot is stored. */
void ctl_flow_begin(ctl *c, const flat_ana *a);
void ctl_flow_end(ctl *c);

#endif
