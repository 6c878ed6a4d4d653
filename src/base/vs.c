#include "vs.h"

const char *vs_status_text(vs_status st)
{
    switch (st) {
#define X(name, value, text) \
    case name:               \
        return text;
        VS_STATUS_LIST(X)
#undef X
    }
    return "unknown status";
}
