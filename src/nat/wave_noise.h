/* wave_noise.h - the random waveforms of wave.h: TRNOISE (white, 1/f and telegraph noise) and
 * TRRANDOM.
 * Source: ngspice manual, sections "Transient noise source" and "Random voltage source". A sample
 * is a function of the source's key and its number (draw.h), so a waveform needs no memory, can be
 * asked for at any time in any order, and is the same for any step of the simulation, on any
 * machine and by any worker.
 *
 * TRNOISE(na nt nalpha namp rtsam rtscapt rtsemt): samples at multiples of nt, straight lines
 * between, 0 at t = 0.
 *   white      normal with deviation na
 *   1/f        one-sided density 2 nt namp^2 / (2 sin(pi f nt))^nalpha: that of white noise with
 *              deviation namp behind Kasdin's filter (1 - 1/z)^(-nalpha/2) (Proc. IEEE 83, 802,
 *              1995, as ngspice makes it). Here it is a sum over octaves j of normal numbers 2^j nt
 *              apart with straight lines between, and one white part; it follows the formula within
 *              0.1 dB from the inverse of the run's length to half the sampling rate.
 *   telegraph  0 or rtsam; mean time in 0 rtscapt, in rtsam rtsemt, both exponentially distributed;
 *              0 at t = 0. With the rates a = 1/rtscapt, b = 1/rtsemt, a Poisson process of rate a
 *              + b whose every event draws the state anew (rtsam with a / (a + b)) is that process.
 * TRRANDOM(type ts td p1 p2): 0 before td, then a number every ts: type 1 evenly from p2 - p1 to p2
 * + p1, 2 normal with
 *   deviation p1 and mean p2, 3 exponential with mean p1, shifted by p2, 4 Poisson with mean p1,
 *   shifted by p2.
 * The dc value, if given, is added. */
#ifndef WAVE_NOISE_H
#define WAVE_NOISE_H

#include "wave.h"

/* As the functions of wave.h without "noise". */
const char *wave_noise_check(const wave *w);
/* w->arg: those that were given; arg [WAVE_ARGS]: they, and 0. Constants of 1/f noise come behind
 * the arguments. */
void wave_noise_defaults(const wave *w, double *arg, double tstop);
/* As wave_interval. */
double wave_noise_interval(const wave *w);
double wave_noise_value(const wave *w, double t);
double wave_noise_break(const wave *w, double after);

#endif
