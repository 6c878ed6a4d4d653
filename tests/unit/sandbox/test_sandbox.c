/* test_sandbox.c - what is left of a process's rights, tried in a child. */
#define _GNU_SOURCE
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite.h"
#include "sandbox.h"

static char top[] = "/tmp/vsim-sandbox-XXXXXX"; /* top/in may be written, top/out not */
enum { NONE = 0, NOT_HAD = 77 };

/* The errno of a call that failed, NONE if it did not. */
static int why(long result) { return result < 0 ? errno : NONE; }

static void path_of(char path[200], const char *name) { snprintf(path, 200, "%s/%s", top, name); }

static int opened(const char *name, int flags)
{
    char path[200];
    path_of(path, name);
    const int fd = open(path, flags, 0666), e = why(fd);
    if (fd >= 0)
        close(fd);
    return e;
}

static int renamed(const char *from, const char *to)
{
    char a[200], b[200];
    path_of(a, from);
    path_of(b, to);
    return why(rename(a, b));
}

static int on_path(const char *name, int (*call)(const char *))
{
    char path[200];
    path_of(path, name);
    return why(call(path));
}

static void put_file(const char *name)
{
    char path[200];
    path_of(path, name);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs("precious\n", f);
    fclose(f);
}

static void make_folders(void)
{
    static const char *const folder[] = {"in", "out"};
    char path[200];
    ck_assert_ptr_nonnull(mkdtemp(top));
    for (size_t i = 0; i < VS_COUNT(folder); i++) {
        path_of(path, folder[i]);
        ck_assert_int_eq(mkdir(path, 0700), 0);
    }
    put_file("in/mine");
    put_file("out/theirs");
    path_of(path, "in/link");
    ck_assert_int_eq(symlink("../out/theirs", path), 0);
}

static void remove_folders(void)
{
    static const char *const name[] = {"in/mine", "in/new",     "in/other", "in/link", "in/sub",
                                       "in",      "out/theirs", "out/new",  "out",     ""};
    char path[200];
    for (size_t i = 0; i < VS_COUNT(name); i++) {
        path_of(path, name[i]);
        remove(path);
    }
    strcpy(top, "/tmp/vsim-sandbox-XXXXXX");
}

/* body() in a child within the sandbox: its number is that of the first expectation that failed. */
static int inside(int (*body)(void))
{
    make_folders();
    fflush(NULL);
    const pid_t pid = fork();
    if (!pid) {
        char in[200], text[SANDBOX_WHY];
        path_of(in, "in");
        const char *folder[] = {in};
        const vs_status st = sandbox_enter(folder, 1, text);
        if (st == VS_EUNSUPPORTED)
            fprintf(stderr, "not tried: %s\n", text);
        _exit(st == VS_EUNSUPPORTED ? NOT_HAD : st ? 99 : body());
    }
    int status = -1;
    waitpid(pid, &status, 0);
    remove_folders();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

#define EXPECT(line, is, should) \
    if ((is) != (should))        \
        return line;

static int make_folder(const char *path) { return mkdir(path, 0700); }
static int cut(const char *path) { return truncate(path, 0); }
static int open_rights(const char *path) { return chmod(path, 0777); }

static int files(void)
{
    EXPECT(1, opened("in/new", O_WRONLY | O_CREAT), NONE)
    EXPECT(2, opened("in/mine", O_WRONLY | O_TRUNC), NONE)
    EXPECT(3, renamed("in/new", "in/other"), NONE)
    EXPECT(4, on_path("in/other", unlink), NONE)
    EXPECT(5, on_path("in/sub", make_folder), NONE)
    EXPECT(6, opened("out/theirs", O_RDONLY), NONE)
    EXPECT(7, opened("out/theirs", O_WRONLY), EACCES)
    EXPECT(8, opened("in/link", O_WRONLY), EACCES)
    EXPECT(9, opened("out/new", O_WRONLY | O_CREAT), EACCES)
    EXPECT(10, opened("in/../out/new", O_WRONLY | O_CREAT), EACCES)
    EXPECT(11, on_path("out/theirs", unlink), EACCES)
    EXPECT(12, on_path("out/theirs", cut), EACCES)
    EXPECT(13, on_path("out/sub", make_folder), EACCES)
    EXPECT(14, on_path("out/theirs", open_rights), EPERM)
    EXPECT(15, renamed("in/mine", "out/new") != NONE, true)
    EXPECT(16, renamed("out/theirs", "in/new") != NONE, true)
    EXPECT(17, why(open("/proc/self/mem", O_RDWR)), EACCES)
    EXPECT(18, why(open("/dev/null", O_WRONLY)), NONE)
    return 0;
}

static int refused_calls(void)
{
    char *const arg[] = {"true", NULL};
    char type = 'x';
    struct rlimit limit;
    EXPECT(1, why(execv("/bin/true", arg)), EPERM)
    EXPECT(2, why(socket(AF_INET, SOCK_STREAM, 0)), EPERM)
    EXPECT(3, why(socket(AF_UNIX, SOCK_STREAM, 0)), EPERM)
    EXPECT(4, why(ptrace(PTRACE_ATTACH, getppid(), NULL, NULL)), EPERM)
    EXPECT(5, why(ioctl(STDIN_FILENO, TIOCSTI, &type)), EPERM)
    EXPECT(6, why(unshare(CLONE_NEWUSER)), EPERM)
    EXPECT(7, why(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0)), EPERM)
    EXPECT(8, why(syscall(SYS_clone3, NULL, 0)), ENOSYS)
    EXPECT(9, why(syscall(SYS_memfd_create, "x", 0)), EPERM)
    EXPECT(10, why(prlimit(getppid(), RLIMIT_CORE, NULL, &limit)), EPERM)
    EXPECT(11, why(syscall(425, 1, NULL)), EPERM) /* io_uring_setup */
    EXPECT(12, why(chown("/dev/null", 0, 0)), EPERM)
    return 0;
}

static void *thread(void *to)
{
    *(int *)to = 1;
    return NULL;
}

static int allowed(void)
{
    pthread_t t;
    int ran = 0, status = -1;
    if (pthread_create(&t, NULL, thread, &ran))
        return 1;
    pthread_join(t, NULL);
    EXPECT(2, ran, 1)
    void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(3, code == MAP_FAILED, false)
    EXPECT(4, why(mprotect(code, 4096, PROT_READ | PROT_EXEC)), NONE)
    const pid_t pid = fork();
    while (!pid)
        pause();
    EXPECT(8, pid > 0, true)
    EXPECT(5, why(kill(pid, SIGKILL)), NONE)
    EXPECT(6, waitpid(pid, &status, 0), pid)
    EXPECT(7, WIFSIGNALED(status), true)
    return 0;
}

/* Reads what is there; the pages that were just written are in memory (src/idx asks for these). */
static int reads(void)
{
    char path[200], byte = 0;
    struct iovec to = {&byte, 1};
    path_of(path, "in/mine");
    const int fd = open(path, O_RDONLY);
    EXPECT(1, fd >= 0, true)
    EXPECT(2, pread(fd, &byte, 1, 1), 1)
    EXPECT(3, byte, 'r')
    EXPECT(4, preadv2(fd, &to, 1, 0, 0), 1)
    EXPECT(5, byte, 'p')
    const ssize_t n = preadv2(fd, &to, 1, 2, RWF_NOWAIT); /* some file systems do not know it */
    EXPECT(6, n == 1 || errno == EAGAIN || errno == EOPNOTSUPP, true)
    return 0;
}

static void check_inside(int (*body)(void))
{
    const int code = inside(body);
    if (code != NOT_HAD)
        ck_assert_int_eq(code, 0);
}

START_TEST(files_are_written_below_the_folders_alone) { check_inside(files); }
END_TEST

START_TEST(programs_connections_and_rights_of_others_are_refused) { check_inside(refused_calls); }
END_TEST

START_TEST(threads_processes_and_new_code_are_allowed) { check_inside(allowed); }
END_TEST

START_TEST(files_are_read_in_each_way_that_the_index_has) { check_inside(reads); }
END_TEST

START_TEST(a_folder_that_does_not_exist_is_an_error)
{
    char text[SANDBOX_WHY] = "";
    const char *folder[] = {"/dev/null/none"};
    const pid_t pid = fork();
    if (!pid) {
        const vs_status st = sandbox_enter(folder, 1, text);
        _exit(st == VS_EUNSUPPORTED || (st == VS_EIO && strstr(text, folder[0])) ? 0 : 1);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    ck_assert_int_eq(status, 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("sandbox");
    TCase *t = tcase_create("sandbox");
    tcase_add_test(t, files_are_written_below_the_folders_alone);
    tcase_add_test(t, programs_connections_and_rights_of_others_are_refused);
    tcase_add_test(t, threads_processes_and_new_code_are_allowed);
    tcase_add_test(t, files_are_read_in_each_way_that_the_index_has);
    tcase_add_test(t, a_folder_that_does_not_exist_is_an_error);
    suite_add_tcase(s, t);
    return run_suite(s);
}
