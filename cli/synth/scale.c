// SPDX-License-Identifier: MIT
// Powers: a product of a batch of b vectors with a matrix of h x h has 2 b h^2 operations, b h
// values of activations and h^2 of weights. Such products dominate a transformer: 24 B s h^2 of a
// layer's 24 B s h^2 (1 + s / 6 h) operations (Narayanan et al., SC 2021, section 3).
#include "cli/synth/scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/text.h"

struct measure {
    const char *name;
    double time, activations, weights; // powers of the factor
};

static const struct measure measures[] = {
    {"hidden", 2, 1, 2}, // the width of the model
    {"batch", 1, 1, 0},  // tokens or samples of a step
    {"time", 1, 0, 0},
    {"bytes", 0, 1, 1},
};

static const struct measure *measure_named(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof measures / sizeof *measures; i++)
        if (strlen(measures[i].name) == n && strncmp(measures[i].name, name, n) == 0)
            return &measures[i];
    return NULL;
}

static void apply(struct synth_scale *scale, const char *part, struct err *err)
{
    const char *equals = strchr(part, '=');
    const struct measure *m = equals != NULL ? measure_named(part, (size_t)(equals - part)) : NULL;
    char *end = NULL;
    double factor = m != NULL ? strtod(equals + 1, &end) : 0;
    if (m == NULL) {
        err_add(err, "--scale", "%s is not hidden, batch, time or bytes = a factor", part);
    } else if (end == equals + 1 || *end != '\0' || !(factor >= 1e-6 && factor <= 1e6)) {
        err_add(err, "--scale", "%s must be a factor from 0.000001 to 1000000", part);
    } else {
        scale->time *= pow(factor, m->time);
        scale->activations *= pow(factor, m->activations);
        scale->weights *= pow(factor, m->weights);
    }
}

int synth_scale_read(struct synth_scale *scale, const char *text, struct err *err)
{
    size_t errors = err->n_errors;
    char **parts;
    *scale = (struct synth_scale){1, 1, 1};
    if (text == NULL)
        return 0;
    size_t n = text_split(text, ',', &parts);
    for (size_t i = 0; i < n; i++)
        apply(scale, parts[i], err);
    texts_free(parts, n);
    return err->n_errors == errors ? 0 : -1;
}
