/* http_request.c - what a request says, and whether it may. */
#define _GNU_SOURCE /* memmem, strchrnul */
#include <stdio.h>
#include <string.h>

#include "http.h"
#include "str.h"

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* One letter of percent-encoded text; -1: malformed, or a zero byte. */
static int letter_at(const char **at)
{
    if (**at != '%')
        return *(*at)++ == '+' ? ' ' : (unsigned char)(*at)[-1];
    const int hi = digit_of((*at)[1]), lo = hi < 0 ? -1 : digit_of((*at)[2]);
    *at += 3;
    return lo < 0 || !(16 * hi + lo) ? -1 : 16 * hi + lo;
}

static bool decode(const char *at, const char *end, char *to, size_t size)
{
    size_t n = 0;
    while (at < end) {
        const int c = letter_at(&at);
        if (c < 0 || at > end || n + 1 >= size)
            return false;
        to[n++] = (char)c;
    }
    to[n] = 0;
    return true;
}

bool http_value(const char *query, const char *name, char *to, size_t size)
{
    const size_t len = strlen(name);
    for (const char *at = query; *at;) {
        const char *end = strchrnul(at, '&');
        if (!strncmp(at, name, len) && at[len] == '=')
            return decode(at + len + 1, end, to, size);
        at = *end ? end + 1 : end;
    }
    return false;
}

/* -- the head -- */

/* "127.0.0.1:PORT" or "localhost:PORT". */
static bool is_us(const char *host, int port)
{
    char own[2][32];
    snprintf(own[0], sizeof own[0], "127.0.0.1:%d", port);
    snprintf(own[1], sizeof own[1], "localhost:%d", port);
    return !strcmp(host, own[0]) || !strcmp(host, own[1]);
}

static bool is_our_origin(const char *origin, int port)
{
    return !strncmp(origin, "http://", 7) && is_us(origin + 7, port);
}

typedef struct head {
    int port, n_host;
    bool origin, http10, close;
    bool foreign, navigation; /* asked for by another site; to show it as a page of its own */
} head;

/* One field. Returns a status, or 0. */
static int read_field(head *h, char *line)
{
    char *value = strchr(line, ':');
    if (!value || value == line || strcspn(line, " \t") < (size_t)(value - line))
        return 400;
    *value++ = 0;
    value += strspn(value, " \t");
    for (size_t k = strlen(value); k && strchr(" \t", value[k - 1]); k--)
        value[k - 1] = 0;
    if (!str_casecmp(line, "host")) {
        h->n_host++;
        return is_us(value, h->port) ? 0 : 403;
    }
    if (!str_casecmp(line, "origin")) {
        h->origin = true;
        return is_our_origin(value, h->port) ? 0 : 403;
    }
    if (!str_casecmp(line, "sec-fetch-site"))
        h->foreign = str_casecmp(value, "same-origin") && str_casecmp(value, "none");
    if (!str_casecmp(line, "sec-fetch-mode"))
        h->navigation = !str_casecmp(value, "navigate");
    if (!str_casecmp(line, "content-length"))
        return strcmp(value, "0") ? 413 : 0;
    if (!str_casecmp(line, "transfer-encoding"))
        return 413;
    if (!str_casecmp(line, "connection"))
        h->close |= !str_casecmp(value, "close");
    return 0;
}

/* "GET /path?query HTTP/1.1" */
static int read_first(head *h, char *line, http_request *q)
{
    char *path = strchr(line, ' '), *version = path ? strchr(path + 1, ' ') : NULL;
    if (!version || strncmp(version, " HTTP/1.", 8) || !strchr("01", version[8]) || !version[8] ||
        version[9])
        return 400;
    h->http10 = version[8] == '0';
    *path++ = *version = 0;
    q->post = !strcmp(line, "POST");
    if (!q->post && strcmp(line, "GET"))
        return 405;
    if (*path != '/')
        return 400;
    char *query = strchr(path, '?');
    if (query)
        *query++ = 0;
    q->path = path;
    q->query = query ? query : "";
    return 0;
}

int http_parse(char *text, size_t n, int port, http_request *q, bool *keep)
{
    head h = {.port = port};
    char *line = text;
    *keep = false;
    if (memchr(text, 0, n))
        return 400;
    for (bool first = true; line < text + n; first = false) {
        char *end = memmem(line, (size_t)(text + n - line), "\r\n", 2);
        if (!end)
            return 400;
        *end = 0;
        const int status = first ? read_first(&h, line, q) : read_field(&h, line);
        if (status)
            return status;
        line = end + 2;
    }
    if (h.n_host != 1)
        return 400;
    if ((q->post && !h.origin) || (h.foreign && (q->post || !h.navigation)))
        return 403;
    *keep = !h.close && !h.http10;
    return 0;
}

bool http_unlock(http_request *q, const char *secret)
{
    unsigned differ = 0;
    const char *at = q->path + 1;
    if (strnlen(at, HTTP_SECRET + 1) != HTTP_SECRET + 1)
        return false;
    for (int k = 0; k < HTTP_SECRET; k++)
        differ |= (unsigned)(at[k] ^ secret[k]);
    if (differ || at[HTTP_SECRET] != '/')
        return false;
    q->path = at + HTTP_SECRET + 1;
    return true;
}
