#include "map.h"

static size_t slot_of(const map *m, uint64_t key)
{
    uint64_t h = key * 0x9e3779b97f4a7c15u;
    size_t k = (size_t)(h ^ (h >> 32)) & (m->cap - 1);
    while (m->slot[k].used && m->slot[k].key != key)
        k = (k + 1) & (m->cap - 1);
    return k;
}

int32_t map_get(const map *m, uint64_t key, int32_t absent)
{
    if (!m->n)
        return absent;
    const map_slot *s = &m->slot[slot_of(m, key)];
    return s->used ? s->value : absent;
}

static void grow(map *m)
{
    map bigger = {.cap = m->cap ? m->cap * 2 : 16, .n = m->n};
    bigger.slot = vs_calloc(bigger.cap, sizeof *bigger.slot);
    for (size_t i = 0; i < m->cap; i++)
        if (m->slot[i].used)
            bigger.slot[slot_of(&bigger, m->slot[i].key)] = m->slot[i];
    vs_free(m->slot);
    *m = bigger;
}

void map_set(map *m, uint64_t key, int32_t value)
{
    if (m->n * 2 >= m->cap)
        grow(m);
    map_slot *s = &m->slot[slot_of(m, key)];
    if (!s->used) {
        s->used = 1;
        s->key = key;
        m->n++;
    }
    s->value = value;
}

/* The slots behind a hole that could not be found across it move up (Knuth, TAOCP 3, 6.4, algorithm
 * R). */
void map_remove(map *m, uint64_t key)
{
    if (!m->n)
        return;
    const size_t mask = m->cap - 1;
    size_t hole = slot_of(m, key);
    if (!m->slot[hole].used)
        return;
    for (size_t k = (hole + 1) & mask; m->slot[k].used; k = (k + 1) & mask) {
        const uint64_t h = m->slot[k].key * 0x9e3779b97f4a7c15u;
        const size_t home = (size_t)(h ^ (h >> 32)) & mask;
        if (((k - home) & mask) < ((k - hole) & mask))
            continue; /* it is found from its home without passing the hole */
        m->slot[hole] = m->slot[k];
        hole = k;
    }
    m->slot[hole] = (map_slot){0};
    m->n--;
}

void map_free(map *m)
{
    vs_free(m->slot);
    *m = (map){0};
}
