/* ctl_item.c - items of lists with wildcards, as Xyce has them: v(1?), i(*), id(m*), p(*). Each
 * stands for an item of every node or element whose name it matches.
 * Source: Xyce Reference Guide, ".PRINT", wildcards. */
#include <string.h>

#include "ctl_priv.h"

/* * is any text, ? one letter. */
static bool fits(const char *pattern, size_t n, const char *name)
{
    size_t i = 0, star = n;
    const char *back = name;
    while (*name) {
        if (i < n && pattern[i] == '*') {
            star = i++;
            back = name;
        } else if (i < n && (pattern[i] == '?' || str_lower_char(pattern[i]) == *name)) {
            i++;
            name++;
        } else if (star < n) { /* the star takes one letter more */
            i = star + 1;
            name = ++back;
        } else {
            return false;
        }
    }
    while (i < n && pattern[i] == '*')
        i++;
    return i == n;
}

static bool is_one_of(const char *word, size_t n, const char *const *list, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (strlen(list[i]) == n && !str_ncasecmp(list[i], word, n))
            return true;
    return false;
}

/* Letters of the elements that a word is about; NULL: it is about nodes, "": it is no such word. */
static const char *letters_of(const char *word, size_t n)
{
    static const char *const voltage[] = {"v", "vm", "vp", "vdb", "vr", "vi"},
                             *const current[] = {"i", "im", "ip", "idb", "ir", "ii"},
                             *const power[] = {"p", "w"};
    static const struct {
        const char *word, *letters;
    } terminal[] = {{"id", "mjz"}, {"ig", "mjz"}, {"is", "mjzq"},
                    {"ib", "mq"},  {"ic", "q"},   {"ie", "q"}};
    if (is_one_of(word, n, voltage, VS_COUNT(voltage)))
        return NULL;
    if (is_one_of(word, n, current, VS_COUNT(current)))
        return "vlrcdbefghsw";
    if (is_one_of(word, n, power, VS_COUNT(power)))
        return "vlrcdbefghswimjzq";
    for (size_t i = 0; i < VS_COUNT(terminal); i++)
        if (strlen(terminal[i].word) == n && !str_ncasecmp(terminal[i].word, word, n))
            return terminal[i].letters;
    return "";
}

/* A name that the deck does not have: of sources that measure currents and the like. */
static bool is_made(const char *name) { return strchr(name, '#') != NULL; }

static void nodes_of(const sim *s, arena *mem, const char *item, size_t word, const char *pattern,
                     size_t n, const char ***list)
{
    const flat *f = sim_flat(s);
    for (size_t i = 1; i < vec_len(f->node); i++)
        if (!is_made(f->node[i]) && fits(pattern, n, f->node[i]))
            vec_push(*list, arena_printf(mem, "%.*s(%s)", (int)word, item, f->node[i]));
}

static void elements_of(const sim *s, arena *mem, const char *item, size_t word,
                        const char *pattern, size_t n, const char ***list)
{
    const flat *f = sim_flat(s);
    const char *letters = letters_of(item, word);
    const bool substrate = word == 2 && strchr("sS", item[1]);
    for (size_t i = 0; i < vec_len(f->inst); i++) {
        const flat_inst *in = &f->inst[i];
        if (!in->letter || !strchr(letters, in->letter) || in->is_row || is_made(in->name) ||
            (substrate && in->letter == 'q' && in->n_node < 4) || !fits(pattern, n, in->name))
            continue;
        vec_push(*list, arena_printf(mem, "%.*s(%s)", (int)word, item, in->name));
    }
}

bool ctl_wild_items(const sim *s, arena *mem, const char *item, size_t len, const char ***list)
{
    const size_t word = strcspn(item, "("), n = len > word + 2 ? len - word - 2 : 0;
    const char *pattern = item + word + 1;
    if (!n || item[len - 1] != ')' || !memchr(pattern, ')', n + 1) ||
        (!memchr(pattern, '*', n) && !memchr(pattern, '?', n)))
        return false;
    for (size_t i = 0; i < n; i++)
        if (strchr("()+-/,", pattern[i])) /* an expression */
            return false;
    const char *letters = letters_of(item, word);
    if (!letters)
        nodes_of(s, mem, item, word, pattern, n, list);
    else if (*letters)
        elements_of(s, mem, item, word, pattern, n, list);
    return !letters || *letters;
}
