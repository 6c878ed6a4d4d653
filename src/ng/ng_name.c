/* ng_name.c - names and types of vectors. Ours: v(out), v(x1.n), i(v1), i(x1.l1), time, @m1[gm].
 * ngspice's: out, x1.n, v1#branch, l.x1.l1#branch, time, @m1[gm]. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ng_priv.h"

static char *text_of(const char *a, int na, const char *b, int nb, const char *c)
{
    const size_t n = (size_t)na + (size_t)nb + strlen(c) + 1;
    char *text = malloc(n);
    if (text)
        snprintf(text, n, "%.*s%.*s%s", na, a, nb, b, c);
    return text;
}

/* "v(" ... ")" with nothing else: the length of what is between. 0: no such name. */
static int inside(const char *name, char letter)
{
    const size_t n = strlen(name);
    const bool call = n > 3 && (name[0] | 0x20) == letter && name[1] == '(' && name[n - 1] == ')';
    return call ? (int)n - 3 : 0;
}

/* An element in a subcircuit: its path begins with a call. Others may have dots in their names. */
static bool in_subcircuit(const char *element, int n)
{
    return (element[0] | 0x20) == 'x' && memchr(element, '.', (size_t)n);
}

/* The element's letter stands in front of its path: "x1.l1" is "l.x1.l1". */
static char *branch_of(const char *element, int n)
{
    int dot = n;
    while (dot > 0 && element[dot - 1] != '.')
        dot--;
    const char letter[] = {element[dot], '.'};
    return text_of(letter, in_subcircuit(element, n) ? 2 : 0, element, n, "#branch");
}

char *ng_name_of(const char *vector)
{
    const int v = inside(vector, 'v'), i = inside(vector, 'i');
    if (v && !memchr(vector + 2, ',', (size_t)v)) /* a node's number is "V(1)" */
        return vector[2] >= '0' && vector[2] <= '9' ? text_of("V(", 2, vector + 2, v, ")")
                                                    : text_of(vector + 2, v, "", 0, "");
    if (i)
        return branch_of(vector + 2, i);
    const char *open = vector[0] == '@' ? strchr(vector, '[') : NULL;
    const char *last = open;
    while (last && last > vector && *last != '.')
        last--;
    if (open &&
        in_subcircuit(vector + 1, (int)(open - vector) - 1)) { /* "@x1.m1[gm]" is "@m.x1.m1[gm]" */
        const char front[] = {'@', last[1], '.'};
        return text_of(front, 3, vector + 1, (int)strlen(vector) - 1, "");
    }
    return text_of(vector, (int)strlen(vector), "", 0, "");
}

char *ng_name_asked(const char *name)
{
    const char *hash = strstr(name, "#branch");
    const int v = inside(name, 'v');
    if (v && strcasestr(name, "#branch")) /* KiCad asks for V(v1#branch) */
        return text_of("i(", 2, name + 2, v - 7, ")");
    if (!hash || hash[7])
        return text_of(name, (int)strlen(name), "", 0, "");
    const bool path = name[1] == '.' && strchr(name + 2, '.'); /* "l.x1.l1": without the letter */
    const char *from = name + (path ? 2 : 0);
    return text_of("i(", 2, from, (int)(hash - from), ")");
}

int ng_type_of(const char *kind)
{
    static const char *const name[] = {"notype",
                                       "time",
                                       "frequency",
                                       "voltage",
                                       "current",
                                       "voltage-density",
                                       "current-density",
                                       "voltage^2-density",
                                       "current^2-density",
                                       "voltage^2",
                                       "current^2",
                                       "pole",
                                       "zero",
                                       "s-param",
                                       "temp-sweep",
                                       "res-sweep",
                                       "impedance",
                                       "admittance",
                                       "power",
                                       "phase",
                                       "decibel",
                                       "capacitance",
                                       "charge"};
    for (int i = 0; i < (int)(sizeof name / sizeof *name); i++)
        if (!strcasecmp(name[i], kind))
            return i;
    return !strcasecmp(kind, "temperature") ? 14 : 0;
}
