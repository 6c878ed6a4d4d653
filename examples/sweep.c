/* sweep.c - alters parameters between runs: the corner frequency of a filter over R and C.
 * Only what a change reaches is computed again; the circuit is built once. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <vsim/vsim.h>

static const char deck[] = "RC low-pass\n"
                           ".param r=1k\n"
                           "v1 in 0 dc 0 ac 1\n"
                           "r1 in out {r}\n"
                           "c1 out 0 1n\n"
                           ".end\n";

static vsim_status corner(vsim_deck *d, double *f)
{
    vsim_run *r;
    vsim_status st = vsim_run_card(d, "ac dec 100 1k 10meg", NULL, &r);
    if (st)
        return st;
    st = vsim_run_go(r);
    if (!st)
        st = vsim_run_measure(r, "f WHEN vm(out)=0.70710678 FALL=1", f);
    vsim_run_free(&r);
    return st;
}

static vsim_status sweep(vsim *s)
{
    vsim_deck *d;
    vsim_status st = vsim_deck_text(s, "lowpass", deck, strlen(deck), NULL, &d);
    for (double r = 1e3; r <= 4e3 && !st; r *= 2)
        for (double c = 1e-9; c <= 2e-9 && !st; c *= 2) {
            double f = 0;
            st = vsim_set_param(d, "r", r); /* a .param of the deck */
            if (!st)
                st = vsim_set_device(d, "c1", "", c); /* the main value of an element */
            if (!st)
                st = corner(d, &f);
            if (!st)
                printf("r = %4g ohm, c = %g nF: %6.2f kHz, 1/(2 pi r c) = %6.2f kHz\n", r, 1e9 * c,
                       1e-3 * f, 1e-3 / (2 * acos(-1) * r * c));
        }
    return st;
}

int main(void)
{
    vsim *s;
    vsim_status st = vsim_new(&s, NULL);
    if (!st)
        st = sweep(s);
    size_t n;
    const vsim_message *m = vsim_messages(s, &n);
    for (size_t i = 0; i < n; i++)
        fprintf(stderr, "%s\n", m[i].text);
    vsim_free(&s);
    return st != VSIM_OK;
}
