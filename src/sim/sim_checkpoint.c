/* sim_checkpoint.c - a transient between two points in a file, with which another process goes on
 * to the same points, bit by bit; docs/checkpoint.md.
 * File:   header, bytes of an image (image.h). It gets its name when it is whole and on the disk.
 * What is refused: a file with another sum or of another build of the program, a circuit, deck or
 * options that are not those of the run (the identities of the rooms, held against each other). */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "io.h"
#include "sim_hash.h"
#include "sim_priv.h"
#include "vec.h"

typedef struct head {
    char magic[8], build[24];
    uint64_t size; /* of the image behind it */
    hash128 sum;   /* of the image */
} head;

static const char MAGIC[8] = "vsimckp";
static const char OTHER_DECK[] = "the deck, or a file that it includes, is another now";

/* -- files -- */

static head head_of(const void *bytes, size_t n)
{
    head h = {.size = n, .sum = hash128_of(bytes, n)};
    memcpy(h.magic, MAGIC, sizeof h.magic);
    memcpy(h.build, SIM_BUILD, sizeof h.build);
    return h;
}

vs_status sim_checkpoint_write(const image *im, const char *path)
{
    file_new to;
    const size_t n = image_size(im);
    const head h = head_of(im->bytes, n);
    if (!file_begin(&to, path, FILES_CHECKPOINT))
        return VS_EIO;
    const bool whole =
        io_write(to.fd, &h, sizeof h) && io_write(to.fd, im->bytes, n) && !fsync(to.fd);
    const int why = errno;
    if (!file_end(&to, whole) && whole)
        return VS_EIO;
    errno = why;
    return whole ? VS_OK : VS_EIO;
}

static const char *check(const uint8_t *all, size_t n)
{
    head h;
    if (n < sizeof h || memcmp(all, MAGIC, sizeof MAGIC) != 0)
        return "it is no checkpoint";
    memcpy(&h, all, sizeof h);
    if (memcmp(h.build, SIM_BUILD, sizeof h.build) != 0)
        return "it was written by another build of vsim";
    if (h.size != n - sizeof h)
        return "its end is missing";
    const hash128 sum = hash128_of(all + sizeof h, n - sizeof h);
    return memcmp(&sum, &h.sum, sizeof sum) ? "it is damaged: its sum is another" : NULL;
}

/* The whole file as a vec. false: errno. */
static bool read_all(int fd, uint8_t **bytes)
{
    struct stat sb;
    if (fstat(fd, &sb))
        return false;
    if (!S_ISREG(sb.st_mode)) {
        errno = FILES_SPECIAL;
        return false;
    }
    vec_extend(*bytes, sb.st_size);
    return !sb.st_size || io_read(fd, *bytes, (size_t)sb.st_size);
}

/* The file does not count as an input that outputs may not overwrite: the next checkpoint replaces
 * it. */
vs_status sim_checkpoint_read(image *im, uint8_t **bytes, const char *path, const char **why)
{
    *bytes = NULL;
    const int fd = files_claim(path, FILES_CHECKPOINT) ? io_open(path, O_RDONLY) : -1;
    const bool there = fd >= 0 && read_all(fd, bytes);
    *why = there ? check(*bytes, vec_len(*bytes)) : files_why(errno);
    if (fd >= 0)
        (void)io_close(fd);
    if (*why) {
        vec_free(*bytes);
        return there ? VS_EINPUT : VS_EIO;
    }
    *im = image_give(*bytes + sizeof(head), vec_len(*bytes) - sizeof(head));
    return VS_OK;
}

/* -- what the engine has of a transient -- */

static void names_identity(const elab_out *v, image *im)
{
    char *all = NULL;
    for (size_t i = 0; i < vec_len(v); i++)
        for (const char *p = v[i].name;; p++) {
            vec_push(all, *p);
            if (!*p)
                break;
        }
    const hash128 sum = hash128_of(all, vec_len(all));
    vec_free(all);
    IMAGE_SAME(im, sum, "it saves other vectors");
}

static void grid_image(sim *s, image *im)
{
    bool before = s->grid.before != NULL;
    const size_t n = vec_len(s->vec) + 1;
    IMAGE_ONE(im, s->grid.next);
    IMAGE_ONE(im, before);
    if (!before)
        return;
    if (!s->grid.before)
        s->grid.before = vs_calloc(2 * n, sizeof *s->grid.before);
    IMAGE_ARRAY(im, s->grid.before, n);
}

static void stat_image(sim *s, image *im)
{
    sim_stat st = s->st;
    st.op_method = NULL;
    IMAGE_ONE(im, st);
    if (!im->giving || im->wrong)
        return;
    st.op_method = s->st.op_method;
    s->st = st;
}

vs_status sim_tran_image(sim *s, image *im)
{
    const hash128 text = sim_text(s);
    IMAGE_SAME(im, text, OTHER_DECK);
    ana_tran_identity(s->ana, im);
    names_identity(s->vec, im);
    names_identity(s->mem_vec, im);
    if (im->wrong)
        return VS_EINPUT;
    grid_image(s, im);
    IMAGE_ONE(im, s->n_touchstone);
    stat_image(s, im);
    return ana_tran_image(s->ana, im);
}

/* -- what commands have changed -- */

static const double LEAST_CELSIUS = -273.15, MOST_CELSIUS = 1e300;

static void override_image(sim *s, flat_override *o, image *im)
{
    o->name = image_word(im, s->names, o->name);
    IMAGE_ONE(im, o->value);
}

static void change_image(sim *s, sim_change *c, image *im)
{
    c->name = image_word(im, s->names, c->name);
    c->param = image_word(im, s->names, c->param);
    IMAGE_ONE(im, c->model);
    IMAGE_ONE(im, c->span);
    const size_t n = image_count(im, (size_t)c->n, sizeof *c->value);
    double *value = arena_array(&s->mem, double, n);
    if (!im->giving && n)
        memcpy(value, c->value, n * sizeof *value);
    IMAGE_ARRAY(im, value, n);
    if (!im->giving)
        return;
    c->value = value;
    c->n = (int32_t)n;
    c->node = -1;
    if (!n)
        image_refuse(im);
    if (!diag_is_place(s->d, c->span))
        c->span = DIAG_NOWHERE;
}

static void names_image(sim *s, const char ***list, image *im)
{
    const size_t n = image_count(im, vec_len(*list), 1);
    if (im->giving) {
        vec_clear(*list);
        vec_extend(*list, n);
    }
    for (size_t i = 0; i < n; i++)
        (*list)[i] = image_word(im, s->names, im->giving ? NULL : (*list)[i]);
}

void sim_changes_image(sim *s, image *im)
{
    const hash128 text = sim_text(s);
    IMAGE_SAME(im, text, OTHER_DECK);
    if (!im->giving && s->hb.hb.n_tone)
        im->wrong = "there is a periodic solution, which is not kept";
    if (im->wrong)
        return;
    const size_t n_over = image_count(im, vec_len(s->over), 1);
    if (im->giving) {
        vec_clear(s->over);
        vec_extend(s->over, n_over);
        memset(s->over, 0, n_over * sizeof *s->over);
    }
    for (size_t i = 0; i < n_over; i++)
        override_image(s, &s->over[i], im);
    const size_t n_change = image_count(im, vec_len(s->change), 1);
    if (im->giving) {
        vec_clear(s->change);
        sim_forget_changes(s);
        vec_extend(s->change, n_change);
        memset(s->change, 0, n_change * sizeof *s->change);
    }
    for (size_t i = 0; i < n_change; i++)
        change_image(s, &s->change[i], im);
    names_image(s, &s->opt.save, im);
    names_image(s, &s->deck.metered, im);
    if (vec_len(s->deck.metered) % 2) /* pairs */
        image_refuse(im);
    IMAGE_WITHIN(im, s->temp, LEAST_CELSIUS, MOST_CELSIUS);
    option_image(&s->option, im);
    IMAGE_ONE(im, s->deck.vary);
    IMAGE_ONE(im, s->deck.seed);
    IMAGE_ONE(im, s->deck.sample);
    if (!im->giving)
        return;
    elab_simparam(s->simparam, &s->option);
    sim_deep(s, "checkpoint");
}

/* -- a transient that rests -- */

bool sim_is_due(void *user)
{
    sim *s = user;
    const sim_hook *h = &s->opt.hook;
    s->due = h->due(h->user, false);
    return s->due;
}

/* Keeps the last point for values inside devices, which may be asked for while the run is paused or
 * has ended. */
static void keep_point(sim *s)
{
    const double *x = ana_tran_point(s->ana, &s->last_time);
    vec_clear(s->last);
    vec_extend(s->last, (size_t)ckt_n(s->ckt) + 1);
    memcpy(s->last, x, vec_len(s->last) * sizeof *x);
}

static vs_status go(sim *s, double until)
{
    const sim_hook *h = &s->opt.hook;
    for (;;) {
        s->due = false;
        sim_sink_points(s);
        const vs_status st = ana_tran_go(s->ana, until);
        if (st == VS_STOP && h->due && sim_stopped(s))
            s->due = h->due(h->user, true);
        if (s->due)
            h->keep(h->user);
        if (st != VS_PAUSED || !s->due)
            return st;
    }
}

vs_status sim_tran_go(sim *s, double until)
{
    const vs_status st = go(s, until);
    keep_point(s);
    return st;
}

vs_status sim_tran_take_up(sim *s, const ana_tran_opt *o)
{
    image *im = s->opt.take_up;
    s->opt.take_up = NULL;
    vs_status st = ana_tran_ready(s->ana, o, sim_sink(s, &s->sink));
    if (st)
        return st;
    st = sim_tran_image(s, im);
    if (im->wrong)
        diag_error(s->d, DIAG_NOWHERE, "the checkpoint does not fit: %s", im->wrong);
    return st;
}
