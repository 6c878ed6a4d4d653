/* net_draw.h - which random numbers of a deck may move at once. */
#ifndef NET_DRAW_H
#define NET_DRAW_H

#include "net.h"

/* Instances that it lies in: dots in the path. */
int net_draw_depth(const net_draw *d);
/* Of one name and number, in instances of which none lies in the other: what lies in an instance
 * depends on the one of this instance alone. */
bool net_draw_alike(const net_draw *a, const net_draw *b);

#endif
