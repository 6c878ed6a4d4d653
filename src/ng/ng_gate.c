/* ng_gate.c - one thread at a time uses the simulator. The thread of bg_run holds it from point to
 * point and lets others in between, so that vectors can be read while they grow. */
#include "ng_priv.h"

static bool is_mine(const ng_gate *g) { return g->held && pthread_equal(g->owner, pthread_self()); }

/* With the lock. */
static void take(ng_gate *g, int depth)
{
    g->waiting++;
    while (g->held)
        pthread_cond_wait(&g->moved, &g->lock);
    g->waiting--;
    g->held = true;
    g->owner = pthread_self();
    g->depth = depth;
    g->turns++;
    pthread_cond_broadcast(&g->moved);
}

static void give(ng_gate *g)
{
    g->held = false;
    pthread_cond_broadcast(&g->moved);
}

void ng_enter(void)
{
    ng_gate *g = &ng.gate;
    pthread_mutex_lock(&g->lock);
    if (is_mine(g))
        g->depth++;
    else
        take(g, 1);
    pthread_mutex_unlock(&g->lock);
}

void ng_leave(void)
{
    ng_gate *g = &ng.gate;
    pthread_mutex_lock(&g->lock);
    if (is_mine(g) && !--g->depth) /* an unlock without a lock has no effect */
        give(g);
    pthread_mutex_unlock(&g->lock);
}

int ng_out(void)
{
    ng_gate *g = &ng.gate;
    pthread_mutex_lock(&g->lock);
    const int depth = is_mine(g) ? g->depth : 0;
    if (depth)
        give(g);
    pthread_mutex_unlock(&g->lock);
    return depth;
}

void ng_back(int depth)
{
    ng_gate *g = &ng.gate;
    pthread_mutex_lock(&g->lock);
    if (depth)
        take(g, depth);
    pthread_mutex_unlock(&g->lock);
}

void ng_window(void)
{
    ng_gate *g = &ng.gate;
    pthread_mutex_lock(&g->lock);
    if (g->waiting) {
        const int depth = g->depth;
        const unsigned turn = g->turns;
        give(g);
        while (g->turns == turn && g->waiting)
            pthread_cond_wait(&g->moved, &g->lock);
        take(g, depth);
    }
    pthread_mutex_unlock(&g->lock);
}
