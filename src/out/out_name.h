/* out_name.h - the names that ngspice gives to vectors, and ours.
 * Ours name an element by its place, "x1.vmeas"; ngspice puts the element's letter in front,
 * "v.x1.vmeas". In its raw files ngspice wraps names by their type: "i(@m.x1.m1[id])",
 * "v(v-sweep)"; noise of an element is "onoise_r.x1.r1". What stands between [ ] decides the type
 * of a value inside a device.
 * Source: raw files of ngspice 39 and the manual, ch. "Vectors and Scalars". */
#ifndef OUT_NAME_H
#define OUT_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* The version of ngspice whose files and command line ours are like. */
#define OUT_NGSPICE "ngspice-46"

enum { OUT_NAME = 640 }; /* size of the buffers; longer names stay as they are */

/* "i(x1.vmeas)" -> "i(v.x1.vmeas)", "@x1.m1[gm]" -> "@m.x1.m1[gm]"; by type "v-sweep" ->
 * "v(v-sweep)". Gives `name` itself if nothing changes. */
const char *out_ng_name(char buf[OUT_NAME], const char *name, const char *type);
/* "admittance" of @m1[gm], "voltage" of @m1[vth]; of names without @ their own. */
const char *out_ng_type(const char *name, const char *type);
/* The name of a vector in ngspice's memory: "v(out)" -> "out", "i(x1.l1)" -> "l.x1.l1#branch". */
const char *out_ng_memory(char buf[OUT_NAME], const char *name);
/* From ngspice's names to ours, for names that a user types: "l.x1.l1#branch" -> "i(x1.l1)",
 * "v(v1#branch)" (of a measure's vdb(v1#branch)) -> "i(v1)", "i(@m.x1.m1[id])" -> "@x1.m1[id]",
 * "v(v-sweep)" -> "v-sweep". Gives `name` itself if nothing changes. */
const char *out_own_name(char buf[OUT_NAME], const char *name);
/* Whether a plot's first vector, of this name and type, is the axis of the others. */
bool out_is_axis(const char *name, const char *type);
/* The type that a file states. Where it states "notype", as VACASK's do, time and frequency get
 * theirs by their names. */
const char *out_own_type(const char *name, const char *type);

#endif
