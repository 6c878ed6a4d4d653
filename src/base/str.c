#include "str.h"

#include <stdlib.h>
#include <string.h>

#include "vec.h"

void str_pool_init(str_pool *p)
{
    *p = (str_pool){0};
    arena_init(&p->mem);
}

void str_pool_fini(str_pool *p)
{
    vs_free(p->place);
    vs_free(p->note);
    vec_free(p->by_id);
    map_free(&p->id_at);
    arena_fini(&p->mem);
    *p = (str_pool){0};
}

uint64_t str_hash(const void *bytes, size_t n)
{
    const unsigned char *s = bytes;
    uint64_t h = 0xcbf29ce484222325u ^ n;
    for (size_t i = 0; i < n; i++)
        h = (h ^ s[i]) * 0x100000001b3u;
    h ^= h >> 32;
    return h * 0x9e3779b97f4a7c15u ^ (h >> 29);
}

uint64_t str_hash_lower(const char *s)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *s; s++)
        h = (h ^ (unsigned char)str_lower_char(*s)) * 0x100000001b3u;
    return h * 0x9e3779b97f4a7c15u ^ (h >> 29);
}

const char *str_with_dots(arena *mem, const char *name)
{
    if (!strchr(name, ':'))
        return NULL;
    char *own = arena_strndup(mem, name, strlen(name));
    for (char *p = own; *p; p++)
        *p = *p == ':' ? '.' : *p;
    return own;
}

/* Eight characters in lower case: bit 7 of each byte of `upper` tells whether it is from A to Z. */
static uint64_t folded(uint64_t word)
{
    const uint64_t each = 0x0101010101010101u, low = word & 0x7f * each;
    const uint64_t upper =
        ((low + (0x80 - 'A') * each) ^ (low + (0x7f - 'Z') * each)) & ~word & 0x80 * each;
    return word | upper >> 2;
}

/* Words of 8 bytes: names are hashed in a few steps. fold: of the text in lower case */
static inline uint32_t hash_of(const char *s, size_t n, bool fold)
{
    uint64_t h = 0xcbf29ce484222325u ^ n, word;
    for (; n >= sizeof word; n -= sizeof word, s += sizeof word) {
        memcpy(&word, s, sizeof word);
        h = (h ^ (fold ? folded(word) : word)) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    word = 0;
    memcpy(&word, s, n);
    h = (h ^ (fold ? folded(word) : word)) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(h >> 32);
}

uint32_t str_hash_folded(const char *s, size_t n) { return hash_of(s, n, true); }

static inline const char *text_of(const str_place *at)
{
    return (const char *)(uintptr_t)(at->text[0] | (uint64_t)at->text[1] << 32);
}

static inline bool is_free(const str_place *at) { return !(at->text[0] | at->text[1]); }

/* The hash is kept: nothing is read again when the pool grows. */
static void grow_pool(str_pool *p)
{
    const size_t cap = p->cap ? p->cap * 2 : 1024;
    str_place *place = vs_calloc(cap, sizeof *place);
    int32_t *note = p->note ? vs_calloc(cap, sizeof *note) : NULL;
    for (size_t i = 0; i < p->cap; i++) {
        if (is_free(&p->place[i]))
            continue;
        size_t k = p->place[i].hash & (cap - 1);
        while (!is_free(&place[k]))
            k = (k + 1) & (cap - 1);
        place[k] = p->place[i];
        if (note)
            note[k] = p->note[i];
    }
    vs_free(p->place);
    vs_free(p->note);
    p->place = place;
    p->note = note;
    p->cap = cap;
}

static inline char as_interned(char c, bool fold) { return fold ? str_lower_char(c) : c; }

/* Whether the text is s[0..n), which has no 0. Names are short: a call would take longer. */
static inline bool is_text(const char *text, const char *s, size_t n, bool fold)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] != as_interned(s[i], fold))
            return false;
    return !text[n];
}

/* Where s[0..n) stands, or would. */
static inline str_place *place_of(const str_pool *p, const char *s, size_t n, uint32_t hash,
                                  bool fold)
{
    size_t k = hash & (p->cap - 1);
    for (; !is_free(&p->place[k]); k = (k + 1) & (p->cap - 1))
        if (p->place[k].hash == hash && is_text(text_of(&p->place[k]), s, n, fold))
            break;
    return &p->place[k];
}

const char *str_known(const str_pool *p, const char *s, size_t n)
{
    return p->cap ? text_of(place_of(p, s, n, hash_of(s, n, false), false)) : NULL;
}

/* Names of a million elements have no use for the alignment of arena_alloc. */
static char *copy_text(str_pool *p, const char *s, size_t n)
{
    enum { ROOM = 1 << 14, LONG = 256 };
    if (n >= LONG)
        return arena_strndup(&p->mem, s, n);
    if (p->n_room < n + 1) {
        p->room = arena_alloc(&p->mem, ROOM);
        p->n_room = ROOM;
    }
    char *to = p->room;
    memcpy(to, s, n); /* 0 stands behind it: the arena's memory is zeroed */
    p->room += n + 1;
    p->n_room -= n + 1;
    return to;
}

/* s[0..n) has no 0. */
static inline str_place *intern(str_pool *p, const char *s, size_t n, uint32_t hash, bool fold)
{
    if (p->n * 4 >= p->cap * 3)
        grow_pool(p);
    str_place *at = place_of(p, s, n, hash, fold);
    if (!is_free(at))
        return at;
    char *text = copy_text(p, s, n);
    for (size_t i = 0; fold && i < n; i++)
        text[i] = str_lower_char(text[i]);
    p->n++;
    at->hash = hash;
    at->text[0] = (uint32_t)(uintptr_t)text;
    at->text[1] = (uint32_t)((uint64_t)(uintptr_t)text >> 32);
    return at;
}

static const char *intern_exact(str_pool *p, const char *s, size_t n)
{
    return text_of(intern(p, s, n, hash_of(s, n, false), false));
}

/* Its length up to a 0. */
static size_t length_of(const char *s, size_t n)
{
    const char *nul = memchr(s, 0, n);
    return nul ? (size_t)(nul - s) : n;
}

const char *str_intern(str_pool *p, const char *s, size_t n)
{
    return intern_exact(p, s, length_of(s, n));
}

const char *str_intern0(str_pool *p, const char *s) { return intern_exact(p, s, strlen(s)); }

int32_t str_id(str_pool *p, const char *interned)
{
    int32_t id = (int32_t)(str_hash(interned, strlen(interned)) & 0x3fffffff) | 0x40000000;
    for (;; id = id == INT32_MAX ? 0x40000000 : id + 1) {
        int32_t at = map_get(&p->id_at, (uint64_t)id, -1);
        if (at >= 0 && p->by_id[at] == interned)
            return id;
        if (at < 0)
            break;
        p->id_clash = true;
    }
    map_set(&p->id_at, (uint64_t)id, (int32_t)vec_len(p->by_id));
    vec_push(p->by_id, interned);
    return id;
}

const char *str_of_id(const str_pool *p, int32_t id)
{
    int32_t at = id > 0 ? map_get(&p->id_at, (uint64_t)id, -1) : -1;
    return at >= 0 ? p->by_id[at] : "";
}

const char *str_intern_hashed(str_pool *p, const char *s, size_t n, uint32_t hash, int32_t **note)
{
    const str_place *at = intern(p, s, n, hash, true);
    if (note) {
        p->note = p->note ? p->note : vs_calloc(p->cap, sizeof *p->note);
        *note = &p->note[at - p->place];
    }
    return text_of(at);
}

void str_drop_notes(str_pool *p)
{
    vs_free(p->note);
    p->note = NULL;
}

const char *str_intern_lower(str_pool *p, const char *s, size_t n)
{
    n = length_of(s, n);
    return str_intern_hashed(p, s, n, str_hash_folded(s, n), NULL);
}

int str_ncasecmp(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int d = (unsigned char)str_lower_char(a[i]) - (unsigned char)str_lower_char(b[i]);
        if (d || !a[i])
            return d;
    }
    return 0;
}

int str_casecmp(const char *a, const char *b) { return str_ncasecmp(a, b, SIZE_MAX); }

enum { TOO_LONG = 64 }; /* distance of names with that many characters: not computed */

/* Damerau-Levenshtein (adjacent transposition counts one) of names up to 63 characters. */
static int edit_distance(const char *a, const char *b)
{
    enum { MAX = TOO_LONG };
    size_t n = strlen(a), m = strlen(b);
    if (n >= MAX || m >= MAX)
        return MAX;
    int d[MAX][MAX];
    for (size_t i = 0; i <= n; i++)
        d[i][0] = (int)i;
    for (size_t j = 0; j <= m; j++)
        d[0][j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        for (size_t j = 1; j <= m; j++) {
            char x = str_lower_char(a[i - 1]), y = str_lower_char(b[j - 1]);
            int best = d[i - 1][j - 1] + (x != y);
            if (d[i - 1][j] + 1 < best)
                best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best)
                best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && x == str_lower_char(b[j - 2]) && y == str_lower_char(a[i - 2]) &&
                d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    }
    return d[n][m];
}

const char *str_nearest(const char *name, const char *const *cand, size_t n_cand)
{
    const char *best = NULL;
    int limit = 1 + (int)(strlen(name) / 4), best_d = limit + 1;
    for (size_t i = 0; i < n_cand; i++) {
        int d = edit_distance(name, cand[i]);
        if (d < best_d && d < (int)strlen(name) && d < TOO_LONG) {
            best_d = d;
            best = cand[i];
        }
    }
    return best;
}

static bool is_letter(char c)
{
    c = str_lower_char(c);
    return (c >= 'a' && c <= 'z');
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* The decimal number at s without suffix; strtod alone would also accept hex, inf and nan. */
static const char *scan_decimal(const char *s)
{
    const char *p = s;
    if (*p == '+' || *p == '-')
        p++;
    const char *digits = p;
    while (is_digit(*p))
        p++;
    size_t n = (size_t)(p - digits);
    if (*p == '.') {
        p++;
        const char *frac = p;
        while (is_digit(*p))
            p++;
        n += (size_t)(p - frac);
    }
    if (!n)
        return NULL;
    if (*p == 'e' || *p == 'E') {
        const char *e = p + 1;
        if (*e == '+' || *e == '-')
            e++;
        if (is_digit(*e)) {
            while (is_digit(*e))
                e++;
            p = e;
        }
    }
    return p;
}

/* The decimal number s[0..end) times 10^decade, if both its digits and the power of ten are exact
 * as doubles: then one operation rounds as strtod does (Clinger 1990), in a fifth of its time. */
static bool short_decimal(const char *s, const char *end, int decade, double *x)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    enum { MOST_DIGITS = 15, MOST_POWER = 22 };
    const bool minus = *s == '-';
    uint64_t digits = 0;
    int n = 0, e = 0;
    bool point = false;
    s += minus || *s == '+';
    for (; s < end && *s != 'e' && *s != 'E'; s++) {
        if (*s == '.') {
            point = true;
            continue;
        }
        digits = digits * 10 + (uint64_t)(*s - '0');
        n += digits > 0;
        decade -= point;
        if (n > MOST_DIGITS)
            return false;
    }
    if (s < end) {
        const bool down = *++s == '-';
        for (s += down || *s == '+'; s < end; s++)
            if ((e = e * 10 + (*s - '0')) > 400)
                return false;
        e = down ? -e : e;
    }
    e += decade;
    if (e < -MOST_POWER || e > MOST_POWER)
        return false;
    const double m = e < 0 ? (double)digits / power[-e] : (double)digits * power[e];
    *x = minus ? -m : m;
    return true;
}

bool str_spice_number(const char *s, const char **end, double *value)
{
    static const struct {
        const char *name;
        double scale;
    } suffix[] = {
        {"meg", 1e6}, {"mil", 25.4e-6},   {"t", 1e12},        {"g", 1e9},    {"k", 1e3},
        {"m", 1e-3},  {"u", 1e-6},        {"n", 1e-9},        {"p", 1e-12},  {"f", 1e-15},
        {"a", 1e-18}, {"\xc2\xb5", 1e-6}, {"\xce\xbc", 1e-6}, {"\xb5", 1e-6}}; /* micro, mu; micro
                                                                                  in Latin-1 */
    const char *p = scan_decimal(s);
    if (!p)
        return false;
    /* The suffix is read as a decimal exponent where it is one, so that 0.1u is the double of 1e-7.
     */
    char buf[400];
    size_t n = (size_t)(p - s);
    double scale = 1;
    int exponent = 0;
    const bool ends = !is_letter(*p) && (unsigned char)*p < 128;
    for (size_t i = 0; i < VS_COUNT(suffix) && !ends; i++) {
        if (!str_ncasecmp(p, suffix[i].name, strlen(suffix[i].name))) {
            scale = suffix[i].scale;
            static const int decade[] = {6, 0, 12, 9, 3, -3, -6, -9, -12, -15, -18, -6, -6, -6};
            exponent = decade[i];
            p += strlen(suffix[i].name);
            break;
        }
    }
    bool has_exp = memchr(s, 'e', n) || memchr(s, 'E', n);
    const bool in_exp = exponent && !has_exp && n + 8 < sizeof buf;
    const bool hex = (*p == 'x' || *p == 'X') && p[-1] == '0' &&
                     (n == 1 || (n == 2 && !is_digit(*s) && *s != '.'));
    if (hex) { /* the x of 0x10 begins a unit */
        *value = 0;
    } else if (short_decimal(s, s + n, in_exp ? exponent : 0, value)) {
        *value *= in_exp ? 1 : scale;
    } else if (in_exp) {
        memcpy(buf, s, n);
        int k = 0;
        char tail[8];
        tail[k++] = 'e';
        if (exponent < 0)
            tail[k++] = '-';
        int e = exponent < 0 ? -exponent : exponent;
        if (e >= 10)
            tail[k++] = (char)('0' + e / 10);
        tail[k++] = (char)('0' + e % 10);
        tail[k] = 0;
        memcpy(buf + n, tail, (size_t)k + 1);
        *value = strtod(buf, NULL);
    } else {
        *value = strtod(s, NULL) * scale; /* mil, or 1e3k */
    }
    while (is_letter(*p) || (unsigned char)*p >= 128) /* a unit, such as F, Ohm, °C */
        p++;
    if (end)
        *end = p;
    return true;
}
