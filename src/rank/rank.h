/* rank.h - the processes that an MPI launcher started, seen as senders and receivers of frames
 * (docs/sweeps.md).
 * Use:    rank_look; if it says yes, rank_begin, before there are threads; then rank_send and
 *         rank_receive. There is no end to call: the launched process ends when the simulator does.
 *
 * Each rank is two processes. The one that the launcher started carries frames between MPI and a
 * socket and sleeps in between; it is the only one that loads MPI (rank_mpi.c in the plug-in
 * libvsim-mpi.so). The simulator is its child, forked before MPI exists, and knows nothing of MPI:
 * it may fork, crash or run out of memory without harm to the launcher's job. The first process
 * tells rank 0 that a simulator is gone, when it has ended or nothing was heard of its rank for
 * RANK_SILENCE seconds (rank_opt). */
#ifndef RANK_H
#define RANK_H

#include "vs.h"

enum {
    RANK_SILENCE = 30,
    RANK_START = 10,     /* ranks other than 0 wait RANK_START * RANK_SILENCE s in MPI_Init */
    RANK_KEEPING = 35,   /* s, that a simulator which writes checkpoints has for its end */
    RANK_PIECE = 1 << 20 /* bytes, of a long message */
};

/* Kinds of frames. swp_ranks.c gives most of them their meaning. */
typedef enum rank_kind {
    RANK_GO,     /* rank 0 to all: what it computes */
    RANK_HELLO,  /* to rank 0: ready */
    RANK_POINT,  /* from rank 0: int64_t [] points to compute */
    RANK_RESULT, /* to rank 0: record of a point */
    RANK_DATA,   /* to rank 0: its results, in pieces */
    RANK_DIED,   /* to rank 0: a worker ended with its point */
    RANK_GONE,   /* the rank can do no more; text why */
    RANK_KEEPS,  /* of a simulator to its first process: its end may take RANK_KEEPING */
    RANK_PLACE,  /* of the first process to its simulator: int32_t rank, size */
    RANK_ALIVE,
    RANK_END,
    RANK_BYE,
    RANK_FINAL,
    RANK_ABANDON /* between the first processes */
} rank_kind;

typedef struct rank_frame {
    int32_t kind;
    int32_t rank; /* to whom (-1: all others), or from whom */
    int64_t n;    /* bytes that follow */
} rank_frame;

typedef struct rank_link {
    int rank, size;
    int fd; /* readable when a frame is there */
    int go; /* ranks other than 0: 1: there is a sweep, whose GO is the last frame received; -1:
               there is none; 0: not known yet */
    rank_frame head;
    char *data; /* vec [head.n], zero-terminated: of the last rank_receive */
} rank_link;

/* Reads rank and size from the variables of MPI launchers (Open MPI, PMI, PMIx, Slurm), which
 * `variable` looks up. false: no launcher started this process, or this process alone; both are -1.
 */
typedef const char *rank_variable(void *user, const char *name);
bool rank_look(rank_variable *variable, void *user, int *rank, int *size);
typedef struct rank_opt {
    int rank, size;         /* of rank_look */
    const char *plugin_dir; /* of plugin_open; NULL: where this program is */
    double silence;         /* s; 0: RANK_SILENCE */
} rank_opt;
/* Forks the simulator and returns there. The launched process does not return; it ends with the
 * simulator's exit code. Simulators of ranks other than 0 have no standard output; if they end with
 * an error, rank 0 prints what they wrote to standard error.
 *   o    rank < 0: MPI tells rank and size
 *   why  out  a sentence, if the status is not VS_OK
 * Status: VS_OK; VS_EUNSUPPORTED: this build has no MPI, or none can be loaded; VS_EIO. */
VS_MUST_USE vs_status rank_begin(rank_link *l, const rank_opt *o, char why[300]);
/* Sends n bytes to a rank (-1: all others); receives the next frame into l->head, l->data, waiting
 * for it. false: the other end is gone. */
bool rank_send(const rank_link *l, int to, rank_kind kind, const void *data, size_t n);
bool rank_receive(rank_link *l);

/* -- the plug-in -- */
typedef struct rank_relay_opt {
    int fd;         /* to the simulator */
    int pid;        /* of the simulator */
    int rank, size; /* as the environment says; rank < 0: it does not */
    int said;       /* file with the simulator's standard error */
    double silence; /* s */
} rank_relay_opt;
typedef int rank_relay(const rank_relay_opt *o); /* exit code */
/* The same, for tests with an MPI of their own: returns what vsim_rank_relay would.
 *   at_once  out  whether the process must end by _exit: MPI was not finalized */
int rank_relay_run(const rank_relay_opt *o, bool *at_once);
#define RANK_RELAY_SYMBOL "vsim_rank_relay"
#define RANK_VERSION_SYMBOL "vsim_rank_version"

#endif
