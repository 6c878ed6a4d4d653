/* mdl_compare.h - compares kernels with the interpreter during a run (--check-kernels).
 * Use:    mdl_opt.check_kernels; after a kernel has run, mdl_compare_batch with what it was given
 *         and has written; mdl_compare_report at the end. Any thread may compare.
 * Bound:  a kernel and the interpreter compute the same instructions and round differently.
 *         ir_bound says from the values themselves how far that can carry an output (units of
 *         rounding times the condition of the way to it); a difference beyond it is no rounding.
 *         Where the way leads over a comparison that rounding decides, the bound is the distance
 *         of both ways; where nothing can be said it is infinite (counted as `loose`). */
#ifndef MDL_COMPARE_H
#define MDL_COMPARE_H

#include "mdl.h"

typedef struct mdl_compared { /* what was found, over all models */
    int64_t n_call, n_value;  /* kernel calls compared, numbers compared */
    int64_t n_beyond;         /* numbers beyond their bound */
    int64_t n_loose;          /* numbers whose bound is infinite, or a loop did not end */
} mdl_compared;

/* Names instance `inst` of the caller's circuit. */
typedef const char *mdl_who_fn(const void *user, int32_t inst);

/* Whether there is something to do. */
bool mdl_compare_wanted(const mdl_model *m);
/* Packs [begin, end) of b, which the kernel of v has evaluated.
 *   inst  in  instances [(end - begin) * lanes], by lane */
void mdl_compare_batch(const mdl_variant *v, bool row_per_lane, const jit_batch *b, int64_t begin,
                       int64_t end, const int32_t *inst, mdl_who_fn *who, const void *user);
/* Takes what was found so far out of lib, as bytes [*n] that the caller frees with vs_free. Another
 * process of this program adds them to its own with mdl_compare_add. NULL: kernels are not
 * compared. No thread may compare meanwhile. */
char *mdl_compare_take(const mdl_lib *lib, size_t *n);
void mdl_compare_add(const mdl_lib *lib, const char *from, size_t n);
/* The worst difference of each module and kind of output, those beyond their bound first; out NULL:
 * figures only. */
mdl_compared mdl_compare_report(const mdl_lib *lib, FILE *out);

#endif
