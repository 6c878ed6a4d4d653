/* evt_child.h - a program beside that answers packets: the other end of the model d_process.
 * Use:    evt_child_new; evt_child_begin at the start of a run, then evt_child_ask in turn;
 *         evt_child_free.
 * Source: ngspice manual, section on d_process; the protocol is that of its examples: three bytes
 *         (version 1, number of inputs, of outputs), which the program sends back; then for each
 *         clock edge the time as a double, negative during a reset, and the inputs, eight a byte,
 *         lowest bit first; the program answers with the outputs, packed likewise.
 *
 * The digital part runs ahead of the analog circuit and goes back; a program cannot. So all packets
 * and answers are kept: what is asked again in the same words is answered from there. If other
 * words follow, the program is started anew and asked all that still holds, for which it must give
 * the same answers. */
#ifndef EVT_CHILD_H
#define EVT_CHILD_H

#include "child.h"
#include "image.h"
#include "vs.h"

typedef struct evt_child evt_child;

/* program: file and arguments, NULL behind the last one; outlives the child. A file that ends with
 * '|' is no program: FILE_in and FILE_out, without it, are named pipes to one that runs already.
 * Starts nothing. */
evt_child *evt_child_new(const child_host *host, const char *const *program, int32_t n_in,
                         int32_t n_out);
void evt_child_free(evt_child **c);
/* Forgets all packets; the program, if it runs, ends. */
void evt_child_begin(evt_child *c);
/* The answer to packet `at` (from 0), with time and inputs [(n_in + 7)/8 bytes]: [(n_out + 7)/8
 * bytes], until the next call; NULL: evt_child_wrong says why there is none. What was asked from
 * `at` on before no longer holds. at: at most the number of packets so far. */
const uint8_t *evt_child_ask(evt_child *c, size_t at, double time, const uint8_t *in);
/* "ended"; of a sentence whose subject is the program; NULL: nothing is wrong. */
const char *evt_child_wrong(const evt_child *c);
const char *evt_child_file(const evt_child *c);
size_t evt_child_n(const evt_child *c);
/* Packets before number `at` will not be asked again. Many of them are forgotten. */
void evt_child_settle(evt_child *c, size_t at);
/* Compares file and arguments; what: for image_same. */
void evt_child_identity(const evt_child *c, image *im, const char *what);
/* The packets; a program that goes on elsewhere is asked them again. */
void evt_child_image(evt_child *c, image *im);

#endif
