/* sim_vary.h - what differs from the circuit as it is when a value of the deck is moved: devices
 * with other parameters, sources with other waveforms. The circuit itself stays.
 * Use:    sim_vary_begin; per value and side: move it, sim_build, sim_vary_same, sim_vary_take;
 *         sim_vary_add both sides to a ckt_vary; sim_vary_end. */
#ifndef SIM_VARY_H
#define SIM_VARY_H

#include "ckt_vary.h"
#include "sim_priv.h"

typedef struct sim_vary_wave { /* a source */
    int32_t source;
    wave w;
    double m;
} sim_vary_wave;

typedef struct sim_vary_entry { /* of a key (mdl_row_key) that is another than that of the device */
    int32_t at;
    double value;
} sim_vary_entry;
typedef struct sim_vary_device {
    int32_t device, row;   /* row: while no other circuit is built */
    int64_t built;         /* sim_stat.built then */
    sim_vary_entry *entry; /* vec: a module has 1,000 parameters, of which one differs */
} sim_vary_device;

typedef struct sim_vary_line { /* a transmission line */
    int32_t line;
    nat_line_numbers numbers;
} sim_vary_line;

typedef struct sim_vary_side {
    sim_vary_device *device; /* vec, by device: only what differs from the circuit as it is */
    sim_vary_wave *wave;     /* vec */
    sim_vary_line *line;     /* vec */
} sim_vary_side;

typedef struct sim_vary {
    sim *s;
    arena *mem;
    double **key;        /* vec: of the devices as they are; heap */
    const char **module; /* vec: their modules */
    sim_vary_wave *wave; /* vec: all sources as they are */
    sim_vary_line *line; /* vec: all lines as they are */
    double *some;        /* vec: room for a key */
} sim_vary;

/* Takes the circuit as it is. `mem` holds waveforms and must outlive v and its sides. */
void sim_vary_begin(sim_vary *v, sim *s, arena *mem);
void sim_vary_end(sim_vary *v);

/* The circuit of now has the devices, with the same modules, and the sources that it had. */
bool sim_vary_same(const sim_vary *v);
/* What differs now, to `to`; what is common is noted by ckt_redo_note. */
void sim_vary_take(sim_vary *v, sim_vary_side *to);
void sim_vary_side_free(sim_vary_side *k);

/* The devices of both sides of a value, `distance` apart, as parameter `number`.
 * Status: VS_OK; those of ckt_vary_add. */
VS_MUST_USE vs_status sim_vary_add(sim_vary *v, const sim_vary_side side[2], double distance,
                                   int32_t number, ckt_vary *to);
/* A source as it is on the side. */
const sim_vary_wave *sim_vary_wave_of(const sim_vary *v, const sim_vary_side *k, int32_t source);
/* The sources that differ on either side, to the vec. */
void sim_vary_sources(const sim_vary_side *lo, const sim_vary_side *hi, int32_t **source);
/* A line as it is on the side; those that differ on either side, to the vec. */
nat_line_numbers sim_vary_line_of(const sim_vary *v, const sim_vary_side *k, int32_t line);
void sim_vary_lines(const sim_vary_side *lo, const sim_vary_side *hi, int32_t **line);
double sim_vary_wave_value(const sim_vary_wave *w, double t);

#endif
