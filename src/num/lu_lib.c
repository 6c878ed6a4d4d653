/* lu_lib.c - UMFPACK, CHOLMOD and LAPACK, loaded when they are first asked for. See lu_priv.h.
 * This file has the only mutable state of the folder: the addresses that the dynamic loader gave,
 * which are the same for every circuit, and which thread computes with the BLAS of the process. */
#include "lu_priv.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <suitesparse/cholmod.h>
#include <suitesparse/umfpack.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

/* Of several BLAS in one process the one that is asked directly is the fastest installed. */
static const char *const lapack_names[] = {"libopenblas.so.0", "libflexiblas.so.3",
                                           "liblapack.so.3"};
static const char *const umfpack_names[] = {"libumfpack.so." TEXT(UMFPACK_MAIN_VERSION)};

static const char *const cholmod_names[] = {"libcholmod.so." TEXT(CHOLMOD_MAIN_VERSION)};

static void *open_first(const char *const *name, size_t n)
{
    void *lib = NULL;
    for (size_t i = 0; i < n && !lib; i++)
        lib = dlopen(name[i], RTLD_NOW | RTLD_LOCAL);
    return lib;
}

/* dlsym gives an object pointer for a function; POSIX says that they convert. */
static bool find(void *lib, const char *name, void *place)
{
    void *p = dlsym(lib, name);
    memcpy(place, &p, sizeof p);
    return p != NULL;
}

/* -- threads of the BLAS -- */

struct lu_blas {
    void (*set)(int); /* NULL: it has no threads that we know of */
    int (*get)(void);
    pthread_mutex_t lock;
    int users, before; /* calls under way; the host's number of threads */
};
static lu_blas lapack_blas = {.lock = PTHREAD_MUTEX_INITIALIZER};
static lu_blas chol_blas = {.lock = PTHREAD_MUTEX_INITIALIZER};
static lu_blas umf_blas = {.lock = PTHREAD_MUTEX_INITIALIZER};

static lu_blas *threads_of(lu_blas *b, void *lib)
{
    if (!find(lib, "openblas_set_num_threads", &b->set) ||
        !find(lib, "openblas_get_num_threads", &b->get))
        b->set = NULL;
    return b;
}

void lu_blas_begin(lu_blas *b)
{
    if (!b->set)
        return;
    pthread_mutex_lock(&b->lock);
    if (!b->users++) {
        b->before = b->get();
        b->set(1);
    }
    pthread_mutex_unlock(&b->lock);
}

void lu_blas_end(lu_blas *b)
{
    if (!b->set)
        return;
    pthread_mutex_lock(&b->lock);
    if (!--b->users)
        b->set(b->before);
    pthread_mutex_unlock(&b->lock);
}

/* -- threads of OpenMP -- */

struct lu_team {
    void (*set)(int); /* levels of parallel regions that may have threads; NULL: no OpenMP */
    int (*get)(void);
    pthread_mutex_t lock;
    int users, before; /* calls under way; the host's levels */
};
static lu_team chol_team = {.lock = PTHREAD_MUTEX_INITIALIZER};

static lu_team *levels_of(lu_team *t, void *lib)
{
    if (!find(lib, "omp_set_max_active_levels", &t->set) ||
        !find(lib, "omp_get_max_active_levels", &t->get))
        t->set = NULL;
    return t;
}

/* The number is one of the process in older libraries: another call's 0 is not the host's. */
int lu_team_begin(lu_team *t)
{
    if (!t->set)
        return 0;
    pthread_mutex_lock(&t->lock);
    int levels = t->get();
    if (t->users++ && !levels)
        levels = t->before;
    t->before = levels;
    t->set(0);
    pthread_mutex_unlock(&t->lock);
    return levels;
}

void lu_team_end(lu_team *t, int levels)
{
    if (!t->set)
        return;
    pthread_mutex_lock(&t->lock);
    t->users--;
    t->set(levels);
    pthread_mutex_unlock(&t->lock);
}

/* -- LAPACK -- */

static lu_lapack lapack;
static bool have_lapack;
static pthread_once_t lapack_once = PTHREAD_ONCE_INIT;

static void load_lapack(void)
{
    void *lib = open_first(lapack_names, VS_COUNT(lapack_names));
    have_lapack = lib && find(lib, "dgetrf_", &lapack.getrf) && find(lib, "dgetrs_", &lapack.getrs);
    if (have_lapack)
        lapack.blas = threads_of(&lapack_blas, lib);
}

const lu_lapack *lu_load_lapack(void)
{
    pthread_once(&lapack_once, load_lapack);
    return have_lapack ? &lapack : NULL;
}

/* -- UMFPACK -- */

static lu_umf_calls umf;
static lu_umfz_calls umfz;
static bool have_umf, have_umfz;
static pthread_once_t umf_once = PTHREAD_ONCE_INIT;

static void load_umfpack(void)
{
    void *lib = open_first(umfpack_names, VS_COUNT(umfpack_names));
    have_umf = lib && find(lib, "umfpack_di_defaults", &umf.defaults) &&
               find(lib, "umfpack_di_symbolic", &umf.symbolic) &&
               find(lib, "umfpack_di_numeric", &umf.numeric) &&
               find(lib, "umfpack_di_wsolve", &umf.wsolve) &&
               find(lib, "umfpack_di_get_numeric", &umf.get_numeric) &&
               find(lib, "umfpack_di_free_symbolic", &umf.free_symbolic) &&
               find(lib, "umfpack_di_free_numeric", &umf.free_numeric);
    have_umfz = lib && find(lib, "umfpack_zi_defaults", &umfz.defaults) &&
                find(lib, "umfpack_zi_symbolic", &umfz.symbolic) &&
                find(lib, "umfpack_zi_numeric", &umfz.numeric) &&
                find(lib, "umfpack_zi_wsolve", &umfz.wsolve) &&
                find(lib, "umfpack_zi_get_numeric", &umfz.get_numeric) &&
                find(lib, "umfpack_zi_free_symbolic", &umfz.free_symbolic) &&
                find(lib, "umfpack_zi_free_numeric", &umfz.free_numeric);
    if (lib)
        umf.blas = umfz.blas = threads_of(&umf_blas, lib);
}

const lu_umf_calls *lu_load_umfpack(void)
{
    pthread_once(&umf_once, load_umfpack);
    return have_umf ? &umf : NULL;
}

const lu_umfz_calls *lu_load_umfpack_z(void)
{
    pthread_once(&umf_once, load_umfpack);
    return have_umfz ? &umfz : NULL;
}

/* -- CHOLMOD -- */

static lu_chol_calls chol;
static bool have_chol;
static pthread_once_t chol_once = PTHREAD_ONCE_INIT;

static void load_cholmod(void)
{
    void *lib = open_first(cholmod_names, VS_COUNT(cholmod_names));
    have_chol =
        lib && find(lib, "cholmod_start", &chol.start) &&
        find(lib, "cholmod_finish", &chol.finish) && find(lib, "cholmod_analyze", &chol.analyze) &&
        find(lib, "cholmod_factorize", &chol.factorize) &&
        find(lib, "cholmod_solve2", &chol.solve) && find(lib, "cholmod_rcond", &chol.rcond) &&
        find(lib, "cholmod_free_factor", &chol.free_factor) &&
        find(lib, "cholmod_free_dense", &chol.free_dense) &&
        find(lib, "dgemm_", &chol.dense.gemm) && /* dlsym looks into what it needs, too */
        find(lib, "dsyrk_", &chol.dense.syrk) && find(lib, "dtrsm_", &chol.dense.trsm) &&
        find(lib, "dpotrf_", &chol.dense.potrf);
    if (have_chol) {
        chol.blas = threads_of(&chol_blas, lib);
        chol.team = levels_of(&chol_team, lib);
    }
}

const lu_chol_calls *lu_load_cholmod(void)
{
    pthread_once(&chol_once, load_cholmod);
    return have_chol ? &chol : NULL;
}
