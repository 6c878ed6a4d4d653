/* view_priv.h - between the files of src/view:
 *     view.c         files, groups of plots, the list of signals
 *     view_curve.c   curves and spectra of expressions */
#ifndef VIEW_PRIV_H
#define VIEW_PRIV_H

#include <sys/stat.h>

#include "view.h"

/* Plots of one file that are alike but for the values of a sweep. */
typedef struct view_group {
    size_t file;
    const char *what;   /* "Transient Analysis", in the file's pool */
    post_plot **member; /* vec */
} view_group;

typedef struct view_file {
    const char *path; /* the caller's */
    bool live, open;  /* open: names and set are made */
    struct stat seen; /* as it was read */
    char why[CONV_WHY];
    str_pool names;
    post_set set;
} view_file;

struct view {
    const char *plugins;
    view_file *file;   /* vec */
    view_group *group; /* vec */
    int64_t generation;
};

/* "r=1000", "#2": what tells a member from the others; text in buf or the plot's. */
const char *view_member_name(const view_group *g, size_t k, char buf[24]);
/* The head of an answer: its length, itself, blanks up to a multiple of 8. */
void view_put_head(FILE *out, const char *text, size_t n);

#endif
