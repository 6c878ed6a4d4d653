/* dut.h - one device between ideal voltage sources: the bench on which tests measure models.
 * Use:  dut_open; dut_model (or dut_file + dut_model); dut_set; dut_solve; dut_y, dut_noise;
 * dut_close. Internal unknowns are solved by a dense Newton iteration of the bench itself, so that
 * a test of a model needs neither netlist nor analyses. Currents are INTO the terminals. */
#ifndef DUT_H
#define DUT_H

#include "mdl.h"

enum { DUT_MAX = 64 };

typedef struct dut {
    diag d;
    str_pool names;
    mdl_lib *lib;
    mdl_model *m;
    int32_t row, n_u, n_port, n_x; /* n_x: unknowns in use, the ports first, from 1 */
    int32_t map[DUT_MAX];          /* module unknown -> x */
    double x[DUT_MAX + 1];         /* last solution, start of the next */
    double dyn[IR_N_DYN], simparam[IR_N_SIMPARAM];
    double *cache;
} dut;

/* interpret, no_specialize: which path through the compiler. Fails the test when it cannot start.
 */
void dut_open(dut *t, bool interpret, bool no_specialize);
void dut_file(dut *t,
              const char *path); /* load a Verilog-A file; ck_abort with messages on error */
void dut_model(dut *t, const char *name);
/* Parameters "a=1 b=2u ..." in SPICE numbers; unknown names fail the test unless in `ignore`. */
void dut_set(dut *t, const char *card, const char *instance, double temp_c, double gmin);
/* Appends the parameters of such a text to given[n]; the new n. Unknown names fail the test. */
size_t dut_given(const va_module *m, const char *text, mdl_given *given, size_t n);
/* Solves at port voltages v[n_port]; false: no convergence. i[n_port]. */
bool dut_solve(dut *t, const double *v, double *i);
/* Y = G + j omega C between ports at the last solution, internal unknowns eliminated: [n_port^2],
 * row-major, capacitance = Im(Y)/omega. */
void dut_y(dut *t, double omega, double *g, double *c);
/* Noise current into port p at frequency f with all ports held, A^2/Hz; `of` (may be NULL) gets the
 * part of each noise source of the module. */
double dut_noise(dut *t, int32_t port, double f, double *of);
void dut_close(dut *t);

/* -- tables -- */
typedef struct table {
    int n_col, n_row;
    char **name;  /* [n_col] */
    char ***cell; /* [n_row][n_col] */
    char *text;
} table;
/* tests/data/<file>; lines starting with # are skipped. */
void table_read(table *t, const char *file);
int table_col(const table *t, const char *name);             /* -1: none */
double table_num(const table *t, int row, const char *name); /* SPICE number */
const char *table_str(const table *t, int row, const char *name);
void table_free(table *t);
/* Parameters of a .model card of a SPICE include in tests/data or netlists: "a=1 b=2 ..."; *type
 * gets the model type. Caller frees. */
char *card_of(const char *path, const char *model, char type[32]);
const char *source_path(char buf[512], const char *relative);
/* The Verilog-A folder of the IHP SG13G2 kit (PyPI ihp-gdsfactory, tests/peers.txt) in $VSIM_PEERS;
 * false: not there. */
bool dut_kit(char folder[512]);

#endif
