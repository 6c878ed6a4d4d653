/* out_name.c - see out_name.h. */
#include "out_name.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* "i(NAME)", "v(NAME)": the length of NAME; 0: another form. */
static size_t inside(const char *name, char call)
{
    const size_t n = strlen(name);
    return n > 3 && (name[0] | 32) == call && name[1] == '(' && name[n - 1] == ')' ? n - 3 : 0;
}

/* The letter that ngspice puts in front of an element in a subcircuit; 0: none. */
static char letter_of(const char *element, size_t n)
{
    char letter = 0;
    if (!n || (element[0] | 32) != 'x')
        return 0;
    for (size_t i = 0; i + 1 < n; i++)
        if (element[i] == '.')
            letter = element[i + 1];
    return letter;
}

/* Writes PRE LETTER.element[n] POST END to buf. */
static const char *with_letter(char *buf, const char *pre, const char *element, size_t n,
                               const char *post, const char *end)
{
    const char letter = letter_of(element, n);
    const char front[3] = {letter, letter ? '.' : 0, 0};
    snprintf(buf, OUT_NAME, "%s%s%.*s%s%s", pre, front, (int)n, element, post, end);
    return buf;
}

/* The length of "onoise_total_" in front of the element whose noise a vector is; 0: another one. */
static size_t noise_of(const char *name)
{
    static const char *const pre[] = {"onoise_total_", "inoise_total_", "onoise_", "inoise_"};
    for (size_t i = 0; i < sizeof pre / sizeof *pre; i++)
        if (!strncasecmp(name, pre[i], strlen(pre[i])))
            return strlen(pre[i]);
    return 0;
}

/* CALL "onoise_" "x1.r1" END -> CALL "onoise_r.x1.r1" END; n: what noise_of says. */
static const char *with_noise_letter(char *buf, const char *call, const char *name, size_t n,
                                     const char *end)
{
    char pre[20];
    snprintf(pre, sizeof pre, "%s%.*s", call, (int)n, name);
    return with_letter(buf, pre, name + n, strlen(name + n), "", end);
}

static bool fits(const char *name) { return strlen(name) + 8 < OUT_NAME; }

const char *out_ng_type(const char *name, const char *type)
{
    const char *open = name[0] == '@' ? strchr(name, '[') : NULL;
    if (!open)
        return !strcmp(name, "temp-sweep") ? "temp-sweep" : type;
    if (!strcmp(open, "[p]"))
        return "power";
    if ((name[1] | 32) == 'i' &&
        (!strcmp(open, "[c]") || !strcmp(open, "[current]") || !strcmp(open, "[dc]")))
        return "current"; /* @i1[c], of a current source */
    switch (open[1] | 32) {
    case 'g': return "admittance";
    case 'c': return "capacitance";
    case 'i': return "current";
    case 'q': return "charge";
    default: return "voltage";
    }
}

const char *out_ng_name(char buf[OUT_NAME], const char *name, const char *type)
{
    const size_t current = inside(name, 'i');
    const char *open = name[0] == '@' ? strchr(name, '[') : NULL;
    if (!fits(name))
        return name;
    if (current)
        return with_letter(buf, "i(", name + 2, current, ")", "");
    const char *pre = strchr(name, '(')          ? ""
                      : !strcmp(type, "voltage") ? "v("
                      : !strcmp(type, "current") ? "i("
                                                 : "";
    if (open) {
        char at[4];
        snprintf(at, sizeof at, "%s@", pre);
        return with_letter(buf, at, name + 1, (size_t)(open - name) - 1, open, *pre ? ")" : "");
    }
    const size_t noise = noise_of(name);
    if (noise)
        return with_noise_letter(buf, pre, name, noise, *pre ? ")" : "");
    if (!*pre)
        return name;
    snprintf(buf, OUT_NAME, "%s%s)", pre, name);
    return buf;
}

const char *out_ng_memory(char buf[OUT_NAME], const char *name)
{
    const size_t current = inside(name, 'i'), voltage = inside(name, 'v');
    const char *open = name[0] == '@' ? strchr(name, '[') : NULL;
    if (!fits(name))
        return name;
    if (current)
        return with_letter(buf, "", name + 2, current, "#branch", "");
    if (open)
        return with_letter(buf, "@", name + 1, (size_t)(open - name) - 1, open, "");
    if (noise_of(name))
        return with_noise_letter(buf, "", name, noise_of(name), "");
    if (!voltage || memchr(name, ',', strlen(name)))
        return name;
    snprintf(buf, OUT_NAME, "%.*s", (int)voltage, name + 2);
    return buf;
}

/* The length of "v." in "v.x1.vmeas": what stands in front of an element's place. */
static size_t letter_at(const char *element)
{
    return is_letter(element[0]) && element[1] == '.' && (element[2] | 32) == 'x' ? 2 : 0;
}

const char *out_own_name(char buf[OUT_NAME], const char *name)
{
    const size_t current = inside(name, 'i'), voltage = inside(name, 'v');
    const char *hash = strstr(name, "#branch");
    if (!fits(name))
        return name;
    const bool in_v = hash && voltage && !strcmp(hash + 7, ")"); /* v(v1#branch), of vdb(...) */
    if (hash && (in_v || !hash[7])) {
        const char *element = name + (in_v ? 2 : 0);
        element += letter_at(element);
        snprintf(buf, OUT_NAME, "i(%.*s)", (int)(hash - element), element);
        return buf;
    }
    if (current || voltage) {
        const char *in = name + 2;
        const size_t n = current ? current : voltage, skip = in[0] == '@' ? letter_at(in + 1)
                                                             : current    ? letter_at(in)
                                                                          : 0;
        const size_t noise = voltage ? noise_of(in) : 0, letter = noise ? letter_at(in + noise) : 0;
        if (letter)
            snprintf(buf, OUT_NAME, "%.*s%.*s", (int)noise, in, (int)(n - noise - letter),
                     in + noise + letter);
        else if (in[0] == '@')
            snprintf(buf, OUT_NAME, "@%.*s", (int)(n - 1 - skip), in + 1 + skip);
        else if (n > 6 && !memcmp(in + n - 6, "-sweep", 6))
            snprintf(buf, OUT_NAME, "%.*s", (int)n, in);
        else if (skip)
            snprintf(buf, OUT_NAME, "i(%.*s)", (int)(n - skip), in + skip);
        else
            return name;
        return buf;
    }
    const size_t pre = name[0] == '@' ? 1 : noise_of(name);
    const size_t skip = pre ? letter_at(name + pre) : 0;
    if (!skip)
        return name;
    snprintf(buf, OUT_NAME, "%.*s%s", (int)pre, name, name + pre + skip);
    return buf;
}

bool out_is_axis(const char *name, const char *type)
{
    return !strcasecmp(type, "time") || !strcasecmp(type, "frequency") ||
           !strcasecmp(name, "time") || !strcasecmp(name, "frequency") || strstr(name, "-sweep");
}

const char *out_own_type(const char *name, const char *type)
{
    const bool axis = !strcasecmp(name, "time") || !strcasecmp(name, "frequency");
    return axis && !strcasecmp(type, "notype") ? name : type;
}
