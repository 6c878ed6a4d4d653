/* option.h - what `.option` cards set: one list for reading, defaults, models, reports, documents.
 * Use:    option_default, option_set for each card's word; then the fields, which are always set.
 * Adding one: a line in a list below, a reader of the field, the row that the unit test
 * base/option asks for in docs/options.md. */
#ifndef OPTION_H
#define OPTION_H

#include "image.h"
#include "vs.h"

/* What a value may be, and how a message says it. CHOICE: its words are in option.c. */
/* clang-format off */
#define OPTION_RANGE_LIST(X)                                           \
    X(NUMBER, "a number")                                              \
    X(POSITIVE, "a positive number")                                   \
    X(NOT_NEGATIVE, "a number, 0 or more")                             \
    X(FRACTION, "a number from 0 to below 1")                              \
    X(COUNT, "a whole number, 1 or more")                              \
    X(SEED, "a whole number, 0 or more")                               \
    X(THREADS, "a whole number from 0 (automatic) to 1024")            \
    X(CELSIUS, "a temperature above -273.15 degrees Celsius")          \
    X(SWITCH, "0 or 1")                                                \
    X(METHOD, "trap or gear")                                          \
    X(LU, "auto, klu, tiny, umfpack, dense or cholesky")               \
    X(BYPASS, "0, 1 or auto")                                          \
    X(STEPSTART, "first or none")                                      \
    X(DELAYS, "0, 1, 2 or 3")                                          \
    X(BRIDGES, "0, 1 or 2")                                            \
    X(ERRPRESET, "liberal, moderate or conservative")

/* X(name, C type, default, range, text)
 * Models read these with $simparam, in this order (ir.h); analyses read the tolerances too. */
#define OPTION_MODEL_LIST(X)                                                                       \
    X(tnom, double, 27, CELSIUS, "of model parameters, degrees Celsius")                           \
    X(scale, double, 1, NUMBER, "factor of `l w pd ps` of MOS transistors, its square of `ad as`") \
    X(shrink, double, 0, NUMBER, "for models that ask for it")                                     \
    X(imax, double, 1e3, NUMBER, "ampere; for models that ask for it")                             \
    X(imelt, double, 1e3, NUMBER, "ampere; for models that ask for it")                            \
    X(rthresh, double, 1e-3, NUMBER, "ohm; for models that ask for it")                            \
    X(minr, double, 1e-3, NUMBER, "ohm; for models that ask for it")                               \
    X(reltol, double, 1e-3, POSITIVE, "relative tolerance of updates, residuals and steps")        \
    X(vntol, double, 1e-6, POSITIVE, "absolute tolerance of voltages, volt")                       \
    X(abstol, double, 1e-12, POSITIVE, "absolute tolerance of currents, ampere")                   \
    X(chgtol, double, 1e-14, POSITIVE, "coulomb; for models: steps are judged on unknowns")        \
    X(epsmin, double, 1e-28, NUMBER, "for models that ask for it")                                 \
    X(defl, double, 0, NUMBER, "length of MOS transistors that give none, metre; 0: the model's")  \
    X(defw, double, 0, NUMBER, "width, likewise")                                                  \
    X(defad, double, 0, NUMBER, "area of the drain, square metre, likewise")                       \
    X(defas, double, 0, NUMBER, "area of the source, likewise")

#define OPTION_RUN_LIST(X)                                                                         \
    X(trtol, double, 3.5, POSITIVE, "a step's truncation error may be this times the tolerance")   \
    X(errpreset, int, 0, ERRPRESET, "`reltol` and `trtol` without cards (below)")                  \
    X(gmin, double, 1e-12, NOT_NEGATIVE, "conductance across junctions, siemens")                  \
    X(rshunt, double, 0, NOT_NEGATIVE, "resistor from every node to ground, ohm; 0: none")         \
    X(maxgrowth, double, 2, POSITIVE, "largest ratio of a step to the one before")                 \
    X(minstep, double, 0, NOT_NEGATIVE, "smallest step, second; 0: from the stop time")            \
    X(delmax, double, 0, NOT_NEGATIVE, "largest step of transients, second; 0: `.tran`'s")         \
    X(maxord, int, 2, COUNT, "largest order of Gear's method")                                     \
    X(itl1, int, 100, COUNT, "iterations of an operating point")                                   \
    X(itl2, int, 50, COUNT, "iterations of a point of `.dc`")                                      \
    X(itl4, int, 10, COUNT, "iterations of a point of a transient")                                \
    X(method, int, 0, METHOD, "integration: trapezoidal rule or Gear's method")                    \
    X(residual, bool, true, SWITCH, "Newton asks for small residuals, not for small updates only") \
    X(lu, int, 0, LU, "how linear systems are solved (numerics.md, 8)")                            \
    X(temp, double, 27, CELSIUS, "temperature of the circuit, degrees Celsius")                    \
    X(threads, int, 0, THREADS, "threads that share a large circuit")                              \
    X(bypass, int, 0, BYPASS, "what hardly moves is left alone (numerics.md, 10, 12)")             \
    X(stepstart, bool, false, STEPSTART, "where points of a sweep begin (sweeps.md)")              \
    X(seed, uint64_t, 0, SEED, "statistical functions draw, from this start (netlist.md, 2)")      \
    X(rcreduce, double, 0, FRACTION, "extracted wires: error for fewer nodes (numerics.md, 13)")   \
    X(rcfreq, double, 1e10, POSITIVE, "hertz, to which the bound of `rcreduce` holds")             \
    X(hbwhole, double, 0, NOT_NEGATIVE, "`.hb`: entries factored as a whole; 0: by size") \
    X(pssmem, double, 1e9, NOT_NEGATIVE, "`.pss` by shooting: bytes of factors that are kept")    \
    X(interp, bool, false, SWITCH, "result files of transients have the multiples of `tstep`") \
    X(warn, uint64_t, 0, SEED, "1: tells where devices are beyond limits of their cards (below)")  \
    X(maxwarns, uint64_t, 5, SEED, "of each sort of limit so many warnings in an analysis")        \
    X(digital_delay_type, int, 0, DELAYS, "whether gates swallow short pulses (below)")            \
    X(auto_bridge, int, 1, BRIDGES, "bridges where a deck leaves them out; 2: a note of each")

#define OPTION_LIST(X) OPTION_MODEL_LIST(X) OPTION_RUN_LIST(X)

/* Accepted without a message: another stage reads them (`src/flat`, `src/elab`), or they ask for
 * what vsim always or never does. */
#define OPTION_SILENT_LIST(X)                                                                      \
    X(parser) X(wnflag) X(savecurrents) X(savedevices) X(share) X(noshare)                         \
    X(acct) X(noacct) X(list) X(nomod) X(nopage) X(node) X(opts) X(brief) X(post) X(probe) X(klu)

/* Known to other simulators; a warning says that they have no effect. */
#define OPTION_IGNORED_LIST(X)                                                                     \
    X(itl3) X(itl5) X(itl6) X(pivtol) X(pivrel) X(gminsteps) X(srcsteps) X(cshunt) X(ramptime)     \
    X(defm) X(trytocompact) X(keepopinfo) X(autostop) X(xmu) X(noinit) X(badmos3) X(oldlimit)      \
    X(rseries) X(seedinfo) X(minbreak) X(parhier) X(absdv) X(reldv) X(dcap)    \
    X(noopiter) X(ingold) X(numdgt) X(cptime) X(limtim) X(limpts) X(lvlcod) X(lvltim) X(nowarn)    \
    X(filetype) X(rawfile) X(sparse) X(xtrtol) X(noopac) X(noopalter) X(maxopalter) X(maxeviter)   \
    X(convlimit) X(convstep) X(convabsstep) X(ltrreltol) X(ltrabstol) X(indverbosity) X(digits)    \
    X(norefvalue) X(ngbehavior) X(altinit) X(nosubckt) X(noprintscale) X(width)                    \
    X(klu_memgrow_factor) X(savecurrents_bsim3) X(savecurrents_bsim4) X(savecurrents_mos1)
/* clang-format on */

typedef enum option_range {
#define X(name, text) OPTION_IS_##name,
    OPTION_RANGE_LIST(X)
#undef X
        OPTION_N_RANGE
} option_range;

typedef enum option_id {
#define X(name, ...) OPTION_##name,
    OPTION_LIST(X)
#undef X
        OPTION_N
} option_id;

/* All options of a deck. Fields without a card have the list's defaults. */
typedef struct option_set {
#define X(name, type, ...) type name;
    OPTION_LIST(X)
#undef X
    bool given[OPTION_N]; /* a card, or the client, set it */
} option_set;

typedef struct option_info {
    const char *name, *text;
    option_range range;
    double dflt;
} option_info;
extern const option_info option_table[OPTION_N];

typedef enum option_class {
    OPTION_SET,
    OPTION_SILENT,
    OPTION_IGNORED,
    OPTION_UNKNOWN
} option_class;

/* Every field to its default, nothing given. */
void option_default(option_set *o);
/* What an option of this name is; *id if it is OPTION_SET. */
option_class option_find(const char *name, option_id *id);
/* Every name of the three lists, for a suggestion. Returns their number; *name lives forever. */
size_t option_names(const char *const **name);
/* Sets one from a card's word: its text, and the number that it is (NaN: none). Returns NULL, or
 * what is needed ("a positive number"); then nothing is set. */
const char *option_set_word(option_set *o, option_id id, const char *text, double value);
/* All of them to or from an image. */
void option_image(option_set *o, image *im);
/* The value as a number; of choices that of the word's place, as the field has it. */
double option_number(const option_set *o, option_id id);
/* The value as a card would say it: "gear", "1e-05". buf [>= 32] is used for numbers. */
const char *option_text(const option_set *o, option_id id, char *buf, size_t size);
/* What the range asks for, as a message says it. */
const char *option_wanted(option_range r);

#endif
