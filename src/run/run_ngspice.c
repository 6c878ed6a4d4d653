/* run_ngspice.c - what a run tells of itself in ngspice's form: for spicelib, cicsim, CACE,
 * chipify, PySpice and others that start a program `ngspice` and read its log (docs/clients.md).
 * Source: logs of ngspice 39. */
#include <string.h>

#include "out_name.h"
#include "run_priv.h"
#include "vec.h"

/* Prints "Error: deck.cir:3:5: sentence" and the source line. Clients look for the word Error, and
 * PySpice looks for it at the start of a line. */
void run_ng_messages(const diag *d, FILE *out)
{
    static const char *const level[] = {"Error", "Warning", "Note"};
    arena mem;
    arena_init(&mem);
    for (size_t i = 0; i < vec_len(d->msg); i++) {
        diag_record r = diag_record_of(d, i, &mem);
        const size_t n = diag_format(&r, NULL, 0);
        char *text = arena_array(&mem, char, n + 1);
        (void)diag_format(&r, text, n + 1);
        const char *rest = strchr(text, '\n');
        fprintf(out, "%s: ", level[r.level]);
        if (r.file)
            fprintf(out, "%s:%d:%d: ", r.file, r.line, r.column);
        fprintf(out, "%s\n%s", r.text, rest ? rest + 1 : "");
        for (size_t k = 0; diag_included(d, i, k, &r); k++)
            fprintf(out, "Note: %s:%d:%d: %s\n", r.file, r.line, r.column, r.text);
    }
    arena_fini(&mem);
}

static const char *temperature(run *r)
{
    return arena_printf(&r->mem, "Doing analysis at TEMP = %.6f and TNOM = %.6f\n\n",
                        sim_temp(r->sim), sim_option(r->sim)->tnom);
}

/* spicelib takes a file for a log if "Circuit:" begins its first or second line: so before any
 * message. */
void run_ng_circuit(run *r)
{
    if (!r->j->streams.quiet)
        fprintf(r->log, "\nCircuit: %s\n\n", sim_deck(r->sim)->title);
}

/* PySpice's reader of `ngspice -s` takes the circuit and the temperature from in front of the
 * results, and the number of points from standard error. */
void run_ng_open(run *r)
{
    out_manner m = sim_opts(r->sim)->manner;
    if (r->j->server)
        m.server =
            arena_printf(&r->mem, "\nCircuit: %s\n\n%s", sim_flat(r->sim)->title, temperature(r));
    out_set_manner(sim_opts(r->sim)->out, &m);
}

void run_ng_begin(run *r)
{
    fputs(temperature(r), r->log);
    fputs("Note: as with ngspice, blocks write to any folder and models of any folder are loaded\n",
          r->log);
}

/* Node voltages and currents of an operating point, as a batch run without a result file prints
 * them: each table begins with its first value. */
void run_ng_value(run *r, const char *name, double value)
{
    char own[OUT_NAME];
    if (r->j->raw || ctl_has_block(r->sim) || *name == '@')
        return;
    const char table = *name;
    if (table != r->ng_table)
        fputs(table == 'v' ? "\tNode                                  Voltage\n"
                             "\t----                                  -------\n\t----\t-------\n"
                           : "\n\tSource\tCurrent\n\t------\t-------\n\n",
              r->log);
    r->ng_table = table;
    fprintf(r->log, "\t%-32s %e\n", out_ng_memory(own, name), value);
}

void run_ng_analysis(run *r, int64_t points)
{
    int64_t place, n;
    r->ng_table = 0;
    if (r->j->server) {
        out_last_count(sim_opts(r->sim)->out, &place, &n);
        fprintf(r->j->streams.say, "@@@ %lld %lld\n", (long long)place, (long long)n);
        return;
    }
    fprintf(r->log, "\n\nNo. of Data Rows : %lld\n", (long long)points);
}

void run_ng_end(const run *r)
{
    const sim_stat *st = sim_stats(r->sim);
    fprintf(r->log,
            "\nTotal analysis time (seconds) = %.3f\n\nTotal elapsed time (seconds) = %.3f\n\n",
            sim_analysing(st), r->total);
}
