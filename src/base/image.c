/* image.c - see image.h. */
#include "image.h"

#include <string.h>

enum { NO_TEXT = -1 };

image image_take(void) { return (image){0}; }

image image_give(const void *bytes, size_t n)
{
    const uint8_t *at = bytes;
    return (image){.giving = true, .at = at, .end = at + n};
}

size_t image_size(const image *im) { return vec_len(im->bytes); }

static bool has(image *im, size_t n)
{
    if (!im->wrong && n <= (size_t)(im->end - im->at))
        return true;
    if (!im->wrong)
        im->wrong = "its end is missing";
    return false;
}

void image_raw(image *im, void *p, size_t n)
{
    if (!n)
        return;
    if (!im->giving) {
        const size_t at = vec_len(im->bytes);
        vec_extend(im->bytes, n);
        memcpy(im->bytes + at, p, n);
    } else if (has(im, n)) {
        memcpy(p, im->at, n);
        im->at += n;
    }
}

void image_refuse(image *im)
{
    if (!im->wrong)
        im->wrong = "a number in it cannot be";
}

void image_check_flag(image *im, bool *p)
{
    uint8_t byte;
    memcpy(&byte, p, sizeof byte);
    if (!im->giving || byte <= 1)
        return;
    memset(p, 0, sizeof *p);
    image_refuse(im);
}

void image_flag(image *im, void *p, size_t n)
{
    image_raw(im, p, n);
    for (size_t i = 0; i < n; i++)
        image_check_flag(im, (bool *)p + i);
}

size_t image_count(image *im, size_t n, size_t elem)
{
    int64_t k = (int64_t)n;
    IMAGE_ONE(im, k);
    if (!im->giving)
        return n;
    if (im->wrong || k < 0 || (elem && (uint64_t)k > (uint64_t)(im->end - im->at) / elem)) {
        im->wrong = im->wrong ? im->wrong : "its end is missing";
        return 0;
    }
    return (size_t)k;
}

void image_same(image *im, const void *p, size_t n, const char *what)
{
    if (!im->giving) {
        const size_t at = vec_len(im->bytes);
        vec_extend(im->bytes, n);
        if (n)
            memcpy(im->bytes + at, p, n);
    } else if (has(im, n)) {
        if (n && memcmp(p, im->at, n) != 0)
            im->wrong = what;
        im->at += n;
    }
}

char *image_text(image *im, const char *text)
{
    int64_t n = text ? (int64_t)strlen(text) : NO_TEXT;
    IMAGE_ONE(im, n);
    if (!im->giving) {
        if (n > 0)
            image_same(im, text, (size_t)n, "");
        return NULL;
    }
    if (im->wrong || n < 0 || !has(im, (size_t)n))
        return NULL;
    char *s = vs_strndup((const char *)im->at, (size_t)n);
    im->at += n;
    return s;
}

const char *image_word(image *im, str_pool *names, const char *text)
{
    const char *word = image_name(im, names, text ? text : "");
    if (!word)
        image_refuse(im);
    return word ? word : str_intern0(names, "");
}

const char *image_name(image *im, str_pool *names, const char *text)
{
    char *own = image_text(im, text);
    if (own)
        text = str_intern0(names, own);
    vs_free(own);
    return text;
}
