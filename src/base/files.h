/* files.h - the files that a run reads and writes. Each heap has one registry, and every function
 * that opens a file asks it. So no output overwrites an input, and no two outputs go to one file.
 * Use:    files_claim for what is going to be written, before anything is read; files_input, before
 *         a file is read; file_begin, file_end around writing one. stream.h and out.h do the latter
 *         three for their files. files_why(errno) where one of them fails.
 * Files are compared by device and inode, and by folder and name as long as they do not exist.
 * Only regular files count: a pipe or /dev/null takes any number of outputs. A run may write again,
 * and read, what it made itself. The heap NULL has no registry: there everything is allowed. */
#ifndef FILES_H
#define FILES_H

#include "vs.h"

/* What a file is for. Only one kind of output goes to a file. */
typedef enum files_role {
    FILES_INPUT,
    FILES_RESULTS,
    FILES_MEASURES,
    FILES_REPORT,
    FILES_LIMITS,
    FILES_FIGURES,
    FILES_TOUCHSTONE,
    FILES_PICTURE,
    FILES_MATRIX,
    FILES_TRACE,
    FILES_JOURNAL,
    FILES_CHECKPOINT,
    FILES_INDEX,
    FILES_BLOCK /* by commands of a .control block: as the block wants, results too */
} files_role;

/* Values of errno above the system's. */
enum {
    FILES_IS_INPUT = 20001,
    FILES_IS_OUTPUT,
    FILES_IN_USE,
    FILES_OUTSIDE,
    FILES_HIDDEN,
    FILES_SPECIAL
};
/* What errno means, as the end of a sentence: as strerror. */
const char *files_why(int error);

/* `path` is going to be written as `role`, or to be read. false, and errno: it may not. */
bool files_claim(const char *path, files_role role);
/* Claims all files of one folder whose names have digits where this one has FILES_DIGITS. */
#define FILES_DIGITS "\1"
bool files_claim_all(const char *pattern, files_role role);
bool files_input(const char *path);
/* Whether somebody asked to read a file claimed for this role, or to write it in another role. */
bool files_refused(files_role role);
/* The deck is a stranger's: from now on blocks write below the folders of files_allow alone, and
 * nothing there whose name begins with a dot; files_trusted is true below those of files_trust.
 * Folders that do not exist count for nothing. */
void files_confine(void);
void files_allow(const char *folder);
void files_trust(const char *folder);
bool files_trusted(const char *path);
#define FILES_TRUST_HOW \
    "--allow-native lets it; so does the name of its folder in ~/.config/vsim/trust"
/* Is the folder `path` this one, or one above it? */
bool files_above(const char *folder, const char *path);
/* Both names lead to one regular file. */
bool files_same(const char *a, const char *b);
/* Forgets all: before the heap is asked whether anything was left over. */
void files_forget(void);

/* Locks an open file for this run. false: another one has it. Pipes and devices are not
 * locked. */
bool file_lock(int fd);

/* A file in the making. It stands beside its name (NAME.part-...) until it is whole: whoever reads
 * NAME finds the old file or the new one. Devices, and files in folders where nothing can be made,
 * are written in place. A block's file may take the place of that of the results. */
typedef struct file_new {
    int fd;
    char *path, *part; /* part NULL: in place */
} file_new;
/* Claims and opens. false: errno; nothing needs to be ended. */
bool file_begin(file_new *n, const char *path, files_role role);
/* Closes. keep: it gets its name, else it is removed (if it stands in place, it stays). false:
 * errno. */
bool file_end(file_new *n, bool keep);

#endif
