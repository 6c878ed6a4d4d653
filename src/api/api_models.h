/* api_models.h - what a program's settings say of models: of the library and of the command. */
#ifndef API_MODELS_H
#define API_MODELS_H

#include "mdl.h"
#include "vsim/base.h"

/* Lists and texts stay those of `set`. */
static inline mdl_opt api_model_options(const vsim_settings *set)
{
    return (mdl_opt){.include = set->include,
                     .n_include = set->n_include,
                     .macro = set->macro,
                     .n_macro = set->n_macro,
                     .model_dir = set->models,
                     .interpret = set->interpret,
                     .no_specialize = set->no_specialize,
                     .jit = {.cache_dir = set->cache,
                             .no_cache = !set->cache,
                             .plugin_dir = set->plugins,
                             .lanes = set->lanes,
                             .cpu = set->cpu,
                             .opt_level = 2}};
}

#endif
