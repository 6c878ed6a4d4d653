/* run_report.c - the reports of a run about itself: the circuit, figures and times, stages. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>

#include "mdl_compare.h"
#include "rep.h"
#include "run_priv.h"
#include "vec.h"
#include "stream.h"

void run_print_summary(run *r)
{
    const char **kind = NULL;
    int *number = NULL;
    const char *of_letter[UCHAR_MAX + 1] = {0};
    for (size_t i = 0; i < vec_len(sim_flat(r->sim)->inst); i++) {
        const flat_inst *f = &sim_flat(r->sim)->inst[i];
        const char letter = f->letter, **word = &of_letter[(unsigned char)letter];
        if (!*word)
            *word = str_intern(&r->names, &letter, 1);
        const char *k = f->rare->model ? f->rare->model->name : *word;
        size_t at = 0;
        while (at < vec_len(kind) && kind[at] != k)
            at++;
        if (at == vec_len(kind)) {
            if (at == 12)
                continue;
            vec_push(kind, k);
            vec_push(number, 0);
        }
        number[at]++;
    }
    fprintf(r->log, "%s\n  %zu devices:", sim_flat(r->sim)->title, vec_len(sim_flat(r->sim)->inst));
    for (size_t i = 0; i < vec_len(kind); i++)
        fprintf(r->log, "%s %d %s", i ? "," : "", number[i], kind[i]);
    const jit_stat *js = mdl_jit_stats(r->lib);
    fprintf(r->log,
            "\n  %d unknowns, %d entries in the Jacobian; %d kernels compiled, %d from the cache\n",
            sim_stats(r->sim)->unknowns, csc_nnz(ckt_pattern(sim_ckt(r->sim))), js->n_compiled,
            js->n_from_cache);
    vec_free(kind);
    vec_free(number);
}

/* Largest resident size so far, bytes. getrusage would count the memory that the parent process had
 * when it started this one (Linux keeps the maximum over exec), so the kernel's own figure comes
 * first. */
static size_t peak_memory(void)
{
    size_t kb = 0;
    char line[128];
    FILE *fp = stream_open("/proc/self/status");
    while (fp && !kb && fgets(line, sizeof line, fp))
        if (sscanf(line, "VmHWM: %zu", &kb) != 1)
            kb = 0;
    if (fp)
        stream_close(fp);
    if (kb)
        return kb * 1024;
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (size_t)u.ru_maxrss * 1024;
}

/* The run's seconds by phase: they add up to `total`, and parts of analyses to no more than those.
 * Of several processes the sum is what all of them took, which may be more than the clock. */
typedef struct phases {
    sim_stat st;
    double rest, total; /* rest: time outside of all phases */
} phases;

static phases phases_of(const run *r)
{
    phases p = {.st = *sim_stats(r->sim), .total = r->total};
    p.st.s.elaborate += r->s_models;
    double *part[] = {&p.st.s.evaluate, &p.st.s.stamp, &p.st.s.factor, &p.st.s.solve,
                      &p.st.s.output};
    double sum = 0;
    for (size_t i = 0; i < VS_COUNT(part); i++)
        sum += *part[i];
    const double all = sim_analysing(&p.st); /* parts are samples of the clock, scaled */
    for (size_t i = 0; i < VS_COUNT(part) && sum > all; i++)
        *part[i] *= all / sum;
    p.rest = fmax(p.total - (p.st.s.parse + p.st.s.elaborate + p.st.s.compile + all), 0);
    return p;
}

void run_print_end(const run *r)
{
    char mem[16];
    const phases p = phases_of(r);
    fprintf(r->log,
            "time by phase, s: parse %.3f, elaborate %.3f, compile %.3f, op %.3f, tran %.3f, "
            "other analyses %.3f, rest %.3f, total %.3f; within analyses: evaluate %.3f, "
            "stamp %.3f, factor %.3f, solve %.3f, output %.3f; peak memory %s\n",
            p.st.s.parse, p.st.s.elaborate, p.st.s.compile, p.st.s.op, p.st.s.tran, p.st.s.other,
            p.rest, p.total, p.st.s.evaluate, p.st.s.stamp, p.st.s.factor, p.st.s.solve,
            p.st.s.output, rep_si(mem, (double)peak_memory(), "B"));
}

/* Writes how often each stage was asked for, found out of date and made again, in this process and
 * in workers and ranks. */
static void write_generations(const sim *s, FILE *fp)
{
    fputs("  \"generations\": {\n", fp);
    for (gen_kind k = 0; k < GEN_N_KIND; k++) {
        const gen_count n = sim_gen_count(s, k);
        fprintf(fp, "    \"%s\": {\"lookups\": %lld, \"invalidated\": %lld, \"rebuilt\": %lld}%s\n",
                gen_kind_name(k), (long long)n.lookups, (long long)n.invalid, (long long)n.rebuilt,
                k + 1 < GEN_N_KIND ? "," : "");
    }
    fputs("  },\n", fp);
}

vs_status run_write_stats(run *r)
{
    if (!r->j->stats || files_refused(FILES_FIGURES)) /* refused: a message said so */
        return VS_OK;
    FILE *fp = stream_create(r->j->stats, FILES_FIGURES);
    if (!fp) {
        diag_error(&r->d, DIAG_NOWHERE, "'%s' cannot be written: %s", r->j->stats,
                   files_why(errno));
        run_say(r);
        return VS_EIO;
    }
    const jit_stat *js = mdl_jit_stats(r->lib);
    fprintf(
        fp,
        "{\n  \"unknowns\": %d,\n  \"points_accepted\": %lld,\n  \"points_rejected\": %lld,\n"
        "  \"newton_iterations\": %lld,\n  \"device_evaluations\": %lld,\n  \"device_bypasses\": "
        "%lld,\n  \"latent_unknowns\": %lld,\n"
        "  \"peak_memory_bytes\": %zu,\n"
        "  \"kernels_compiled\": %d,\n  \"kernels_from_cache\": %d,\n  \"op_method\": \"%s\",\n"
        "  \"workers\": %d,\n",
        sim_stats(r->sim)->unknowns, (long long)sim_stats(r->sim)->accepted,
        (long long)sim_stats(r->sim)->rejected, (long long)sim_stats(r->sim)->iterations,
        (long long)sim_stats(r->sim)->evaluations, (long long)sim_stats(r->sim)->bypasses,
        (long long)sim_stats(r->sim)->latent, peak_memory(),
        js->n_compiled + sim_stats(r->sim)->n_compiled,
        js->n_from_cache + sim_stats(r->sim)->n_from_cache,
        sim_stats(r->sim)->op_method ? sim_stats(r->sim)->op_method : "",
        sim_stats(r->sim)->workers);
    write_generations(r->sim, fp);
    const phases p = phases_of(r);
    fprintf(fp,
            "  \"seconds\": {\n"
            "    \"parse\": %.6f, \"elaborate\": %.6f, \"compile\": %.6f, \"op\": %.6f, \"tran\": "
            "%.6f,\n    \"other\": %.6f, \"rest\": %.6f,\n"
            "    \"evaluate\": %.6f, \"stamp\": %.6f, \"factor\": %.6f, \"solve\": %.6f, "
            "\"output\": %.6f,\n"
            "    \"total\": %.6f\n  }\n}\n",
            p.st.s.parse, p.st.s.elaborate, p.st.s.compile, p.st.s.op, p.st.s.tran, p.st.s.other,
            p.rest, p.st.s.evaluate, p.st.s.stamp, p.st.s.factor, p.st.s.solve, p.st.s.output,
            p.total);
    const vs_status st = rep_close(&r->d, fp, r->j->stats);
    run_say(r);
    return st;
}

static void dump_pattern(const run *r)
{
    const csc *a = ckt_pattern(sim_ckt(r->sim));
    const ckt_unknown *u = ckt_unknowns(sim_ckt(r->sim));
    fprintf(r->log, "%%%%MatrixMarket matrix coordinate pattern general\n");
    for (int32_t i = 1; i <= a->n; i++)
        fprintf(r->log, "%% %d %s\n", i, u[i].name);
    fprintf(r->log, "%d %d %d\n", a->n, a->n, csc_nnz(a));
    for (int32_t c = 0; c < a->n; c++)
        for (int32_t k = a->colptr[c]; k < a->colptr[c + 1]; k++)
            fprintf(r->log, "%d %d\n", a->row[k] + 1, c + 1);
}

void run_tell_kernels(run *r)
{
    const bool loud = !r->j->streams.quiet && !r->j->json;
    const mdl_compared c = mdl_compare_report(r->lib, loud ? r->log : NULL);
    if (c.n_beyond) {
        diag_error(&r->d, DIAG_NOWHERE,
                   "kernels differ from the interpreter by more than rounding explains: %lld of "
                   "%lld numbers",
                   (long long)c.n_beyond, (long long)c.n_value);
        r->quit = VSIM_KERNELS_DIFFER;
    } else if (!c.n_call) {
        diag_warning(&r->d, DIAG_NOWHERE,
                     "no kernel ran: there was nothing to compare with the interpreter");
    }
    run_say(r);
}

static bool is_right(double ratio) { return ratio <= 1; }

void run_tell_verified(run *r)
{
    const ana_verified *v = &r->verified;
    if (!v->n_sum) {
        diag_warning(&r->d, DIAG_NOWHERE,
                     "--verify: there was no transient with nodes that can be looked at again");
    } else if (!r->j->streams.quiet && !r->j->json) {
        fprintf(r->log,
                "verified: %lld of Kirchhoff's sums at %lld points from %lld evaluations by the "
                "interpreter, within %.2g of what is allowed; charge within %.2g\n",
                (long long)v->n_sum, (long long)v->n_point, (long long)v->n_eval, v->worst_sum,
                v->worst_charge);
    }
    if (!is_right(v->worst_sum))
        diag_error(
            &r->d, DIAG_NOWHERE,
            "not verified: the currents of node '%s' at %.9g s, device by device, have a sum "
            "that is %.3g times what is allowed",
            v->node, v->at, v->worst_sum);
    if (!is_right(v->worst_charge))
        diag_error(&r->d, DIAG_NOWHERE,
                   "not verified: the charge of node '%s' is not what flowed into it: off by %.3g "
                   "times what is allowed",
                   v->charge_node, v->worst_charge);
    if (!is_right(v->worst_sum) || !is_right(v->worst_charge))
        r->quit = VSIM_NOT_VERIFIED;
    run_say(r);
}

void run_dump(const run *r)
{
    const char *what = r->j->dump;
    if (!what)
        return;
    if (!strcmp(what, "circuit"))
        flat_print(sim_flat(r->sim), r->log);
    else if (!strcmp(what, "pattern"))
        dump_pattern(r);
    else if (!strcmp(what, "ir") || !strcmp(what, "groups"))
        ckt_dump_groups(sim_ckt(r->sim), r->log, !strcmp(what, "ir"));
}
