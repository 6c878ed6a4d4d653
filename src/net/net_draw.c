/* net_draw.c - see net_draw.h. */
#include "net_draw.h"

#include <string.h>

int net_draw_depth(const net_draw *d)
{
    int n = 0;
    for (const char *p = d->path; *p; p++)
        n += *p == '.';
    return n;
}

bool net_draw_alike(const net_draw *a, const net_draw *b)
{
    return a->k == b->k && !strcmp(a->name, b->name) && net_draw_depth(a) == net_draw_depth(b);
}
