/* fuzz_checkpoint.c - the target `checkpoint`: edits of the image of a transient, whose sum is made
 * to fit, and a run that goes on from it. It must refuse, or run; what it computes may be anything.
 * Input:  edits, 16 bytes each: which deck (the first edit's upper four bits) and whether the image
 *         ends at the place (bit 0), how many bytes, 2 of nothing, where, the bytes.
 * Without edits the results must be those of the run that was never stopped. The images are those
 * of decks (run_checkpoint.c) and of blocks; a point of a sweep has the same parts. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "fuzz.h"
#include "vec.h"

static const char parts_deck[] =
    "limits, state, measures\n"
    ".model dm d is=1e-14 rs=5 cjo=1p tt=1n\n.model nm nmos level=1 vto=0.7 kp=1e-4\n"
    ".model sm sw vt=0.5 vh=0.1 ron=1 roff=1meg\n.model qm npn is=1e-16 bf=80 cje=1p tf=1n\n"
    "V1 a 0 pulse(0 1.8 1n 1n 1n 8n 20n)\nR1 a b 1k\nD1 b c dm\nC1 c 0 1p\nL1 c d 10n\n"
    "R2 d 0 50\nM1 e b 0 0 nm w=10u l=1u\nR3 a e 10k\nS1 e f a 0 sm\nR4 f 0 1k\nQ1 a b g qm\n"
    "R5 g 0 1k\nB1 h 0 v=v(a)*v(b)+ddt(v(c))\nR6 h 0 1k\nV2 i 0 trnoise(1m 1n 0 0)\nR7 i 0 1k\n"
    "V3 j 0 pwl(0 0 10n 1 20n 0 40n 1)\nR8 j 0 1k\n"
    ".tran 1n 60n\n.meas tran m1 avg v(c)\n.meas tran m2 trig v(a) val=0.9 rise=1 targ v(c) "
    "val=0.2 rise=2\n.meas tran m3 rms v(b) from=5n to=50n\n.four 50meg v(c)\n.print tran v(c)\n"
    ".end\n";
static const char lines_deck[] =
    "lines and delays\nV1 a 0 pulse(0 1 0 1n 1n 10n 30n)\nR0 a 1 50\nT1 1 0 2 0 z0=50 td=2n\n"
    "R2 2 0 75\nO1 2 0 3 0 lm\nR3 3 0 50\n.model lm ltra r=0.1 l=250n c=100p len=1\n"
    "R4 3 4 1k\nC4 4 0 1p\nS1 4 5 2 0 sm\n.model sm sw vt=0.3 vh=0.1 ron=1 roff=1meg\nR5 5 0 "
    "1k\n.options interp\n.tran 1n 80n\n.end\n";
static const char long_deck[] =
    "many nodes, held devices\n.model dm d is=1e-14 rs=5 cjo=1p\nV1 n0 0 sin(0 2 10meg)\n"
    ".for i = 1 to 60\nR[{i}] n{i-1} n{i} {10+i}\nC[{i}] n{i} 0 1p\nD[{i}] n{i} 0 dm\n.endfor\n"
    ".save v(n1) v(n60)\n.trannoise fmax=100meg\n.tran 2n 100n\n.end\n";
static const char block_deck[] =
    "a block\n.param k=1\nV1 a 0 pulse(0 1 1n 1n 1n 8n 20n)\nR1 a b {k*1k}\nC1 b 0 1p\n"
    ".tran 1n 60n\n.control\nset color0=white\ndefine f(x) x*x\nlet c=3\nop\n"
    "foreach r 1k 2k\nalter r1=$r\nrepeat 2\nif c > 2\ntran 1n 60n\nend\nend\nend\nmeas tran m1 "
    "avg v(b)\nlet d = f(v(b))\n.endc\n.end\n";

static struct kept_deck {
    const char *name, *text;
    size_t length;
    bool block;
    int after;      /* so many questions the image is taken; one is asked each 64 points */
    uint8_t *image; /* malloc [n_image] */
    size_t n_image;
    uint64_t sum; /* of the last points of the run that was never stopped */
} kept_deck[] = {{"parts", parts_deck, sizeof parts_deck - 1, false, 2, NULL, 0, 0},
                 {"lines", lines_deck, sizeof lines_deck - 1, false, 1, NULL, 0, 0},
                 {"long", long_deck, sizeof long_deck - 1, false, 1, NULL, 0, 0},
                 {"block", block_deck, sizeof block_deck - 1, true, 0, NULL, 0, 0}};
enum { N_KEPT_DECK = sizeof kept_deck / sizeof *kept_deck };

typedef struct keeping {
    struct kept_deck *deck;
    sim *s;
    ctl *c;
    int n_asked;
    bool wanted; /* no image was taken yet */
} keeping;

static bool is_due(void *user, bool ending)
{
    keeping *k = user;
    return !ending && k->wanted && k->n_asked++ >= k->deck->after;
}

static void keep(void *user)
{
    keeping *k = user;
    image im = image_take();
    k->wanted = false;
    ctl_image(k->c, &im);
    if (im.wrong || sim_tran_image(k->s, &im))
        finding("no image of '%s': %s", k->deck->name, im.wrong);
    k->deck->n_image = image_size(&im);
    k->deck->image = malloc(k->deck->n_image);
    memcpy(k->deck->image, im.bytes, k->deck->n_image);
    vec_free(im.bytes);
}

static uint64_t sum_of_plots(const post_set *set)
{
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t k = 0; k < vec_len(set->plot); k++)
        for (size_t i = 0; i < vec_len(set->plot[k]->vec); i++) {
            const post_vec *v = set->plot[k]->vec[i];
            const size_t n = (size_t)v->n * (v->complex ? 2 : 1) * sizeof *v->v;
            for (size_t j = 0; j < n; j++)
                sum = (sum ^ ((const unsigned char *)v->v)[j]) * 0x100000001b3u;
        }
    return sum;
}

/* Runs the deck: from its start, with an image taken on the way, or from the image. Returns the sum
 * of its results; *st: how it ended. */
static uint64_t run_deck(struct kept_deck *deck, image *from, vs_status *st)
{
    const net_opt no = {0};
    const mdl_opt mo = {.interpret = true};
    diag d;
    str_pool names;
    mdl_lib *lib = NULL;
    diag_init(&d);
    str_pool_init(&names);
    sim *s = sim_new(&d, &names);
    keeping k = {.deck = deck, .s = s, .wanted = !from};
    if (mdl_lib_new(&lib, &d, &names, &mo))
        finding("no library of models");
    *sim_opts(s) =
        (sim_opt){.lib = lib,
                  .keep = SIM_KEEP_ALL,
                  .hook = {.stop = enough, .due = is_due, .keep = keep, .user = &k, .kept = true}};
    ask_anew();
    write_file("input", deck->text, deck->length);
    if (sim_read(s, "input", &no) || sim_read_options(s) || sim_flatten(s))
        finding("the deck '%s' is refused", deck->name);
    const ctl_opt o = {.log = nowhere(), .quiet = true, .version = "fuzz"};
    bool quit;
    int code;
    k.c = ctl_new(s, &o);
    ctl_want(s);
    *st = VS_OK;
    if (from) {
        ctl_image(k.c, from);
        *st = from->wrong ? VS_EINPUT : VS_OK;
        sim_opts(s)->take_up = from->wrong ? NULL : from;
    }
    if (!*st)
        *st = deck->block ? ctl_run(k.c, &quit, &code) : ctl_deck(k.c, false);
    const uint64_t sum = sum_of_plots(sim_plots(s));
    ctl_free(&k.c);
    sim_free(&s);
    mdl_lib_free(&lib);
    str_pool_fini(&names);
    diag_fini(&d);
    return sum;
}

static void make_images(void)
{
    for (int i = 0; i < N_KEPT_DECK; i++) {
        vs_status st;
        kept_deck[i].sum = run_deck(&kept_deck[i], NULL, &st);
        if (st || !kept_deck[i].image)
            finding("'%s' ends with %d, %zu bytes", kept_deck[i].name, st, kept_deck[i].n_image);
    }
}

void fuzz_checkpoint(const char *text, size_t n)
{
    enum { CUT = 1 };
    if (!kept_deck[0].image)
        make_images();
    struct kept_deck *deck = &kept_deck[n ? (unsigned char)text[0] / 16 % N_KEPT_DECK : 0];
    size_t end = deck->n_image;
    uint8_t *copy = malloc(end + 1); /* its own allocation: reading beyond the end is seen */
    memcpy(copy, deck->image, end);
    bool edited = false;
    for (; n >= 16; text += 16, n -= 16) {
        const size_t bytes = (size_t)1 << ((unsigned char)text[1] & 3);
        uint32_t at;
        memcpy(&at, text + 4, sizeof at);
        edited = true;
        if (text[0] & CUT)
            end = at % (end + 1);
        else if (bytes <= deck->n_image)
            memcpy(copy + at % (deck->n_image - bytes + 1), text + 8, bytes);
    }
    uint8_t *exact = malloc(end ? end : 1);
    memcpy(exact, copy, end);
    free(copy);
    vs_status st;
    image im = image_give(exact, end);
    const uint64_t sum = run_deck(deck, &im, &st);
    if (!edited && (st || sum != deck->sum))
        finding("'%s' goes on to other results (%d)", deck->name, st);
    free(exact);
}
