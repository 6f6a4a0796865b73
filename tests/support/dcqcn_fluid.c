// SPDX-License-Identifier: MIT
// The fluid model of DCQCN. Rates are in packets/s, queues in packets. With p the marking
// probability, tau the CNP window, tau' the alpha timer, T the rate timer, B the byte counter:
// b = p/((1-p)^-B - 1), c = b (1-p)^(FB), d = p/((1-p)^(-T R) - 1), e = d (1-p)^(F T R)
#include "tests/support/dcqcn_fluid.h"

#include <math.h>
#include <stdlib.h>

static const double tau = 50e-6, alpha_timer = 55e-6, rate_timer = 55e-6, byte_counter = 10e6,
                    f = 5, g = 1.0 / 256;

struct terms {
    double b, c, d, e;
};

static struct terms terms_of(double p, double rate, double bytes)
{
    double packets = rate_timer * rate;
    if (p < 1e-12)
        return (struct terms){1 / bytes, 1 / bytes, 1 / packets, 1 / packets};
    struct terms t = {.b = p / (pow(1 - p, -bytes) - 1), .d = p / (pow(1 - p, -packets) - 1)};
    t.c = t.b * pow(1 - p, f * bytes);
    t.e = t.d * pow(1 - p, f * packets);
    return t;
}

// A^2 alpha / ((b+d)(c+e)) - tau^2 Rai Rc, with A = 1 - (1-p)^(tau Rc) and alpha = 1 - (1-p)^(tau'
// Rc).
static double residual(const struct dcqcn_fluid *m, double p)
{
    double rate = m->line_bps / 8 / m->packet_bytes / m->flows;
    double rai = m->rai_bps / 8 / m->packet_bytes;
    double cuts = 1 - pow(1 - p, tau * rate), alpha = 1 - pow(1 - p, alpha_timer * rate);
    struct terms t = terms_of(p, rate, byte_counter / m->packet_bytes);
    return cuts * cuts * alpha / ((t.b + t.d) * (t.c + t.e)) - tau * tau * rai * rate;
}

double dcqcn_fixed_point(const struct dcqcn_fluid *m)
{
    double low = 1e-9, high = 0.5;
    for (int i = 0; i < 200; i++) {
        double mid = sqrt(low * high);
        if (residual(m, mid) < 0)
            low = mid;
        else
            high = mid;
    }
    return m->kmin_bytes + low / m->pmax * (m->kmax_bytes - m->kmin_bytes);
}

struct motion {
    double q, alpha, target, rate;
};

static double marked(const struct dcqcn_fluid *m, double q_bytes)
{
    if (q_bytes < m->kmin_bytes)
        return 0;
    double p = (q_bytes - m->kmin_bytes) / (m->kmax_bytes - m->kmin_bytes) * m->pmax;
    return q_bytes < m->kmax_bytes ? p : 0.9999;
}

// The model's equations (5) to (8) for one step of `dt`. `p` and `rate` are the values one delay
// earlier.
static void move(const struct dcqcn_fluid *m, struct motion *s, double p, double rate, double dt)
{
    double line = m->line_bps / 8 / m->packet_bytes, rai = m->rai_bps / 8 / m->packet_bytes;
    double cuts = 1 - pow(1 - p, tau * rate);
    struct terms t = terms_of(p, rate, byte_counter / m->packet_bytes);
    double d_target = -(s->target - s->rate) / tau * cuts + rai * rate * (t.c + t.e);
    double d_rate =
        -s->rate * s->alpha / (2 * tau) * cuts + (s->target - s->rate) / 2 * rate * (t.b + t.d);
    s->alpha += dt * g / alpha_timer * (1 - pow(1 - p, alpha_timer * rate) - s->alpha);
    s->target = fmin(s->target + dt * d_target, line);
    s->rate = fmax(fmin(s->rate + dt * d_rate, line), line / 1000);
    s->q = fmax(s->q + dt * (m->flows * s->rate - line), 0);
}

double dcqcn_motion(const struct dcqcn_fluid *m, double delay_s, double seconds)
{
    const double dt = 1e-6;
    double fair = m->line_bps / 8 / m->packet_bytes / m->flows, mean = 0;
    size_t n = (size_t)(seconds / dt), late = (size_t)(delay_s / dt);
    double *p = calloc(n, sizeof *p), *rate = calloc(n, sizeof *rate);
    struct motion s = {m->kmin_bytes * 1.1 / m->packet_bytes, 0.1, fair * 1.05, fair * 1.05};
    for (size_t i = 0; i < n; i++) {
        p[i] = marked(m, s.q * m->packet_bytes);
        rate[i] = s.rate;
        size_t then = i > late ? i - late : 0;
        move(m, &s, p[then], rate[then], dt);
        if (i >= n / 3)
            mean += s.q * m->packet_bytes / (double)(n - n / 3);
    }
    free(p);
    free(rate);
    return mean;
}
