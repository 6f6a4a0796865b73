// SPDX-License-Identifier: MIT
#include "cli/library/log_lines.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words and numbers ---- */

static const char *skip_blanks(const char *at) { return at + strspn(at, " \t"); }

// Skip a text, and blanks before it. Returns false, and moves nothing, where it is not there.
static bool take(const char **at, const char *text)
{
    const char *from = skip_blanks(*at);
    size_t n = strlen(text);
    if (strncmp(from, text, n) != 0)
        return false;
    *at = from + n;
    return true;
}

static bool take_number(const char **at, int32_t *number)
{
    const char *from = skip_blanks(*at);
    char *end;
    if (!isdigit((unsigned char)from[0]) && !(from[0] == '-' && isdigit((unsigned char)from[1])))
        return false;
    long value = strtol(from, &end, 10);
    if (value < -1 || value > INT32_MAX)
        return false;
    *number = (int32_t)value;
    *at = end;
    return true;
}

// Take a word up to a blank, or up to one of `ends`.
static bool take_word(const char **at, const char *ends, char word[LOG_WORD])
{
    const char *from = skip_blanks(*at);
    size_t n = 0;
    while (from[n] != '\0' && !isspace((unsigned char)from[n]) && strchr(ends, from[n]) == NULL)
        n++;
    if (n == 0 || n >= LOG_WORD)
        return false;
    memcpy(word, from, n);
    word[n] = '\0';
    *at = from + n;
    return true;
}

static bool at_end(const char *at) { return *skip_blanks(at) == '\0'; }

// Whether two names are equal but for case and underscores: "NVLS_TREE" and "NVLSTree".
static bool is_named(const char *word, const char *name)
{
    for (; *word != '\0' || *name != '\0'; word++, name++) {
        while (*word == '_')
            word++;
        if (tolower((unsigned char)*word) != tolower((unsigned char)*name))
            return false;
        if (*word == '\0')
            return true;
    }
    return true;
}

static int32_t algorithm_of(const char *word)
{
    for (int32_t a = 0; a < NCCL_ALGORITHMS; a++)
        if (is_named(word, nccl_algorithm_name((enum nccl_algorithm)a)) ||
            (word[0] == '0' + a && word[1] == '\0'))
            return a;
    return -1;
}

static int32_t protocol_of(const char *word)
{
    for (int32_t p = 0; p < NCCL_PROTOCOLS; p++)
        if (is_named(word, nccl_protocol_name((enum nccl_protocol)p)) ||
            (word[0] == '0' + p && word[1] == '\0'))
            return p;
    return -1;
}

// Take the name of a function at the begin of a line.
static bool take_function(const char **at, int32_t *function)
{
    for (int32_t f = 0; f < NCCL_FUNCTIONS; f++) {
        const char *after = *at;
        if (take(&after, nccl_function_name((enum nccl_function)f)) &&
            !isalpha((unsigned char)*after)) {
            *function = f;
            *at = after;
            return true;
        }
    }
    return false;
}

/* ---- lines about the run ---- */

const char *log_message(const char *line, char key[LOG_WORD])
{
    const char *info = strstr(line, "NCCL INFO");
    key[0] = '\0';
    // Launchers write before each line, and the version stands in one without "NCCL INFO".
    const char *version = info == NULL ? strstr(line, "NCCL version ") : NULL;
    if (info == NULL)
        return version != NULL ? version : line;
    const char *gpu = info;
    while (gpu > line && *gpu != '[')
        gpu--;
    const char *from = gpu;
    while (from > line && from[-1] == ' ')
        from--;
    while (from > line && from[-1] != ' ')
        from--;
    snprintf(key, LOG_WORD, "%.*s", (int)(info - from), from);
    return skip_blanks(info + strlen("NCCL INFO"));
}

bool log_communicator(const char *message, int32_t *ranks, int32_t *nodes)
{
    char word[LOG_WORD];
    int32_t rank;
    return take(&message, "comm ") && take_word(&message, "", word) && take(&message, "rank ") &&
           take_number(&message, &rank) && take(&message, "nRanks ") &&
           take_number(&message, ranks) && take(&message, "nNodes ") &&
           take_number(&message, nodes);
}

bool log_init(const char *message, int32_t *ranks, bool *complete)
{
    char word[LOG_WORD];
    int32_t rank;
    if (strncmp(message, "ncclComm", 8) == 0 && !take_word(&message, "", word))
        return false;
    if (!take(&message, "comm ") || !take_word(&message, "", word) || !take(&message, "rank ") ||
        !take_number(&message, &rank) || !take(&message, "nranks ") ||
        !take_number(&message, ranks))
        return false;
    *complete = strstr(message, "Init COMPLETE") != NULL;
    return *complete || strstr(message, "Init START") != NULL;
}

bool log_version(const char *message, char version[LOG_WORD])
{
    return take(&message, "NCCL version ") && take_word(&message, "+", version);
}

bool log_variable(const char *message, char name[LOG_WORD], char value[LOG_WORD])
{
    if (strncmp(message, "NCCL_", 5) != 0 || !take_word(&message, "", name) ||
        !take(&message, "set by environment to ") || !take_word(&message, "", value) ||
        !at_end(message))
        return false;
    size_t n = strlen(value);
    if (n > 1 && value[n - 1] == '.') // the end of the sentence
        value[n - 1] = '\0';
    return true;
}

bool log_tuner(const char *message) { return take(&message, "TUNER/Plugin: Using"); }

/* ---- facts ---- */

struct sink {
    struct fact fact; // to be filled in
    void (*add)(void *ctx, const struct fact *fact);
    void *ctx;
};

static void put(struct sink *s) { s->add(s->ctx, &s->fact); }

static void put_channels(struct sink *s, enum log_channels which, int32_t n)
{
    struct fact all = s->fact;
    all.kind = FACT_CHANNELS;
    all.channel = (int32_t)which;
    all.n_values = 1;
    all.values[0] = n;
    s->add(s->ctx, &all);
}

// "0 7 6 5", to the end of the line.
static bool take_ranks(const char *at, struct fact *f)
{
    f->n_values = 0;
    while (!at_end(at)) {
        int32_t rank;
        if (!take_number(&at, &rank) || (*at != ' ' && *at != '\0'))
            return false;
        if (f->n_values < FACT_VALUES)
            f->values[f->n_values++] = rank;
    }
    return f->n_values > 0;
}

// "Channel 00/16 :    0   7   6   5"; "Channel 00/0 : 0[0] -> 1[1]" is a connection.
static bool read_ring(const char *at, struct sink *s)
{
    int32_t total;
    s->fact.kind = FACT_RING;
    if (!take(&at, "Channel ") || !take_number(&at, &s->fact.channel) || !take(&at, "/") ||
        !take_number(&at, &total) || !take(&at, ":") || !take_ranks(at, &s->fact))
        return false;
    put_channels(s, LOG_CHANNELS_COLL, total);
    put(s);
    return true;
}

// "Ring 00 : 15 -> 0 -> 1"
static bool read_next(const char *at, struct sink *s)
{
    struct fact *f = &s->fact;
    f->kind = FACT_NEXT;
    f->n_values = 2;
    bool read = take(&at, "Ring ") && take_number(&at, &f->channel) && take(&at, ":") &&
                take_number(&at, &f->values[0]) && take(&at, "->") && take_number(&at, &f->rank) &&
                take(&at, "->") && take_number(&at, &f->values[1]) && at_end(at);
    if (read)
        put(s);
    return read;
}

#define CUT_OFF 900 // characters of a message; NCCL cuts lines off at 1023, with what is before it

// Take "33/-1/-1->32->0", or the other way round "0->32->33/-1/-1".
static bool take_tree(const char **at, struct fact *f, bool upwards)
{
    int32_t *v = f->values;
    if (!upwards)
        return take_number(at, &v[0]) && take(at, "->") && take_number(at, &f->rank) &&
               take(at, "->") && take_number(at, &v[1]) && take(at, "/") &&
               take_number(at, &v[2]) && take(at, "/") && take_number(at, &v[3]);
    return take_number(at, &v[1]) && take(at, "/") && take_number(at, &v[2]) && take(at, "/") &&
           take_number(at, &v[3]) && take(at, "->") && take_number(at, &f->rank) &&
           take(at, "->") && take_number(at, &v[0]);
}

// "Trees [0] 33/-1/-1->32->0 [1] ..", of which the last one may be cut off. Up to 2.8 the tree
// stands there twice, as it reduces and as it broadcasts: "33/-1/-1->32->0|0->32->33/-1/-1".
static bool read_trees(const char *at, struct sink *s)
{
    struct fact *f = &s->fact;
    bool whole = strlen(at) < CUT_OFF;
    if (!take(&at, "Trees "))
        return false;
    f->kind = FACT_TREE;
    f->n_values = 4;
    while (take(&at, "[") && take_number(&at, &f->channel) && take(&at, "]") &&
           take_tree(&at, f, true)) {
        bool twice = *at == '|';
        if (!twice && *at != ' ' && (*at != '\0' || !whole))
            break;
        put(s);
        if (!twice)
            continue;
        at++;
        if (!take_tree(&at, f, false) || (*at != ' ' && (*at != '\0' || !whole)))
            break;
        put(s);
    }
    return true;
}

// "NVLS Head  0:  0  8"
static bool read_head(const char *at, struct sink *s)
{
    s->fact.kind = FACT_HEAD;
    if (!take(&at, "NVLS Head ") || !take_number(&at, &s->fact.channel) || !take(&at, ":") ||
        !take_ranks(at, &s->fact))
        return false;
    put(s);
    return true;
}

// "16 coll channels, 16 collnet channels, 16 nvls channels, 32 p2p channels, 2 p2p channels per
// peer"
static bool read_channels(const char *at, struct sink *s)
{
    int32_t n;
    if (!take_number(&at, &n) || !take(&at, "coll channels"))
        return false;
    put_channels(s, LOG_CHANNELS_COLL, n);
    while (take(&at, ",") && take_number(&at, &n)) {
        if (take(&at, "nvls channels"))
            put_channels(s, LOG_CHANNELS_NVLS, n);
        else if (take(&at, "p2p channels per peer"))
            put_channels(s, LOG_CHANNELS_PEER, n);
        else if (take(&at, "p2p channels"))
            put_channels(s, LOG_CHANNELS_P2P, n);
        else if (!take(&at, "collnet channels"))
            break;
    }
    return true;
}

// "AllReduce: 1048576 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..15}" or, in versions
// without the function, "1048576 Bytes -> Algo 1 proto 2 time 25.2"
static bool read_choice(const char *at, struct sink *s)
{
    struct fact *f = &s->fact;
    char word[LOG_WORD], *end;
    int32_t low, high;
    f->kind = FACT_CHOICE;
    f->function = FACT_ANY_FUNCTION;
    f->latency = -1;
    f->n_values = 1;
    if (take_function(&at, &f->function) && !take(&at, ":"))
        return false;
    at = skip_blanks(at);
    if (!isdigit((unsigned char)*at))
        return false;
    f->bytes = strtoull(at, &end, 10);
    at = end;
    if (!take(&at, "Bytes -> Algo ") || !take_word(&at, "", word))
        return false;
    f->algorithm = algorithm_of(word);
    if (!take(&at, "proto ") || !take_word(&at, "", word))
        return false;
    f->protocol = protocol_of(word);
    if (take(&at, "channel{Lo..Hi}={") && take_number(&at, &low) && take(&at, "..") &&
        take_number(&at, &high) && high >= low)
        f->values[0] = high - low + 1;
    else if (take(&at, "time "))
        f->latency = strtod(at, NULL);
    if (f->algorithm >= 0 && f->protocol >= 0 && f->bytes > 0)
        put(s);
    return true;
}

/* ---- the table of costs ---- */

static void add_algorithm(struct cost_block *block, int32_t algorithm)
{
    if (block->n < sizeof block->algorithms / sizeof *block->algorithms)
        block->algorithms[block->n++] = algorithm;
}

// "Algorithm | Tree | Ring | CollNetDirect |", above the three protocols of each; up to 2.13
// "Latency/AlgBw | Tree/ LL | Tree/ LL128 | Tree/Simple | Ring/ LL |", an algorithm three times
static bool read_algorithms(const char *at, struct cost_block *block)
{
    char word[LOG_WORD], protocol[LOG_WORD];
    bool old = take(&at, "Latency/AlgBw");
    if ((!old && !take(&at, "Algorithm")) || !take(&at, "|"))
        return false;
    block->n = 0;
    for (uint32_t i = 0; take_word(&at, old ? "/|" : "|", word); i++) {
        if (old && (!take(&at, "/") || !take_word(&at, "|", protocol)))
            break;
        if (!take(&at, "|"))
            break;
        if (!old || i % NCCL_PROTOCOLS == 0)
            add_algorithm(block, algorithm_of(word));
    }
    return true;
}

// "Max NThreads | 512 | 640 |" or "AllReduce | 16.8/ 0.5 | 31.0/ 0.0 |"
static bool read_costs(const char *at, struct sink *s, const struct cost_block *block)
{
    struct fact *f = &s->fact;
    bool threads = take(&at, "Max NThreads");
    if ((!threads && !take_function(&at, &f->function)) || !take(&at, "|"))
        return false;
    f->kind = threads ? FACT_THREADS : FACT_COST;
    for (uint32_t i = 0; i < NCCL_PROTOCOLS * block->n && !at_end(at); i++) {
        char *end;
        f->algorithm = block->algorithms[i / NCCL_PROTOCOLS];
        f->protocol = (int32_t)(i % NCCL_PROTOCOLS);
        f->latency = strtod(at, &end);
        at = end;
        if (!threads) {
            if (!take(&at, "/"))
                break;
            f->bw = strtod(at, &end);
            at = end;
        }
        if (!take(&at, "|"))
            break;
        if (f->algorithm >= 0)
            put(s);
    }
    return true;
}

void log_facts(const char *message, const struct fact *base, struct cost_block *block,
               void (*add)(void *ctx, const struct fact *fact), void *ctx)
{
    struct sink s = {.fact = *base, .add = add, .ctx = ctx};
    if (read_ring(message, &s) || read_next(message, &s) || read_trees(message, &s) ||
        read_head(message, &s) || read_channels(message, &s))
        return;
    s.fact = *base;
    if (read_choice(message, &s) || read_algorithms(message, block))
        return;
    s.fact = *base;
    read_costs(message, &s, block);
}
