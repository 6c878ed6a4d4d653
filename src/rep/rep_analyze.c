/* rep_analyze.c - `vsim analyze DECK | MATRIX.mtx`: what the Jacobian's pattern promises the
 * solver.
 *
 * Of a deck all analyses are run and every load is looked at; the values are those of the last
 * accepted point, or of the one that --at names. docs/analyze.md explains the figures. */
#include <math.h>
#include <string.h>

#include "ana_trace.h"
#include "ckt_stamps.h"
#include "rep.h"
#include "spa.h"
#include "vec.h"

#define WATCH_LIMIT 4e9 /* values compared; loads beyond are not looked at */
#define KLU_FLOPS 2e9   /* some seconds */
#define KLU_NNZ 1e8     /* 1.6 GB */
#define SHOWN_LEVELS 14

/* -- what a run of the deck tells -- */

enum { WAS_ZERO = 1, WAS_NOT = 2, HAS_CHANGED = 4, NOW_NOT = 8 };

struct rep_survey {
    rep_analyze_opt o;
    sim *s;
    ana_watch watch;
    double at;              /* s; NAN: the last point; -1: the operating point */
    bool done;              /* the values wanted are there */
    arena mem;              /* of a */
    csc a;                  /* pattern and values as of the last accepted point */
    double *last;           /* [nnz] values of the last load */
    uint8_t *what;          /* [nnz] */
    const int32_t *pattern; /* the circuit's, to see that it was built anew */
    int n_pattern;          /* different patterns: of rebuilt circuits */
    int64_t n_load, n_seen; /* loads; those compared */
    int64_t n_switch;       /* loads in which another set of entries was 0 than before */
    double compared;
    bool tran;      /* the values are of a transient */
    double time, h; /* of the values, and their step */
    bool accepted;  /* the values are of an accepted point, else of the last load */
    ckt_mode mode;  /* of the last load */
};

static bool same_pattern(const csc *a, const csc *b)
{
    return a->n == b->n && a->colptr && b->colptr &&
           !memcmp(a->colptr, b->colptr, sizeof *a->colptr * (size_t)(a->n + 1)) &&
           !memcmp(a->row, b->row, sizeof *a->row * (size_t)csc_nnz(a));
}

/* Copies the pattern of a circuit not seen before, which may be freed before the report. */
static void take_pattern(rep_survey *v, const csc *jac)
{
    const size_t nnz = (size_t)csc_nnz(jac);
    v->pattern = jac->colptr;
    if (same_pattern(&v->a, jac))
        return;
    v->n_pattern++;
    arena_fini(&v->mem);
    arena_init(&v->mem);
    v->a = (csc){.n = jac->n,
                 .colptr = arena_array(&v->mem, int32_t, jac->n + 1),
                 .row = arena_array(&v->mem, int32_t, nnz),
                 .val = arena_array(&v->mem, double, nnz + 1)};
    memcpy(v->a.colptr, jac->colptr, sizeof *jac->colptr * (size_t)(jac->n + 1));
    memcpy(v->a.row, jac->row, sizeof *jac->row * nnz);
    v->last = arena_array(&v->mem, double, nnz);
    v->what = arena_array(&v->mem, uint8_t, nnz);
    v->n_seen = 0;
    v->accepted = false;
}

static void see_load(void *user, const ckt_env *env, const double *x)
{
    rep_survey *v = user;
    const csc *jac = ckt_pattern(sim_ckt(v->s));
    const int32_t nnz = csc_nnz(jac);
    (void)x;
    if (v->done)
        return;
    if (jac->colptr != v->pattern)
        take_pattern(v, jac);
    v->n_load++;
    v->mode = env->mode;
    if (v->compared > WATCH_LIMIT)
        return;
    v->compared += nnz;
    bool other_zeros = false;
    for (int32_t k = 0; k < nnz; k++) {
        const bool now = jac->val[k] != 0;
        uint8_t w = v->what[k] & (uint8_t)~NOW_NOT;
        w |= now ? WAS_NOT | NOW_NOT : WAS_ZERO;
        if (v->n_seen && jac->val[k] != v->last[k])
            w |= HAS_CHANGED;
        other_zeros |= v->n_seen && ((w ^ v->what[k]) & NOW_NOT);
        v->what[k] = w;
        v->last[k] = jac->val[k];
    }
    v->n_switch += other_zeros;
    v->n_seen++;
}

static void see_step(void *user, const ana_step *p)
{
    rep_survey *v = user;
    const csc *jac = ckt_pattern(sim_ckt(v->s));
    if (v->done || p->verdict >= ANA_STEP_LTE || jac->colptr != v->pattern)
        return;
    memcpy(v->a.val, jac->val, sizeof *jac->val * (size_t)csc_nnz(jac));
    v->accepted = true;
    v->tran = !p->is_static;
    v->time = p->t;
    v->h = p->h;
    v->done = v->at < 0 || (v->tran && p->t >= v->at);
}

static bool read_at(rep_survey *v, const char *text)
{
    const char *end;
    v->at = NAN;
    if (!text)
        return true;
    if (!strcmp(text, "op")) {
        v->at = -1;
        return true;
    }
    if (str_spice_number(text, &end, &v->at) && !*end && v->at >= 0)
        return true;
    diag_error(sim_diag(v->s), DIAG_NOWHERE, "--at takes 'op' or a time in seconds, not '%s'",
               text);
    return false;
}

rep_survey *rep_survey_begin(const rep_analyze_opt *o, sim *s)
{
    rep_survey *v = vs_calloc(1, sizeof *v);
    v->o = *o;
    v->s = s;
    v->watch = (ana_watch){.loaded = see_load, .step = see_step, .user = v};
    arena_init(&v->mem);
    if (!read_at(v, o->at)) {
        rep_survey_free(v);
        return NULL;
    }
    sim_opts(s)->watch = &v->watch;
    return v;
}

void rep_survey_free(rep_survey *v)
{
    sim_opts(v->s)->watch = NULL;
    arena_fini(&v->mem);
    vs_free(v);
}

bool rep_survey_done(const rep_survey *v) { return v->done; }

/* -- text -- */

/* Prints a number, small whole ones without a prefix. */
static const char *si(char buf[16], double x)
{
    if (fabs(x) >= 1e5 || x != floor(x))
        return rep_si(buf, x, "");
    snprintf(buf, 16, "%.0f", x);
    return buf;
}

static double share(double part, double all) { return all > 0 ? 100 * part / all : 0; }

static void print_facts(const spa_report *r, FILE *out)
{
    char b[4][16];
    fprintf(out, "  %d unknowns, %d entries (%.3g a column, at most %d in a column, %d in a row)\n",
            r->n, r->nnz, (double)r->nnz / r->n, r->max_col, r->max_row);
    fprintf(
        out,
        "  %d of %d diagonal entries; of the others %.1f %% have a partner across the diagonal\n",
        r->n_diag, r->n, share((double)r->n_mirror, (double)r->n_off));
    if (r->a->val)
        fprintf(out, "  of these pairs %.1f %% are equal, %.1f %% opposite; %d entries are 0\n",
                share((double)r->n_equal, (double)r->n_mirror),
                share((double)r->n_opposite, (double)r->n_mirror), r->n_zero);
    fprintf(out, "  structural rank %d%s\n", r->rank,
            r->rank < r->n ? ": singular whatever the values" : "");
    fprintf(out,
            "  block triangular form: %d block%s, the largest of %d rows, %d of one row; %d "
            "entries outside\n",
            r->n_block, r->n_block == 1 ? "" : "s", r->largest, r->n_single, r->n_outside);
    fprintf(out, "  bandwidth %s, profile %s; after reverse Cuthill-McKee %s, %s\n",
            si(b[0], r->bandwidth), si(b[1], (double)r->profile), si(b[2], r->bandwidth_rcm),
            si(b[3], (double)r->profile_rcm));
}

static const char *klu_text(char buf[32], const spa_klu *k)
{
    static const char *const why[] = {"", "too large", "singular", "failed"};
    char n[16];
    if (k->state != SPA_KLU_DONE)
        return why[k->state];
    snprintf(buf, 32, "%s", si(n, (double)(k->lnz + k->unz)));
    return buf;
}

static void print_orders(const spa_report *r, FILE *out)
{
    fprintf(out, "\n  %-8s %10s %8s %10s %8s %12s %11s   %9s %10s %8s\n", "ordering", "L + U",
            "fill", "flops", "levels", "longest path", "parallelism", "KLU L + U", "flops",
            "off diag");
    for (int o = 0; o < SPA_N_ORDER; o++) {
        const spa_fill *f = &r->fill[o];
        char b[4][16], k[32];
        fprintf(out, "  %-8s %s%9s %8.2f %10s %8d %12s %11.1f   %9s", spa_order_name(f->order),
                f->bound ? "<" : " ", si(b[0], (double)f->nnz_lu), (double)f->nnz_lu / r->nnz,
                si(b[1], f->flops), f->n_level, si(b[2], f->critical),
                f->critical > 0 ? f->flops / f->critical : 1, klu_text(k, &f->klu));
        if (f->klu.state == SPA_KLU_DONE)
            fprintf(out, " %10s %8d", si(b[3], f->klu.flops), f->klu.off_diagonal);
        fputc('\n', out);
    }
    fputs("  (symbolic: diagonal pivots in the symmetrised blocks; colamd: bounds for any pivots. "
          "KLU: factors of the "
          "values;\n   its L + U counts the diagonal twice and leaves out what is outside the "
          "blocks)\n",
          out);
}

static void print_level(const spa_fill *f, int32_t from, int32_t to, FILE *out)
{
    spa_level sum = {0};
    char b[2][16], range[32];
    for (int32_t i = from; i <= to; i++) {
        sum.n += f->level[i].n;
        sum.flops += f->level[i].flops;
        sum.max_flops = fmax(sum.max_flops, f->level[i].max_flops);
    }
    snprintf(range, sizeof range, from == to ? "%d" : "%d-%d", from, to);
    fprintf(out, "  %11s %10d %10s %8.1f %% %14s\n", range, sum.n, si(b[0], sum.flops),
            share(sum.flops, f->flops), si(b[1], sum.max_flops));
}

/* Prints the first levels one by one, and those above in ranges that double. */
static void print_tree(const spa_report *r, const spa_fill *f, FILE *out)
{
    fprintf(out, "\n  elimination forest (%s: %s)\n", spa_order_name(f->order),
            spa_order_text(f->order));
    fprintf(out, "  %d columns, %d leaves, %d levels; at most", r->n, f->n_leaf, f->n_level);
    for (int w = 0; w < SPA_N_WORKERS; w++)
        fprintf(out, "%s %.2f", w ? "," : "", f->speedup[w]);
    fputs(" times faster with 2, 4, 8, 16 workers level by level\n", out);
    fprintf(out,
            "  supernodes: %d fundamental (widest %d), %d relaxed (widest %d, %.1f %% of L more "
            "entries)\n",
            f->fundamental.n, f->fundamental.widest, f->relaxed.n, f->relaxed.widest,
            share((double)f->relaxed.zeros, (double)f->lnz));
    fprintf(out, "  %11s %10s %10s %10s %14s\n", "level", "columns", "flops", "share",
            "largest column");
    for (int32_t i = 0, width = 1; i < f->n_level; i += width) {
        if (i >= SHOWN_LEVELS / 2)
            width = i / 2;
        print_level(f, i, i + width < f->n_level ? i + width - 1 : f->n_level - 1, out);
    }
}

static const char *unknown_name(const rep_survey *v, int32_t i)
{
    return i > 0 ? ckt_unknowns(sim_ckt(v->s))[i].name : "-";
}

static void print_conflicts(const rep_survey *v, const ckt_conflicts *f, FILE *out)
{
    fprintf(out,
            "\n  stamps: %lld of %d devices and sources into %d entries in a load\n  devices per "
            "entry:",
            (long long)f->n_stamp, f->n_device, f->n_entry);
    for (int b = 0; b < CKT_CONFLICT_BINS; b++) {
        if (!f->bin[b])
            continue;
        if (b < 2)
            fprintf(out, "  %d: %d", 1 << b, f->bin[b]);
        else
            fprintf(out, "  %d-%d: %d", (1 << (b - 1)) + 1, 1 << b, f->bin[b]);
    }
    fprintf(out, "\n  most: %d devices at (%s, %s); on one row %d (%s)\n", f->most,
            unknown_name(v, f->most_row), unknown_name(v, f->most_col), f->on_row,
            unknown_name(v, f->full_row));
    fprintf(out, "  %d colours make devices of one colour free of common rows", f->n_color);
    if (f->n_hub)
        fprintf(out, " (%d row%s of more than %d devices left aside)", f->n_hub,
                f->n_hub == 1 ? "" : "s", CKT_HUB);
    fputc('\n', out);
}

typedef struct stability {
    int32_t always_zero, sometimes_zero, constant;
} stability;

static stability count_stable(const rep_survey *v)
{
    stability s = {0};
    for (int32_t k = 0; k < csc_nnz(&v->a); k++) {
        s.always_zero += !(v->what[k] & WAS_NOT);
        s.sometimes_zero += (v->what[k] & (WAS_ZERO | WAS_NOT)) == (WAS_ZERO | WAS_NOT);
        s.constant += !(v->what[k] & HAS_CHANGED);
    }
    return s;
}

static void print_stability(const rep_survey *v, FILE *out)
{
    const stability s = count_stable(v);
    const int32_t nnz = csc_nnz(&v->a);
    if (v->n_pattern > 1)
        fprintf(out,
                "\n  the circuit was built again with another pattern %d times; the last one is "
                "shown\n",
                v->n_pattern - 1);
    fprintf(out,
            "\n  the pattern is fixed; in the first %lld of %lld loads %d entries (%.1f %%) were "
            "always 0, %d sometimes,\n"
            "  another set of zeros than in the load before came %lld times; %d entries (%.1f %%) "
            "never changed\n",
            (long long)v->n_seen, (long long)v->n_load, s.always_zero, share(s.always_zero, nnz),
            s.sometimes_zero, (long long)v->n_switch, s.constant, share(s.constant, nnz));
}

/* -- JSON, CSV -- */

static void json_super(const char *name, const spa_super *s, FILE *out)
{
    fprintf(out, ", \"%s\": {\"number\": %d, \"widest\": %d, \"zeros\": %lld}", name, s->n,
            s->widest, (long long)s->zeros);
}

static void json_order(const spa_fill *f, bool levels, FILE *out)
{
    static const char *const state[] = {"done", "too large", "singular", "failed"};
    fprintf(out,
            "    {\"ordering\": \"%s\", \"is_bound\": %s, \"nnz_l\": %lld, \"nnz_lu\": %lld, "
            "\"flops\": %.17g, "
            "\"critical_flops\": %.17g, \"levels\": %d, \"leaves\": %d,\n     \"speedup\": {",
            spa_order_name(f->order), f->bound ? "true" : "false", (long long)f->lnz,
            (long long)f->nnz_lu, f->flops, f->critical, f->n_level, f->n_leaf);
    for (int w = 0; w < SPA_N_WORKERS; w++)
        fprintf(out, "%s\"%d\": %.6g", w ? ", " : "", spa_workers[w], f->speedup[w]);
    fputc('}', out);
    json_super("supernodes", &f->fundamental, out);
    json_super("relaxed_supernodes", &f->relaxed, out);
    fprintf(out, ",\n     \"klu\": {\"state\": \"%s\"", state[f->klu.state]);
    if (f->klu.state == SPA_KLU_DONE)
        fprintf(out,
                ", \"lnz\": %lld, \"unz\": %lld, \"outside\": %lld, \"flops\": %.17g, "
                "\"off_diagonal_pivots\": %d",
                (long long)f->klu.lnz, (long long)f->klu.unz, (long long)f->klu.off, f->klu.flops,
                f->klu.off_diagonal);
    fputc('}', out);
    if (levels) {
        fputs(",\n     \"level_sets\": [", out);
        for (int32_t i = 0; i < f->n_level; i++)
            fprintf(out, "%s[%d, %.17g, %.17g]", i ? ", " : "", f->level[i].n, f->level[i].flops,
                    f->level[i].max_flops);
        fputc(']', out);
    }
    fputc('}', out);
}

static void json_report(const spa_report *r, spa_order chosen, FILE *out)
{
    fprintf(
        out,
        "  \"unknowns\": %d, \"entries\": %d, \"diagonal_entries\": %d, \"structural_rank\": %d,\n"
        "  \"symmetry\": {\"off_diagonal\": %lld, \"with_partner\": %lld",
        r->n, r->nnz, r->n_diag, r->rank, (long long)r->n_off, (long long)r->n_mirror);
    if (r->a->val)
        fprintf(out, ", \"equal\": %lld, \"opposite\": %lld", (long long)r->n_equal,
                (long long)r->n_opposite);
    fprintf(out,
            "},\n  \"blocks\": {\"number\": %d, \"largest\": %d, \"of_one_row\": %d, "
            "\"entries_outside\": %d},\n"
            "  \"bandwidth\": %d, \"profile\": %lld, \"rcm_bandwidth\": %d, \"rcm_profile\": "
            "%lld,\n  \"orderings\": [\n",
            r->n_block, r->largest, r->n_single, r->n_outside, r->bandwidth, (long long)r->profile,
            r->bandwidth_rcm, (long long)r->profile_rcm);
    for (int o = 0; o < SPA_N_ORDER; o++) {
        json_order(&r->fill[o], o == (int)chosen, out);
        fputs(o + 1 < SPA_N_ORDER ? ",\n" : "\n  ]", out);
    }
}

static void json_deck(const rep_survey *v, const ckt_conflicts *f, FILE *out)
{
    const stability s = count_stable(v);
    fprintf(out,
            ",\n  \"stamps\": {\"number\": %lld, \"devices\": %d, \"entries\": %d, "
            "\"devices_per_entry\": [",
            (long long)f->n_stamp, f->n_device, f->n_entry);
    int last = CKT_CONFLICT_BINS - 1;
    while (last > 0 && !f->bin[last])
        last--;
    for (int b = 0; b <= last; b++)
        fprintf(out, "%s{\"up_to\": %d, \"entries\": %d}", b ? ", " : "", 1 << b, f->bin[b]);
    fprintf(out, "],\n    \"most_on_entry\": %d, \"most_on_row\": %d, \"full_row\": ", f->most,
            f->on_row);
    rep_json_string(out, unknown_name(v, f->full_row));
    fprintf(out,
            ", \"colors\": %d, \"rows_left_aside\": %d},\n"
            "  \"stability\": {\"loads\": %lld, \"looked_at\": %lld, \"patterns\": %d, "
            "\"always_zero\": %d, "
            "\"sometimes_zero\": %d, \"other_zeros\": %lld, \"constant\": %d}",
            f->n_color, f->n_hub, (long long)v->n_load, (long long)v->n_seen, v->n_pattern,
            s.always_zero, s.sometimes_zero, (long long)v->n_switch, s.constant);
}

static void csv_levels(const spa_fill *f, FILE *out)
{
    double columns = 0, flops = 0;
    fputs("level,columns,flops,largest_column_flops,columns_so_far,flops_so_far\n", out);
    for (int32_t i = 0; i < f->n_level; i++) {
        columns += f->level[i].n;
        flops += f->level[i].flops;
        fprintf(out, "%d,%d,%.17g,%.17g,%.0f,%.17g\n", i, f->level[i].n, f->level[i].flops,
                f->level[i].max_flops, columns, flops);
    }
}

/* -- the report -- */

static bool read_order(const char *name, diag *d, spa_order *o)
{
    const char *names[SPA_N_ORDER];
    *o = SPA_AMD;
    for (int i = 0; i < SPA_N_ORDER; i++) {
        names[i] = spa_order_name((spa_order)i);
        if (!name || !strcmp(name, names[i])) {
            *o = (spa_order)i;
            return true;
        }
    }
    diag_error(d, DIAG_NOWHERE, "unknown ordering '%s'; there are amd, colamd, natural, rcm and nd",
               name);
    diag_suggest(d, name, names, SPA_N_ORDER);
    return false;
}

static vs_status write_files(const rep_analyze_opt *o, diag *d, const spa_report *r,
                             const spa_fill *f, const char *title, const char *const *name)
{
    FILE *fp = o->svg ? rep_create(d, o->svg, FILES_PICTURE) : NULL;
    if (o->svg && !fp)
        return VS_EIO;
    if (fp) {
        spa_svg(r, f, title, fp);
        if (rep_close(d, fp, o->svg))
            return VS_EIO;
    }
    fp = o->mtx ? rep_create(d, o->mtx, FILES_MATRIX) : NULL;
    if (o->mtx && !fp)
        return VS_EIO;
    if (!fp)
        return VS_OK;
    spa_mm_write(r->a, title, name, fp);
    return rep_close(d, fp, o->mtx);
}

/* v NULL: a matrix from a file. */
static vs_status report(const rep_analyze_opt *o, diag *d, const csc *a, const char *title,
                        const rep_survey *v, const char *const *name, FILE *out)
{
    static const spa_opt opt = {KLU_FLOPS, KLU_NNZ};
    spa_report r;
    spa_order chosen;
    arena mem;
    ckt_conflicts conflicts;
    if (!read_order(o->order, d, &chosen))
        return VS_EINPUT;
    arena_init(&mem);
    vs_status st = spa_analyze(&r, a, &opt, &mem);
    if (st == VS_OK && v)
        ckt_find_conflicts(sim_ckt(v->s), v->mode, &conflicts);
    if (st == VS_OK && o->json) {
        fputs("{\n  \"title\": ", out);
        rep_json_string(out, title);
        fputs(",\n", out);
        json_report(&r, chosen, out);
        if (v)
            json_deck(v, &conflicts, out);
        fputs("\n}\n", out);
    } else if (st == VS_OK && o->csv) {
        csv_levels(&r.fill[chosen], out);
    } else if (st == VS_OK) {
        fprintf(out, "%s\n", title);
        print_facts(&r, out);
        print_orders(&r, out);
        print_tree(&r, &r.fill[chosen], out);
        if (v) {
            print_conflicts(v, &conflicts, out);
            print_stability(v, out);
        }
    }
    if (st == VS_OK)
        st = write_files(o, d, &r, &r.fill[chosen], title, name);
    arena_fini(&mem);
    return st;
}

vs_status rep_survey_report(rep_survey *v, FILE *out)
{
    const char *deck = v->o.deck, *title;
    const char **name = NULL;
    if (!v->a.n) {
        diag_error(sim_diag(v->s), DIAG_NOWHERE, "the run made no Jacobian");
        return VS_EINPUT;
    }
    if (v->at >= 0 && !v->done)
        diag_warning(sim_diag(v->s), DIAG_NOWHERE,
                     "the run ended before %g s; values are of its last point", v->at);
    if (v->tran)
        title = arena_printf(&v->mem, "%s: Jacobian at %.9g s, step %.4g s", deck, v->time, v->h);
    else if (v->accepted)
        title = arena_printf(&v->mem, "%s: Jacobian of the %s", deck,
                             v->time == 0 ? "operating point" : "last point of the sweep");
    else /* the analysis has an operating point, but no results */
        title = arena_printf(&v->mem, "%s: Jacobian of the last load", deck);
    if (!v->accepted)
        memcpy(v->a.val, v->last, sizeof *v->last * (size_t)csc_nnz(&v->a));
    const ckt_unknown *u = ckt_unknowns(sim_ckt(v->s));
    const bool same = ckt_n(sim_ckt(v->s)) == v->a.n;
    for (int32_t i = 1; same && i <= v->a.n; i++)
        vec_push(name, u[i].name);
    vs_status st = report(&v->o, sim_diag(v->s), &v->a, title, same ? v : NULL, name, out);
    vec_free(name);
    return st;
}

bool rep_is_matrix(const char *path)
{
    const char *dot = strrchr(path, '.');
    return (dot && !str_casecmp(dot, ".mtx")) || spa_mm_is(path);
}

static const char *matrix_title(const char *path, const spa_mm *m, arena *mem)
{
    static const char *const field[] = {"real", "complex", "integer", "pattern"},
                             *const sym[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
    return arena_printf(mem, "%s: Matrix Market %s %s %s%s", path,
                        m->array ? "array" : "coordinate", field[m->field], sym[m->sym],
                        m->field == SPA_COMPLEX ? " (absolute values)" : "");
}

vs_status rep_matrix(diag *d, const rep_analyze_opt *o, FILE *out)
{
    arena mem;
    csc a = {0};
    spa_mm m;
    arena_init(&mem);
    vs_status st = spa_mm_read(&a, &m, d, o->deck, &mem);
    if (st == VS_OK && m.n_double)
        diag_warning(d, DIAG_NOWHERE,
                     "%lld entries stand more than once in '%s'; their values were added",
                     (long long)m.n_double, o->deck);
    if (st == VS_OK && o->mtx && m.field == SPA_COMPLEX) {
        diag_error(d, DIAG_NOWHERE, "--mtx writes real values and patterns; '%s' is complex",
                   o->deck);
        st = VS_EINPUT;
    }
    if (st == VS_OK)
        st = report(o, d, &a, matrix_title(o->deck, &m, &mem), NULL, NULL, out);
    arena_fini(&mem);
    return st;
}
