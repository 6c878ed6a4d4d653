/* fuzz_sweep.c - the target `sweep`: edits of what a stopped sweep keeps of the point under way,
 * whose sum is made to fit, and a sweep that goes on from it. It must refuse, or run; what it
 * computes may be anything.
 * Input:  edits, 16 bytes each: of which file (the upper four bits of byte 0: 0 the checkpoint, 1
 *         the results up to it, 2 the number in their names) and whether it ends at the place (bit
 *         0), how many bytes, 2 of nothing, where, the bytes.
 * Without edits the results and the table must be those of a sweep that was never stopped. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"
#include "fuzz_swept.h"
#include "vec.h"

static const char sweep_deck[] =
    "points with text, measures and a waveform\n"
    ".model dm d is=1e-14 rs=5 cjo=1p tt=1n\n.param r=1k\n"
    "V1 a 0 pulse(0 1.8 1n 1n 1n 8n 20n)\nR1 a b {r}\nD1 b 0 dm\nC1 b 0 1p\n"
    "T1 b 0 c 0 z0=50 td=2n\nR2 c 0 75\n"
    ".op\n.tran 1n 60n\n.meas tran m1 avg v(b)\n.meas tran m2 trig v(a) val=0.9 rise=1 targ v(b) "
    "val=0.2 rise=2\n.print tran v(c)\n.step param r list 1k 2k\n.end\n";
#define OUT "sweep.raw"
#define TABLE "sweep.csv"
#define HEAD 48 /* bytes of a checkpoint's head: sim_checkpoint.c */

enum { CHECKPOINT, RESULTS, PLACE, N_EDITED };

/* What the stopped sweep left, and what one leaves that was never stopped. */
static kept_file left[] = {{OUT ".point-0.checkpoint", NULL, 0},
                           {OUT ".point-0", NULL, 0},
                           {OUT, NULL, 0},
                           {OUT ".journal", NULL, 0},
                           {TABLE, NULL, 0}},
                 whole[] = {{OUT, NULL, 0}, {TABLE, NULL, 0}};

static int questions; /* of the first run, until it is stopped */

static bool is_enough(void *user)
{
    int *left_to_ask = user;
    return enough(NULL) || (left_to_ask && --*left_to_ask < 0);
}

vs_status run_swept(const char *deck, size_t n, const swp_opt *o, const sim_hook *hook,
                    int *n_error)
{
    const struct timespec then[2] = {{1000000000, 0}, {1000000000, 0}};
    const net_opt no = {0};
    const mdl_opt mo = {.interpret = true};
    swp_opt all = *o;
    diag d;
    str_pool names;
    mdl_lib *lib = NULL;
    all.deck = "input";
    all.read = &no;
    all.format = OUT_RAW;
    all.jobs = 1;
    all.version = "fuzz";
    write_file("input", deck, n);
    (void)utimensat(AT_FDCWD, "input", then, 0);
    diag_init(&d);
    str_pool_init(&names);
    sim *s = sim_new(&d, &names);
    if (mdl_lib_new(&lib, &d, &names, &mo))
        finding("no library of models");
    *sim_opts(s) = (sim_opt){.lib = lib, .hook = *hook};
    if (sim_read(s, "input", &no) || sim_read_options(s) || sim_flatten(s) || sim_build(s))
        finding("the deck of the sweep is refused");
    const vs_status st = swp_run(s, &all);
    if (n_error)
        *n_error = d.n_error;
    sim_free(&s);
    mdl_lib_free(&lib);
    str_pool_fini(&names);
    diag_fini(&d);
    return st;
}

/* asked  NULL, or after how many questions it is stopped */
static vs_status run_sweep(bool resume, int *asked)
{
    const swp_opt o = {.log = nowhere(),
                       .out = OUT,
                       .measures = TABLE,
                       .n_shard = 1,
                       .resume = resume,
                       .checkpoint = true,
                       .quiet = true};
    ask_anew();
    return run_swept(sweep_deck, sizeof sweep_deck - 1, &o,
                     &(sim_hook){.stop = is_enough, .user = asked}, NULL);
}

static void make_files(void)
{
    if (run_sweep(false, NULL))
        finding("the sweep fails");
    for (size_t i = 0; i < VS_COUNT(whole); i++)
        read_back(&whole[i]);
    for (questions = 40; questions > 0 && !left[CHECKPOINT].bytes; questions--) {
        int asked = questions;
        (void)run_sweep(false, &asked);
        for (size_t i = 0; i < VS_COUNT(left); i++)
            read_back(&left[i]);
    }
    if (left[CHECKPOINT].n < HEAD || !left[RESULTS].bytes)
        finding("a stopped sweep keeps nothing");
}

/* A copy that has its edits, as an allocation of its own. */
static kept_file edited(int which, const char *text, size_t n, bool *any)
{
    enum { CUT = 1 };
    const size_t head = which == CHECKPOINT ? HEAD : 0;
    kept_file f = {left[which].name, malloc(left[which].n + 1), left[which].n};
    memcpy(f.bytes, left[which].bytes, f.n);
    for (; n >= 16; text += 16, n -= 16) {
        const size_t bytes = (size_t)1 << ((unsigned char)text[1] & 3), room = f.n - head;
        uint32_t at;
        memcpy(&at, text + 4, sizeof at);
        if ((unsigned char)text[0] / 16 % N_EDITED != which)
            continue;
        *any = true;
        if (text[0] & CUT)
            f.n = head + at % (room + 1);
        else if (bytes <= room)
            memcpy(f.bytes + head + at % (room - bytes + 1), text + 8, bytes);
    }
    return f;
}

/* The last edit of the place: names of another rank, of another worker, of a point. */
static const char *place(const char *text, size_t n, bool *any)
{
    static const char *const names[] = {"point-0", "point-255", "point-3.1", "held-0",
                                        "held-1",  "held-7",    "point-0.0", "point-"};
    const char *name = names[0];
    for (; n >= 16; text += 16, n -= 16)
        if ((unsigned char)text[0] / 16 % N_EDITED == PLACE) {
            name = names[(unsigned char)text[8] % VS_COUNT(names)];
            *any = true;
        }
    return name;
}

static void write_checkpoint(const kept_file *f, const char *name)
{
    image im = image_take();
    for (size_t i = HEAD; i < f->n; i++)
        vec_push(im.bytes, (uint8_t)f->bytes[i]);
    if (sim_checkpoint_write(&im, name))
        finding("the checkpoint cannot be written");
    vec_free(im.bytes);
}

static void write_left(const char *text, size_t n, bool *any)
{
    char name[100];
    const kept_file state = edited(CHECKPOINT, text, n, any),
                    results = edited(RESULTS, text, n, any);
    const char *at = place(text, n, any);
    for (size_t i = PLACE; i < VS_COUNT(left); i++)
        if (left[i].bytes)
            write_file(left[i].name, left[i].bytes, left[i].n);
    snprintf(name, sizeof name, OUT ".%s", at);
    write_file(name, results.bytes, results.n);
    snprintf(name, sizeof name, OUT ".%s.checkpoint", at);
    write_checkpoint(&state, name);
    free(state.bytes);
    free(results.bytes);
}

void fuzz_sweep(const char *text, size_t n)
{
    bool any = false;
    if (!whole[0].bytes)
        make_files();
    write_left(text, n, &any);
    const vs_status st = run_sweep(true, NULL);
    for (size_t i = 0; i < VS_COUNT(whole) && !any; i++) {
        kept_file now = {whole[i].name, NULL, 0};
        read_back(&now);
        if (st || now.n != whole[i].n || memcmp(now.bytes, whole[i].bytes, now.n) != 0)
            finding("'%s' of a sweep that goes on is another (%d)", now.name, st);
        free(now.bytes);
    }
}
