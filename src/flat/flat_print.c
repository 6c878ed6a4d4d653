/* flat_print.c - a flat netlist as text: what --dump=circuit prints. */
#include "flat.h"
#include "map.h"
#include "vec.h"

static void print_params(const flat_param *p, FILE *out)
{
    for (size_t i = 0; i < vec_len(p); i++)
        if (p[i].str)
            fprintf(out, " %s=\"%s\"", p[i].name, p[i].str);
        else
            fprintf(out, " %s=%.15g", p[i].name, p[i].value);
}

static void print_numbers(const double *x, size_t n, FILE *out)
{
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s%.15g", i ? " " : "", x[i]);
}

static void print_source(const flat_source *s, FILE *out)
{
    static const char *const name[] = {"dc",   "pulse", "sin",     "exp",     "pwl",
                                       "sffm", "am",    "trnoise", "trrandom"};
    if (s->dc_given)
        fprintf(out, " dc %.15g", s->dc);
    if (s->ac_mag != 0)
        fprintf(out, " ac %.15g %.15g", s->ac_mag, s->ac_phase);
    for (int k = 0; k < 2; k++)
        if (s->disto_mag[k] != 0)
            fprintf(out, " distof%d %.15g %.15g", k + 1, s->disto_mag[k], s->disto_phase[k]);
    if (s->wave == FLAT_DC)
        return;
    fprintf(out, " %s(", name[s->wave]);
    print_numbers(s->arg, vec_len(s->arg), out);
    fputc(')', out);
    if (s->pwl_repeat >= 0)
        fprintf(out, " r=%.15g", s->pwl_repeat);
    if (s->pwl_delay != 0)
        fprintf(out, " td=%.15g", s->pwl_delay);
}

/* Models that an element uses, in the order of their first use. Others may be known: bins that a
 * sweep may choose. Local models of several scopes have one name: all but the first of a name get
 * a number. */
typedef struct models {
    const flat_model **all; /* vec */
    map number;             /* of a model: 1 for the first of its name */
} models;

static models used_models(const flat *f)
{
    models m = {0};
    map named = {0};
    for (size_t i = 0; i < vec_len(f->inst); i++) {
        const flat_model *one = f->inst[i].rare->model;
        if (!one || map_get(&m.number, map_key(one), 0))
            continue;
        const int32_t n = map_get(&named, map_key(one->name), 0) + 1;
        map_set(&named, map_key(one->name), n);
        map_set(&m.number, map_key(one), n);
        vec_push(m.all, one);
    }
    map_free(&named);
    return m;
}

static void print_name(const models *m, const flat_model *one, FILE *out)
{
    const int32_t n = map_get(&m->number, map_key(one), 1);
    fputs(one->name, out);
    if (n > 1)
        fprintf(out, "#%d", n);
}

static void print_inst(const flat *f, const models *m, const flat_inst *x, FILE *out)
{
    flat_room room;
    fputs(x->name, out);
    for (int32_t i = 0; i < x->n_node; i++)
        fprintf(out, " %s", f->node[x->node[i]]);
    for (size_t i = 0; i < vec_len(x->rare->ref); i++)
        fprintf(out, " <%s>", x->rare->ref[i]);
    if (x->rare->model) {
        fputc(' ', out);
        print_name(m, x->rare->model, out);
    } else if (x->rare->word)
        fprintf(out, " ?%s", x->rare->word);
    if (x->rare->source)
        print_source(x->rare->source, out);
    print_params(flat_params(x, &room), out);
    for (size_t i = 0; x->rare->logic && i < vec_len(x->rare->logic->gate); i++)
        fprintf(out, " %s", x->rare->logic->gate[i].type);
    if (vec_len(x->rare->poly)) {
        fputs(" poly(", out);
        print_numbers(x->rare->poly, vec_len(x->rare->poly), out);
        fputc(')', out);
    }
    if (x->rare->expr) {
        fprintf(out, " %s=",
                x->letter == 'b' || x->letter == 'e' || x->letter == 'g' ? x->expr_is_v ? "v" : "i"
                                                                         : "expr");
        net_expr_print(x->rare->expr, f->node, out);
    }
    if (x->m != 1)
        fprintf(out, " m=%.15g", x->m);
    for (int32_t i = 0; i < x->rare->n_ic; i++)
        fprintf(out, "%s%.15g", i ? "," : " ic=", x->rare->ic[i]);
    fputs(x->off ? " off\n" : "\n", out);
}

/* What the cards of small signals on an orbit have behind the grid. */
static void print_periodic(const flat_ana *a, FILE *out)
{
    const flat_hb *h = &a->hb;
    if (a->kind == FLAT_HBAC || a->kind == FLAT_HBXF)
        fprintf(out, " sidebands=%d", (int)h->most);
    if (h->sideband)
        fprintf(out, " sideband=%d", (int)h->sideband);
    if (h->modulated)
        fputs(" modulated", out);
    if (h->sampled == FLAT_STROBE)
        fprintf(out, " strobe=%.15g", h->at);
    if (h->sampled == FLAT_CROSS)
        fprintf(out, " cross=%.15g %s=%d", h->at, h->edge < 0 ? "fall" : "rise",
                h->edge < 0 ? -(int)h->edge : (int)h->edge);
    for (int32_t i = 0; i < h->n_port_harm; i++) {
        const bool more = i && h->port_of[i] == h->port_of[i - 1];
        fprintf(out, "%s%d", !i ? " harms=(" : more ? " " : " (", (int)h->port_harm[i]);
        if (i + 1 == h->n_port_harm || h->port_of[i + 1] != h->port_of[i])
            fputc(')', out);
    }
}

static void print_small(const flat_ana *a, FILE *out)
{
    static const char *const word[FLAT_N_ANA] = {
        [FLAT_AC] = "ac",           [FLAT_NOISE] = "noise",    [FLAT_TF] = "tf",
        [FLAT_SENS] = "sens",       [FLAT_PZ] = "pz",          [FLAT_SP] = "sp",
        [FLAT_ACXF] = "acxf",       [FLAT_DCXF] = "dcxf",      [FLAT_DISTO] = "disto",
        [FLAT_DCMATCH] = "dcmatch", [FLAT_ACMATCH] = "acmatch"};
    static const char *const grid[] = {"dec", "oct", "lin", "list"};
    fprintf(out, ".%s", a->hb.word ? a->hb.word : word[a->kind]);
    for (int32_t i = 0; i < a->hb.n_tone; i++)
        fprintf(out, " %.15g/%d", a->hb.tone[i], (int)a->hb.harm[i]);
    if (a->out_name)
        fprintf(out, " %s", a->out_name);
    if (a->source)
        fprintf(out, " %s", a->source);
    if (a->has_freq)
        fprintf(out, "%s %s %lld %.15g %.15g", a->kind == FLAT_SENS ? " ac" : "", grid[a->grid],
                (long long)a->n_freq, a->f_from, a->f_to);
    if (a->summary)
        fprintf(out, " %lld", (long long)a->summary);
    if (a->ratio > 0)
        fprintf(out, " %.15g", a->ratio);
    print_periodic(a, out);
    if (a->kind == FLAT_DCMATCH || a->kind == FLAT_ACMATCH)
        fprintf(out, " threshold=%.15g", a->threshold);
    if (a->kind == FLAT_PZ)
        fprintf(out, " %d %d %d %d %s %s", (int)a->in[0], (int)a->in[1], (int)a->out[0],
                (int)a->out[1], a->voltage ? "vol" : "cur",
                a->poles && a->zeros ? "pz"
                : a->poles           ? "pol"
                                     : "zer");
    const flat_gradient *g = &a->gradient;
    for (int32_t i = 0; i < g->n_meas; i++)
        fprintf(out, "%s%s",
                i                    ? " "
                : g->of == FLAT_TRAN ? " tran "
                : g->of == FLAT_AC   ? " ac "
                                     : " noise ",
                g->meas[i]);
    for (int32_t i = 0; i < g->n_by; i++)
        fprintf(out, "%s%s", i ? " " : " param=", g->by[i].text);
    fputs(a->donoise ? " donoise\n" : "\n", out);
}

static void print_ana(const flat_ana *a, FILE *out)
{
    if (a->kind > FLAT_TRAN) {
        print_small(a, out);
        return;
    }
    if (a->kind == FLAT_OP)
        fputs(".op\n", out);
    if (a->kind == FLAT_TRAN)
        fprintf(out, ".tran %.15g %.15g %.15g %.15g%s\n", a->tstep, a->tstop, a->tstart, a->tmax,
                a->uic ? " uic" : "");
    if (a->kind != FLAT_DCSWEEP)
        return;
    fputs(".dc", out);
    for (int32_t i = 0; i < a->n_sweep; i++) {
        const flat_sweep *w = &a->sweep[i];
        size_t n = vec_len(w->value);
        fprintf(out, " %s%s%s%s (%zu values", w->name, w->what == FLAT_SWEEP_INST ? "[" : "",
                w->what == FLAT_SWEEP_INST ? w->param : "", w->what == FLAT_SWEEP_INST ? "]" : "",
                n);
        if (n)
            fprintf(out, " from %.15g to %.15g", w->value[0], w->value[n - 1]);
        fputc(')', out);
    }
    fputc('\n', out);
}

void flat_print(const flat *f, FILE *out)
{
    models m = used_models(f);
    fprintf(out, "* %s\n* %zu nodes, %zu elements, %zu models\n", f->title, vec_len(f->node),
            vec_len(f->inst), vec_len(m.all));
    for (size_t i = 0; i < vec_len(m.all); i++) {
        fputs(".model ", out);
        print_name(&m, m.all[i], out);
        fprintf(out, " %s", m.all[i]->type);
        print_params(m.all[i]->param, out);
        fputc('\n', out);
    }
    vec_free(m.all);
    for (size_t i = 0; i < vec_len(f->inst); i++)
        print_inst(f, &m, &f->inst[i], out);
    map_free(&m.number);
    for (size_t i = 0; i < vec_len(f->option); i++)
        fprintf(out, ".option %s%s%s\n", f->option[i].name, *f->option[i].str ? "=" : "",
                f->option[i].str);
    for (size_t i = 0; i < vec_len(f->temp); i++)
        fprintf(out, ".temp %.15g\n", f->temp[i]);
    for (size_t i = 0; i < vec_len(f->hdl); i++)
        fprintf(out, ".hdl \"%s\"\n", f->hdl[i]);
    for (size_t i = 0; i < vec_len(f->ic); i++)
        fprintf(out, ".ic v(%s)=%.15g\n", f->ic[i].node >= 0 ? f->node[f->ic[i].node] : "?",
                f->ic[i].value);
    for (size_t i = 0; i < vec_len(f->nodeset); i++)
        fprintf(out, ".nodeset v(%s)=%.15g\n",
                f->nodeset[i].node >= 0 ? f->node[f->nodeset[i].node] : "?", f->nodeset[i].value);
    for (size_t i = 0; i < vec_len(f->save); i++)
        fprintf(out, ".save %s\n", f->save[i].text);
    for (size_t i = 0; i < vec_len(f->ana); i++)
        print_ana(&f->ana[i], out);
}
