/* ckt_vary.h - what a change of parameters adds to the rows of the circuit while x stays.
 * Use:    ckt_vary_new; ckt_vary_add twice for each device that a parameter reaches, below and
 *         above its value; ckt_vary_ready; ckt_vary_sum at each point, ckt_vary_total behind the
 *         last; ckt_vary_free.
 * Made ready, a device is swept once a point whatever the number of parameters that reach it
 * (ckt_back.h). Where that cannot be, and without ckt_vary_ready, the devices with other parameters
 * are instances of their own, evaluated in groups beside those of the circuit. */
#ifndef CKT_VARY_H
#define CKT_VARY_H

#include "ckt.h"

typedef struct ckt_vary ckt_vary;

/* The circuit must outlive it and may not be built again. */
ckt_vary *ckt_vary_new(ckt *c);
void ckt_vary_free(ckt_vary **v);
/* Adds an instance like `device` with the parameters of `key` (mdl_row_key). Its outputs are
 * multiplied by `weight`, whose unit is 1 / unit of the parameter, and count for parameter number
 * `param`. Status: VS_OK; VS_EINPUT: with these parameters other nodes of the device are one
 * (message). */
VS_MUST_USE vs_status ckt_vary_add(ckt_vary *v, int32_t device, const double *key, int32_t param,
                                   double weight);
/* The same with a row of the device's model. Status: VS_OK; VS_EINPUT as above. */
VS_MUST_USE vs_status ckt_vary_add_row(ckt_vary *v, int32_t device, int32_t row, int32_t param,
                                       double weight);
/* Makes the groups and their kernels, for up to n_pairing pairings of a sum. Only for points of
 * transients and their start; nothing may be added then. Status: VS_OK; those of mdl_variant_get.
 */
VS_MUST_USE vs_status ckt_vary_ready(ckt_vary *v, size_t n_pairing);

typedef struct ckt_pairing { /* of the rows */
    const double *f, *q;     /* [n+1]; element 0 counts for nothing */
} ckt_pairing;
/* Adds sum_i f_i dF_i/dp - sum_i q_i dQ_i/dp at x to to[k * n_param + p], for each of n pairings,
 * at once or by the next ckt_vary_total; F and Q are the resistive and the charge part of the rows.
 * Static env: Q is not looked at.
 * Status: VS_OK; VS_NOCONV: a value is not finite. Allocates nothing in a transient's env. */
VS_MUST_USE vs_status ckt_vary_sum(ckt_vary *v, const ckt_env *env, const double *x,
                                   const ckt_pairing *with, size_t n, size_t n_param, double *to);

/* Adds what sums have put off since the last call. Not needed without ckt_vary_ready. */
VS_MUST_USE vs_status ckt_vary_total(ckt_vary *v, size_t n, size_t n_param, double *to);

typedef struct ckt_vary_entry { /* of d(G + j omega C)/dp; of dF/dp: column 0 */
    int32_t param, row, col;
    double g, c;
} ckt_vary_entry;
/* The entries of all devices at x to the vec, by the interpreter, one for a place and parameter.
 *   noise  in  the devices see analysis("noise")
 * Status: VS_OK; VS_NOCONV: a value is not finite. */
VS_MUST_USE vs_status ckt_vary_entries(ckt_vary *v, const ckt_env *env, const double *x, bool noise,
                                       ckt_vary_entry **to);

/* dF/dp of the static equations, the same way: each row's, in column 0. */
VS_MUST_USE vs_status ckt_vary_currents(ckt_vary *v, const ckt_env *env, const double *x,
                                        ckt_vary_entry **to);

typedef struct ckt_vary_noise { /* of a number of a noise source, per unit of `of` */
    int32_t of;                 /* the parameter, or the unknown */
    int32_t device, source;     /* as in ckt_noise */
    int32_t row;                /* that the gain drives, 0: none; */
    bool rate;                  /* as in ckt_noise_gain */
    double psd, exponent, gain; /* one of them is not 0 */
} ckt_vary_noise;
/* How noise sources of all devices change with the parameters while x stays, to the vec, by the
 * interpreter. Status: VS_OK; VS_NOCONV: a value is not finite. */
VS_MUST_USE vs_status ckt_vary_noises(ckt_vary *v, const ckt_env *env, const double *x,
                                      ckt_vary_noise **to);
/* What `by`, the change of an output per unit of `of`, says of a noise source, to the vec; other
 * outputs say nothing. unknown: those of the device in the circuit. */
void ckt_vary_add_noise(int32_t of, int32_t device, const mdl_out *w, const int32_t *unknown,
                        double by, ckt_vary_noise **to);

/* A device whose equations have hidden state in a transient, or are not known (OSDI); NULL: none.
 * What they contribute cannot be evaluated at points of the past. */
const char *ckt_vary_refuses(const ckt *c);

#endif
