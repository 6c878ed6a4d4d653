/* fam.h - a family of runs: the points of .step and .mc, the values of each, and how they are set.
 * Use:    fam_init on an engine whose deck was expanded (sim_flatten); fam_count; fam_find_loops,
 *         sim_many; fam_set for each point, then fam_build and analyses; fam_fini.
 * A point is a number from 0: the sample is its first digit, then the steps in the deck's order.
 * Sweeps (src/swp) compute families in processes, the library (src/api) in the host's. */
#ifndef FAM_H
#define FAM_H

#include "sim.h"

typedef struct fam {
    sim *s;
    const char *path; /* of the deck */
    int32_t file;     /* its text, where it cannot be read again; -1: path is read */
    net_opt read;
    const flat_step *step; /* [n_step] */
    size_t n_step;
    int64_t mc, total; /* samples, 0: none; points, after fam_count */
    uint64_t seed;
    int64_t *at;           /* [n_step] index of the point that is set, -1: none */
    bool any;              /* a point is set */
    bool start_first;      /* points begin from the solution of the first one, */
    bool have_first;       /* which this process has looked for */
    net_deck **deck;       /* vec: by combination of library sections, NULL: not read */
    bool *loops;           /* vec [n_step]: decides a .for or an index; empty: none does */
    net_deck loop_deck[2]; /* read for the present values of those; in turn */
    arena loop_mem[2];
    int loop_turn;
    size_t file_from, file_to; /* texts of the last such deck */
    bool files_new;            /* it was read for the point under way */
    arena mem;
} fam;

bool fam_wanted(const sim *s); /* the deck has .step or .mc */
/* path and read's lists stay the caller's. */
void fam_init(fam *w, sim *s, const char *path, const net_opt *read, int32_t file);
/* After sim_drop_netlist or sim_free: the netlist looks into decks of the family. */
void fam_fini(fam *w);
/* How many points there are. false: too many (message). */
bool fam_count(fam *w);
/* Finds which steps decide the bounds of .for loops and indices; a new value of such a step means
 * that the deck is read again. Called before the first point. */
void fam_find_loops(fam *w);
/* Gives the engine's deck the values of this point: sets those that differ from the point before.
 * Status: VS_OK; those of reading another deck, of a value that cannot be. */
VS_MUST_USE vs_status fam_set(fam *w, int64_t point);
/* Called when a client changed values itself: the next fam_set sets all values. */
void fam_forget(fam *w);
/* Builds the circuit of the point, and reads the cards of analyses with its values. */
VS_MUST_USE vs_status fam_build(sim *s);
/* With option stepstart=first: finds the operating point of the first point, from which those of
 * all others start. */
void fam_find_first(fam *w);

/* The values of a point as CSV; "r=1000 temp=27" from it. For vs_free. */
char *fam_values(const fam *w, int64_t point);
char *fam_label(const char *const *column, size_t n_column, const char *csv);
/* Appends the columns' names to the vec: "r", "temp", "@m1[w]", "sample". Returns its length. */
size_t fam_columns(const fam *w, const char ***name);
/* The number in a column; of words (sections of a library) which it is. */
double fam_value(const fam *w, int64_t point, size_t column);

#endif
