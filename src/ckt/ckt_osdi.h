/* ckt_osdi.h - inside src/ckt: what devices of OSDI libraries add to the circuit's loads. */
#ifndef CKT_OSDI_H
#define CKT_OSDI_H

#include "ckt_priv.h"

typedef struct ckt_osdi_sums { /* as the arguments of ckt_load */
    double *f, *q, *qlo, *fmax, *qmax, *val;
    bool *limited;
    double *bound;
} ckt_osdi_sums;

void ckt_osdi_free(ckt *c);
/* Matrix entries of the devices, those of charges too if `reactive`, to the end of *e. */
void ckt_osdi_entries(const ckt *c, bool reactive, ckt_entry **e);
void ckt_osdi_place(ckt *c); /* after the pattern is made */
void ckt_osdi_mark_charges(ckt *c);
void ckt_osdi_load(ckt *c, const ckt_env *env, const double *x, const ckt_osdi_sums *to);
vs_status ckt_osdi_accept(ckt *c);
void ckt_osdi_reset(ckt *c);
void ckt_osdi_restore(ckt *c);
double ckt_osdi_share(ckt *c, int32_t device, int32_t row);
/* G and C of all devices at x, added to g and cap [nnz + 1]; with `noise` their sources to
 * c->noise. */
void ckt_osdi_load_ac(ckt *c, const ckt_env *env, const double *x, bool noise, double *g,
                      double *cap);
double ckt_osdi_noise_density(const ckt *c, int32_t device, int32_t source, double f);
const char *ckt_osdi_noise_name(const ckt *c, int32_t device, int32_t source);
int32_t ckt_osdi_find(const ckt *c, const char *name); /* device by name, -1: none */
/* A parameter or operating-point variable at x. */
double ckt_osdi_value(ckt *c, const ckt_env *env, const double *x, int32_t device, int32_t id);

#endif
