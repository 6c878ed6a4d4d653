/* sandbox_priv.h - the two walls of sandbox.h. */
#ifndef SANDBOX_PRIV_H
#define SANDBOX_PRIV_H

#include "sandbox.h"

/* As sandbox_enter, each for its half. The process has PR_SET_NO_NEW_PRIVS. */
VS_MUST_USE vs_status sandbox_files(const char *const *folder, size_t n, char why[SANDBOX_WHY]);
VS_MUST_USE vs_status sandbox_calls(char why[SANDBOX_WHY]);

#endif
