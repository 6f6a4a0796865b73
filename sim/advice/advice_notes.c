// SPDX-License-Identifier: MIT
// The list of warnings and values, and what its writers share.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "sim/advice/advice_internal.h"

#define ADVICE_WORD(constant, word) word,
static const char *const kind_words[] = {ADVICE_LIST(ADVICE_WORD)};
#undef ADVICE_WORD

const char *advice_kind_word(enum advice_kind kind) { return kind_words[kind]; }

void advice_warn(struct advice *a, enum advice_kind kind, const char *key, char *text)
{
    // Several dimensions with one setting have the same warning, which is shown once.
    for (size_t i = 0; i < a->n_warnings; i++)
        if (a->warnings[i].kind == kind && strcmp(a->warnings[i].text, text) == 0) {
            free(text);
            return;
        }
    a->warnings = memory_resize(a->warnings, a->n_warnings + 1, sizeof *a->warnings);
    a->warnings[a->n_warnings++] = (struct advice_warning){kind, key, text};
}

void advice_auto(struct advice *a, const char *key, uint32_t dim, const char *value, bool rule)
{
    a->autos = memory_resize(a->autos, a->n_autos + 1, sizeof *a->autos);
    a->autos[a->n_autos++] = (struct advice_auto){memory_text(key), memory_text(value), dim, rule};
}

// True if a setting has the same value in all dimensions.
static bool is_everywhere(const struct advice *a, const struct advice_auto *one, uint32_t n_dims)
{
    uint32_t n = 0;
    for (size_t i = 0; i < a->n_autos; i++)
        n += strcmp(a->autos[i].key, one->key) == 0 && strcmp(a->autos[i].value, one->value) == 0;
    return n == n_dims;
}

void advice_merge_dims(struct advice *a, uint32_t n_dims)
{
    bool *everywhere = memory_zeroed(a->n_autos, sizeof *everywhere);
    size_t n = 0;
    for (size_t i = 0; i < a->n_autos; i++)
        everywhere[i] = is_everywhere(a, &a->autos[i], n_dims);
    for (size_t i = 0; i < a->n_autos; i++) {
        struct advice_auto one = a->autos[i];
        if (everywhere[i] && one.dim > 0) {
            free(one.key);
            free(one.value);
            continue;
        }
        if (!everywhere[i]) {
            char *path = text_format("topology.dims[%u].%s", one.dim, one.key);
            free(one.key);
            one.key = path;
        }
        a->autos[n++] = one;
    }
    a->n_autos = n;
    free(everywhere);
}

bool advice_path(const struct fabric *fabric, uint32_t dim, uint32_t transport,
                 struct advice_path *out)
{
    const struct transport_dim *t = hosts_dim(&fabric->hosts, dim, transport);
    struct longest_path longest = fabric_longest_path(fabric, dim, transport);
    // A dimension that joins no ranks has no path.
    if (longest.hops == 0)
        return false;
    out->src = longest.src;
    out->dst = longest.dst;
    out->path = fabric_path((void *)(uintptr_t)fabric, longest.src, longest.dst, dim, transport, 0);
    out->env = transport_path_env(&fabric->hosts, t, &out->path);
    return true;
}

const char *advice_which(const struct fabric *fabric, uint32_t transport, char text[64])
{
    const struct dim_spec *dim = &fabric->spec->dims[0];
    text[0] = '\0';
    if (dim->n_stacks > 1)
        snprintf(text, 64, " of %.32s", dim->stacks[transport].transport.name);
    return text;
}

void advice_where(const struct fabric *fabric, uint32_t dim, uint32_t transport, char text[64])
{
    size_t n = strlen(advice_which(fabric, transport, text));
    if (fabric->spec->n_dims > 1)
        snprintf(text + n, 64 - n, " of dimension %u", dim);
}

void advice_free(struct advice *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->n_warnings; i++)
        free(a->warnings[i].text);
    for (size_t i = 0; i < a->n_autos; i++) {
        free(a->autos[i].key);
        free(a->autos[i].value);
    }
    free(a->warnings);
    free(a->autos);
    free(a);
}
