/* nat_source.h - native devices: independent voltage and current sources.
 *
 * V: the current x_k leaves p through the source and enters n; row k is v_p - v_n - e = 0.
 * I: m times its value leaves p and enters n. m sources stand in parallel.
 * The array is visible: small circuits (ckt_small.c), sweeps and messages look at single sources.
 */
#ifndef NAT_SOURCE_H
#define NAT_SOURCE_H

#include "nat.h"
#include "wave.h"

/* A waveform that the client gives while the run goes on. */
typedef struct nat_wave {
    double (*value)(void *user, double t); /* NULL: the source has its own waveform */
    double (*next)(void *user, double t);  /* the next corner after t; NULL: never */
    void *user;
} nat_wave;

typedef struct nat_source {
    const char *name;
    bool is_v;
    union {
        struct {
            int32_t p, n;
        };
        int32_t node[2];
    };
    int32_t k; /* the current unknown of a V source, 0 for an I source */
    double m;
    wave w;
    nat_wave own; /* in place of w, but for its ac value */
    diag_span span;
    int32_t slot[4];       /* V: (p,k) (n,k) (k,p) (k,n) */
    double t_last, v_last; /* the wave's value v_last at the time t_last; NAN: none yet */
    double brk, brk_from;  /* brk is the first breakpoint after any t in [brk_from, brk) */
} nat_source;

typedef struct nat_sources {
    nat_set set;
    nat_source *all; /* vec */
} nat_sources;

nat_sources *nat_sources_of(nat_list *l); /* made if there are none */
/* The waveform is copied; slots, memory and breakpoints of s need not be set. */
void nat_source_add(nat_list *l, const nat_source *s);
/* Called when a random waveform got other arguments: forgets the samples that it remembers. */
void nat_source_forget(nat_sources *s, wave *w);
/* Volt or ampere in a load. */
double nat_source_find(nat_source *s, const nat_env *env);
/* The same. A second call for the same time computes nothing: most loads of a transient ask twice.
 */
static inline double nat_source_value(nat_source *s, const nat_env *env)
{
    return env->mode != NAT_STATIC && s->t_last == env->time ? env->srcfact * s->v_last
                                                             : nat_source_find(s, env);
}
/* Adds to `to` what the sources add to f whatever x is (nat_terms). */
void nat_source_terms(const nat_sources *all, const nat_env *env, double *to);
/* The value at a time; t = 0 also in static analyses. Changes nothing in s. */
double nat_source_at(const nat_source *s, double t);
/* G of one voltage source, added to val. */
void nat_source_stamp(const nat_source *s, double *val);

#endif
