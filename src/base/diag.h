/* diag.h - source files, spans, and the messages about the user's input.
 * Use:   diag_init, diag_add_file for each text read, diag_error/warning/note, diag_render at the
 * end. Library code records messages here and returns VS_EINPUT; only `cli` prints. Rendered:
 *     inv.cir:12:15: error: unknown model 'nmos1x'
 *        12 | M1 out in 0 0 nmos1x w=1u l=0.1u
 *           |               ^~~~~~                                       */
#ifndef DIAG_H
#define DIAG_H

#include <stdio.h>

#include "str.h"

typedef enum diag_level { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE } diag_level;

/* A piece of source text. file is an index from diag_add_file; file < 0: no place known. */
typedef struct diag_span {
    int32_t file;
    uint32_t off, len; /* bytes */
} diag_span;
#define DIAG_NOWHERE ((diag_span){-1, 0, 0})

typedef struct diag_file {
    const char *name; /* as the user wrote it */
    const char *text; /* zero-terminated copy, owned by diag; may contain any byte before len. NULL:
                         see diag_text */
    size_t len;
    diag_span from; /* the include that brought it, or DIAG_NOWHERE */
    bool gone;      /* dropped: an empty text in its place */
} diag_file;

typedef struct diag_msg {
    diag_level level;
    diag_span span;
    const char *text;
    uint32_t code; /* of its wording, whatever names and numbers are in it */
    uint64_t kind; /* of a message that says the same as others of its kind (diag_kind); 0: none */
} diag_msg;

typedef struct diag {
    arena mem;
    diag_file *file; /* vec */
    diag_msg *msg;   /* vec; a note belongs to the error or warning before it */
    uint64_t *told;  /* vec; hashes of the first texts with a kind that diag_clear removed */
    int n_error, n_warning, n_dropped;
    bool drop_notes;    /* the last error or warning was dropped, its notes are too */
    int max_error;      /* further errors are counted, not kept; default 50 */
    bool told_full;     /* it was said that there are further errors */
    const char *first;  /* text of the first error that diag_clear removed, NULL: none; */
    diag_span first_at; /* its place */
    /* What $NAME stands for in names of files, and HOME for ~. NULL, or its answer NULL: the name
     * stays as it is written. The text lives until the next question. */
    const char *(*variable)(void *user, const char *name);
    void *variable_user;
    /* The text [*len] of a file that the client has, until the next question; NULL, or its answer
     * NULL: the disk is asked. */
    const char *(*client_file)(void *user, const char *path, size_t *len);
    void *client_user;
} diag;

/* `before`: d->n_error when a stage began. true: the stage gave more errors than d keeps. Its
 * reader then stops, since nobody would see further messages. */
static inline bool diag_full(const diag *d, int before)
{
    return d->n_error - before > d->max_error;
}

static inline const char *diag_variable(const diag *d, const char *name)
{
    return d->variable ? d->variable(d->variable_user, name) : NULL;
}

void diag_init(diag *d);
void diag_fini(diag *d);

/* A text of `len` bytes under `name`; copied. Returns the file index. */
int32_t diag_add_file(diag *d, const char *name, const char *text, size_t len, diag_span from);
/* A file of `len` bytes whose text the caller has no need of: it is read when diag_text is asked
 * for it. */
int32_t diag_add_file_later(diag *d, const char *name, size_t len, diag_span from);
/* The text of a file. A file of diag_add_file_later is read here; if its length on disk has changed
 * since, the text is "" and len 0. */
const char *diag_text(const diag *d, int32_t file);
/* Whether the bytes are of a text that is there, as diag_text has it. */
bool diag_is_place(const diag *d, diag_span at);
/* Forgets file n and all files with a higher number, with their texts. No message may point to
 * them. */
void diag_forget_files(diag *d, size_t n);
/* Forgets the texts of files [from, to), for a deck that is freed. Later files keep their numbers;
 * at the end of the list files without a text are forgotten. */
void diag_drop_files(diag *d, size_t from, size_t to);
/* Whether the client has a file of this name, or the disk does. */
bool diag_has_file(const diag *d, const char *path);
/* Reads a file, of the client or from disk. Refuses directories, devices, pipes and files above 1
 * GiB.
 * Status: VS_OK and *file; VS_EIO with *why set to a static sentence ("is a directory", ...);
 * records no message itself. */
VS_MUST_USE vs_status diag_read_file(diag *d, const char *path, diag_span from, int32_t *file,
                                     const char **why);
/* The same of the file that the user named, which may be a pipe. */
VS_MUST_USE vs_status diag_read_first(diag *d, const char *path, int32_t *file, const char **why);

void diag_error(diag *d, diag_span at, const char *fmt, ...) VS_PRINTF(3, 4);
void diag_warning(diag *d, diag_span at, const char *fmt, ...) VS_PRINTF(3, 4);
/* Adds to the message before it; dropped together with it. */
void diag_note(diag *d, diag_span at, const char *fmt, ...) VS_PRINTF(3, 4);
/* Says of the last error or warning that whoever collects the messages of many runs need tell one
 * of this kind only (diag_render_marked). */
void diag_kind(diag *d, uint64_t kind);
/* A note "did you mean 'x'?" if str_nearest finds one. */
void diag_suggest(diag *d, const char *name, const char *const *cand, size_t n_cand);

/* Whether there is a message at this place. Callers that read the same text several times ask this
 * to say a thing once. */
bool diag_said(const diag *d, diag_span at);

/* For work that may fail silently: diag_try notes where d stands, diag_take_back forgets the
 * messages and counts that came since. Messages that diag_clear removed in between do not come
 * back. */
typedef struct diag_mark {
    size_t n_msg;
    int n_error, n_warning, n_dropped;
    bool drop_notes, told_full;
} diag_mark;
diag_mark diag_try(const diag *d);
void diag_take_back(diag *d, diag_mark m);
/* The errors that came since are warnings: the work goes on without what they are about. */
void diag_soften(diag *d, diag_mark m);

/* A diag beside another, for work whose messages are not the user's. It sees the files of `like`
 * (NULL: none), adds none, and keeps the first error. */
void diag_quiet_init(diag *quiet, const diag *like);
void diag_quiet_fini(diag *quiet);

/* Removes warnings and notes; errors and the notes that belong to them stay. */
void diag_keep_errors(diag *d);
/* Forgets the messages, all of which were rendered; errors stay counted. */
void diag_clear(diag *d);

/* 1-based line and column (bytes) of a span's start. */
void diag_where(const diag *d, diag_span at, int *line, int *col);
/* A message with what is shown of its place. */
typedef struct diag_record {
    diag_level level;
    uint32_t code;
    const char *file;   /* NULL: no place; line, column and length are then 0 */
    int line, column;   /* from 1, column in bytes */
    int length;         /* bytes of the place that are on this line */
    const char *source; /* the line, NULL: it is not shown */
    const char *text;
} diag_record;
/* The record of message i; its source line is in `mem`, other texts are those of d. */
diag_record diag_record_of(const diag *d, size_t i, arena *mem);
/* The k-th file (from 0) that includes the one of message i: a note without a source line. false:
 * there is none, or the message is a note itself. */
bool diag_included(const diag *d, size_t i, size_t k, diag_record *r);
/* The record as diag_render shows it: at most `size` bytes into buf, zero-terminated. Returns the
 * length that all of it has. */
size_t diag_format(const diag_record *r, char *buf, size_t size);
/* All messages with source lines and carets; lines of any length are cut around the caret;
 * control bytes are shown as '?'. */
void diag_render(const diag *d, FILE *out, bool color);
/* The same with a line in front of each error or warning: DIAG_MARK, its kind and the hash of its
 * text, in 16 hexadecimal digits each. No message has this byte. */
enum { DIAG_MARK = 1, DIAG_MARK_BYTES = 34 };
void diag_render_marked(const diag *d, FILE *out);
/* Span from the start of a to the end of b (same file). */
diag_span diag_join(diag_span a, diag_span b);

#endif
