/* deck.h - a deck and its circuit: read, list, get, set.
 * Use:   vsim_deck_file or vsim_deck_text; then runs (run.h). Between runs values may be changed;
 *        the next run sees them. What did not change is not computed again.
 *
 * A deck is text, its circuit what the text makes with the present values. Functions that need the
 * circuit build it when something changed; they may therefore return statuses of building:
 * VSIM_OK, VSIM_EINPUT, VSIM_EUNSUPPORTED, VSIM_ENOMEM. Indices and names are those of the present
 * circuit: a change that moves devices (a parameter in an .if, a line's number of sections) makes
 * others. While a run is paused the circuit stays as it is and changes wait for the next run. */
#ifndef VSIM_DECK_H
#define VSIM_DECK_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vsim_deck vsim_deck;

/* Text of a file that the host has. `name` as a card or `include has it, with the folder of the
 * file that names it in front unless it is absolute. NULL: the host has no such file, the disk is
 * asked. The text [*len] is copied before the next call; while the simulator lives a name has the
 * same text. Standard models are always those of the installation. */
typedef const char *vsim_file_fn(void *user, const char *name, size_t *len);

typedef struct vsim_define { /* a parameter of the top level that wins over the deck's .param */
    const char *name;
    double value;
} vsim_define;

typedef struct vsim_read {
    size_t size;
    const vsim_define *define; /* [n_define] */
    size_t n_define;
    vsim_file_fn *file; /* NULL: the disk alone. Called while the deck and its circuits live */
    void *user;
    bool no_title; /* the first line is a card already */
} vsim_read;
static inline void vsim_read_init(vsim_read *r)
{
    vsim_read none = {sizeof(vsim_read), NULL, 0, NULL, NULL, false};
    *r = none;
}

/* A deck from a file, or from `len` bytes of text shown as `name` in messages. how: NULL for
 * defaults.
 *   d   out  NULL unless VSIM_OK; free with vsim_deck_free
 * Status: VSIM_OK (warnings possible); VSIM_EINPUT; VSIM_EIO: a file cannot be read; VSIM_ENOMEM.
 */
VSIM_MUST_USE vsim_status vsim_deck_file(vsim *s, const char *path, const vsim_read *how,
                                         vsim_deck **d);
VSIM_MUST_USE vsim_status vsim_deck_text(vsim *s, const char *name, const char *text, size_t len,
                                         const vsim_read *how, vsim_deck **d);
/* With its runs and their results. *d is NULL afterwards; NULL is allowed. */
VSIM_API void vsim_deck_free(vsim_deck **d);
VSIM_API const char *vsim_deck_title(const vsim_deck *d); /* lives as long as the deck */
/* Builds the circuit now: finds all errors of deck and models, compiles what is not in the cache.
 */
VSIM_MUST_USE vsim_status vsim_deck_build(vsim_deck *d);

/* -- what there is -- */
/* Counts and names of the present circuit; names and lists live until it changes. Devices, models
 * and parameters are counted from 0, in the order of the deck. Status of all: VSIM_OK; those of
 * building; VSIM_EINPUT: no such index or name (message). */

/* Unknowns of the equations, [*n] from 1: node voltages, branch currents, states inside devices.
 * Points of runs have their values x[1..n]; x[0] is ground and 0. */
typedef struct vsim_unknown {
    const char *name; /* "out", "x1.n3", "v1#branch", "m1#di" */
    const char *unit; /* "V", "A", "" */
    bool node;        /* its equation is Kirchhoff's current law */
    bool internal;    /* inside a device */
} vsim_unknown;
VSIM_MUST_USE vsim_status vsim_unknown_count(vsim_deck *d, size_t *n);
VSIM_MUST_USE vsim_status vsim_unknown_at(vsim_deck *d, size_t i, vsim_unknown *u);
/* The index of a node, "out", or of a current, "v1#branch"; ground is 0. VSIM_EINPUT: there is
 * none (with a message that names what is near). */
VSIM_MUST_USE vsim_status vsim_unknown_find(vsim_deck *d, const char *name, size_t *i);

typedef struct vsim_device {
    const char *name;        /* with its path: "x1.x2.m3" */
    const char *model;       /* its .model card, NULL: none */
    const char *type;        /* "resistor", "mos1", "psp103va", ...: the module of the model; of
                              * sources, lines and the like the element's letter: "v", "t" */
    const char *const *node; /* [n_node] nodes, in the order of its card */
    size_t n_node;
} vsim_device;
VSIM_MUST_USE vsim_status vsim_device_count(vsim_deck *d, size_t *n);
VSIM_MUST_USE vsim_status vsim_device_at(vsim_deck *d, size_t i, vsim_device *dev);

typedef struct vsim_model {
    const char *name, *type; /* "nch", "nmos" */
} vsim_model;
VSIM_MUST_USE vsim_status vsim_model_count(vsim_deck *d, size_t *n); /* cards that are in use */
VSIM_MUST_USE vsim_status vsim_model_at(vsim_deck *d, size_t i, vsim_model *m);

/* Parameters and, of devices, computed values. Texts live until the next call that asks for
 * parameters of another device or model. */
typedef struct vsim_parameter {
    const char *name;        /* "w", "vto", "gm" */
    const char *unit;        /* "m", "V", "S"; "" if none is declared */
    const char *description; /* "" if none */
    bool computed;           /* a value at the operating point: can be read, not set */
} vsim_parameter;
VSIM_MUST_USE vsim_status vsim_device_parameter_count(vsim_deck *d, const char *device, size_t *n);
VSIM_MUST_USE vsim_status vsim_device_parameter_at(vsim_deck *d, const char *device, size_t i,
                                                   vsim_parameter *p);
/* Of a model card: what the card may say, given or not. */
VSIM_MUST_USE vsim_status vsim_model_parameter_count(vsim_deck *d, const char *model, size_t *n);
VSIM_MUST_USE vsim_status vsim_model_parameter_at(vsim_deck *d, const char *model, size_t i,
                                                  vsim_parameter *p);
/* Parameters of the deck's top level (.param). */
VSIM_MUST_USE vsim_status vsim_param_count(vsim_deck *d, size_t *n);
VSIM_MUST_USE vsim_status vsim_param_at(vsim_deck *d, size_t i, const char **name);

/* -- get and set -- */
/* VSIM_EINPUT with a message if there is no such name, or if the value is out of range. A range of
 * a model is checked when the circuit is built: then vsim_deck_build or the next run tells, and all
 * changes since the circuit before are taken back. Values are in the units of the parameters. */

/* "r" of ".param r=1k". */
VSIM_MUST_USE vsim_status vsim_get_param(vsim_deck *d, const char *name, double *value);
VSIM_MUST_USE vsim_status vsim_set_param(vsim_deck *d, const char *name, double value);
/* "w" of device "x1.m2"; "" is the main value: of R ohm, of C farad, of sources the dc value.
 * Sources have dc, acmag, acphase. Computed values ("gm", "id") need an operating point of the
 * present circuit: VSIM_EINPUT without one. */
VSIM_MUST_USE vsim_status vsim_get_device(vsim_deck *d, const char *device, const char *param,
                                          double *value);
VSIM_MUST_USE vsim_status vsim_set_device(vsim_deck *d, const char *device, const char *param,
                                          double value);
/* The waveform of a V or I source: "pulse", "sin", "exp", "pwl", "sffm", "am", "trnoise" or
 * "trrandom" with its arguments [n] as the card has them. */
VSIM_MUST_USE vsim_status vsim_set_wave(vsim_deck *d, const char *source, const char *wave,
                                        const double *arg, size_t n);
/* "vto" of model card "nch"; of a card inside a subcircuit by the name that vsim_model_at gives. */
VSIM_MUST_USE vsim_status vsim_get_model(vsim_deck *d, const char *model, const char *param,
                                         double *value);
VSIM_MUST_USE vsim_status vsim_set_model(vsim_deck *d, const char *model, const char *param,
                                         double value);
/* Temperature of the circuit, degrees Celsius. VSIM_EINPUT: not above absolute zero. */
VSIM_API double vsim_get_temp(const vsim_deck *d);
VSIM_MUST_USE vsim_status vsim_set_temp(vsim_deck *d, double celsius);
/* Options as an .option card has them: "reltol=1e-5 method=gear". VSIM_EINPUT: an error in the
 * text; a word that is no option is a warning. */
VSIM_MUST_USE vsim_status vsim_set_options(vsim_deck *d, const char *text);
/* The number of an option: "reltol", "gmin", "itl1", ...; "method": 0 trapezoidal, 1 Gear. */
VSIM_MUST_USE vsim_status vsim_get_option(vsim_deck *d, const char *name, double *value);
/* Statistical functions of the deck draw for this sample (0, 1, 2, ...). */
VSIM_MUST_USE vsim_status vsim_set_sample(vsim_deck *d, uint64_t seed, int64_t sample);
/* The deck as it was read: no changes, its temperature, the parameters of vsim_read. Options and
 * host sources stay. */
VSIM_MUST_USE vsim_status vsim_reset(vsim_deck *d);

/* -- a source whose value the host gives -- */
typedef struct vsim_host_source {
    /* Volt or ampere at time t >= 0 (seconds). It is asked again and again, and, when a step is
     * rejected, for earlier times: value(t) must be a function of t between the accepted time and
     * the next event. Where it jumps at an event, value(event) is the value before the jump. In
     * static analyses t is 0. */
    double (*value)(void *user, double t);
    /* The first time after t at which the value or its slope jumps; INFINITY: none is known. Asked
     * after each accepted point, so that an event may be added while time goes on; steps end
     * exactly at it. NULL: never. */
    double (*next_event)(void *user, double t);
    void *user;
} vsim_host_source;
/* From the next run on source `name` (V or I of the netlist) is the host's; NULL: the deck's own
 * waveform again. *h is copied. A value that is not finite, or an event not after t, ends the run
 * with VSIM_EINPUT. Its ac value stays that of the card. */
VSIM_MUST_USE vsim_status vsim_set_host_source(vsim_deck *d, const char *name,
                                               const vsim_host_source *h);

/* -- families: the points of .step and .mc -- */
/* Point k of a family is a number from 0: the sample varies fastest, then the steps in the order of
 * the deck. The library computes them in this process, one at a time and in any order. Lists live
 * as long as the deck. Status: VSIM_OK; VSIM_EINPUT: no such point or column, or a run is under
 * way; of vsim_family_set also those of reading files and of building. */
typedef struct vsim_family {
    int64_t n_point;           /* 0: the deck has no .step and no .mc */
    const char *const *column; /* [n_column] what is stepped: "r", "temp", "@m1[w]", "sample" */
    size_t n_column;
} vsim_family;
VSIM_MUST_USE vsim_status vsim_family_of(vsim_deck *d, vsim_family *f);
/* The deck becomes point k; the next run is that of this point alone, to the last bit.
 *   label   out  "r=1000 temp=27"; lives until the next call; NULL: not wanted */
VSIM_MUST_USE vsim_status vsim_family_set(vsim_deck *d, int64_t k, const char **label);
/* The value of column c at point k; of sections of a library and .alter blocks their number. */
VSIM_MUST_USE vsim_status vsim_family_value(vsim_deck *d, int64_t k, size_t c, double *value);

#ifdef __cplusplus
}
#endif
#endif
