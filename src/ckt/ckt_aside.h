/* ckt_aside.h - groups of devices beside those of the circuit: like devices of it, with parameters
 * or a form of their own. They are evaluated for sums and stamp nothing.
 * Use:    ckt_aside_init; ckt_aside_eval at each point; dev_group_fini of dev. */
#ifndef CKT_ASIDE_H
#define CKT_ASIDE_H

#include "ckt_priv.h"

typedef struct ckt_aside {
    dev_group dev;
    mdl_form_kind form;
} ckt_aside;

/* A group of n devices; device, row [n]: like which of the circuit, with which row of the model's
 * parameters. v: the variant of the form that all rows have. unknown [n]: places of the unknowns of
 * each in the x of ckt_aside_eval; NULL: those of the circuit. Arrays and `mem` must outlive it. */
void ckt_aside_init(ckt_aside *g, const ckt *c, arena *mem, mdl_form_kind form, mdl_variant *v,
                    const int32_t *device, const int32_t *row, const int32_t *const *unknown,
                    int32_t n);
/* Elements of `out` of ckt_aside_eval. */
size_t ckt_aside_room(const ckt_aside *g);
/* Evaluates the group at x [n+1] and gives the outputs of each pack, [outputs][lanes] in `out`, to
 * pack(user, p, its outputs). wanted [packs]: NULL, or which packs alone.
 * Status: those of dev_eval and of pack, the first that is not VS_OK. Allocates nothing. */
VS_MUST_USE vs_status ckt_aside_eval(ckt_aside *g, const double *dyn, const double *x,
                                     const uint8_t *wanted, double *out,
                                     vs_status (*pack)(void *user, int32_t p, const double *out),
                                     void *user);

#endif
