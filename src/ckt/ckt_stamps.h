/* ckt_stamps.h - who stamps which entry of the Jacobian: for reports on conflicts between devices.
 */
#ifndef CKT_STAMPS_H
#define CKT_STAMPS_H

#include "ckt.h"

enum { CKT_CONFLICT_BINS = 24, CKT_HUB = 1024 };

typedef struct ckt_conflicts { /* devices that add to one place cannot do so at the same time */
    int64_t n_stamp;           /* additions to the matrix in a load */
    int32_t n_device;          /* devices and sources with an entry */
    int32_t n_entry;           /* matrix entries that get one */
    int32_t bin[CKT_CONFLICT_BINS];   /* entries with 1, 2, 3-4, 5-8, 9-16, ... devices */
    int32_t most, most_row, most_col; /* devices of the fullest entry, and its unknowns */
    int32_t on_row, full_row;         /* devices of the fullest row, and its unknown */
    int32_t n_color; /* groups without a common row, found greedily, rows of hubs left aside */
    int32_t n_hub;   /* rows of more than CKT_HUB devices */
} ckt_conflicts;
void ckt_find_conflicts(const ckt *c, ckt_mode mode, ckt_conflicts *f);

#endif
