/* base.h - what every part of the interface shares: statuses, messages, the simulator.
 *
 * Threads: a simulator, with all that was made from it (decks, runs, results), is used by one
 * thread at a time; it may wander from thread to thread. Different simulators are independent:
 * any number of threads may work at the same time, each with its own.
 * Callbacks are called from inside a call of the same thread. A callback may read (names, values,
 * statistics); it may not start, continue or free anything of its simulator.
 *
 * Strings that go in are copied unless a comment says otherwise. Strings and arrays that come out
 * belong to the object that gave them and live as long as its comment says. Names of nodes,
 * devices, models and parameters are found without regard to ASCII case, as in the netlist.
 *
 * Errors: a function that can fail returns a status; why it failed stands in message records. The
 * sign of a status is what the caller can do: 0 done; > 0 not finished, but nothing is wrong with
 * the call; < 0 give up. The library neither prints nor exits, starts no process, changes neither
 * signal handlers nor locale nor floating-point state, and reads nothing from the environment. */
#ifndef VSIM_BASE_H
#define VSIM_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VSIM_API __attribute__((visibility("default")))
#ifdef __cplusplus
#define VSIM_MUST_USE VSIM_API
#else
#define VSIM_MUST_USE VSIM_API __attribute__((warn_unused_result))
#endif

typedef enum vsim_status {
    VSIM_OK = 0,
    VSIM_NOCONV = 1,        /* Newton's method found no operating point */
    VSIM_STOP = 4,          /* ended in order before its end: a callback or a model asked for it */
    VSIM_PAUSED = 5,        /* the run is under way; vsim_run_go or vsim_run_until go on */
    VSIM_EINPUT = -1,       /* deck, model, name or argument is wrong */
    VSIM_ENOMEM = -2,       /* the simulator can only be freed; see vsim_settings.memory */
    VSIM_ESINGULAR = -3,    /* the matrix is singular */
    VSIM_ESTEP = -4,        /* the time step became too small */
    VSIM_EIO = -5,          /* a file could not be read or written */
    VSIM_EUNSUPPORTED = -6, /* known, but not done by this build or machine */
    VSIM_EDIED = -7         /* a process that computed a part died, and so did the next */
} vsim_status;
/* "done", "out of memory", ...: never NULL, and static. */
VSIM_API const char *vsim_status_text(vsim_status st);
/* "0.1.0": of the library that runs, which may be newer than this header. Static. */
VSIM_API const char *vsim_version(void);

/* -- messages -- */

typedef enum vsim_severity { VSIM_ERROR, VSIM_WARNING, VSIM_NOTE } vsim_severity;

/* One message as a record. It lives until the next call that may give messages. */
typedef struct vsim_message {
    vsim_severity severity;
    uint32_t code;      /* of this kind of message, whatever names and numbers are in it; it stays
                         * while the message keeps its wording */
    const char *file;   /* as the deck names it; NULL: the message has no place */
    int line, column;   /* from 1, column in bytes; 0 without a place */
    int length;         /* bytes of the place that are on this line */
    const char *source; /* the whole line of the file, without its end; NULL without a place */
    const char *text;   /* one sentence, no line end */
    const struct vsim_message *note; /* [n_note] what belongs to it: hints, origins, includes */
    size_t n_note;
} vsim_message;

/* The message as `vsim` prints it, with the source line, a caret below it and the notes: as
 * snprintf, writes at most `size` bytes and returns the length that the whole text has. */
VSIM_API size_t vsim_message_format(const vsim_message *m, char *buf, size_t size);

/* -- the simulator -- */

typedef struct vsim vsim;

typedef struct vsim_settings {
    size_t size;                /* sizeof(vsim_settings) of the caller, set by vsim_settings_init */
    const char *models;         /* folder of the standard models; NULL: that of the installation */
    const char *plugins;        /* folder of libvsim-llvm.so; NULL: that of the installation */
    const char *cache;          /* folder for kernels and compiled models; NULL: no cache on disk */
    const char *const *include; /* [n_include] folders for .include, .lib, .hdl and `include */
    size_t n_include;
    const char *const
        *macro; /* [n_macro] Verilog-A macros, "NAME" or "NAME=text"; NAME alone is 1 */
    size_t n_macro;
    int threads;         /* that work for one circuit; 0: as the deck says, or one per processor */
    int lanes;           /* instances per vector: 1, 2, 4, 8; 0: what suits the processor */
    const char *cpu;     /* LLVM's name of a processor type; NULL: this machine */
    bool interpret;      /* no machine code: models are interpreted, some 100 times slower */
    bool no_specialize;  /* one general kernel per model and analysis */
    bool start_files;    /* read .spiceinit beside the deck, in the working folder, at `home` */
    size_t memory;       /* bytes that the simulator may use; 0: no limit. Beyond it: VSIM_ENOMEM.
                          * Solvers and LLVM are not counted: docs/library.md, section 9 */
    double parallel_min; /* operations of a group from which on threads share it; 0: the default */
    /* $NAME and ~ (HOME) in file names of decks; NULL: they stay as written. The text must stay
     * valid until the call that asked returns. */
    const char *(*variable)(void *user, const char *name);
    /* Each error and warning, in order; NULL: see vsim_messages. */
    void (*message)(void *user, const vsim_message *m);
    /* Lines that models print ($strobe), without line end; NULL: they are lost. */
    void (*line)(void *user, const char *text);
    void *user; /* of these three */
} vsim_settings;
/* Defaults into *s. */
VSIM_API void vsim_settings_init_size(vsim_settings *s, size_t size);
static inline void vsim_settings_init(vsim_settings *s) { vsim_settings_init_size(s, sizeof *s); }

/* Where the command keeps what it may compute again, for a host that wants to share it in
 * settings.cache: XDG_CACHE_HOME/vsim, else HOME/.cache/vsim.
 *   xdg_cache_home, home  in   values of these variables; NULL, or no absolute path: not set
 *   path                  out  [size] the folder, which need not exist
 * false: neither is set, or the text is longer than size - 1; path is then "". Any thread. */
VSIM_API bool vsim_cache_folder(const char *xdg_cache_home, const char *home, char *path,
                                size_t size);

/* A simulator; settings are copied, NULL: defaults. It owns the compiled models, which all of its
 * decks share.
 *   s   out  NULL on VSIM_ENOMEM; else to be freed, even after an error (it holds the messages)
 * Status: VSIM_OK, VSIM_ENOMEM, VSIM_EINPUT, VSIM_EIO. */
VSIM_MUST_USE vsim_status vsim_new(vsim **s, const vsim_settings *settings);
/* Frees it with all that was made from it: pointers to decks, runs and results are then invalid.
 * *s is NULL afterwards; NULL is allowed. */
VSIM_API void vsim_free(vsim **s);

/* The errors and warnings of the last call on this simulator that could give any, [*n]; they live
 * until the next one. */
VSIM_API const vsim_message *vsim_messages(const vsim *s, size_t *n);

#ifdef __cplusplus
}
#endif
#endif
