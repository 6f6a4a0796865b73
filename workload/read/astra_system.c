// SPDX-License-Identifier: MIT
// Settings by key, from a file or an object. Defaults: ring everywhere, LIFO, no endpoint delay,
// one chunk, one phase at a time in a dimension, baseline, ascending, FIFO.
//
// The rate of reductions is ASTRA-sim's: 3 ns for 500 kB. ASTRA-sim rounds the time down for each
// message, and so do the closed forms (sim/analytical/phase.c); over packets the exact rate is
// used. Source: the system files of ASTRA-sim 1.0 (Rashidi et al., ISPASS 2020; Themis, Rashidi et
// al., ISCA 2022).
#include "workload/read/astra_system.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collective/algorithm/algorithm_settings.h"
#include "engine/base/memory.h"
#include "engine/text/text_file.h"
#include "workload/read/ignored_keys.h"

#define REDUCE_BPS UINT64_C(1333333333333333)
#define DELAY_NS_MAX UINT64_C(1000000000)
#define CHUNKS_MAX UINT64_C(1000000)

struct system {
    struct coll_schedule *schedule;
    uint64_t window; // for `direct` without a number; 0 = no limit
    const struct system_key *key;
    char why[256]; // the error in the value
};

// Keys without effect: boost-mode selects in ASTRA-sim which of several identical ranks are
// simulated.
static const char *const ignored[] = {"boost-mode", NULL};

struct system_key {
    const char *name;
    bool (*set)(struct system *s, const char *value); // false: s->why describes the error
    int argument; // the operation whose implementation the key sets
};

__attribute__((format(printf, 2, 3))) static bool wrong(struct system *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(s->why, sizeof s->why, format, args);
    va_end(args);
    return false;
}

// ---- values ----

static bool count_of(struct system *s, const char *value, uint64_t min, uint64_t max,
                     uint64_t *count)
{
    if (parse_count(value, count) == 0 && *count >= min && *count <= max)
        return true;
    return wrong(s, "\"%.40s\" is not a whole number from %" PRIu64 " to %" PRIu64, value, min,
                 max);
}

static bool word_of(struct system *s, const char *value, const char *const *words, int *word)
{
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(value, words[i]) == 0) {
            *word = i;
            return true;
        }
    const char *near = err_near_miss(value, words);
    return wrong(s, "unknown \"%.40s\"%s%s%s", value, near ? "; did you mean \"" : "",
                 near ? near : "", near ? "\"?" : "");
}

static bool set_policy(struct system *s, const char *value)
{
    static const char *const words[] = {"FIFO", "LIFO", NULL};
    int word;
    if (!word_of(s, value, words, &word))
        return false;
    s->schedule->newest_first = word == 1;
    return true;
}

static bool set_delay(struct system *s, const char *value)
{
    uint64_t ns;
    if (!count_of(s, value, 0, DELAY_NS_MAX, &ns))
        return false;
    s->schedule->endpoint_ps = (ps_t)ns * PS_PER_NS;
    return true;
}

static bool set_active(struct system *s, const char *value)
{
    return count_of(s, value, 1, CHUNKS_MAX, &s->schedule->active_chunks);
}

static bool set_splits(struct system *s, const char *value)
{
    return count_of(s, value, 1, CHUNKS_MAX, &s->schedule->chunks);
}

static bool set_boost(struct system *s, const char *value)
{
    uint64_t unused;
    return count_of(s, value, 0, 1, &unused);
}

static bool set_optimization(struct system *s, const char *value)
{
    static const char *const words[] = {"baseline", "localBWAware", NULL};
    _Static_assert(COLL_BASELINE == 0 && COLL_BANDWIDTH_AWARE == 1, "in the order of the words");
    return word_of(s, value, words, &s->schedule->phases);
}

static bool set_intra(struct system *s, const char *value)
{
    static const char *const words[] = {"FIFO", "smallestFirst", "RG", "lessRemainingPhaseFirst",
                                        NULL};
    int word;
    if (!word_of(s, value, words, &word))
        return false;
    static const int orders[] = {COLL_QUEUE_FIFO, COLL_QUEUE_SMALLEST, COLL_QUEUE_ALTERNATING,
                                 COLL_QUEUE_FEWEST};
    s->schedule->queueing = orders[word];
    return true;
}

// offlineGreedyFlex is Themis with chunks of different sizes; here it is the same as Themis.
static bool set_inter(struct system *s, const char *value)
{
    static const char *const words[] = {"ascending", "roundRobin", "offlineGreedy",
                                        "offlineGreedyFlex", NULL};
    static const int orders[] = {COLL_ASCENDING, COLL_ROUND_ROBIN, COLL_THEMIS, COLL_THEMIS};
    int word;
    if (!word_of(s, value, words, &word))
        return false;
    s->schedule->order = orders[word];
    return true;
}

static bool set_window(struct system *s, const char *value)
{
    return count_of(s, value, 0, UINT32_MAX, &s->window);
}

// ---- implementations ----

// True if `value` names the algorithm. A number may follow the name of direct: "direct4". A flat
// algorithm, over all ranks at once, begins with "one": "oneDirect4".
static bool word_is(const char *value, const struct coll_algorithm *a, bool flat, uint64_t *window)
{
    char word[64];
    *window = 0;
    if (a->astra == NULL)
        return false;
    snprintf(word, sizeof word, "%s%s", flat ? "one" : "", a->astra);
    if (flat)
        word[3] = (char)(word[3] - 'a' + 'A');
    size_t length = strlen(word);
    if (strcmp(value, word) == 0)
        return true;
    return strcmp(a->name, "direct") == 0 && strncmp(value, word, length) == 0 &&
           parse_count(value + length, window) == 0 && *window > 0 && *window <= UINT32_MAX;
}

static struct coll_direct_params *direct_of(struct coll_choice *choice)
{
    return (struct coll_direct_params *)(void *)choice->params;
}

static bool choice_of(struct system *s, const char *value, bool flat, struct coll_choice *choice)
{
    uint64_t window;
    for (size_t i = 0; coll_registry[i] != NULL; i++) {
        if (!word_is(value, coll_registry[i], flat, &window))
            continue;
        *choice = coll_choice_of(coll_registry[i]);
        coll_choice_set(choice, "alternating", "true");
        if (window > 0)
            direct_of(choice)->in_flight = window;
        return true;
    }
    return wrong(s,
                 "unknown implementation \"%.40s\": one of ring, direct, directK, "
                 "halvingDoubling, doubleBinaryTree per dimension joined by _, or one of "
                 "oneRing, oneDirect, oneHalvingDoubling",
                 value);
}

// The list may be longer than the network has dimensions, since one file is used with several
// networks. If it is shorter, the operation's collectives leave out the dimensions beyond it.
static bool set_implementation(struct system *s, const char *value)
{
    struct coll_schedule *c = s->schedule;
    int op = s->key->argument;
    char list[256], *rest = list, *word;
    c->flat[op] = strncmp(value, "one", 3) == 0;
    if (c->flat[op])
        return choice_of(s, value, true, &c->choice[op][c->n_dims]);
    if (strlen(value) >= sizeof list)
        return wrong(s, "is longer than %zu characters", sizeof list - 1);
    strcpy(list, value);
    uint32_t n = 0;
    while ((word = strsep(&rest, "_")) != NULL) {
        struct coll_choice choice;
        if (!choice_of(s, word, false, &choice))
            return false;
        if (n < c->n_dims)
            c->choice[op][n] = choice;
        n++;
    }
    c->op_dims[op] = n < c->n_dims ? (UINT32_C(1) << n) - 1 : UINT32_MAX;
    return true;
}

static const struct system_key keys[] = {
    {"scheduling-policy", set_policy, 0},
    {"endpoint-delay", set_delay, 0},
    {"active-chunks-per-dimension", set_active, 0},
    {"preferred-dataset-splits", set_splits, 0},
    {"boost-mode", set_boost, 0},
    {"all-reduce-implementation", set_implementation, COLL_ALL_REDUCE},
    {"reduce-scatter-implementation", set_implementation, COLL_REDUCE_SCATTER},
    {"all-gather-implementation", set_implementation, COLL_ALL_GATHER},
    {"all-to-all-implementation", set_implementation, COLL_ALL_TO_ALL},
    {"collective-optimization", set_optimization, 0},
    {"intra-dimension-scheduling", set_intra, 0},
    {"inter-dimension-scheduling", set_inter, 0},
    {"direct-collective-window", set_window, 0},
};
#define N_KEYS (sizeof keys / sizeof *keys)

// ---- defaults and completion ----

static struct system system_begin(struct coll_schedule *c)
{
    struct system s = {.schedule = c};
    for (int op = 0; op < 4; op++) {
        c->flat[op] = false;
        c->op_dims[op] = UINT32_MAX;
        for (uint32_t d = 0; d <= c->n_dims; d++)
            c->choice[op][d] = coll_choice_of(coll_find("ring"));
    }
    c->by_operation = true;
    c->chunks = c->active_chunks = 1;
    c->phases = COLL_BASELINE;
    c->order = COLL_ASCENDING;
    c->queueing = COLL_QUEUE_FIFO;
    c->newest_first = true;
    c->endpoint_ps = 0;
    c->reduce_bps = REDUCE_BPS;
    return s;
}

static void system_end(struct system *s)
{
    for (int op = 0; op < 4; op++)
        for (uint32_t d = 0; d <= s->schedule->n_dims; d++) {
            struct coll_choice *choice = &s->schedule->choice[op][d];
            bool open = choice->algorithm == coll_find("direct") &&
                        direct_of(choice)->in_flight == PARAM_AUTO;
            if (open && s->window > 0)
                direct_of(choice)->in_flight = s->window;
        }
}

static const char *const *key_names(const char *names[N_KEYS + 1])
{
    for (size_t i = 0; i < N_KEYS; i++)
        names[i] = keys[i].name;
    names[N_KEYS] = NULL;
    return names;
}

static const struct system_key *key_find(const char *name)
{
    for (size_t i = 0; i < N_KEYS; i++)
        if (strcmp(name, keys[i].name) == 0)
            return &keys[i];
    return NULL;
}

// ---- a file ----

static int line_read(const struct text_file *file, char *line, struct system *s, bool *given,
                     json_t *copy)
{
    char *value = strchr(line, ':');
    if (value == NULL)
        return text_file_error(file, "\"%.40s\" is not a line like \"endpoint-delay: 10\"", line);
    *value++ = '\0';
    value += strspn(value, " \t");
    size_t length = strcspn(line, " \t");
    if (line[length + strspn(line + length, " \t")] == '\0')
        line[length] = '\0';
    s->key = key_find(line);
    if (s->key == NULL) {
        const char *names[N_KEYS + 1], *near = err_near_miss(line, key_names(names));
        return text_file_error(file, "unknown key \"%.40s\"%s%s%s", line,
                               near ? "; did you mean \"" : "", near ? near : "",
                               near ? "\"?" : "");
    }
    if (given[s->key - keys])
        return text_file_error(file, "%s is given twice", line);
    given[s->key - keys] = true;
    if (!s->key->set(s, value))
        return text_file_error(file, "%s: %s", line, s->why);
    uint64_t number;
    if (parse_count(value, &number) == 0)
        json_object_set_new(copy, line, json_integer((json_int_t)number));
    else
        json_object_set_new(copy, line, json_string(value));
    return 0;
}

int astra_system_read(const char *dir, const char *name, const char *path, struct coll_schedule *c,
                      json_t *copy, struct err *err)
{
    bool given[N_KEYS] = {false};
    size_t errors = err->n_errors;
    char *text = text_file_load(dir, name, path, err), *line;
    struct text_file file = {.name = name, .path = path, .rest = text, .err = err};
    struct system s = system_begin(c);
    json_t *keys_read = json_object();
    while (text != NULL && (line = text_file_next(&file)) != NULL)
        line_read(&file, line, &s, given, keys_read);
    system_end(&s);
    if (err->n_errors == errors)
        ignored_keys_warn(err, path, name, keys_read, ignored);
    for (size_t i = 0; ignored[i] != NULL; i++)
        json_object_del(keys_read, ignored[i]);
    if (copy != NULL)
        json_object_update(copy, keys_read);
    json_decref(keys_read);
    free(text);
    return err->n_errors == errors ? 0 : -1;
}

// ---- an object ----

void astra_system_place(struct reader *r, const struct place *place, struct coll_schedule *c)
{
    const char *file = json_string_value(place->json);
    char path[PLACE_TEXT], number[UNIT_TEXT];
    if (file != NULL) {
        astra_system_read(r->dir, file, place_text(place, path), c, NULL, r->err);
        return;
    }
    struct system s = system_begin(c);
    struct keys names = {0};
    if (!read_object(r, place))
        return;
    for (size_t i = 0; i < N_KEYS; i++) {
        struct place at = place_key(place, keys[i].name);
        const char *value = json_string_value(at.json);
        s.key = &keys[i];
        keys_add(&names, keys[i].name);
        if (json_is_integer(at.json)) {
            snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(at.json));
            value = number;
        }
        if (at.json != NULL && value == NULL)
            place_error(r->err, &at, "must be a string or a whole number, not %s",
                        json_noun(at.json));
        else if (value != NULL && !s.key->set(&s, value))
            place_error(r->err, &at, "%s", s.why);
    }
    keys_check(r, place, &names);
    ignored_keys_warn(r->err, place_text(place, path), "", place->json, ignored);
    system_end(&s);
}
