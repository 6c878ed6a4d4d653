/* image.h - the state of a computation as bytes, to go on with it in another process.
 * Use:    image im = image_take(); room_image(x, &im) ...; im.bytes [image_size(&im)].
 *         image im = image_give(bytes, n); the same calls in the same order put the state back.
 * One function of a room does both directions, so that they cannot differ: each call below copies
 * to the image while it is taken, and from it while it is given back. image_same compares what
 * identifies the object: an image fits the object that it was taken from, or one made in the same
 * way, and no other. After the first thing that does not fit nothing more is copied, and im.wrong
 * says what it was. Whoever allocates by a count reads it with image_count, which then gives 0.
 * An image may be damaged, and its sum forged: what is given back is used as it is. So whoever
 * takes an index, a count or a choice back says which there are (IMAGE_WITHIN), texts that must be
 * there are asked for by image_word, and a bool is 0 or 1 (IMAGE_ONE sees to that). Values of the
 * solution may be any: a computation could have given them.
 * Numbers stand as the processor has them; pointers never. */
#ifndef IMAGE_H
#define IMAGE_H

#include "hash.h"
#include "str.h"
#include "vec.h"

typedef struct image {
    bool giving;       /* back, to the object */
    uint8_t *bytes;    /* vec of an image that is taken; for vec_free */
    const uint8_t *at; /* of one that is given back: what is left, */
    const uint8_t *end;
    const char *wrong; /* static: what does not fit; NULL: nothing so far */
} image;

image image_take(void);
image image_give(const void *bytes, size_t n);
size_t image_size(const image *im);

void image_raw(image *im, void *p, size_t n);
void image_flag(image *im, void *p, size_t n); /* n bools */
#define IMAGE_ONE(im, x) _Generic((x), bool: image_flag, default: image_raw)((im), &(x), sizeof(x))
/* A number from lo to hi, or else nothing fits. */
#define IMAGE_WITHIN(im, x, lo, hi)                                                          \
    do {                                                                                     \
        IMAGE_ONE((im), (x));                                                                \
        if ((im)->giving && !((double)(x) >= (double)(lo) && (double)(x) <= (double)(hi))) { \
            (x) = (lo);                                                                      \
            image_refuse(im);                                                                \
        }                                                                                    \
    } while (0)
/* Counts of what was done go on from any number but those that overflow. */
#define IMAGE_COUNTED(im, x) IMAGE_WITHIN((im), (x), 0, sizeof(x) > 4 ? 1e18 : 1e9)
/* A value in it cannot be: nothing more is copied. */
void image_refuse(image *im);
/* Whether the bytes of a bool inside of what was copied are one; false: it is set to false, and
 * the image is refused. */
void image_check_flag(image *im, bool *p);
/* n elements at p */
#define IMAGE_ARRAY(im, p, n) image_raw((im), (p), (size_t)(n) * sizeof *(p))
/* A vec with as many elements as it has. */
#define IMAGE_VEC(im, v)                                              \
    do {                                                              \
        const size_t n_ = image_count((im), vec_len(v), sizeof *(v)); \
        if ((im)->giving) {                                           \
            vec_clear(v);                                             \
            vec_extend(v, n_);                                        \
        }                                                             \
        if (n_)                                                       \
            image_raw((im), (v), n_ * sizeof *(v));                   \
    } while (0)
/* A number of elements of at least `elem` bytes each, which follow; 0 if there are not so many. */
size_t image_count(image *im, size_t n, size_t elem);
/* Bytes that must be equal; what: names them in `wrong`, static. */
void image_same(image *im, const void *p, size_t n, const char *what);
#define IMAGE_SAME(im, x, what) image_same((im), &(x), sizeof(x), (what))
/* Taking: copies `text` (or NULL) and returns it. Giving back: returns the image's text, which the
 * caller frees with vs_free. */
char *image_text(image *im, const char *text);
/* The same for a text interned in `names`: giving back returns the interned copy, which nobody
 * frees. */
const char *image_name(image *im, str_pool *names, const char *text);
/* The same for a text that cannot be missing: never NULL. */
const char *image_word(image *im, str_pool *names, const char *text);

#endif
