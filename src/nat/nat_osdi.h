/* nat_osdi.h - native devices: those of OSDI libraries, evaluated by the library's own code.
 * They are evaluated one by one in the order in which they were added. */
#ifndef NAT_OSDI_H
#define NAT_OSDI_H

#include "nat.h"
#include "osdi.h"

/* unk [module->n_node]: unknowns of the circuit. name is interned; it and the instance outlive the
 * list. */
void nat_osdi_add(nat_list *l, osdi_inst *in, const char *name, diag_span span, const int32_t *unk);
osdi_inst *nat_osdi_inst(const nat_list *l, int32_t i);
/* Device by interned name, -1: none. */
int32_t nat_osdi_find(const nat_list *l, const char *name);
/* A parameter or operating-point variable at x. */
double nat_osdi_value(nat_list *l, const nat_env *env, const double *x, int32_t device, int32_t id);

#endif
