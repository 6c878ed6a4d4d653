/* Eight simulators in eight threads with different decks: the same bits as one after the other, and
 * nothing for a thread sanitizer to say.      test_threads DECK... */
#include <pthread.h>
#include <stdint.h>

#include "deck.h"

enum { MOST = 32 };

typedef struct job {
    const char *path;
    uint64_t bits;
    char wrong[300]; /* "": all went well */
} job;

static void note(job *j, vsim *s, const char *what)
{
    snprintf(j->wrong, sizeof j->wrong, "%s: %s: %.200s", j->path, what, s ? said(s) : "");
}

/* All analyses of the deck; the first of its points if it has several. */
static void work(job *j)
{
    vsim *s = NULL;
    vsim_deck *d;
    vsim_settings set;
    vsim_settings_init(&set);
    set.models = getenv("VSIM_TEST_MODELS");
    set.cache = getenv("VSIM_TEST_CACHE");
    j->bits = 0xcbf29ce484222325u;
    j->wrong[0] = 0;
    if (vsim_new(&s, &set) || vsim_deck_file(s, j->path, NULL, &d)) {
        note(j, s, "reading");
        vsim_free(&s);
        return;
    }
    for (size_t i = 0; i < vsim_deck_card_count(d) && !j->wrong[0]; i++) {
        vsim_run *r;
        if (vsim_run_deck_card(d, i, NULL, &r) || vsim_run_go(r)) {
            note(j, s, "running");
            break;
        }
        const uint64_t h = bits_of(r);
        j->bits = add_bits(j->bits, &h, sizeof h);
        vsim_run_free(&r);
    }
    vsim_free(&s);
}

static void *begin(void *arg)
{
    work(arg);
    return NULL;
}

static int check(const job *one, const job *together, int n)
{
    int bad = 0;
    for (int i = 0; i < n; i++) {
        if (one[i].wrong[0] || together[i].wrong[0])
            printf("%s\n%s\n", one[i].wrong, together[i].wrong);
        else if (one[i].bits != together[i].bits)
            printf("%s: other bits in a thread\n", one[i].path);
        else
            continue;
        bad++;
    }
    return bad;
}

int main(int argc, char **argv)
{
    static job one[MOST], together[MOST];
    pthread_t thread[MOST];
    const int n = argc - 1;
    if (n < 2 || n > MOST)
        return 2;
    for (int i = 0; i < n; i++) {
        one[i].path = together[i].path = argv[i + 1];
        work(&one[i]);
    }
    for (int i = 0; i < n; i++)
        if (pthread_create(&thread[i], NULL, begin, &together[i]))
            return 2;
    for (int i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
    const int bad = check(one, together, n);
    printf("%d decks, %d differ\n", n, bad);
    return bad != 0;
}
