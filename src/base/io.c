/* io.c - whole reads and writes, plug-in libraries. See io.h. */
#define _GNU_SOURCE
#include "io.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* In the folder of `beside`, or in one relative to it. */
static void *open_near(const char *beside, const char *relative, const char *file, int how)
{
    const char *slash = strrchr(beside, '/');
    char path[PATH_MAX];
    const int n = slash ? (int)(slash - beside) : 0;
    if (!slash ||
        snprintf(path, sizeof path, "%.*s/%s%s", n, beside, relative, file) >= (int)sizeof path)
        return NULL;
    return access(path, R_OK) ? NULL : dlopen(path, how);
}

void *plugin_open(const char *file, const char *only, const char *folder, const char *installed,
                  bool global)
{
    static const char *const place[] = {"",       "vsim/",      "../lib/vsim/",
                                        "../%s/", "../src/%s/", "src/%s/"};
    const int how = RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL);
    char self[PATH_MAX], relative[64];
    void *h = NULL;
    Dl_info info;
    if (only && *only) {
        const int n = snprintf(self, sizeof self, "%s/", only);
        return n < (int)sizeof self ? open_near(self, "", file, how) : NULL;
    }
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    const bool known = dladdr((void *)(uintptr_t)plugin_open, &info) && info.dli_fname;
    for (size_t i = 0; i < VS_COUNT(place) && !h; i++) {
        snprintf(relative, sizeof relative, place[i], folder);
        h = open_near(self, relative, file, how);
        if (!h && known)
            h = open_near(info.dli_fname, relative, file, how);
    }
    return h ? h
           : snprintf(self, sizeof self, "%s/", installed) < (int)sizeof self
               ? open_near(self, "", file, how)
               : NULL;
}
