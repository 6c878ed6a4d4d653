// cxx.cc - the library from C++: handles in unique_ptr, vectors read in place.
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vsim/vsim.h>

namespace
{

struct free_simulator {
    void operator()(vsim *s) const { vsim_free(&s); }
};
struct free_run {
    void operator()(vsim_run *r) const { vsim_run_free(&r); }
};
using simulator = std::unique_ptr<vsim, free_simulator>;
using run = std::unique_ptr<vsim_run, free_run>;

void check(const vsim *s, vsim_status st)
{
    if (st == VSIM_OK)
        return;
    size_t n = 0;
    const vsim_message *m = vsim_messages(s, &n);
    throw std::runtime_error(n ? m[0].text : vsim_status_text(st));
}

simulator make_simulator()
{
    vsim *s = nullptr;
    const vsim_status st = vsim_new(&s, nullptr);
    simulator owner(s);
    check(s, st);
    return owner;
}

run make_run(const vsim *s, vsim_deck *d, const char *card)
{
    vsim_run *r = nullptr;
    check(s, vsim_run_card(d, card, nullptr, &r));
    run owner(r);
    check(s, vsim_run_go(r));
    return owner;
}

} // namespace

int main()
{
    const std::string text = "inverting amplifier\n"
                             "v1 in 0 0\n"
                             "r1 in x 1k\n"
                             "r2 x out 10k\n"
                             "e1 out 0 0 x 1e6\n"
                             ".end\n";
    try {
        const simulator s = make_simulator();
        vsim_deck *d = nullptr;
        check(s.get(), vsim_deck_text(s.get(), "amplifier", text.data(), text.size(), nullptr, &d));
        const run r = make_run(s.get(), d, "dc v1 -1 1 0.5");
        vsim_vector in, out;
        check(s.get(), vsim_run_vector(r.get(), "v(in)", &in));
        check(s.get(), vsim_run_vector(r.get(), "v(out)", &out));
        for (size_t i = 0; i < in.n; i++)
            std::printf("%5.2f V -> %6.2f V\n", in.v[i], out.v[i]);
        vsim_run *none = nullptr;
        check(s.get(), vsim_run_card(d, "nonsense", nullptr, &none));
    } catch (const std::runtime_error &e) {
        std::printf("caught: %s\n", e.what());
        return 0;
    }
    return 1;
}
