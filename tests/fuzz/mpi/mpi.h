/* mpi.h - as much of MPI as rank_mpi.c calls, for the target `relay`, which plays the other ranks
 * (fuzz_relay.c). Names and meanings are those of the MPI standard. */
#ifndef FUZZ_MPI_H
#define FUZZ_MPI_H

#include <poll.h>
#include <signal.h>

/* The relay sleeps here between its rounds. */
#define ppoll fuzz_ppoll
int fuzz_ppoll(struct pollfd *p, nfds_t n, const struct timespec *wait, const sigset_t *mask);

enum { MPI_SUCCESS, MPI_ERR_OTHER };
enum { MPI_COMM_WORLD, MPI_BYTE, MPI_ERRORS_RETURN };
enum { MPI_ANY_SOURCE = -1 };
typedef struct fuzz_request *MPI_Request;
typedef struct fuzz_letter *MPI_Message;
typedef struct MPI_Status {
    int MPI_SOURCE;
    int n; /* bytes */
} MPI_Status;
#define MPI_STATUS_IGNORE ((MPI_Status *)0)

int MPI_Init(int *argc, char ***argv);
int MPI_Finalize(void);
int MPI_Abort(int comm, int code);
int MPI_Comm_rank(int comm, int *rank);
int MPI_Comm_size(int comm, int *size);
int MPI_Comm_set_errhandler(int comm, int handler);
int MPI_Isend(const void *bytes, int n, int type, int to, int tag, int comm, MPI_Request *request);
int MPI_Improbe(int from, int tag, int comm, int *there, MPI_Message *message, MPI_Status *st);
int MPI_Imrecv(void *bytes, int n, int type, MPI_Message *message, MPI_Request *request);
int MPI_Get_count(const MPI_Status *st, int type, int *n);
int MPI_Test(MPI_Request *request, int *done, MPI_Status *st);
int MPI_Request_free(MPI_Request *request);

#endif
