/* http.h - a server for one browser on this machine: loopback only, one secret word in its address.
 * Use:    http_open, show http_address; http_turn again and again; http_close.
 * Source: RFC 9112 (HTTP/1.1), as much of it as browsers send; WHATWG HTML, "Server-sent events".
 *
 * Whoever has the address may read; nobody else may, other users of the machine and other pages of
 * the browser included. A request is answered only if all of this holds:
 *   - its path begins with the secret (128 random bits), compared in constant time;
 *   - its Host is this server's address, so that no name of another site leads here;
 *   - its Origin and Sec-Fetch-Site, if there are any, are this server's own; a link elsewhere may
 *     lead to the page (Sec-Fetch-Mode: navigate), which no frame may show;
 *   - it is GET, or POST with an Origin, an action; neither has a body.
 * Requests have at most HTTP_HEAD bytes and HTTP_PATIENCE seconds to arrive, and there are at most
 * HTTP_MOST connections. One thread, which answers requests one at a time. */
#ifndef HTTP_H
#define HTTP_H

#include "vs.h"

enum {
    HTTP_HEAD = 16384,  /* bytes of a request */
    HTTP_MOST = 24,     /* connections at a time */
    HTTP_PATIENCE = 20, /* s that a request may take, and that a connection may be idle */
    HTTP_SECRET = 32    /* letters, hexadecimal */
};

typedef struct http_server http_server;

typedef struct http_request {
    const char *path;  /* behind the secret: "", "curve" */
    const char *query; /* behind '?', as it was sent; "" */
    bool post;
} http_request;

typedef struct http_reply {
    int status;          /* 200; 404, ... */
    const char *type;    /* "text/html; charset=utf-8"; NULL: plain text */
    const char *policy;  /* Content-Security-Policy; NULL: nothing may be loaded */
    char *body;          /* [n] for vs_free, or, */
    const char *lasting; /* if NULL, [n] text that outlives the server */
    size_t n;
    bool events; /* the connection stays open for http_tell; no body */
} http_reply;
/* Fills *r, which is status 404 without a body. */
typedef void http_answer_fn(void *user, const http_request *q, http_reply *r);

/* Listens at a port that the system chooses. Status: VS_OK; VS_EIO with errno. */
VS_MUST_USE vs_status http_open(http_server **s, http_answer_fn *answer, void *user);
/* "http://127.0.0.1:PORT/SECRET/" */
const char *http_address(const http_server *s);
/* Waits up to so long for something to do, and does it. Status: VS_OK; VS_EIO with errno: no more
 * connections can be had. */
VS_MUST_USE vs_status http_turn(http_server *s, int milliseconds);
/* One line of text to all who listen to events; dropped for those that do not read. */
void http_tell(http_server *s, const char *text);
/* Connections that listen to events. */
int http_listeners(const http_server *s);
void http_close(http_server **s); /* *s is NULL afterwards; NULL is allowed */

/* -- http_request.c -- */
/* The value of a name in a query, percent-decoded, into to [size]; false: it is not there, is
 * malformed, has a zero byte or is longer. */
bool http_value(const char *query, const char *name, char *to, size_t size);
/* Reads the head of a request. head [n]: up to the empty line, which is overwritten; port: the
 * server's. *q points into it, the secret not yet cut from its path.
 *   keep  out  the connection may go on
 * Returns the status to answer with at once, 0: none. */
int http_parse(char *head, size_t n, int port, http_request *q, bool *keep);
/* Is the path /SECRET/...? Moves it behind that. Takes as long for each wrong secret. */
bool http_unlock(http_request *q, const char *secret);

#endif
