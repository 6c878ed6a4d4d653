/* op.c - the operating point of a divider.   cc op.c $(pkg-config --cflags --libs vsim) && ./a.out
 */
#include <stdio.h>
#include <string.h>
#include <vsim/vsim.h>

int main(void)
{
    const char *text = "a divider\nv1 in 0 10\nr1 in out 1k\nr2 out 0 3k\n.end\n";
    vsim *s;
    vsim_deck *d = NULL;
    vsim_run *r = NULL;
    double v = 0;
    vsim_status st = vsim_new(&s, NULL);
    if (!st && !(st = vsim_deck_text(s, "divider", text, strlen(text), NULL, &d)) &&
        !(st = vsim_run_card(d, "op", NULL, &r)) && !(st = vsim_run_go(r)))
        st = vsim_run_value(r, "v(out)", &v);
    printf(st ? "%s\n" : "v(out) = %2$g V\n", vsim_status_text(st), v);
    vsim_free(&s);
    return st != VSIM_OK;
}
