/* rep_text.c - numbers and strings of reports, and the files that they write. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "rep.h"
#include "stream.h"

const char *rep_si(char buf[16], double x, const char *unit)
{
    static const char prefix[] = "afpnum kMGT";
    int e = x != 0 && isfinite(x) ? (int)floor(log10(fabs(x)) / 3 + 1e-12) : 0;
    e = e < -6 ? -6 : e > 4 ? 4 : e;
    double m = x / pow(10, 3 * e);
    int digits = fabs(m) >= 100 ? 0 : fabs(m) >= 10 ? 1 : 2;
    if (e)
        snprintf(buf, 16, "%.*f %c%s", digits, m, prefix[e + 6], unit);
    else
        snprintf(buf, 16, "%.*f %s", digits, m, unit);
    return buf;
}

void rep_json_string(FILE *out, const char *s)
{
    fputc('"', out);
    for (; *s; s++) {
        const unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 32 || c == 127)
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

FILE *rep_create(diag *d, const char *path, files_role role)
{
    FILE *fp = stream_create(path, role);
    if (!fp)
        diag_error(d, DIAG_NOWHERE, "'%s' cannot be written: %s", path, files_why(errno));
    return fp;
}

vs_status rep_close(diag *d, FILE *fp, const char *path)
{
    errno = 0;
    const bool bad = ferror(fp);
    if (!stream_close(fp) && !bad)
        return VS_OK;
    diag_error(d, DIAG_NOWHERE, "'%s' could not be written: %s", path,
               errno ? strerror(errno) : "write failed");
    return VS_EIO;
}
