/* threads.c - two simulators in two threads, each with a deck of its own.
 * Each thread has its own `vsim`; nothing is shared, so nothing needs a lock. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <vsim/vsim.h>

typedef struct job {
    const char *text, *card, *vector;
    double value;
    vsim_status st;
} job;

static void *work(void *arg)
{
    job *j = arg;
    vsim *s;
    vsim_deck *d;
    vsim_run *r;
    j->st = vsim_new(&s, NULL);
    if (!j->st)
        j->st = vsim_deck_text(s, "deck", j->text, strlen(j->text), NULL, &d);
    if (!j->st)
        j->st = vsim_run_card(d, j->card, NULL, &r);
    if (!j->st)
        j->st = vsim_run_go(r);
    if (!j->st)
        j->st = vsim_run_value(r, j->vector, &j->value);
    vsim_free(&s);
    return NULL;
}

int main(void)
{
    job job[2] = {{.text = "diode\nv1 a 0 5\nr1 a k 1k\nd1 k 0 dm\n.model dm d is=1e-14\n.end\n",
                   .card = "op",
                   .vector = "v(k)"},
                  {.text = "RC\nv1 a 0 pulse(0 1 0 1n)\nr1 a b 1k\nc1 b 0 1u\n.end\n",
                   .card = "tran 10u 1m",
                   .vector = "v(b)"}};
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&thread[i], NULL, work, &job[i]))
            return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < 2; i++) {
        if (job[i].st)
            return 1;
        printf("%s = %.3f V\n", job[i].vector, job[i].value);
    }
    return 0;
}
