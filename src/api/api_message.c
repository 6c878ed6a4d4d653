/* api_message.c - messages of a call as records (base.h). */
#include <string.h>

#include "api_priv.h"

void api_forget_messages(vsim *s)
{
    vec_clear(s->message);
    arena_fini(&s->message_mem);
    arena_init(&s->message_mem);
    diag_clear(&s->d);
    s->d.n_error = s->d.n_warning = 0;
    s->d.told_full = s->d.drop_notes = false;
}

static const char *copy(vsim *s, const char *text)
{
    return text ? arena_strndup(&s->message_mem, text, strlen(text)) : NULL;
}

static vsim_message message_of(vsim *s, const diag_record *r)
{
    static const vsim_severity severity[] = {
        [DIAG_ERROR] = VSIM_ERROR, [DIAG_WARNING] = VSIM_WARNING, [DIAG_NOTE] = VSIM_NOTE};
    return (vsim_message){.severity = severity[r->level],
                          .code = r->code,
                          .file = copy(s, r->file),
                          .line = r->line,
                          .column = r->column,
                          .length = r->length,
                          .source = r->source, /* in message_mem already */
                          .text = copy(s, r->text)};
}

/* Message i with those that belong to it: where it was included from, and the notes behind it.
 * Returns the number of the next message. */
static size_t take_message(vsim *s, size_t i)
{
    diag_record r = diag_record_of(&s->d, i, &s->message_mem);
    vsim_message m = message_of(s, &r), *note = NULL;
    for (size_t k = 0; diag_included(&s->d, i, k, &r); k++)
        vec_push(note, message_of(s, &r));
    for (i++; i < vec_len(s->d.msg) && s->d.msg[i].level == DIAG_NOTE; i++) {
        r = diag_record_of(&s->d, i, &s->message_mem);
        vec_push(note, message_of(s, &r));
    }
    m.n_note = vec_len(note);
    vec_freeze(&s->message_mem, note);
    m.note = note;
    vec_push(s->message, m);
    return i;
}

static void say_full(vsim *s)
{
    vsim_message m = {.severity = VSIM_ERROR,
                      .text = "there are further errors; they are left out"};
    m.code = (uint32_t)str_hash(m.text, strlen(m.text));
    vec_push(s->message, m);
}

void api_take_messages(vsim *s)
{
    const size_t from = vec_len(s->message);
    for (size_t i = 0; i < vec_len(s->d.msg);)
        i = take_message(s, i);
    if (s->d.n_dropped)
        say_full(s);
    diag_clear(&s->d);
    for (size_t i = from; s->set.message && i < vec_len(s->message); i++) {
        api_leave_to_host(s);
        s->set.message(s->set.user, &s->message[i]);
        api_back_from_host(s);
    }
}

const vsim_message *vsim_messages(const vsim *s, size_t *n)
{
    *n = s->dead ? 1 : vec_len(s->message);
    return s->dead ? &s->no_memory : s->message;
}

size_t vsim_message_format(const vsim_message *m, char *buf, size_t size)
{
    static const diag_level level[] = {
        [VSIM_ERROR] = DIAG_ERROR, [VSIM_WARNING] = DIAG_WARNING, [VSIM_NOTE] = DIAG_NOTE};
    const diag_record r = {.level = level[m->severity],
                           .file = m->file,
                           .line = m->line,
                           .column = m->column,
                           .length = m->length,
                           .source = m->source,
                           .text = m->text};
    size_t n = diag_format(&r, buf, size);
    for (size_t i = 0; i < m->n_note; i++) {
        const size_t used = n < size ? n : size;
        n += vsim_message_format(&m->note[i], size ? buf + used : NULL, size - used);
    }
    return n;
}
