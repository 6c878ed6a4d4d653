/* jit_check.h - a kernel beside the interpreter, bit for bit; shared by the tests of src/jit. */
#ifndef JIT_CHECK_H
#define JIT_CHECK_H

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../suite.h"
#include "jit_priv.h"

static char last_note[700];
static int n_note;
static inline void take_note(void *user, const char *text)
{
    (void)user;
    n_note++;
    snprintf(last_note, sizeof last_note, "%s", text);
}

static inline char *new_folder(void)
{
    char name[] = "/tmp/vsim-jit-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(name));
    return vs_strdup(name);
}

static inline void remove_folder(char *dir)
{
    char cmd[200];
    snprintf(cmd, sizeof cmd, "rm -rf '%s'", dir);
    ck_assert_int_eq(system(cmd), 0);
    vs_free(dir);
}

static inline jit *open_pieces(const char *dir, int piece)
{
    const jit_opt opt = {.cache_dir = dir,
                         .no_cache = !dir,
                         .opt_level = 2,
                         .exact = true,
                         .piece = piece,
                         .note = take_note};
    n_note = 0;
    return jit_open(&opt);
}

static inline jit *open_jit(const char *dir) { return open_pieces(dir, 0); }

/* NaN equals NaN; otherwise bits. */
static inline bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || !memcmp(&a, &b, sizeof a);
}

static inline jit_kernel compile(jit *j, const ir_fn *fn, const jit_layout *lay)
{
    jit_kernel kernel = NULL;
    const char *why = NULL;
    size_t bytes = 0;
    arena scratch;
    arena_init(&scratch);
    ck_assert_msg(ir_verify(fn, &scratch, &why), "%s", why ? why : "");
    arena_fini(&scratch);
    vs_status st = jit_compile(j, fn, lay, &kernel, &bytes, &why);
    ck_assert_msg(st == VS_OK, "%s", why ? why : vs_status_text(st));
    ck_assert_uint_gt(bytes, 0);
    return kernel;
}

/* A layout whose probe k is local unknown k, to the reference, and whose outputs are in order. */
typedef struct simple_layout {
    jit_layout lay;
    int32_t hi[32], lo[32], slot[64];
} simple_layout;
static inline void simple_layout_init(simple_layout *s, const ir_fn *fn, int n_u)
{
    *s = (simple_layout){0};
    int32_t n_out = 0;
    for (int k = 0; k < n_u; k++)
        s->hi[k] = k, s->lo[k] = -1;
    for (size_t o = 0; o < vec_len(fn->out); o++)
        s->slot[o] = fn->out[o].kind == IR_OUT_STATE || fn->out[o].kind == IR_OUT_LIMNEW
                         ? fn->out[o].a
                         : n_out++;
    s->lay = (jit_layout){.lanes = 1,
                          .n_u = n_u,
                          .n_out = n_out,
                          .probe_hi = s->hi,
                          .probe_lo = s->lo,
                          .n_probe = n_u,
                          .out_slot = s->slot};
}

#endif
