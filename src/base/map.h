/* map.h - hash map from an interned pointer or any 64-bit key to an int32_t.
 * Use:   map m = {0}; map_set(&m, key, 3); int32_t i = map_get(&m, key, -1); map_free(&m);
 * Keys are compared as 64-bit values; use map_key(p) for an interned string. */
#ifndef MAP_H
#define MAP_H

#include "vs.h"

typedef struct map_slot {
    uint64_t key;
    int32_t value;
    int32_t used;
} map_slot;
typedef struct map {
    map_slot *slot;
    size_t cap, n;
} map;

#define map_key(p) ((uint64_t)(uintptr_t)(p))
/* The value of a key; absent: what is returned if the map has none. */
int32_t map_get(const map *m, uint64_t key, int32_t absent);
void map_set(map *m, uint64_t key, int32_t value);
void map_remove(map *m, uint64_t key); /* if it is there */
void map_free(map *m);

#endif
