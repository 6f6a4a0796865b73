// SPDX-License-Identifier: MIT
// Keys that ASTRA-sim 2 ignores, or that change only what it prints, are allowed and have no effect
// here either; a warning names them. Features of ASTRA-sim 2 that collwire lacks are an error.
// Source: ASTRA-sim 2 (Won et al., ISPASS 2023), astra-sim/system/Sys.cc.
#include "workload/read/astra2_system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collective/algorithm/algorithm_settings.h"
#include "collective/algorithm/graph_collective.h"
#include "collective/algorithm/grid.h"
#include "engine/text/json_file.h"
#include "engine/text/relative_path.h"
#include "workload/read/ignored_keys.h"

#define DELAY_NS_MAX 1000000000
#define COUNT_MAX 1000000
#define GROUP_DELAY_PS (10 * PS_PER_NS) // in groups, whatever the endpoint-delay is

static const char *const ignored[] = {
    "L",
    "o",
    "g",
    "G",
    "boost-mode",
    "direct-collective-window",
    "inter-dimension-scheduling",
    "intra-dimension-scheduling",
    "local-mem-trace-filename",
    "local-reduction-delay",
    "seprate-log", // as the key is spelled in public files
    "trace-enabled",
    "track-local-mem",
    NULL,
};

static const char *const unsupported[][2] = {
    {"per-node-custom-implementation", "collectives of single nodes as traces"},
};

const char *const astra2_custom_keys[COLL_OPS] = {
    [COLL_ALL_REDUCE] = "all-reduce-implementation-custom",
    [COLL_REDUCE_SCATTER] = "reduce-scatter-implementation-custom",
    [COLL_ALL_GATHER] = "all-gather-implementation-custom",
    [COLL_ALL_TO_ALL] = "all-to-all-implementation-custom",
};

// Read a whole number, if the key is there.
static void count_read(struct reader *r, const struct place *root, struct keys *keys,
                       const char *key, json_int_t min, json_int_t max, json_int_t *value)
{
    struct place at = place_key(root, key);
    keys_add(keys, key);
    if (at.json == NULL)
        return;
    json_int_t number = json_integer_value(at.json);
    if (!json_is_integer(at.json) || number < min || number > max)
        place_error(r->err, &at, "must be a whole number from %lld to %lld", (long long)min,
                    (long long)max);
    else
        *value = number;
}

static void number_read(struct reader *r, const struct place *root, struct keys *keys,
                        const char *key, double *value)
{
    struct place at = place_key(root, key);
    keys_add(keys, key);
    if (at.json == NULL)
        return;
    double number = json_number_value(at.json);
    if (!json_is_number(at.json) || !(number >= 0 && number <= 1e9))
        place_error(r->err, &at, "must be a number from 0 to 1000000000");
    else
        *value = number;
}

// Read true or false, which stands in a text where it comes from a command line.
static bool switch_read(struct reader *r, const struct place *root, struct keys *keys,
                        const char *key)
{
    struct place at = place_key(root, key);
    const char *text = json_string_value(at.json);
    keys_add(keys, key);
    bool on = json_is_true(at.json) || (text != NULL && strcmp(text, "true") == 0);
    bool off = json_is_false(at.json) || (text != NULL && strcmp(text, "false") == 0);
    if (at.json != NULL && !on && !off)
        place_error(r->err, &at, "must be true or false");
    return on;
}

static int word_read(struct reader *r, const struct place *root, struct keys *keys, const char *key,
                     const char *const *words, int none)
{
    struct place at = place_key(root, key);
    keys_add(keys, key);
    if (at.json == NULL)
        return none;
    return read_word(r, &at, key, words);
}

// Read a name of an algorithm; a number may follow that of direct. Returns NULL with an error.
static const struct coll_algorithm *algorithm_read(struct reader *r, const struct place *at,
                                                   enum coll_op op, bool *flat, uint64_t *window)
{
    const char *text = json_string_value(at->json), *name = text;
    if (text == NULL) {
        place_error(r->err, at, "must be the name of an algorithm");
        return NULL;
    }
    *window = PARAM_AUTO;
    *flat = strncmp(name, "one", 3) == 0;
    char first[2] = {0};
    if (*flat) {
        name += 3;
        first[0] = (char)(name[0] - 'A' + 'a');
    }
    for (size_t i = 0; coll_registry[i] != NULL; i++) {
        const struct coll_algorithm *a = coll_registry[i];
        size_t length = a->astra != NULL ? strlen(a->astra) : 0;
        if (length == 0 || (*flat ? first[0] : name[0]) != a->astra[0] ||
            strncmp(name + 1, a->astra + 1, length - 1) != 0)
            continue;
        bool numbered = strcmp(a->name, "direct") == 0 && name[length] != '\0';
        if (numbered ? parse_count(name + length, window) != 0 || *window == 0
                     : name[length] != '\0')
            continue;
        if (strcmp(a->name, "halving_doubling") == 0 && op == COLL_ALL_TO_ALL)
            break;
        return a;
    }
    place_error(r->err, at,
                "unknown implementation \"%.40s\": one of ring, direct, directK, "
                "halvingDoubling (not for all-to-all), doubleBinaryTree, oneRing, oneDirect, "
                "oneHalvingDoubling",
                text);
    return NULL;
}

// Dimensions of the network beyond the list take no part in the operation.
static void implementation_read(struct reader *r, const struct place *root, struct keys *keys,
                                const char *key, enum coll_op op, struct astra2_system *s)
{
    struct coll_schedule *c = &s->whole;
    struct place list = place_key(root, key);
    keys_add(keys, key);
    if (list.json == NULL || !read_list(r, &list))
        return;
    size_t n = json_array_size(list.json);
    if (n == 0 || n > c->n_dims) {
        place_error(r->err, &list, "lists %zu algorithms for %u dimensions", n, c->n_dims);
        return;
    }
    s->single[op] = n == 1;
    c->op_dims[op] = (UINT32_C(1) << n) - 1;
    for (uint32_t d = 0; d < n; d++) {
        struct place at = place_item(&list, d);
        uint64_t window;
        bool flat;
        const struct coll_algorithm *a = algorithm_read(r, &at, op, &flat, &window);
        if (a == NULL)
            return;
        struct coll_choice choice = coll_choice_of(a);
        if (window != PARAM_AUTO)
            ((struct coll_direct_params *)(void *)choice.params)->in_flight = window;
        if (flat) {
            c->flat[op] = true;
            c->op_dims[op] = (UINT32_C(1) << c->n_dims) - 1;
            c->choice[op][c->n_dims] = choice;
            if (n > 1)
                place_error(r->err, &list, "an algorithm over all ranks at once must be alone");
            return;
        }
        c->choice[op][d] = choice;
    }
}

// Read the prefix of the traces of an operation, which run over all ranks at once.
static void custom_read(struct reader *r, const struct place *root, struct keys *keys,
                        enum coll_op op, struct astra2_system *s)
{
    struct coll_schedule *c = &s->whole;
    struct place list = place_key(root, astra2_custom_keys[op]);
    keys_add(keys, astra2_custom_keys[op]);
    if (list.json == NULL || !read_list(r, &list))
        return;
    s->custom[op] = json_string_value(json_array_get(list.json, 0));
    if (json_array_size(list.json) != 1 || s->custom[op] == NULL || s->custom[op][0] == '\0') {
        place_error(r->err, &list, "must be a list of one prefix of traces");
        s->custom[op] = NULL;
        return;
    }
    s->single[op] = c->flat[op] = true;
    c->op_dims[op] = (UINT32_C(1) << c->n_dims) - 1;
    c->choice[op][c->n_dims] = coll_graph_choice(NULL);
}

static void defaults(struct astra2_system *s)
{
    struct coll_schedule *c = &s->whole;
    for (unsigned op = 0; op < COLL_OPS; op++) {
        c->op_dims[op] = (UINT32_C(1) << c->n_dims) - 1;
        for (uint32_t d = 0; d <= c->n_dims; d++)
            c->choice[op][d] = coll_choice_of(coll_find("ring"));
    }
    c->chunks = c->active_chunks = 1;
    c->phases = COLL_BASELINE;
    c->newest_first = true;
    c->streams.enabled = true;
    c->streams.queues = 1;
    c->streams.least_chunk = coll_ranks(c);
}

static void keys_of(struct reader *r, const struct place *place, struct keys *keys,
                    struct astra2_system *s)
{
    static const char *const policies[] = {"FIFO", "LIFO", "EXPLICIT", NULL};
    static const char *const phases[] = {"baseline", "localBWAware", NULL};
    struct coll_schedule *c = &s->whole;
    json_int_t delay = 10, active = 1, splits = 1, queues = 1, roofline = 0, bus = 0, replay = 0;
    double memory = 0, peak = 0;
    c->newest_first = word_read(r, place, keys, "scheduling-policy", policies, 1) == 1;
    c->phases = word_read(r, place, keys, "collective-optimization", phases, COLL_BASELINE);
    count_read(r, place, keys, "endpoint-delay", 0, DELAY_NS_MAX, &delay);
    count_read(r, place, keys, "active-chunks-per-dimension", 1, COUNT_MAX, &active);
    count_read(r, place, keys, "preferred-dataset-splits", 1, COUNT_MAX, &splits);
    count_read(r, place, keys, "num-queues-per-dim", 1, 64, &queues);
    count_read(r, place, keys, "model-shared-bus", 0, 0, &bus);
    count_read(r, place, keys, "replay-only", 0, 0, &replay);
    count_read(r, place, keys, "roofline-enabled", 0, 1, &roofline);
    s->rendezvous = switch_read(r, place, keys, "rendezvous-protocol");
    number_read(r, place, keys, "local-mem-bw", &memory);
    number_read(r, place, keys, "peak-perf", &peak);
    implementation_read(r, place, keys, "all-reduce-implementation", COLL_ALL_REDUCE, s);
    implementation_read(r, place, keys, "reduce-scatter-implementation", COLL_REDUCE_SCATTER, s);
    implementation_read(r, place, keys, "all-gather-implementation", COLL_ALL_GATHER, s);
    implementation_read(r, place, keys, "all-to-all-implementation", COLL_ALL_TO_ALL, s);
    for (unsigned op = 0; op < COLL_OPS; op++)
        if (astra2_custom_keys[op] != NULL)
            custom_read(r, place, keys, (enum coll_op)op, s);
    c->endpoint_ps = delay * PS_PER_NS;
    c->active_chunks = (uint64_t)active;
    c->chunks = (uint64_t)splits;
    c->streams.queues = (uint32_t)queues;
    c->streams.memory_bytes = s->memory_bytes = memory * 1e9;
    s->peak_ops = peak * 1e12;
    s->roofline = roofline != 0;
    if (s->roofline && !(s->memory_bytes > 0 && s->peak_ops > 0))
        place_error(r->err, place, "roofline-enabled needs local-mem-bw and peak-perf");
}

void astra2_system_read(struct reader *r, const struct place *place, struct astra2_system *s)
{
    struct keys keys = {0};
    defaults(s);
    if (!read_object(r, place))
        return;
    keys_of(r, place, &keys, s);
    for (size_t i = 0; ignored[i] != NULL; i++)
        keys_add(&keys, ignored[i]);
    for (size_t i = 0; i < sizeof unsupported / sizeof *unsupported; i++) {
        struct place at = place_key(place, unsupported[i][0]);
        keys_add(&keys, unsupported[i][0]);
        if (at.json != NULL)
            place_error(r->err, &at, "%s are not supported", unsupported[i][1]);
    }
    keys_check(r, place, &keys);
    char path[PLACE_TEXT];
    ignored_keys_warn(r->err, place_text(place, path), "", place->json, ignored);
}

void astra2_system_strip(json_t *system)
{
    for (size_t i = 0; ignored[i] != NULL; i++)
        json_object_del(system, ignored[i]);
}

void astra2_system_move(json_t *system, const char *dir, const char *file)
{
    for (unsigned op = 0; op < COLL_OPS; op++) {
        const char *key = astra2_custom_keys[op];
        json_t *list = key != NULL ? json_object_get(system, key) : NULL;
        const char *prefix = json_string_value(json_array_get(list, 0));
        if (prefix == NULL)
            continue;
        char *from = path_from(dir, prefix), *to = path_relative(file, from);
        json_array_set_new(list, 0, json_string(to));
        free(from);
        free(to);
    }
}

struct coll_schedule astra2_group_schedule(const struct astra2_system *s, uint32_t n)
{
    struct coll_schedule c = s->whole;
    c.n_dims = 1;
    c.dim_size[0] = n;
    c.endpoint_ps = GROUP_DELAY_PS;
    c.streams.local = true;
    for (unsigned op = 0; op < COLL_OPS; op++) {
        uint32_t from = s->whole.flat[op] ? s->whole.n_dims : 0;
        c.flat[op] = s->custom[op] != NULL;
        c.op_dims[op] = 1;
        c.choice[op][0] =
            s->single[op] ? s->whole.choice[op][from] : coll_choice_of(coll_find("ring"));
        c.choice[op][1] = c.choice[op][0];
    }
    return c;
}
