/* tran_deck.h - for tests of loads: the circuit of a deck's transient, its models interpreted. */
#ifndef TRAN_DECK_H
#define TRAN_DECK_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim.h"

typedef struct tran_deck {
    diag d;
    str_pool names;
    mdl_lib *lib;
    sim *s;
} tran_deck;

/* Builds the deck that `write` writes; returns its circuit, which lives until tran_deck_fini. */
static ckt *tran_deck_init(tran_deck *t, void (*write)(FILE *deck))
{
    char *text = NULL;
    size_t size = 0;
    FILE *deck = open_memstream(&text, &size);
    const mdl_opt mo = {.interpret = true};
    const net_opt no = {0};
    write(deck);
    fclose(deck);
    diag_init(&t->d);
    str_pool_init(&t->names);
    t->s = sim_new(&t->d, &t->names);
    ck_assert_int_eq(mdl_lib_new(&t->lib, &t->d, &t->names, &mo), VS_OK);
    sim_opts(t->s)->lib = t->lib;
    ck_assert_int_eq(sim_read_text(t->s, "deck.sp", text, size, &no), VS_OK);
    free(text);
    ck_assert_int_eq(sim_read_options(t->s), VS_OK);
    ck_assert_int_eq(sim_flatten(t->s), VS_OK);
    ck_assert_int_eq(sim_build_for(t->s, FLAT_TRAN), VS_OK);
    return sim_ckt(t->s);
}

/* Of a load at the second iteration; bypassed instances may leave out 1 / weight in a row. */
static ckt_env tran_deck_env(const double *weight, double alpha)
{
    return (ckt_env){.mode = CKT_TRAN,
                     .srcfact = 1,
                     .gmin = 1e-12,
                     .iter = 2,
                     .limit = true,
                     .alpha = alpha,
                     .time = 1e-9,
                     .weight = weight};
}

/* Vectors of n zeros each, and their end. */
static void tran_deck_vectors(double **const *v, size_t n_vector, size_t n)
{
    for (size_t i = 0; i < n_vector; i++)
        *v[i] = calloc(n, sizeof **v[i]);
}

static void tran_deck_free_vectors(double **const *v, size_t n_vector)
{
    for (size_t i = 0; i < n_vector; i++)
        free(*v[i]);
}

static void tran_deck_fini(tran_deck *t)
{
    sim_free(&t->s);
    mdl_lib_free(&t->lib);
    str_pool_fini(&t->names);
    diag_fini(&t->d);
}

#endif
