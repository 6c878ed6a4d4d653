/* conv_mat.h - the numbers of MATLAB's level 5, between its writer and its reader.
 * Source: MathWorks, "MAT-File Format", version 5. */
#ifndef CONV_MAT_H
#define CONV_MAT_H

/* types of data */
enum {
    MI_INT8 = 1,
    MI_UINT8,
    MI_INT16,
    MI_UINT16,
    MI_INT32,
    MI_UINT32,
    MI_SINGLE,
    MI_DOUBLE = 9,
    MI_INT64 = 12,
    MI_MATRIX = 14,
    MI_COMPRESSED,
    MI_UTF8,
    MI_UTF16
};
/* classes of arrays */
enum {
    MX_CELL = 1,
    MX_STRUCT,
    MX_CHAR = 4,
    MX_SPARSE,
    MX_DOUBLE,
    MX_UINT64 = 15,
    MX_FUNCTION,
    MX_OPAQUE
};
enum { MX_COMPLEX_FLAG = 0x0800 };

#endif
