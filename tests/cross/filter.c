/* filter.c - the list of system calls of a sandbox, for the processor that this file is compiled
 * for: the program of src/sandbox/sandbox_calls.c is built, checked as Linux checks it, and run by
 * an interpreter on calls of this and of other processors. Without Check and libraries, so that a
 * compiler for another processor and qemu will do (aarch64.py).
 * Source: Linux, Documentation/userspace-api/seccomp_filter.rst, net/core/filter.c
 * (bpf_check_classic), arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h */
#include "../../src/sandbox/sandbox_calls.c"

#include <stdlib.h>

static int n_wrong;

static void expect(bool right, const char *what, long call)
{
    if (right)
        return;
    fprintf(stderr, "%s (%ld)\n", what, call);
    n_wrong++;
}

/* Every jump leads forward within the program, only words of seccomp_data are read, and the last
 * instruction returns: so each path ends. */
static void check_form(const program *p)
{
    expect(p->n > 0 && p->n <= BPF_MAXINSNS && p->n <= MOST, "length", (long)p->n);
    for (size_t i = 0; i < p->n; i++) {
        const struct sock_filter *f = &p->code[i];
        const size_t left = p->n - i - 1;
        switch (f->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            expect(f->k % 4 == 0 && f->k < sizeof(struct seccomp_data), "load", (long)i);
            break;
        case BPF_JMP | BPF_JEQ | BPF_K:
        case BPF_JMP | BPF_JGE | BPF_K:
        case BPF_JMP | BPF_JSET | BPF_K:
            expect(f->jt < left && f->jf < left, "jump", (long)i);
            break;
        case BPF_RET | BPF_K: break;
        default: expect(false, "instruction", (long)i);
        }
    }
    expect(p->n && p->code[p->n - 1].code == (BPF_RET | BPF_K), "end", (long)p->n);
}

static uint32_t answer_to(const program *p, const struct seccomp_data *d)
{
    uint32_t a = 0;
    for (size_t i = 0; i < p->n; i++) {
        const struct sock_filter *f = &p->code[i];
        switch (f->code) {
        case BPF_LD | BPF_W | BPF_ABS: memcpy(&a, (const char *)d + f->k, sizeof a); break;
        case BPF_JMP | BPF_JEQ | BPF_K: i += a == f->k ? f->jt : f->jf; break;
        case BPF_JMP | BPF_JGE | BPF_K: i += a >= f->k ? f->jt : f->jf; break;
        case BPF_JMP | BPF_JSET | BPF_K: i += a & f->k ? f->jt : f->jf; break;
        default: return f->k;
        }
    }
    return SECCOMP_RET_KILL_THREAD;
}

static uint32_t ask(const program *p, int call, int argument, uint64_t value)
{
    struct seccomp_data d = {.nr = call, .arch = ARCH};
    d.args[argument] = value;
    return answer_to(p, &d);
}

enum { ALLOW = SECCOMP_RET_ALLOW, NOT = SECCOMP_RET_ERRNO | EPERM };

/* Numbers as the kernel's tables have them, not as the headers say. */
#if defined(__x86_64__)
static const int pass[] = {0, 1, 3, 5, 8, 9, 10, 11, 12, 39, 60, 61, 202, 228, 231, 257, 263, 318};
static const int refuse[] = {41,  42,  43,  49,  53,  59,  83 + 3, 88,  90,  91,  92,  93,  94,
                             101, 105, 106, 133, 134, 135, 155,    160, 161, 165, 166, 169, 175,
                             246, 250, 259, 260, 265, 266, 268,    272, 298, 304, 308, 310, 311,
                             313, 321, 322, 323, 425, 426, 427,    434, 438, 444, 450};
enum { CLONE = 56, IOCTL = 16, PRCTL = 157, PRLIMIT = 302 };
#elif defined(__aarch64__)
static const int pass[] = {25, 46, 56,  57,  62,  63,  64,  80,  93,
                           94, 98, 113, 172, 214, 215, 222, 226, 278};
static const int refuse[] = {33,  36,  37,  39,  40,  41,  51,  52,  53,  54,  55,  88,
                             89,  97,  104, 105, 106, 117, 142, 144, 146, 161, 170, 198,
                             199, 200, 201, 203, 217, 221, 240, 241, 264, 265, 268, 270,
                             271, 273, 280, 281, 282, 425, 426, 427, 434, 438, 444, 450};
enum { CLONE = 220, IOCTL = 29, PRCTL = 167, PRLIMIT = 261 };
#endif

static void check_conditions(const program *p)
{
    static const struct {
        int call, argument;
        uint64_t value;
        uint32_t answer;
    } each[] = {
        {CLONE, 0, 0x3d0f00, ALLOW},      /* a thread */
        {CLONE, 0, 0x1200011, ALLOW},     /* fork */
        {CLONE, 0, 0x10000000 | 17, NOT}, /* CLONE_NEWUSER */
        {CLONE, 0, 0x00020000 | 17, NOT}, /* CLONE_NEWNS */
        {CLONE, 0, 0x40000000 | 17, NOT}, /* CLONE_NEWNET */
        {IOCTL, 1, 0x5401, ALLOW},        /* TCGETS */
        {IOCTL, 1, 0x5412, NOT},          /* TIOCSTI */
        {IOCTL, 1, 0x5413, ALLOW},        /* TIOCGWINSZ */
        {IOCTL, 1, 0x541b, ALLOW},        /* FIONREAD */
        {IOCTL, 1, 0x802c542a, ALLOW},    /* TCGETS2 */
        {IOCTL, 1, 0x541c, NOT},          /* TIOCLINUX */
        {PRCTL, 0, 1, ALLOW},             /* PR_SET_PDEATHSIG */
        {PRCTL, 0, 15, ALLOW},            /* PR_SET_NAME */
        {PRCTL, 0, 4, NOT},               /* PR_SET_DUMPABLE */
        {PRCTL, 0, 22, NOT},              /* PR_SET_SECCOMP */
        {PRLIMIT, 0, 0, ALLOW},           /* its own */
        {PRLIMIT, 0, 1, NOT},             /* of process 1 */
    };
    for (size_t i = 0; i < VS_COUNT(each); i++)
        expect(ask(p, each[i].call, each[i].argument, each[i].value) == each[i].answer,
               "a condition", (long)i);
}

/* No other number passes than those of the list, each of them once. */
static void check_all(const program *p)
{
    size_t n = 0;
    for (int call = 0; call < 2000; call++) {
        const uint32_t a = ask(p, call, 5, 0);
        bool listed = call == IOCTL || call == CLONE || call == PRCTL || call == PRLIMIT;
        for (size_t i = 0; i < VS_COUNT(passed); i++)
            listed |= passed[i] == call;
        n += a == ALLOW;
        expect(a == ALLOW ? listed : a == (call == 435 ? (SECCOMP_RET_ERRNO | ENOSYS) : NOT),
               "any call", call);
    }
    expect(n >= VS_COUNT(passed), "calls that pass", (long)n);
}

static void check_others(const program *p)
{
    static const uint32_t other[] = {AUDIT_ARCH_X86_64,  AUDIT_ARCH_I386,        AUDIT_ARCH_ARM,
                                     AUDIT_ARCH_AARCH64, AUDIT_ARCH_AARCH64 ^ 1, 0};
    for (size_t i = 0; i < VS_COUNT(other); i++)
        for (int call = 0; call < 600; call++) {
            const struct seccomp_data d = {.nr = call, .arch = other[i]};
            expect((answer_to(p, &d) == SECCOMP_RET_KILL_PROCESS) == (other[i] != ARCH),
                   "another processor", (long)other[i]);
        }
    expect(ask(p, X32 | 1, 0, 0) == SECCOMP_RET_KILL_PROCESS, "x32, or beyond all", X32);
    expect(ask(p, -1, 0, 0) == SECCOMP_RET_KILL_PROCESS, "a negative number", -1);
}

int main(void)
{
    program p = {.n = 0};
    build(&p);
    check_form(&p);
    check_conditions(&p);
    check_all(&p);
    check_others(&p);
    for (size_t i = 0; i < VS_COUNT(pass); i++)
        expect(ask(&p, pass[i], 0, 0) == ALLOW, "a call that a run needs", pass[i]);
    for (size_t i = 0; i < VS_COUNT(refuse); i++)
        expect(ask(&p, refuse[i], 0, 0) == NOT, "a call that gives rights", refuse[i]);
    printf("%zu instructions for %#x, %d wrong\n", p.n, (unsigned)ARCH, n_wrong);
    return n_wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
