/* net_draw.h - which random numbers of a deck one expansion may move together. */
#ifndef NET_DRAW_H
#define NET_DRAW_H

#include "net.h"

/* How many instances the number lies in: the dots of its path. */
int net_draw_depth(const net_draw *d);
/* Whether two numbers have one name and one k and lie in instances of which neither contains the
 * other. Then what is inside of either instance depends on that instance's number alone. */
bool net_draw_alike(const net_draw *a, const net_draw *b);

#endif
