/* sandbox_calls.c - the wall around the rest: a seccomp filter with a list of the system calls that
 * a run makes; all others return EPERM. Files that are there cannot change their rights, owner or
 * times: Landlock knows nothing of these. */
#define _GNU_SOURCE
#include "sandbox_priv.h"

#ifdef __linux__
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { HAS_FILTER = 1, X32 = 0x40000000 };
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { HAS_FILTER = 1, X32 = 0x7fffffff };
#define ARCH AUDIT_ARCH_AARCH64
#else
enum { HAS_FILTER = 0, X32 = 0x7fffffff };
#define ARCH 0
#endif

/* Passed whatever their arguments are. */
static const int passed[] = {
    /* files; which of them Landlock decides */
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_pread64,
    SYS_preadv2,
    SYS_pwrite64,
    SYS_lseek,
    SYS_openat,
    SYS_close,
    SYS_fstat,
    SYS_newfstatat,
    SYS_statx,
    SYS_faccessat,
    SYS_faccessat2,
    SYS_readlinkat,
    SYS_getdents64,
    SYS_getcwd,
    SYS_mkdirat,
    SYS_unlinkat,
    SYS_renameat,
    SYS_renameat2,
    SYS_ftruncate,
    SYS_truncate,
    SYS_fsync,
    SYS_fdatasync,
    SYS_flock,
    SYS_fcntl,
    SYS_dup,
    SYS_dup3,
    SYS_pipe2,
    SYS_ppoll,
    SYS_pselect6,
    SYS_statfs,
    SYS_fstatfs,
    SYS_fadvise64,
    SYS_fallocate,
    SYS_umask,
    /* memory */
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_madvise,
    SYS_brk,
    SYS_msync,
    SYS_mincore,
    SYS_membarrier,
    /* threads and processes of its own */
    SYS_exit,
    SYS_exit_group,
    SYS_wait4,
    SYS_waitid,
    SYS_kill,
    SYS_tgkill,
    SYS_gettid,
    SYS_getpid,
    SYS_getppid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getpgid,
    SYS_getsid,
    SYS_futex,
    SYS_set_robust_list,
    SYS_get_robust_list,
    SYS_set_tid_address,
    SYS_rseq,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_getcpu,
    SYS_getrusage,
    SYS_getrlimit,
    SYS_sysinfo,
    SYS_uname,
    /* signals, clocks, chance */
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_rt_sigsuspend,
    SYS_rt_sigtimedwait,
    SYS_sigaltstack,
    SYS_restart_syscall,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettimeofday,
    SYS_times,
    SYS_setitimer,
    SYS_getrandom,
#ifdef __x86_64__ /* older names of the same */
    SYS_open,
    SYS_stat,
    SYS_lstat,
    SYS_access,
    SYS_readlink,
    SYS_mkdir,
    SYS_unlink,
    SYS_rmdir,
    SYS_rename,
    SYS_dup2,
    SYS_pipe,
    SYS_poll,
    SYS_select,
    SYS_fork,
    SYS_vfork,
    SYS_getpgrp,
    SYS_time,
    SYS_alarm,
    SYS_pause,
    SYS_arch_prctl,
#endif
};

/* Passed if an argument has one of these values, or none of these bits. */
typedef struct condition {
    int call, argument;
    uint32_t value; /* of the low 32 bits */
    bool bits;      /* the call passes unless one of these bits is set */
} condition;

enum { NEW_NAMESPACES = 0x7e020000 }; /* CLONE_NEW* but time, which only clone3 has */
/* What terminals and pipes are asked: not TIOCSTI, which types for the user. */
static const condition conditions[] = {
    {SYS_clone, 0, NEW_NAMESPACES, true},
    {SYS_ioctl, 1, TCGETS, false},
    {SYS_ioctl, 1, 0x802c542a, false}, /* TCGETS2 */
    {SYS_ioctl, 1, TIOCGWINSZ, false},
    {SYS_ioctl, 1, FIONREAD, false},
    {SYS_prctl, 0, PR_SET_PDEATHSIG, false},
    {SYS_prctl, 0, PR_SET_NAME, false},
    {SYS_prctl, 0, 0x53564d41, false}, /* PR_SET_VMA: names of the C library for its memory */
    {SYS_prlimit64, 0, 0, false},      /* its own limits; those of others would need a process */
};

enum { MOST = 2 * VS_COUNT(passed) + 5 * VS_COUNT(conditions) + 16 };

typedef struct program {
    struct sock_filter code[MOST];
    size_t n;
} program;

static void put(program *p, uint16_t op, uint32_t k, uint8_t if_true, uint8_t if_false)
{
    p->code[p->n++] = (struct sock_filter){op, if_true, if_false, k};
}

static void load(program *p, size_t at) { put(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)at, 0, 0); }
static void answer(program *p, uint32_t what) { put(p, BPF_RET | BPF_K, what, 0, 0); }

static void put_condition(program *p, const condition *c)
{
    const size_t low = offsetof(struct seccomp_data, args) + 8 * (size_t)c->argument; /* low half */
    put(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)c->call, 0, 4);
    load(p, low);
    if (c->bits)
        put(p, BPF_JMP | BPF_JSET | BPF_K, c->value, 1, 0);
    else
        put(p, BPF_JMP | BPF_JEQ | BPF_K, c->value, 0, 1);
    answer(p, SECCOMP_RET_ALLOW);
    load(p, offsetof(struct seccomp_data, nr));
}

/* Another architecture's calls have other numbers: such a program ends. clone3 hides its flags
 * behind a pointer; told that there is none, the C library takes clone. */
static void build(program *p)
{
    load(p, offsetof(struct seccomp_data, arch));
    put(p, BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0);
    answer(p, SECCOMP_RET_KILL_PROCESS);
    load(p, offsetof(struct seccomp_data, nr));
    put(p, BPF_JMP | BPF_JGE | BPF_K, X32, 0, 1);
    answer(p, SECCOMP_RET_KILL_PROCESS);
    for (size_t i = 0; i < VS_COUNT(passed); i++) {
        put(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)passed[i], 0, 1);
        answer(p, SECCOMP_RET_ALLOW);
    }
    for (size_t i = 0; i < VS_COUNT(conditions); i++)
        put_condition(p, &conditions[i]);
    put(p, BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1);
    answer(p, SECCOMP_RET_ERRNO | ENOSYS);
    answer(p, SECCOMP_RET_ERRNO | EPERM);
}

vs_status sandbox_calls(char why[SANDBOX_WHY])
{
    program p = {.n = 0};
    if (!HAS_FILTER) {
        snprintf(why, SANDBOX_WHY, "the list of system calls is for x86-64 and AArch64");
        return VS_EUNSUPPORTED;
    }
    build(&p);
    const struct sock_fprog filter = {.len = (unsigned short)p.n, .filter = p.code};
    if (!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter))
        return VS_OK;
    snprintf(why, SANDBOX_WHY, "this kernel has no seccomp filters: %s", strerror(errno));
    return VS_EUNSUPPORTED;
}
#endif
