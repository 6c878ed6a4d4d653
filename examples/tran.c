/* tran.c - a transient that is watched point by point, paused, and looked at afterwards.
 * An RC low-pass is charged; the callback pauses the run when the output crosses 0.5 V, which for
 * this circuit is at RC ln 2. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <vsim/vsim.h>

static const char deck[] = "RC low-pass\n"
                           "v1 in 0 pulse(0 1 0 1n)\n"
                           "r1 in out 1k\n"
                           "c1 out 0 1u\n"
                           ".end\n";

typedef struct watch {
    size_t out; /* index of the unknown */
    double t, v;
    long points;
} watch;

static vsim_action on_point(void *user, const vsim_point *p)
{
    watch *w = user;
    const double before = w->v;
    w->t = p->axis;
    w->v = p->x[w->out];
    w->points++;
    return before < 0.5 && w->v >= 0.5 ? VSIM_DO_PAUSE : VSIM_GO_ON;
}

static vsim_status simulate(vsim *s)
{
    vsim_deck *d;
    vsim_run *r;
    vsim_vector time, out;
    watch w = {0};
    vsim_run_options o;
    vsim_run_options_init(&o);
    o.point = on_point;
    o.user = &w;
    vsim_status st = vsim_deck_text(s, "lowpass", deck, strlen(deck), NULL, &d);
    if (!st)
        st = vsim_unknown_find(d, "out", &w.out);
    if (!st)
        st = vsim_run_card(d, "tran 10u 5m", &o, &r);
    if (!st)
        st = vsim_run_go(r);
    if (st != VSIM_PAUSED)
        return st;
    printf("half way at %.2f ms (RC ln 2 = %.2f ms)\n", 1e3 * w.t, log(2));
    st = vsim_run_go(r); /* on to the end */
    if (!st)
        st = vsim_run_vector(r, "time", &time);
    if (!st)
        st = vsim_run_vector(r, "v(out)", &out);
    if (!st)
        printf("%s points were seen and %s; at %g ms v(out) = %.3f V\n",
               w.points > 100 ? "more than 100" : "too few",
               (size_t)w.points == out.n ? "kept" : "others kept", 1e3 * time.v[time.n - 1],
               out.v[out.n - 1]);
    return st;
}

int main(void)
{
    vsim *s;
    vsim_status st = vsim_new(&s, NULL);
    if (!st)
        st = simulate(s);
    size_t n;
    const vsim_message *m = vsim_messages(s, &n);
    for (size_t i = 0; i < n; i++)
        fprintf(stderr, "%s:%d: %s\n", m[i].file ? m[i].file : "vsim", m[i].line, m[i].text);
    vsim_free(&s);
    return st != VSIM_OK;
}
