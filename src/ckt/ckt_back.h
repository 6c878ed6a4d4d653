/* ckt_back.h - derivatives of weighted sums of rows by parameters, by the chain rule: a reverse
 * sweep of each device gives those by its setup values (MDL_BACK), once for all parameters; how
 * setup values follow parameters is found once for a run.
 * Use:    ckt_back_new; ckt_back_take for each device; ckt_back_ready; ckt_back_add at each point;
 *         ckt_back_total; ckt_back_free. */
#ifndef CKT_BACK_H
#define CKT_BACK_H

#include "ckt_vary.h"

typedef struct ckt_back ckt_back;

typedef struct ckt_back_part { /* of d/dp: weight times what the parameters of `row` give */
    int32_t param, row;
    double weight; /* per unit of the parameter; those of one parameter add up to 0 */
    bool taken;    /* out */
} ckt_back_part;

ckt_back *ckt_back_new(ckt *c);
void ckt_back_free(ckt_back **b);
/* Takes the parts [n] of a device, those of a parameter together, and marks which it has taken: not
 * those where setup values jump or have a kink between the rows, nor where the module has loops.
 * Status: VS_OK; those of mdl_variant_meet. */
VS_MUST_USE vs_status ckt_back_take(ckt_back *b, int32_t device, ckt_back_part *part, size_t n);
/* Makes groups, and asks for their kernels (mdl_compile_wanted makes them). n_pairing: the most
 * pairings of ckt_back_add. */
void ckt_back_ready(ckt_back *b, size_t n_pairing);
/* Adds up the derivatives by setup values at x, for each of n pairings. They are linear in what is
 * paired with the rows: while the unknowns of a device stay where they are, or near there, its
 * pairings are added up, and it is swept once for all of these points, and once more for each
 * unknown that moved. Status: VS_OK; VS_NOCONV: a value is not finite. Allocates nothing. */
VS_MUST_USE vs_status ckt_back_add(ckt_back *b, const double *dyn, bool charges, const double *x,
                                   const ckt_pairing *with, size_t n);
/* Adds what was added up to to[k * n_param + p], and begins at 0 again. Status: as ckt_back_add. */
VS_MUST_USE vs_status ckt_back_total(ckt_back *b, size_t n, size_t n_param, double *to);

#endif
