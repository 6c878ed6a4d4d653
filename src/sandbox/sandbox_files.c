/* sandbox_files.c - the wall around files: Landlock. Reading stays as it is. The numbers are those
 * of the kernel's interface, which never change, so that headers of any age do. */
#define _GNU_SOURCE
#include "sandbox_priv.h"

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CREATE_RULESET = 444, ADD_RULE, RESTRICT_SELF }; /* on every architecture */
enum { ASK_VERSION = 1, RULE_BELOW = 1 };

/* Rights of LANDLOCK_ACCESS_FS_*, NET_* and SCOPE_*. */
enum {
    EXECUTE = 1 << 0,
    WRITE_FILE = 1 << 1,
    REMOVE_DIR = 1 << 4,
    REMOVE_FILE = 1 << 5,
    MAKE_CHAR = 1 << 6,
    MAKE_DIR = 1 << 7,
    MAKE_REG = 1 << 8,
    MAKE_SOCK = 1 << 9,
    MAKE_FIFO = 1 << 10,
    MAKE_BLOCK = 1 << 11,
    MAKE_SYM = 1 << 12,
    REFER = 1 << 13,     /* version 2: rename from folder to folder; before, always refused */
    TRUNCATE = 1 << 14,  /* 3 */
    IOCTL_DEV = 1 << 15, /* 5 */
    NET_BIND_TCP = 1 << 0,
    NET_CONNECT_TCP = 1 << 1, /* 4 */
    SCOPE_SOCKET = 1 << 0,
    SCOPE_SIGNAL = 1 << 1 /* 6 */
};

/* A version below can say nothing of truncation, by which a file outside would be lost. */
enum { OLDEST = 3 };

typedef struct ruleset {
    uint64_t files, net, scope; /* rights that are refused from now on but for the rules */
} ruleset;
typedef struct __attribute__((packed)) rule {
    uint64_t allowed;
    int32_t fd;
} rule;

static ruleset rights(long version)
{
    ruleset r = {.files = EXECUTE | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_CHAR | MAKE_DIR |
                          MAKE_REG | MAKE_SOCK | MAKE_FIFO | MAKE_BLOCK | MAKE_SYM | REFER |
                          TRUNCATE};
    if (version >= 4)
        r.net = NET_BIND_TCP | NET_CONNECT_TCP;
    if (version >= 5)
        r.files |= IOCTL_DEV;
    if (version >= 6)
        r.scope = SCOPE_SOCKET | SCOPE_SIGNAL;
    return r;
}

/* Older kernels refuse a longer struct. */
static size_t size_of(long version)
{
    return version >= 6 ? sizeof(ruleset) : version >= 4 ? 16 : 8;
}

static bool allow(int set, int fd, uint64_t what)
{
    const rule r = {.allowed = what, .fd = fd};
    return !syscall(ADD_RULE, set, RULE_BELOW, &r, 0);
}

static vs_status allow_folder(int set, const char *path, char why[SANDBOX_WHY])
{
    const int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    const bool ok = fd >= 0 && allow(set, fd,
                                     WRITE_FILE | TRUNCATE | MAKE_REG | MAKE_DIR | REMOVE_FILE |
                                         REMOVE_DIR | REFER);
    const int error = errno;
    if (fd >= 0)
        close(fd);
    if (!ok)
        snprintf(why, SANDBOX_WHY, "folder '%.200s': %s", path, strerror(error));
    return ok ? VS_OK : VS_EIO;
}

/* /dev/null, and files behind the standard streams, which /dev/stdout opens once more. A pipe has
 * no place in a folder and needs no rule. */
static void allow_streams(int set)
{
    const int null = open("/dev/null", O_PATH | O_CLOEXEC);
    if (null >= 0) {
        (void)allow(set, null, WRITE_FILE | TRUNCATE);
        close(null);
    }
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        (void)allow(set, fd, WRITE_FILE | TRUNCATE);
}

vs_status sandbox_files(const char *const *folder, size_t n, char why[SANDBOX_WHY])
{
    const long version = syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
    if (version < OLDEST) {
        snprintf(why, SANDBOX_WHY, "this kernel has no Landlock of version %d or later (%s)",
                 OLDEST, version < 0 ? strerror(errno) : "it is older");
        return VS_EUNSUPPORTED;
    }
    const ruleset r = rights(version);
    const int set = (int)syscall(CREATE_RULESET, &r, size_of(version), 0);
    vs_status st = set < 0 ? VS_EUNSUPPORTED : VS_OK;
    for (size_t i = 0; i < n && !st; i++)
        st = allow_folder(set, folder[i], why);
    if (!st)
        allow_streams(set);
    if (!st && syscall(RESTRICT_SELF, set, 0))
        st = VS_EUNSUPPORTED;
    if (st == VS_EUNSUPPORTED)
        snprintf(why, SANDBOX_WHY, "Landlock: %s", strerror(errno));
    if (set >= 0)
        close(set);
    return st;
}
#endif
