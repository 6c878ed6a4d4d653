/* jit_pack.c - the objects of one kernel as one block of bytes: the form that the cache stores and
 * the loader reads.
 * Use:    jit_pack_make, jit_pack_load, jit_pack_unload (jit_priv.h).
 * Layout: head, the sizes of n objects, the objects; each begins at a multiple of 16. Objects come
 *         in the order in which they can be loaded: one may call the pieces of those before it, and
 *         the last has the kernel. */
#include "jit_priv.h"

#include <string.h>

typedef struct pack_head {
    char magic[8];
    uint64_t n;
} pack_head;
static const char MAGIC[8] = "vsimpck1";
enum { MOST_PARTS = 4096 };

static size_t aligned(size_t at) { return (at + 15) & ~(size_t)15; }

static size_t first_at(size_t n) { return aligned(sizeof(pack_head) + n * sizeof(uint64_t)); }

void *jit_pack_make(const jit_object *object, int32_t n, size_t *size)
{
    pack_head head = {.n = (uint64_t)n};
    size_t at = first_at((size_t)n);
    memcpy(head.magic, MAGIC, sizeof head.magic);
    *size = at;
    for (int32_t q = 0; q < n; q++)
        *size += aligned(object[q].size);
    char *pack = vs_calloc(1, *size);
    memcpy(pack, &head, sizeof head);
    for (int32_t q = 0; q < n; q++) {
        const uint64_t bytes = object[q].size;
        memcpy(pack + sizeof head + (size_t)q * sizeof bytes, &bytes, sizeof bytes);
        memcpy(pack + at, object[q].obj, object[q].size);
        at += aligned(object[q].size);
    }
    return pack;
}

static vs_status refuse(const char **why, const char *text)
{
    *why = text;
    return VS_EUNSUPPORTED;
}

vs_status jit_pack_load(const void *pack, size_t size, jit_code **code, jit_kernel *kernel,
                        const char **why)
{
    const char *bytes = pack;
    pack_head head;
    jit_symbol *known = NULL;
    vs_status st = VS_OK;
    *code = NULL;
    if (size < sizeof head)
        return refuse(why, "has no objects");
    memcpy(&head, pack, sizeof head);
    if (memcmp(head.magic, MAGIC, sizeof MAGIC) || !head.n || head.n > MOST_PARTS ||
        first_at(head.n) > size)
        return refuse(why, "has no objects");
    size_t at = first_at(head.n);
    for (size_t q = 0; q < head.n && st == VS_OK; q++) {
        uint64_t n;
        jit_code one = {0};
        memcpy(&n, bytes + sizeof head + q * sizeof n, sizeof n);
        if (n > size - at || aligned(n) > size - at) {
            st = refuse(why, "has an object out of bounds");
            break;
        }
        st = jit_obj_load(bytes + at, n, &known, &one, q + 1 == head.n ? kernel : NULL, why);
        if (st == VS_OK)
            vec_push(*code, one);
        at += aligned(n);
    }
    vec_free(known);
    return st;
}

void jit_pack_unload(jit_code **code)
{
    for (size_t i = 0; i < vec_len(*code); i++)
        jit_obj_unload(&(*code)[i]);
    vec_free(*code);
    *code = NULL;
}
