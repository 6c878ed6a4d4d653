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

/* Bytes of the character of UTF-8 at s; 0: there is none. */
static int utf8_bytes(const char *s)
{
    const unsigned char c = (unsigned char)*s, d = (unsigned char)s[1];
    const int n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
    const bool wide = (c == 0xe0 && d < 0xa0) || (c == 0xed && d > 0x9f) ||
                      (c == 0xf0 && d < 0x90) || (c == 0xf4 && d > 0x8f);
    for (int i = 1; i < n; i++)
        if (((unsigned char)s[i] & 0xc0) != 0x80)
            return 0;
    return wide ? 0 : n;
}

void rep_json_string(FILE *out, const char *s)
{
    fputc('"', out);
    for (int n; *s; s += n ? n : 1) {
        const unsigned char c = (unsigned char)*s;
        n = utf8_bytes(s);
        if (!n)
            fputs("\\ufffd", out); /* names in files may have any bytes */
        else if (n > 1)
            fwrite(s, 1, (size_t)n, out);
        else if (c == '"' || c == '\\')
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
