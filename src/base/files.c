/* files.c - see files.h. */
#define _GNU_SOURCE
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heap.h"

/* A file as it can be recognised. */
typedef struct place {
    dev_t dev, folder_dev;
    ino_t ino, folder_ino; /* ino 0: there is no such file yet */
    const char *base;      /* behind the last slash of the path */
} place;

typedef struct entry {
    struct entry *older;
    char *path;
    place at;
    files_role role;
    bool all; /* of files_claim_all: path and base are a pattern */
} entry;

/* A folder, without links. */
typedef struct root {
    struct root *next;
    char *path;
    bool native; /* trusted; else blocks may write there */
} root;

struct files_list {
    pthread_mutex_t lock; /* threads that compile read, too */
    entry *newest;
    root *allowed;
    bool confined;
    uint32_t refused; /* bits: roles whose file was wanted by another */
};

/* Of the thread's heap; NULL: that of the process has none. */
static files_list *registry(void)
{
    files_list **f = heap_files(heap_now());
    if (f && !*f) {
        *f = vs_calloc(1, sizeof **f);
        pthread_mutex_init(&(*f)->lock, NULL);
    }
    return f ? *f : NULL;
}

static void free_entry(entry *e)
{
    vs_free(e->path);
    vs_free(e);
}

void files_forget(void)
{
    files_list **f = heap_files(heap_now());
    if (!f || !*f)
        return;
    for (entry *e = (*f)->newest, *older; e; e = older) {
        older = e->older;
        free_entry(e);
    }
    for (root *r = (*f)->allowed, *next; r; r = next) {
        next = r->next;
        vs_free(r->path);
        vs_free(r);
    }
    pthread_mutex_destroy(&(*f)->lock);
    vs_free(*f);
    *f = NULL;
}

const char *files_why(int error)
{
    return error == FILES_IS_INPUT    ? "it is an input of this run and would be overwritten"
           : error == FILES_IS_OUTPUT ? "another output of this run goes there"
           : error == FILES_IN_USE    ? "another run writes there"
           : error == FILES_OUTSIDE
               ? "blocks write below the folder of the deck; --allow-write DIR adds another"
           : error == FILES_HIDDEN  ? "blocks write no files or folders that begin with a dot"
           : error == FILES_SPECIAL ? "it is not a regular file"
                                    : strerror(error);
}

/* -- which file -- */

/* false: no file that counts. */
static bool find_place(const char *path, place *p)
{
    struct stat sb;
    const char *slash = strrchr(path, '/');
    const bool there = !stat(path, &sb);
    *p = (place){.base = slash ? slash + 1 : path};
    if (there && !S_ISREG(sb.st_mode))
        return false;
    if (there) {
        p->dev = sb.st_dev;
        p->ino = sb.st_ino;
    }
    char *folder = slash ? vs_strndup(path, slash == path ? 1 : (size_t)(slash - path)) : NULL;
    const bool ok = !stat(folder ? folder : ".", &sb);
    vs_free(folder);
    p->folder_dev = ok ? sb.st_dev : 0;
    p->folder_ino = ok ? sb.st_ino : 0;
    return there || ok;
}

static bool same_folder(const place *a, const place *b)
{
    return a->folder_ino && a->folder_ino == b->folder_ino && a->folder_dev == b->folder_dev;
}

static bool same_name(const place *a, const place *b)
{
    return same_folder(a, b) && !strcmp(a->base, b->base);
}

static bool fits(const char *pattern, const char *base)
{
    for (; *pattern; pattern++) {
        const bool digits = *pattern == *FILES_DIGITS;
        const size_t n = digits ? strspn(base, "0123456789") : *pattern == *base;
        if (!n)
            return false;
        base += n;
    }
    return !*base;
}

static bool is_one_of(const place *pattern, const place *p)
{
    return same_folder(pattern, p) && fits(pattern->base, p->base);
}

static bool same_inode(const place *a, const place *b)
{
    return a->ino && a->ino == b->ino && a->dev == b->dev;
}

/* A number of a file that is gone may have come to another one: the name is asked again. */
static bool is(entry *e, const place *p)
{
    if (same_name(&e->at, p))
        return true;
    if (!same_inode(&e->at, p))
        return false;
    struct stat sb;
    return !stat(e->path, &sb) && sb.st_dev == p->dev && sb.st_ino == p->ino;
}

/* -- the registry -- */

/* 0, or why e may not be used as `role` too. */
static int meet(files_list *f, entry *e, files_role role, bool anew)
{
    if (anew && e->role == FILES_RESULTS && role == FILES_BLOCK)
        e->role = role; /* the results go on in a file that has no name any more */
    if (e->role == role ||
        ((e->role == FILES_BLOCK || e->role == FILES_JOURNAL) && role == FILES_INPUT))
        return 0;
    const files_role was = e->role;
    f->refused |= 1u << was | 1u << role;
    if (role == FILES_INPUT)
        e->role = role; /* who claimed it does not get it */
    return was == FILES_INPUT ? FILES_IS_INPUT : FILES_IS_OUTPUT;
}

/* -- whom a deck's author is trusted with -- */

void files_confine(void)
{
    files_list *f = registry();
    if (f)
        f->confined = true;
}

static void add_root(const char *folder, bool native)
{
    files_list *f = registry();
    char full[PATH_MAX];
    if (!f || !realpath(folder, full))
        return;
    root *r = vs_calloc(1, sizeof *r);
    r->path = vs_strdup(full);
    r->native = native;
    r->next = f->allowed;
    f->allowed = r;
}

void files_allow(const char *folder) { add_root(folder, false); }
void files_trust(const char *folder) { add_root(folder, true); }

/* What of `full` is behind a root, "": the root itself; the longest root counts. NULL: below none.
 */
static const char *below(const files_list *f, const char *full, bool native)
{
    const char *rest = NULL;
    for (const root *r = f->allowed; r; r = r->next) {
        const size_t n = strcmp(r->path, "/") ? strlen(r->path) : 0;
        if (r->native == native && !strncmp(full, r->path, n) && (!full[n] || full[n] == '/') &&
            (!rest || strlen(full + n) < strlen(rest)))
            rest = full + n;
    }
    return rest;
}

bool files_trusted(const char *path)
{
    const files_list *f = registry();
    char full[PATH_MAX];
    return !f || !f->confined || (realpath(path, full) && below(f, full, true));
}

bool files_above(const char *folder, const char *path)
{
    char a[PATH_MAX], b[PATH_MAX];
    if (!realpath(folder, a) || !realpath(path, b))
        return false;
    const size_t n = strcmp(a, "/") ? strlen(a) : 0;
    return !strncmp(a, b, n) && (!b[n] || b[n] == '/');
}

bool files_same(const char *a, const char *b)
{
    struct stat x, y;
    return !stat(a, &x) && !stat(b, &y) && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

/* Where a file is, or will be. false: errno. */
static bool full_path(const char *path, char full[PATH_MAX])
{
    if (realpath(path, full))
        return true;
    struct stat sb;
    if (!lstat(path, &sb)) /* a link to what does not exist */
        return false;
    const char *slash = strrchr(path, '/');
    char *folder = slash ? vs_strndup(path, slash == path ? 1 : (size_t)(slash - path)) : NULL;
    const bool there = realpath(folder ? folder : ".", full) != NULL;
    vs_free(folder);
    const size_t n = there ? strlen(full) : 0;
    const char *base = slash ? slash + 1 : path;
    return there && snprintf(full + n, PATH_MAX - n, "%s%s", strcmp(full, "/") ? "/" : "", base) <
                        (int)(PATH_MAX - n);
}

/* 0, or why a block may not write there. */
static int outside(const files_list *f, const char *path)
{
    static const char *const always[] = {"/dev/null", "/dev/stdout", "/dev/stderr"};
    char full[PATH_MAX];
    struct stat sb;
    for (size_t i = 0; i < VS_COUNT(always); i++)
        if (!strcmp(path, always[i]))
            return 0;
    if (!full_path(path, full))
        return errno ? errno : FILES_OUTSIDE;
    const char *rest = below(f, full, false);
    if (!rest)
        return FILES_OUTSIDE;
    if (strstr(rest, "/."))
        return FILES_HIDDEN;
    return !stat(full, &sb) && !S_ISREG(sb.st_mode) ? FILES_SPECIAL : 0;
}

/* The entry of a file: its own, before that of a pattern, since it may be there under other names
 * too. NULL: none. */
static entry *find(const files_list *f, const place *p)
{
    for (entry *e = f->newest; e; e = e->older)
        if (!e->all && is(e, p)) {
            e->at.dev = p->dev;
            e->at.ino = p->ino;
            return e;
        }
    for (entry *e = f->newest; e; e = e->older)
        if (e->all && is_one_of(&e->at, p))
            return e;
    return NULL;
}

/* Meets those that have names of this pattern. 0, or why one may not be used as `role` too. */
static int meet_all(files_list *f, const place *pattern, files_role role)
{
    int why = 0;
    for (entry *e = f->newest; e && !why; e = e->older)
        if (!e->all && is_one_of(pattern, &e->at))
            why = meet(f, e, role, false);
    return why;
}

static entry *new_entry(const char *path, const place *p, files_role role, bool all)
{
    entry *e = vs_calloc(1, sizeof *e);
    *e = (entry){.path = vs_strdup(path), .at = *p, .role = role, .all = all};
    e->at.base = e->path + (p->base - path);
    return e;
}

static void add(files_list *f, entry *e)
{
    e->older = f->newest;
    f->newest = e;
}

/* The new entry is made before the lock is taken: memory may be missing. */
static bool enter(const char *path, files_role role, bool anew)
{
    files_list *f = registry();
    place p;
    const int bad = f && f->confined && role == FILES_BLOCK ? outside(f, path) : 0;
    if (bad) {
        errno = bad;
        return false;
    }
    if (!f || !find_place(path, &p))
        return true;
    entry *made = new_entry(path, &p, role, false);
    pthread_mutex_lock(&f->lock);
    entry *e = find(f, &p);
    const int why = e ? meet(f, e, role, anew) : 0;
    if (!e)
        add(f, made);
    pthread_mutex_unlock(&f->lock);
    if (e)
        free_entry(made);
    errno = why ? why : errno;
    return !why;
}

bool files_claim(const char *path, files_role role) { return enter(path, role, false); }
bool files_input(const char *path) { return enter(path, FILES_INPUT, false); }

bool files_claim_all(const char *pattern, files_role role)
{
    files_list *f = registry();
    place p;
    if (!f || !find_place(pattern, &p))
        return true;
    entry *made = new_entry(pattern, &p, role, true);
    pthread_mutex_lock(&f->lock);
    const int why = meet_all(f, &p, role);
    add(f, made);
    pthread_mutex_unlock(&f->lock);
    errno = why ? why : errno;
    return !why;
}

bool files_refused(files_role role)
{
    files_list **f = heap_files(heap_now());
    return f && *f && (*f)->refused >> role & 1;
}

/* -- files in the making -- */

enum { MOST_TRIES = 1000 };

bool file_lock(int fd)
{
    struct stat sb;
    if (fstat(fd, &sb) || !S_ISREG(sb.st_mode) || !flock(fd, LOCK_EX | LOCK_NB) ||
        errno != EWOULDBLOCK)
        return true;
    errno = FILES_IN_USE;
    return false;
}

/* An own file beside `path`, with the rights of the one that it will replace; in a sandbox, which
 * changes no rights, less what the umask takes. -1: errno. */
static int open_part(const char *path, char **part)
{
    struct stat sb;
    const bool there = !stat(path, &sb);
    int fd = -1;
    for (int i = 0; fd < 0 && i < MOST_TRIES; i++) {
        vs_free(*part);
        *part = vs_text("%s.part-%ld-%d", path, (long)getpid(), i);
        fd = open(*part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, there ? sb.st_mode & 0777 : 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd >= 0 && there)
        (void)fchmod(fd, sb.st_mode & 07777);
    if (fd < 0) {
        vs_free(*part);
        *part = NULL;
    }
    return fd;
}

/* Where a link leads to. Heap. */
static char *behind_links(const char *path)
{
    struct stat sb;
    char full[PATH_MAX];
    const bool link = !lstat(path, &sb) && S_ISLNK(sb.st_mode) && realpath(path, full);
    return vs_strdup(link ? full : path);
}

/* A folder in which nothing can be made may have a file that can be written. */
static bool in_place(int error)
{
    return error == EACCES || error == EPERM || error == EROFS || error == ENAMETOOLONG;
}

bool file_begin(file_new *n, const char *path, files_role role)
{
    struct stat sb;
    *n = (file_new){.fd = -1};
    if (!enter(path, role, true))
        return false;
    n->path = behind_links(path);
    const bool there = !stat(n->path, &sb), whole = !there || S_ISREG(sb.st_mode);
    if (!there || !access(n->path, W_OK)) {
        n->fd = whole ? open_part(n->path, &n->part) : -1;
        if (n->fd < 0 && (!whole || in_place(errno)))
            n->fd = open(n->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    }
    const int why = errno;
    if (n->fd < 0) {
        vs_free(n->path);
        n->path = NULL;
    }
    errno = why;
    return n->fd >= 0;
}

bool file_end(file_new *n, bool keep)
{
    int why = close(n->fd) ? errno : 0;
    if (n->part && (why || !keep))
        unlink(n->part);
    else if (n->part && rename(n->part, n->path)) {
        why = errno;
        unlink(n->part);
    }
    vs_free(n->part);
    vs_free(n->path);
    *n = (file_new){.fd = -1};
    errno = why ? why : errno;
    return !why;
}
