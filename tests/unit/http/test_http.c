/* test_http.c - which requests are answered. tests/cli/view.py asks the same of sockets. */
#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../suite.h"
#include "http.h"

enum { PORT = 4000 };
#define FIRST "GET /00112233445566778899aabbccddeeff/curve?g=1 HTTP/1.1\r\n"
#define POST "POST /00112233445566778899aabbccddeeff/stop HTTP/1.1\r\n"
#define HOST "Host: 127.0.0.1:4000\r\n"
#define SECRET "00112233445566778899aabbccddeeff"

static int parse(const char *text, http_request *q, bool *keep)
{
    static char head[4096];
    snprintf(head, sizeof head, "%s", text);
    return http_parse(head, strlen(head), PORT, q, keep);
}

START_TEST(what_a_head_must_have)
{
    static const struct {
        const char *text;
        int status;
    } t[] = {{FIRST HOST, 0},
             {FIRST "host:localhost:4000\r\n", 0},
             {FIRST, 400},
             {FIRST HOST HOST, 400},
             {FIRST "Host: 127.0.0.1\r\n", 403},
             {FIRST "Host: 127.0.0.1:4001\r\n", 403},
             {FIRST "Host: example.org:4000\r\n", 403},
             {FIRST "Host: 127.0.0.1:4000.example.org\r\n", 403},
             {FIRST HOST "Origin: http://127.0.0.1:4000\r\n", 0},
             {FIRST HOST "Origin: https://127.0.0.1:4000\r\n", 403},
             {FIRST HOST "Origin: null\r\n", 403},
             {FIRST HOST "Origin: http://example.org\r\n", 403},
             {FIRST HOST "Sec-Fetch-Site: same-origin\r\n", 0},
             {FIRST HOST "Sec-Fetch-Site: cross-site\r\n", 403},
             {FIRST HOST "Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: cors\r\n", 403},
             {FIRST HOST "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n", 0},
             {POST HOST, 403},
             {POST HOST "Origin: http://127.0.0.1:4000\r\n", 0},
             {POST HOST "Origin: http://127.0.0.1:4000\r\nContent-Length: 0\r\n", 0},
             {POST HOST "Origin: http://127.0.0.1:4000\r\nContent-Length: 5\r\n", 413},
             {POST HOST "Origin: http://127.0.0.1:4000\r\nTransfer-Encoding: chunked\r\n", 413},
             {"PUT / HTTP/1.1\r\n" HOST, 405},
             {"HEAD / HTTP/1.1\r\n" HOST, 405},
             {"GET / HTTP/2\r\n" HOST, 400},
             {"GET /\r\n" HOST, 400},
             {"GET http://127.0.0.1:4000/ HTTP/1.1\r\n" HOST, 400},
             {FIRST HOST " folded: line\r\n", 400},
             {FIRST HOST "no colon\r\n", 400},
             {FIRST "Host : 127.0.0.1:4000\r\n", 400}};
    for (size_t k = 0; k < VS_COUNT(t); k++) {
        http_request q = {0};
        bool keep;
        ck_assert_msg(parse(t[k].text, &q, &keep) == t[k].status, "%zu: %s", k, t[k].text);
    }
}
END_TEST

START_TEST(a_zero_byte_is_refused)
{
    char head[] = FIRST HOST "X: a\0b\r\n";
    http_request q;
    bool keep;
    ck_assert_int_eq(http_parse(head, sizeof head - 1, PORT, &q, &keep), 400);
}
END_TEST

START_TEST(only_the_secret_unlocks)
{
    static const char *const wrong[] = {"/",
                                        "/curve",
                                        "/00112233445566778899aabbccddeef/",
                                        "/00112233445566778899aabbccddeeff",
                                        "/00112233445566778899aabbccddeefe/curve",
                                        "/00112233445566778899aabbccddeeff0/",
                                        "//00112233445566778899aabbccddeeff/",
                                        "/../00112233445566778899aabbccddeeff/"};
    for (size_t k = 0; k < VS_COUNT(wrong); k++) {
        http_request q = {.path = wrong[k]};
        ck_assert_msg(!http_unlock(&q, SECRET), "%s", wrong[k]);
    }
    http_request q = {.path = "/" SECRET "/curve"};
    ck_assert(http_unlock(&q, SECRET));
    ck_assert_str_eq(q.path, "curve");
}
END_TEST

START_TEST(values_are_decoded)
{
    char to[8];
    const char *query = "a=1&e=v%28o%29&n=&x=%zz&z=%00&long=123456789&p=a+b";
    ck_assert(http_value(query, "a", to, sizeof to));
    ck_assert_str_eq(to, "1");
    ck_assert(http_value(query, "e", to, sizeof to));
    ck_assert_str_eq(to, "v(o)");
    ck_assert(http_value(query, "n", to, sizeof to));
    ck_assert_str_eq(to, "");
    ck_assert(http_value(query, "p", to, sizeof to));
    ck_assert_str_eq(to, "a b");
    ck_assert(!http_value(query, "x", to, sizeof to));
    ck_assert(!http_value(query, "z", to, sizeof to));
    ck_assert(!http_value(query, "long", to, sizeof to));
    ck_assert(!http_value(query, "ong", to, sizeof to));
    ck_assert(!http_value("e=%4", "e", to, sizeof to));
}
END_TEST

START_TEST(connections_go_on_unless_they_are_told_to_end)
{
    http_request q;
    bool keep;
    ck_assert(!parse(FIRST HOST, &q, &keep) && keep);
    ck_assert(!parse(FIRST HOST "Connection: close\r\n", &q, &keep) && !keep);
    ck_assert(!parse("GET / HTTP/1.0\r\n" HOST, &q, &keep) && !keep);
}
END_TEST

static void say_nothing(void *user, const http_request *q, http_reply *r)
{
    (void)user, (void)q, (void)r;
}

/* A connection to the server, which need not have accepted it yet. */
static int connected(const http_server *s)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    a.sin_port = htons((uint16_t)atoi(strrchr(http_address(s), ':') + 1));
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    return fd;
}

/* All connections are in use, and end with bytes that were not read yet, when one more comes. */
START_TEST(connections_that_ended_make_room_at_once)
{
    http_server *s;
    int held[HTTP_MOST];
    char said[200] = "";
    ck_assert_int_eq(http_open(&s, say_nothing, NULL), VS_OK);
    for (int k = 0; k < HTTP_MOST; k++) {
        held[k] = connected(s);
        ck_assert_int_eq(http_turn(s, 1000), VS_OK);
    }
    for (int k = 0; k < HTTP_MOST; k++) {
        ck_assert_int_eq(send(held[k], "GET /", 5, 0), 5);
        close(held[k]);
    }
    const int last = connected(s);
    ck_assert_int_eq(send(last, "GET\r\n\r\n", 7, 0), 7);
    for (int turn = 0; turn < 3; turn++)
        ck_assert_int_eq(http_turn(s, 1000), VS_OK);
    ck_assert_int_gt(recv(last, said, sizeof said - 1, 0), 0);
    ck_assert_ptr_nonnull(strstr(said, " 400 "));
    close(last);
    http_close(&s);
}
END_TEST

static void tell_events(void *user, const http_request *q, http_reply *r)
{
    (void)user, (void)q;
    *r = (http_reply){.status = 200, .type = "text/event-stream", .events = true};
}

/* Who counts them between two turns sees also one that has gone by then: its page was there. */
START_TEST(listeners_that_leave_at_once_are_counted)
{
    http_server *s;
    char text[300];
    ck_assert_int_eq(http_open(&s, tell_events, NULL), VS_OK);
    const int page = connected(s), port = atoi(strrchr(http_address(s), ':') + 1);
    const char *path = strchr(http_address(s) + strlen("http://"), '/');
    const int n =
        snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", path, port);
    ck_assert_int_eq(send(page, text, (size_t)n, 0), n);
    ck_assert_int_eq(shutdown(page, SHUT_WR), 0);
    int most = 0;
    for (int turn = 0; turn < 4; turn++) {
        ck_assert_int_eq(http_turn(s, 100), VS_OK);
        most = http_listeners(s) > most ? http_listeners(s) : most;
    }
    ck_assert_int_eq(most, 1);
    ck_assert_int_eq(http_listeners(s), 0);
    close(page);
    http_close(&s);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("http");
    TCase *t = tcase_create("http");
    tcase_add_test(t, what_a_head_must_have);
    tcase_add_test(t, a_zero_byte_is_refused);
    tcase_add_test(t, only_the_secret_unlocks);
    tcase_add_test(t, values_are_decoded);
    tcase_add_test(t, connections_go_on_unless_they_are_told_to_end);
    tcase_add_test(t, connections_that_ended_make_room_at_once);
    tcase_add_test(t, listeners_that_leave_at_once_are_counted);
    suite_add_tcase(s, t);
    return run_suite(s);
}
