/* http.c - see http.h: connections, and what is written to them. */
#define _GNU_SOURCE /* memmem, accept4 */
#include "http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "heap.h"

enum { MOST_EVENTS = 1 << 16 }; /* bytes that wait for one who does not read */

typedef struct line {
    int fd; /* -1: free */
    bool events, keep;
    double since; /* s: the last time that it was idle, or got on */
    char head[HTTP_HEAD];
    size_t n_head;
    char *out; /* [n_out] for vs_free, [sent] of it are gone; then lasting [n_lasting] */
    size_t n_out, sent;
    const char *lasting;
    size_t n_lasting, sent_lasting;
} line;

struct http_server {
    heap_owned owned;
    int fd, port;
    char secret[HTTP_SECRET + 1], address[80];
    http_answer_fn *answer;
    void *user;
    line line[HTTP_MOST];
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void hang_up(line *l)
{
    if (l->fd >= 0)
        close(l->fd);
    vs_free(l->out);
    l->fd = -1;
    l->events = false;
    l->out = NULL;
    l->n_head = l->n_out = l->sent = l->n_lasting = l->sent_lasting = 0;
}

static void drop_sockets(void *what, size_t n)
{
    http_server *s = what;
    (void)n;
    for (int k = 0; k < HTTP_MOST; k++)
        if (s->line[k].fd >= 0)
            close(s->line[k].fd);
    if (s->fd >= 0)
        close(s->fd);
}

static bool make_secret(char *secret)
{
    unsigned char bytes[HTTP_SECRET / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return false;
    for (size_t k = 0; k < sizeof bytes; k++)
        snprintf(secret + 2 * k, 3, "%02x", bytes[k]);
    return true;
}

/* 127.0.0.1, a port of the system's. */
static bool listen_here(http_server *s)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->fd < 0 || bind(s->fd, (struct sockaddr *)&a, n) || listen(s->fd, HTTP_MOST) ||
        getsockname(s->fd, (struct sockaddr *)&a, &n))
        return false;
    s->port = ntohs(a.sin_port);
    return true;
}

vs_status http_open(http_server **out, http_answer_fn *answer, void *user)
{
    http_server *s = *out = vs_calloc(1, sizeof *s);
    s->answer = answer;
    s->user = user;
    s->fd = -1;
    for (int k = 0; k < HTTP_MOST; k++)
        s->line[k].fd = -1;
    heap_own(&s->owned, drop_sockets, s);
    if (!make_secret(s->secret) || !listen_here(s)) {
        const int why = errno;
        http_close(out);
        errno = why;
        return VS_EIO;
    }
    snprintf(s->address, sizeof s->address, "http://127.0.0.1:%d/%s/", s->port, s->secret);
    return VS_OK;
}

const char *http_address(const http_server *s) { return s->address; }

void http_close(http_server **s)
{
    if (!*s)
        return;
    heap_disown(&(*s)->owned);
    for (int k = 0; k < HTTP_MOST; k++)
        hang_up(&(*s)->line[k]);
    if ((*s)->fd >= 0)
        close((*s)->fd);
    vs_free(*s);
    *s = NULL;
}

int http_listeners(const http_server *s)
{
    int n = 0;
    for (int k = 0; k < HTTP_MOST; k++)
        n += s->line[k].fd >= 0 && s->line[k].events;
    return n;
}

/* -- answers -- */

static const char *words_of(int status)
{
    switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 413: return "Content Too Large";
    case 431: return "Request Header Fields Too Large";
    case 503: return "Service Unavailable";
    default: return "Error";
    }
}

static void put(line *l, const char *text, size_t n)
{
    l->out = vs_realloc(l->out, l->n_out + n + 1);
    memcpy(l->out + l->n_out, text, n);
    l->n_out += n;
}

/* The head of a reply, and what of its body is not lasting. */
static void put_reply(line *l, const http_reply *r)
{
    char head[1200], length[48] = "";
    const char *type = r->events ? "text/event-stream" : r->type;
    if (!r->events)
        snprintf(length, sizeof length, "Content-Length: %zu\r\n", r->n);
    const int n =
        snprintf(head, sizeof head,
                 "HTTP/1.1 %d %s\r\nContent-Type: %s\r\n%sConnection: %s\r\n"
                 "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                 "Referrer-Policy: no-referrer\r\nX-Frame-Options: DENY\r\n"
                 "Cross-Origin-Resource-Policy: same-origin\r\n"
                 "Cross-Origin-Opener-Policy: same-origin\r\n"
                 "Content-Security-Policy: %s\r\n\r\n",
                 r->status, words_of(r->status), type ? type : "text/plain; charset=utf-8", length,
                 l->keep ? "keep-alive" : "close", r->policy ? r->policy : "default-src 'none'");
    put(l, head, n > 0 && (size_t)n < sizeof head ? (size_t)n : 0);
    if (r->body)
        put(l, r->body, r->n);
}

static void refuse(line *l, int status)
{
    char text[64];
    l->keep = false;
    const int n = snprintf(text, sizeof text, "%d %s\n", status, words_of(status));
    const http_reply r = {.status = status, .lasting = text, .n = (size_t)n};
    put_reply(l, &r);
    put(l, text, r.n);
}

static void answer(http_server *s, line *l, size_t n)
{
    http_request q = {0};
    http_reply r = {.status = 404};
    const int status = http_parse(l->head, n, s->port, &q, &l->keep);
    if (status || !http_unlock(&q, s->secret)) {
        refuse(l, status ? status : 404);
        return;
    }
    s->answer(s->user, &q, &r);
    if (r.status != 200 && !r.n) {
        refuse(l, r.status);
        return;
    }
    l->events = r.events;
    l->keep |= r.events;
    put_reply(l, &r);
    if (!r.body && r.n) {
        l->lasting = r.lasting;
        l->n_lasting = r.n;
    }
    vs_free(r.body);
}

/* -- reading and writing -- */

/* Sends what waits. false: the other side is gone, or was sent all and is to go. */
static bool flush(line *l)
{
    while (l->sent < l->n_out || l->sent_lasting < l->n_lasting) {
        const bool body = l->sent == l->n_out;
        const ssize_t k = body ? send(l->fd, l->lasting + l->sent_lasting,
                                      l->n_lasting - l->sent_lasting, MSG_NOSIGNAL)
                               : send(l->fd, l->out + l->sent, l->n_out - l->sent, MSG_NOSIGNAL);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return k < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
        *(body ? &l->sent_lasting : &l->sent) += (size_t)k;
        l->since = now();
    }
    const bool stay = !l->n_out || l->keep;
    l->n_out = l->sent = l->n_lasting = l->sent_lasting = 0;
    return stay;
}

/* Answers the requests whose heads are complete, one at a time: the next one when its answer is
 * gone. false: hang up. */
static bool serve(http_server *s, line *l)
{
    while (!l->n_out && !l->events) {
        char *end = memmem(l->head, l->n_head, "\r\n\r\n", 4);
        if (!end && l->n_head < sizeof l->head)
            return true;
        const size_t n = end ? (size_t)(end - l->head) + 2 : 0;
        if (end)
            answer(s, l, n);
        else
            refuse(l, 431);
        l->n_head -= end ? n + 2 : l->n_head;
        memmove(l->head, l->head + n + 2, l->n_head);
        if (!flush(l))
            return false;
    }
    return true;
}

/* Whether the other side has sent its last byte, and all were read: the line is free for another
 * at once. Who listens to events is counted once before. */
static bool is_over(const line *l)
{
    char byte;
    return !l->n_out && !l->events && recv(l->fd, &byte, 1, MSG_PEEK) == 0;
}

/* false: hang up. */
static bool hear(http_server *s, line *l)
{
    char rest[512];
    const bool deaf = l->events || l->n_out; /* nothing more is expected, or not yet */
    char *to = deaf ? rest : l->head + l->n_head;
    const size_t room = deaf ? sizeof rest : sizeof l->head - l->n_head;
    const ssize_t k = recv(l->fd, to, room, 0);
    if (k < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    if (!k || (deaf && !l->events))
        return false;
    if (deaf)
        return true;
    if (!l->n_head)
        l->since = now();
    l->n_head += (size_t)k;
    return serve(s, l) && !is_over(l);
}

static void welcome(http_server *s)
{
    int k = 0;
    while (k < HTTP_MOST && s->line[k].fd >= 0)
        k++;
    const int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    if (k == HTTP_MOST) {
        close(fd);
        return;
    }
    s->line[k].fd = fd;
    s->line[k].since = now();
}

vs_status http_turn(http_server *s, int milliseconds)
{
    struct pollfd p[HTTP_MOST + 1] = {{.fd = s->fd, .events = POLLIN}};
    for (int k = 0; k < HTTP_MOST; k++) {
        const line *l = &s->line[k];
        /* while an answer waits to be sent, no further request is read */
        p[k + 1] = (struct pollfd){.fd = l->fd,
                                   .events = l->n_out && !l->events ? POLLOUT
                                             : l->n_out             ? POLLIN | POLLOUT
                                                                    : POLLIN};
    }
    if (poll(p, HTTP_MOST + 1, milliseconds) < 0)
        return errno == EINTR ? VS_OK : VS_EIO;
    for (int k = 0; k < HTTP_MOST; k++) {
        line *l = &s->line[k];
        const short got = l->fd < 0 ? 0 : p[k + 1].revents;
        bool stay = l->fd >= 0;
        if (stay && (got & POLLOUT))
            stay = flush(l) && serve(s, l);
        if (stay && (got & (POLLIN | POLLERR | POLLHUP)))
            stay = hear(s, l);
        if (!stay || (!l->events && now() - l->since > HTTP_PATIENCE))
            hang_up(l);
    }
    if (p[0].revents)
        welcome(s);
    return VS_OK;
}

void http_tell(http_server *s, const char *text)
{
    for (int k = 0; k < HTTP_MOST; k++) {
        line *l = &s->line[k];
        if (l->fd < 0 || !l->events || l->n_out - l->sent > MOST_EVENTS)
            continue;
        put(l, "data: ", 6);
        put(l, text, strlen(text));
        put(l, "\n\n", 2);
        if (!flush(l))
            hang_up(l);
    }
}
