/* io.c - whole reads and writes, plug-in libraries. See io.h. */
#define _GNU_SOURCE
#include "io.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "heap.h"

bool io_write(int fd, const void *p, size_t n)
{
    for (const char *s = p; n;) {
        const ssize_t k = write(fd, s, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        s += k;
        n -= (size_t)k;
    }
    return true;
}

bool io_read(int fd, void *p, size_t n)
{
    errno = 0;
    for (char *s = p; n;) {
        const ssize_t k = read(fd, s, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        s += k;
        n -= (size_t)k;
    }
    return true;
}

static void drop_fd(void *what, size_t n)
{
    (void)n;
    close((int)(intptr_t)what);
}

int io_open(const char *path, int flags)
{
    const int fd = open(path, flags | O_CLOEXEC, 0666);
    if (fd >= 0)
        heap_hold(drop_fd, (void *)(intptr_t)fd, 0);
    return fd;
}

int io_nameless(char *name)
{
    const int fd = mkstemp(name);
    if (fd < 0)
        return fd;
    heap_hold(drop_fd, (void *)(intptr_t)fd, 0);
    unlink(name);
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
}

int io_close(int fd)
{
    heap_unhold(drop_fd, (void *)(intptr_t)fd);
    return close(fd);
}

bool io_sync(const char *path)
{
    const int fd = io_open(path, O_RDONLY);
    if (fd < 0)
        return false;
    const bool ok = !fsync(fd) || errno == EINVAL; /* EINVAL: a pipe, a device */
    const int why = errno;
    (void)io_close(fd);
    errno = why;
    return ok;
}

static void drop_map(void *what, size_t n) { munmap(what, n); }

void *io_map(int fd, size_t bytes)
{
    void *p = fd < 0 ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                     : mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return NULL;
    heap_hold(drop_map, p, bytes);
    return p;
}

void io_unmap(void *p, size_t bytes)
{
    heap_unhold(drop_map, p);
    munmap(p, bytes);
}

static void drop_folder(void *what, size_t n)
{
    (void)n;
    closedir(what);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char **io_names(arena *mem, const char *path, bool *found)
{
    const char **name = NULL;
    DIR *d = opendir(path);
    *found = d != NULL;
    if (!d)
        return NULL;
    heap_hold(drop_folder, d, 0);
    for (struct dirent *x; (x = readdir(d));)
        if (strcmp(x->d_name, ".") != 0 && strcmp(x->d_name, "..") != 0)
            vec_push(name, arena_strndup(mem, x->d_name, strlen(x->d_name)));
    heap_unhold(drop_folder, d);
    closedir(d);
    if (name)
        qsort(name, vec_len(name), sizeof *name, by_text);
    return name;
}

/* The file that contains this code: the program, or the library that it uses. false: not known. */
static bool own_file(char path[PATH_MAX])
{
    struct link_map *map = NULL;
    Dl_info info;
    if (!dladdr1((void *)(uintptr_t)own_file, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return false;
    if (!map->l_name[0]) { /* the program itself, whose name there need not be a path */
        const ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
        path[n > 0 ? n : 0] = 0;
        return n > 0;
    }
    return snprintf(path, PATH_MAX, "%s", map->l_name) < PATH_MAX;
}

bool io_beside(char path[PATH_MAX], const char *relative)
{
    char own[PATH_MAX];
    const char *slash = own_file(own) ? strrchr(own, '/') : NULL;
    const int n = slash ? (int)(slash - own) : 0;
    return slash && snprintf(path, PATH_MAX, "%.*s/%s", n, own, relative) < PATH_MAX &&
           !access(path, R_OK);
}

void *plugin_open(const char *file, const char *only, const char *const *place, bool global)
{
    const int how = RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL);
    char path[PATH_MAX], name[PATH_MAX];
    void *h = NULL;
    if (only && *only) {
        const bool fits = snprintf(path, sizeof path, "%s/%s", only, file) < (int)sizeof path;
        return fits && !access(path, R_OK) ? dlopen(path, how) : NULL;
    }
    for (size_t i = 0; place[i] && !h; i++) {
        if (snprintf(name, sizeof name, "%s/%s", place[i], file) >= (int)sizeof name)
            continue;
        if (name[0] == '/' ? !access(name, R_OK) : io_beside(path, name))
            h = dlopen(name[0] == '/' ? name : path, how);
    }
    return h;
}
