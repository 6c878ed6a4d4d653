/* rank.c - the simulator's end of a rank: the environment of launchers, the fork, frames. See
 * rank.h. */
#include "rank.h"
#include "rank_build.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "io.h"
#include "vec.h"

#define MODULE_FILE "libvsim-mpi.so"
enum { MOST_RANKS = 1 << 20 };
static const int64_t MOST_BYTES = INT64_C(1) << 34;

static int number_of(const char *text)
{
    char *end;
    const long n = text ? strtol(text, &end, 10) : -1;
    return !text || end == text || *end || n < 0 || n > MOST_RANKS ? -1 : (int)n;
}

bool rank_look(rank_variable *variable, void *user, int *rank, int *size)
{
    static const char *const pair[][2] = {
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, /* Open MPI */
        {"PMI_RANK", "PMI_SIZE"},              /* MPICH and what comes of it, srun --mpi=pmi2 */
        {"PMIX_RANK", "SLURM_STEP_NUM_TASKS"}, /* srun --mpi=pmix */
    };
    for (size_t i = 0; i < VS_COUNT(pair); i++) {
        *rank = number_of(variable(user, pair[i][0]));
        *size = number_of(variable(user, pair[i][1]));
        if (*rank >= 0 && *size > 1 && *rank < *size)
            return true;
    }
    *rank = *size = -1;
    return false;
}

static rank_relay *open_relay(const char *plugin_dir, char why[300])
{
    rank_relay *relay = NULL;
    if (!RANK_HAVE_MPI) {
        snprintf(why, 300, "this vsim was built without MPI");
        return NULL;
    }
    static const char *const place[] = {".",           "vsim",      RANK_FROM_BIN, "src/rank",
                                        "../src/rank", RANK_LIBDIR, NULL};
    void *lib = plugin_open(MODULE_FILE, plugin_dir, place, true);
    const char *version = lib ? dlsym(lib, RANK_VERSION_SYMBOL) : NULL;
    if (!lib)
        snprintf(why, 300, MODULE_FILE " cannot be loaded: %s",
                 dlerror() ? "it, or a library that it needs, is missing" : "not found");
    else if (!version || strcmp(version, RANK_VERSION))
        snprintf(why, 300, MODULE_FILE " is of another version");
    else
        *(void **)&relay = dlsym(lib, RANK_RELAY_SYMBOL);
    return relay;
}

/* Of the child, the simulator. */
static vs_status become_simulator(rank_link *l, int said, pid_t parent, char why[300])
{
#ifdef __linux__
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != parent)
        _exit(0);
    if (l->rank < 0) {
        int32_t place[2];
        if (!rank_receive(l) || l->head.kind != RANK_PLACE || l->head.n != sizeof place)
            _exit(1); /* MPI has said why */
        memcpy(place, l->data, sizeof place);
        l->rank = place[0];
        l->size = place[1];
    }
    if (l->rank > 0) {
        const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0 || dup2(said, STDERR_FILENO) < 0) {
            snprintf(why, 300, "standard streams: %s", strerror(errno));
            return VS_EIO;
        }
        close(nowhere);
    }
    close(said);
    return VS_OK;
}

vs_status rank_begin(rank_link *l, const rank_opt *o, char why[300])
{
    int pair[2];
    rank_relay *relay = open_relay(o->plugin_dir, why);
    if (!relay)
        return VS_EUNSUPPORTED;
    FILE *said = tmpfile();
    const pid_t self = getpid();
    if (!said || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
        snprintf(why, 300, "no socket between the processes of a rank: %s", strerror(errno));
        return VS_EIO;
    }
    fflush(NULL);
    const pid_t pid = fork();
    if (pid < 0) {
        snprintf(why, 300, "no process for the simulator: %s", strerror(errno));
        return VS_EIO;
    }
    if (pid) {
        close(pair[1]);
        exit(relay(&(rank_relay_opt){.fd = pair[0],
                                     .pid = pid,
                                     .rank = o->rank,
                                     .size = o->size,
                                     .said = fileno(said),
                                     .silence = o->silence > 0 ? o->silence : RANK_SILENCE}));
    }
    close(pair[0]);
    *l = (rank_link){.rank = o->rank, .size = o->size, .fd = pair[1]};
    return become_simulator(l, fileno(said), self, why);
}

bool rank_send(const rank_link *l, int to, rank_kind kind, const void *data, size_t n)
{
    const rank_frame f = {.kind = kind, .rank = to, .n = (int64_t)n};
    return io_write(l->fd, &f, sizeof f) && io_write(l->fd, data, n);
}

bool rank_receive(rank_link *l)
{
    if (!io_read(l->fd, &l->head, sizeof l->head) || l->head.n < 0 || l->head.n > MOST_BYTES)
        return false;
    vec_clear(l->data);
    vec_extend(l->data, (size_t)l->head.n + 1);
    l->data[l->head.n] = 0;
    return io_read(l->fd, l->data, (size_t)l->head.n);
}
