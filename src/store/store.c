/* store.c - files on disk, found by the hash of all that determines them. See store.h.
 * File:   <dir>/<32 hex digits>.vso (or .vsm) = header, data. Written under a temporary name and
 *         renamed, so that a reader sees a whole file or none. Read back: magic, key, size and
 *         checksum must fit; a file that another user could have written is not used. A hit touches
 *         the file; a put removes the files longest not used while the folder is beyond its limit.
 */
#define _GNU_SOURCE
#include "store.h"
#include "io.h"
#include "vec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct store_head {
    char magic[8];
    hash128 key;
    uint64_t size; /* of the data behind the header */
    hash128 sum;   /* of the first `now` of them */
    uint64_t now;
    uint64_t zero;
} store_head;
_Static_assert(sizeof(store_head) % 16 == 0, "the data behind the header are aligned to 16");
/* Checksum of a file: sums of its words and sums of these sums, hashed. The sums are in LANES
 * independent places, so that no addition waits for another. A changed word, or two exchanged ones,
 * change the sums. */
VS_CLONES static hash128 sum_of(const void *bytes, size_t n)
{
    enum { LANES = 8, BLOCK = LANES * sizeof(uint64_t) };
    const unsigned char *p = bytes;
    uint64_t word[LANES], once[LANES] = {0}, twice[LANES] = {0};
    struct {
        uint64_t once[LANES], twice[LANES];
        hash128 tail;
    } all;
    for (const unsigned char *end = p + n / BLOCK * BLOCK; p < end; p += BLOCK) {
        memcpy(word, p, BLOCK);
        for (int k = 0; k < LANES; k++) {
            once[k] += word[k];
            twice[k] += once[k];
        }
    }
    memcpy(all.once, once, sizeof once);
    memcpy(all.twice, twice, sizeof twice);
    all.tail = hash128_of(p, n % BLOCK);
    return hash128_of(&all, sizeof all);
}

hash128 store_sum(const void *bytes, size_t n) { return sum_of(bytes, n); }

static const char MAGIC[][8] = {{"vsimobj3"}, {"vsimmdl3"}}; /* by store_kind */
static const char *const SUFFIX[] = {".vso", ".vsm"};

/* -- the folder -- */

static void make_dirs(char *path)
{
    for (char *p = path + 1; *p; p++)
        if (*p == '/') {
            *p = 0;
            mkdir(path, 0700);
            *p = '/';
        }
    mkdir(path, 0700);
}

/* Whether a file or folder belongs to the user or to root and nobody else may write it: its
 * contents may be executed. */
static bool trusted(const struct stat *st)
{
    return (st->st_uid == geteuid() || st->st_uid == 0) && !(st->st_mode & 022);
}

void store_open(store *c, const char *dir, const char **why)
{
    struct stat st;
    *why = NULL;
    *c = (store){.max_bytes = (uint64_t)STORE_MB << 20};
    c->dir = dir ? vs_strdup(dir) : NULL;
    if (!c->dir || !*c->dir) {
        *why = "no cache folder is set";
    } else {
        make_dirs(c->dir);
        if (stat(c->dir, &st) || !S_ISDIR(st.st_mode))
            *why = "the cache folder cannot be made";
        else if (!trusted(&st))
            *why = "the cache folder belongs to, or can be written by, other users";
    }
    if (*why)
        store_close(c);
}

void store_close(store *c)
{
    vs_free(c->dir);
    c->dir = NULL;
}

/* -- reading -- */

static char *file_name(const store *c, store_kind kind, hash128 key, const char *more)
{
    return vs_text("%s/%016llx%016llx%s%s", c->dir, (unsigned long long)key.w[0],
                   (unsigned long long)key.w[1], SUFFIX[kind], more);
}

void store_expect(const void *bytes, size_t n)
{
#ifdef MADV_POPULATE_READ
    const size_t page = 4096, before = (uintptr_t)bytes % page;
    if (n > 4 * page)
        (void)madvise((char *)(uintptr_t)bytes - before, n + before,
                      MADV_POPULATE_READ); /* without it pages are read one by one */
#else
    (void)bytes, (void)n;
#endif
}

static const char *check_head(const void *mem, size_t bytes, store_kind kind, hash128 key,
                              size_t *now)
{
    store_head h;
    if (bytes < sizeof h)
        return "is not a cache file";
    memcpy(&h, mem, sizeof h);
    if (memcmp(h.magic, MAGIC[kind], sizeof h.magic))
        return "is not a cache file";
    if (memcmp(&h.key, &key, sizeof key))
        return "holds something else";
    if (h.size != bytes - sizeof h)
        return "is truncated";
    if (h.now > h.size)
        return "is damaged";
    store_expect((const char *)mem + sizeof h, h.now);
    const hash128 sum = store_sum((const char *)mem + sizeof h, h.now);
    *now = h.now;
    return memcmp(&sum, &h.sum, sizeof sum) ? "is damaged" : NULL;
}

static const char *map_file(int fd, store_kind kind, hash128 key, store_item *item)
{
    struct stat st;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !trusted(&st))
        return "belongs to, or can be written by, other users";
    if (st.st_size < (off_t)sizeof(store_head))
        return "is not a cache file";
    const size_t bytes = (size_t)st.st_size;
    void *mem = io_map(fd, bytes);
    if (!mem)
        return "cannot be mapped into memory";
    size_t now = 0;
    const char *why = check_head(mem, bytes, kind, key, &now);
    if (why)
        io_unmap(mem, bytes);
    else
        *item = (store_item){(const char *)mem + sizeof(store_head), bytes - sizeof(store_head),
                             now, mem, bytes};
    return why;
}

store_found store_get(const store *c, store_kind kind, hash128 key, store_item *item,
                      const char **why)
{
    char *path = c->dir ? file_name(c, kind, key, "") : NULL;
    int fd = path ? io_open(path, O_RDONLY) : -1;
    store_found found = STORE_MISS;
    *item = (store_item){0};
    if (fd >= 0) {
        *why = map_file(fd, kind, key, item);
        found = *why ? STORE_BAD : STORE_HIT;
        if (found == STORE_HIT)
            (void)utimensat(AT_FDCWD, path, NULL,
                            0); /* fails in a folder that is read only: ages are not kept there */
        io_close(fd);
    }
    vs_free(path);
    return found;
}

void store_release(store_item *item)
{
    if (item->map)
        io_unmap(item->map, item->map_bytes);
    *item = (store_item){0};
}

/* -- writing -- */

typedef struct cached {
    char name[64];
    struct timespec used;
    uint64_t size;
} cached;

static int older(const void *a, const void *b)
{
    const struct timespec *s = &((const cached *)a)->used, *t = &((const cached *)b)->used;
    if (s->tv_sec != t->tv_sec)
        return s->tv_sec < t->tv_sec ? -1 : 1;
    if (s->tv_nsec != t->tv_nsec)
        return s->tv_nsec < t->tv_nsec ? -1 : 1;
    return strcmp(((const cached *)a)->name, ((const cached *)b)->name);
}

/* Whether a name is that of a file of the cache: 32 hex digits and a suffix, perhaps with the
 * ending of a temporary file. */
static bool is_ours(const char *name)
{
    return strspn(name, "0123456789abcdef") == 32 &&
           (!strncmp(name + 32, SUFFIX[STORE_KERNEL], 4) ||
            !strncmp(name + 32, SUFFIX[STORE_MODEL], 4));
}

static cached *list_files(const store *c, uint64_t *total)
{
    cached *list = NULL;
    arena mem;
    bool found;
    arena_init(&mem);
    const char **name = io_names(&mem, c->dir, &found);
    for (size_t i = 0; i < vec_len(name); i++) {
        struct stat st;
        const size_t n = strlen(name[i]);
        if (n >= sizeof list->name || !is_ours(name[i]) ||
            lstat(arena_printf(&mem, "%s/%s", c->dir, name[i]), &st) || !S_ISREG(st.st_mode))
            continue;
        cached one = {.used = st.st_mtim, .size = (uint64_t)st.st_size};
        memcpy(one.name, name[i], n + 1);
        vec_push(list, one);
        *total += one.size;
    }
    vec_free(name);
    arena_fini(&mem);
    return list;
}

/* Removes the files longest not used until the folder is within its limit. */
static void trim(const store *c)
{
    uint64_t total = 0;
    cached *list = list_files(c, &total);
    if (total > c->max_bytes)
        qsort(list, vec_len(list), sizeof *list, older);
    for (size_t i = 0; i < vec_len(list) && total > c->max_bytes; i++) {
        char *path = vs_text("%s/%s", c->dir, list[i].name);
        if (!unlink(path))
            total -= list[i].size;
        vs_free(path);
    }
    vec_free(list);
}

vs_status store_put(const store *c, store_kind kind, hash128 key, const void *data, size_t size,
                    const char **why)
{
    return store_put_now(c, kind, key, data, size, size, why);
}

vs_status store_put_now(const store *c, store_kind kind, hash128 key, const void *data, size_t size,
                        size_t now, const char **why)
{
    store_head h = {.key = key, .size = size, .sum = store_sum(data, now), .now = now};
    memcpy(h.magic, MAGIC[kind], sizeof h.magic);
    char *path = c->dir ? file_name(c, kind, key, "") : NULL;
    char *temp = c->dir ? file_name(c, kind, key, ".XXXXXX") : NULL;
    int fd = path && temp ? mkstemp(temp) : -1;
    bool ok = false;
    if (fd >= 0) {
        ok = io_write(fd, &h, sizeof h) && io_write(fd, data, size);
        ok = !close(fd) && ok;
        ok = ok && !rename(temp, path);
        if (!ok)
            unlink(temp);
    }
    vs_free(path);
    vs_free(temp);
    *why = ok ? NULL : "the cache folder cannot be written";
    if (ok)
        trim(c);
    return ok ? VS_OK : VS_EIO;
}

/* -- for the user -- */

vs_status store_look(store_view *view, const char *dir, const char **why)
{
    struct timespec now;
    *view = (store_view){.dir = dir ? vs_strdup(dir) : NULL, .limit = (uint64_t)STORE_MB << 20};
    *why = "no cache folder is set";
    if (!view->dir || !*view->dir)
        return VS_EIO;
    *why = "the folder cannot be read";
    if (access(view->dir, R_OK | X_OK))
        return errno == ENOENT ? VS_OK : VS_EIO;
    *why = NULL;
    const store c = {.dir = view->dir};
    cached *list = list_files(&c, &view->total);
    if (vec_len(list))
        qsort(list, vec_len(list), sizeof *list, older);
    clock_gettime(CLOCK_REALTIME, &now);
    for (size_t i = vec_len(list); i-- > 0;) {
        store_file f = {.size = list[i].size};
        memcpy(f.name, list[i].name, sizeof f.name);
        f.idle = (double)(now.tv_sec - list[i].used.tv_sec) +
                 1e-9 * (double)(now.tv_nsec - list[i].used.tv_nsec);
        vec_push(view->file, f);
    }
    vec_free(list);
    return VS_OK;
}

void store_look_fini(store_view *view)
{
    vs_free(view->dir);
    vec_free(view->file);
}

vs_status store_clear(const char *dir, size_t *n_file, uint64_t *bytes, const char **why)
{
    store_view v;
    vs_status st = store_look(&v, dir, why);
    *n_file = 0;
    *bytes = 0;
    for (size_t i = 0; i < vec_len(v.file); i++) {
        char *path = vs_text("%s/%s", v.dir, v.file[i].name);
        if (!unlink(path)) {
            *n_file += 1;
            *bytes += v.file[i].size;
        } else {
            *why = "a file cannot be removed";
            st = VS_EIO;
        }
        vs_free(path);
    }
    store_look_fini(&v);
    return st;
}
