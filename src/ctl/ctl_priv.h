/* ctl_priv.h - between the files of the interpreter:
 *     ctl.c       blocks, loops, conditions, the table of commands
 *     ctl_text.c  $variables, words, redirection; variables and their effects
 *     ctl_ana.c   analyses, alter
 *     ctl_list.c  listing
 *     ctl_show.c  what there is: show, devhelp, rusage
 *     ctl_step.c  transients that pause: stop, step, resume
 *     ctl_vec.c   let, print, write, meas, spectra, pictures
 *     ctl_image.c all of it as an image; which statement is under way
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

/* An analysis under way, or paused. */
typedef struct ctl_under_way {
    flat_ana a;
    sim_stat before;
    double t0;          /* s, when it began */
    bool paused, going; /* going: points of a transient are computed */
    bool of_deck;       /* a command `run`: after it come the deck's cards and further analyses */
    size_t number;      /* of_deck: which one */
    const post_plot *plot;
    int64_t n_point; /* since it began */
    int64_t step;    /* > 0: it pauses after so many points */
} ctl_under_way;

typedef struct ctl_break ctl_break;

/* The statement under way of a list of them. */
typedef struct ctl_frame {
    size_t at;         /* which one */
    bool other;        /* of `if`: it is behind else */
    double turn, most; /* of loops: turns that are over; of `repeat`, how many there shall be */
    int n_failed;      /* of loops: turns with errors since the last one without */
    const char **word; /* vec: of `foreach`, the variable and its values; of where: the loop's */
} ctl_frame;

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
    post_flow *flow;     /* measures of the transient of the deck; NULL: its plot is kept */
    uint8_t *flow_image; /* vec: post_flow_image of a transient that another process began */
    post_def *def;       /* vec */
    uint64_t seed;
    post_plot *constants;
    FILE *out;         /* of the command under way: o.log, or a file by > */
    diag_span at;      /* of the command: its line */
    diag_span line_at; /* of `line`, if same_text */
    bool same_text;    /* the command's text is that of its line: columns agree */
    const char *line;  /* the command after substitution */
    vs_status worst;   /* first failure */
    int64_t n_analysis;
    bool stopped; /* by a signal: what there is may still be written; */
    bool saved;   /* that was done; */
    bool ended;   /* there is nothing more that a stopped block does */
    bool quit;
    int code;
    double tran[3]; /* step, end, start of the last transient */
    int n_picture;
    ctl_under_way run;
    size_t first; /* of the deck's analyses: with which ctl_deck begins, then the one under way */
    ctl_break *stop; /* vec: those of `stop` */
    int n_stop;
    int64_t n_pause;
    int n_inside;     /* lists of lines under way, each called by a command of the one before */
    double n_turn;    /* of the loops of the outermost one; */
    ctl_frame *where; /* vec: the statements under way, outermost first */
    ctl_frame *back;  /* vec: the same, of an image: where a block goes on; */
    size_t n_back;    /* so many of them are reached */
    int jump_errors, n_jump_failed; /* errors at the last goto; jumps in a row with new ones */
    const char *label;              /* where FLOW_GOTO leads to, in the memory of the statements */
    bool spent;                     /* there were too many, which was told */
    bool none;    /* a session without a circuit, or a block that removed its own */
    bool removed; /* the block did: nothing runs behind it */
};

typedef enum ctl_flow { FLOW_ON, FLOW_BREAK, FLOW_CONTINUE, FLOW_GOTO, FLOW_QUIT } ctl_flow;

/* Functions that are called like a command run it: `text` is what stands behind the command's word,
 * with variables replaced. Status: VS_OK; VS_EINPUT after a message; VS_EIO; VS_STOP, VS_PAUSED of
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
/* The number of a variable; absent: it is not set, or no number. */
double ctl_number_value(const ctl *c, const char *name, double absent);
/* A variable that is a whole number from lo to hi, or absent; else a message and false. */
bool ctl_whole_value(ctl *c, const char *name, int absent, int lo, int hi, int *value);
/* How tables are printed: `set numdgt`, `set width`. false: a message was given. */
bool ctl_table_form(ctl *c, post_table *t);
/* Restarts the sequence of numbers that sunif, sgauss and rnd draw. */
vs_status ctl_seed(ctl *c, double seed);
/* Sets a variable to the words [n], which are copied; n = 0: a flag. */
void ctl_put(ctl *c, const char *name, const char *const *word, size_t n);
void ctl_free_vars(ctl *c);
/* Takes "> file" or ">> file" off the end of the text and opens it as c->out. *text in scratch. */
vs_status ctl_redirect(ctl *c, const char **text);
/* Closes that file. Status: VS_OK; VS_EIO: not all was written (message). */
vs_status ctl_end_redirect(ctl *c);
/* Opens a file to write. Status: VS_OK; VS_EINPUT: the run uses the file otherwise; VS_EIO. With
 * messages. ctl_no_file gives the message of errno, and returns the status that goes with it. */
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
vs_status ctl_altermod(ctl *c, const char *text);
vs_status ctl_alterparam(ctl *c, const char *text);
vs_status ctl_reset(ctl *c, const char *text);
vs_status ctl_save(ctl *c, const char *text);
/* NULL: none. The name's first n letters count. */
const flat_inst *ctl_find_instance(const ctl *c, const char *name, size_t n);
/* @dev[param] of the netlist, for expressions. */
bool ctl_device_value(ctl *c, const char *name, double *value);
/* Goes on with a paused run. Status: VS_PAUSED: again. */
vs_status ctl_go_on(ctl *c);
/* A paused run ends; what it computed stays. */
void ctl_end_run(ctl *c);

/* -- ctl_list.c -- */
vs_status ctl_listing(ctl *c, const char *text);
/* Index among the texts of the diag: the circuit's own file; -1: it has no cards. */
int32_t ctl_own_file(const ctl *c);

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
/* let name[i][j] = expr; `index` is the text from the first bracket on. The value has as many
 * values as the part of the array that the indices leave. */
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
vs_status ctl_spec(ctl *c, const char *text);
vs_status ctl_fourier(ctl *c, const char *text);
vs_status ctl_plot(ctl *c, const char *text);
vs_status ctl_gnuplot(ctl *c, const char *text); /* also hardcopy: the first word is a file */
vs_status ctl_meas(ctl *c, const char *text);

/* Reads all .print, .plot, .four and .meas cards before anything runs. Status: VS_OK; VS_EINPUT
 * after messages. */
vs_status ctl_check_cards(ctl *c);

/* -- ctl_dot.c -- */
/* Computes a measure on the newest plot of that analysis. The result is printed, stored, and made a
 * vector of the plot. */
vs_status ctl_measure(ctl *c, const char *analysis, const char *text, diag_span at);
/* Called before and after an analysis of the deck. If nothing but measures needs a transient's
 * points, the measures are computed as the points come, and no plot is stored. */
void ctl_flow_begin(ctl *c, const flat_ana *a);
void ctl_flow_end(ctl *c);

#endif
