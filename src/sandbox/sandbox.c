/* sandbox.c - see sandbox.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "sandbox_priv.h"

#ifdef __linux__
/* Both walls ask for it: what is started later gains no rights, by set-user-ID either. */
static vs_status renounce(char why[SANDBOX_WHY])
{
    if (!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return VS_OK;
    snprintf(why, SANDBOX_WHY, "no rights can be given up here: %s", strerror(errno));
    return VS_EUNSUPPORTED;
}

vs_status sandbox_enter(const char *const *folder, size_t n, char why[SANDBOX_WHY])
{
    vs_status st = renounce(why);
    if (!st)
        st = sandbox_files(folder, n, why);
    return st ? st : sandbox_calls(why);
}
#else
vs_status sandbox_enter(const char *const *folder, size_t n, char why[SANDBOX_WHY])
{
    (void)folder;
    (void)n;
    snprintf(why, SANDBOX_WHY, "this system is not Linux, which alone has the means");
    return VS_EUNSUPPORTED;
}
#endif
