/* str.h - string pool: equal strings get equal pointers, so names compare by pointer.
 *         Also ASCII case folding (netlists are case-insensitive; the locale plays no part). */
#ifndef STR_H
#define STR_H

#include "arena.h"
#include "map.h"

typedef struct str_place { /* there may be millions: 12 bytes */
    uint32_t text[2];      /* the address, lower half first; 0: free */
    uint32_t hash;
} str_place;
typedef struct str_pool {
    arena mem;
    char *room; /* [n_room] for the next strings, which stand side by side */
    size_t n_room;
    str_place *place; /* [cap] open addressing, cap is a power of two */
    int32_t *note;    /* [cap] callers' numbers; NULL: all are 0 */
    size_t cap, n;
    const char **by_id; /* vec; strings that were given a number by str_id */
    map id_at;          /* number -> index of by_id */
    bool id_clash;      /* a string did not get the number that its text alone gives */
} str_pool;

void str_pool_init(str_pool *p);
void str_pool_fini(str_pool *p);
/* The pool's copy of s[0..n), zero-terminated, valid until str_pool_fini. */
const char *str_intern(str_pool *p, const char *s, size_t n);
const char *str_intern0(str_pool *p, const char *s);
/* The same, but NULL if the pool has no such text. */
const char *str_known(const str_pool *p, const char *s, size_t n);
/* The same as str_intern of the text in ASCII lower case. */
const char *str_intern_lower(str_pool *p, const char *s, size_t n);

/* The hash of s[0..n) in lower case; s has no 0 there. It needs no pool: another thread can compute
 * it ahead of str_intern_hashed, which is str_intern_lower of a text with this hash. */
uint32_t str_hash_folded(const char *s, size_t n);
/* *note: where a number of the caller's for this text stands, until the next call for the pool. It
 * is 0 at first, and again after str_drop_notes. All callers share it. NULL: none is wanted. */
const char *str_intern_hashed(str_pool *p, const char *s, size_t n, uint32_t hash, int32_t **note);
void str_drop_notes(str_pool *p);

/* A positive number below 2^31 for an interned string and back; the same string has the same
 * number, in other pools and processes too as long as id_clash is false. str_of_id returns "" for a
 * number never given out. */
int32_t str_id(str_pool *p, const char *interned);
const char *str_of_id(const str_pool *p, int32_t id);

static inline char str_lower_char(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }
/* Like strcmp/strncmp, ignoring ASCII case. */
int str_casecmp(const char *a, const char *b);
int str_ncasecmp(const char *a, const char *b, size_t n);
uint64_t str_hash(const void *bytes, size_t n);
uint64_t str_hash_lower(const char *s); /* of the text in lower case */

/* A name with the colons that Xyce has between levels of hierarchy as dots, in mem; NULL: it has
 * none. */
const char *str_with_dots(arena *mem, const char *name);

/* The candidate nearest to `name` by edit distance (case ignored), or NULL if none is near enough
 * to be a plausible slip (distance <= 1 + length / 4). */
const char *str_nearest(const char *name, const char *const *cand, size_t n_cand);

/* A SPICE number at the start of s: digits, exponent, then an SI suffix (t g meg k m u n p f a mil,
 * any case) and a unit tail of letters, which is skipped: "10kOhm" is 1e4, "1meg" 1e6, "3mil"
 * 76.2e-6.
 *   end   out  first character after suffix and tail (NULL allowed)
 * Returns true and *value if a number stands there. */
bool str_spice_number(const char *s, const char **end, double *value);

#endif
