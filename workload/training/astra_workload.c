// SPDX-License-Identifier: MIT
// Line 1: KEYWORD [arguments]; line 2: number of layers; then for each layer
//   name reserved (compute_ns type bytes) of forward, input and weight gradient, update_delay_ns
// and, for HYBRID_CUSTOMIZED, the layer's own keyword.
// Source: the workload files of ASTRA-sim 1.0 (Rashidi et al., ISPASS 2020), and of SimAI (Wang et
// al., NSDI 2025), whose first line says more of a job and whose collectives may name the group of
// experts (ALLTOALL_EP, ALLGATHER_DP_EP). What follows a "#" is a comment.
#include "workload/training/astra_workload.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collective/algorithm/collective.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/units.h"
#include "workload/training/training_layers.h"

#define COLUMNS 12
#define LAYERS_MAX 100000
#define WORDS_MAX 4096
#define ERRORS_MAX 20

static const struct {
    const char *word;
    int op;
} types[] = {{"NONE", TRAINING_NO_OP},
             {"ALLREDUCE", COLL_ALL_REDUCE},
             {"ALLTOALL", COLL_ALL_TO_ALL},
             {"ALLGATHER", COLL_ALL_GATHER},
             {"REDUCESCATTER", COLL_REDUCE_SCATTER}};
#define N_TYPES (sizeof types / sizeof *types)

static const struct {
    const char *suffix; // those that end in another come first
    enum training_group group;
} groups[] = {{"_DP_EP", TRAINING_GROUP_DP_EP}, {"_EP", TRAINING_GROUP_EP}};
#define N_GROUPS (sizeof groups / sizeof *groups)

// The next line that is not a comment, without the comment behind it; NULL = none.
static char *line_next(struct text_file *file)
{
    char *line;
    while ((line = text_file_next(file)) != NULL && *line == '#')
        continue;
    for (char *at = line; at != NULL && (at = strchr(at + 1, '#')) != NULL;)
        if (at[-1] == ' ' || at[-1] == '\t') {
            *at = '\0';
            break;
        }
    return line;
}

// ---- words ----

static int word_count(const struct text_file *file, const char *what, const char *word,
                      uint64_t max, uint64_t *value)
{
    if (parse_count(word, value) == 0 && *value <= max)
        return 0;
    return text_file_error(file, "%s \"%.40s\" is not a whole number from 0 to %" PRIu64, what,
                           word, max);
}

static int word_keyword(const struct text_file *file, const char *word)
{
    for (int k = 0; k < TRAINING_KEYWORDS; k++)
        if (strcmp(word, training_keywords[k]) == 0)
            return k;
    const char *near = err_near_miss(word, training_keywords);
    return text_file_error(file, "unknown keyword \"%.40s\"%s%s%s", word,
                           near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

// The group that the end of a type names, with the length of what stands before it.
static enum training_group type_group(const char *word, size_t *length)
{
    *length = strlen(word);
    for (size_t i = 0; i < N_GROUPS; i++) {
        size_t n = strlen(groups[i].suffix);
        if (*length > n && strcmp(word + *length - n, groups[i].suffix) == 0) {
            *length -= n;
            return groups[i].group;
        }
    }
    return TRAINING_GROUP_OF_PART;
}

static int word_type(const struct text_file *file, const char *part, const char *word,
                     const struct training_spec *spec, struct training_step *step)
{
    const char *words[N_TYPES + 1] = {0};
    size_t length;
    step->group = type_group(word, &length);
    for (size_t i = 0; i < N_TYPES; i++) {
        words[i] = types[i].word;
        if (strncmp(word, types[i].word, length) != 0 || types[i].word[length] != '\0')
            continue;
        step->op = types[i].op;
        if (step->group == TRAINING_GROUP_OF_PART || spec->expert_parallel > 0)
            return 0;
        return text_file_error(file,
                               "%s type: %.40s is of a group of experts, and the first line has "
                               "no \"ep:\" that says how many ranks share them",
                               part, word);
    }
    if (length == strlen("BROADCAST") && strncmp(word, "BROADCAST", length) == 0)
        return text_file_error(file,
                               "%s type: %.40s: the form does not say which rank has the data, "
                               "and SimAI exchanges nothing for it: write NONE 0, or an llm job",
                               part, word);
    const char *near = err_near_miss(word, words);
    return text_file_error(file, "%s type: unknown \"%.40s\"%s%s%s", part, word,
                           near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

// ---- line 1 ----

struct words {
    char **at;
    size_t n;
};

static const char *word_take(struct words *words)
{
    if (words->n == 0)
        return "";
    words->n--;
    return *words->at++;
}

static int label_take(const struct text_file *file, struct words *words, const char *label)
{
    const char *word = word_take(words);
    if (strcmp(word, label) == 0)
        return 0;
    return text_file_error(file, "\"%s\" is expected, not \"%.40s\"", label, word);
}

// Parse "LABEL k l1 .. lk".
static int marks_take(const struct text_file *file, struct words *words, const char *label,
                      struct training_marks *marks)
{
    uint64_t n, layer;
    if (label_take(file, words, label) != 0 ||
        word_count(file, label, word_take(words), WORDS_MAX, &n) != 0)
        return -1;
    if (n > words->n)
        return text_file_error(file, "%s %" PRIu64 " layers are declared, but %zu words follow",
                               label, n, words->n);
    marks->layers = memory_zeroed((size_t)n, sizeof *marks->layers);
    for (uint64_t i = 0; i < n; i++) {
        if (word_count(file, label, word_take(words), LAYERS_MAX, &layer) != 0)
            return -1;
        marks->layers[marks->n++] = (uint32_t)layer;
    }
    return 0;
}

// What SimAI's files say of a job beside the words of ASTRA-sim: "ep: 2 pp: 1 vpp: 1 ga: 1
// all_gpus: 8". Layers are written out for each micro-batch (`ga`), and are those of a rank: with
// `pp` stages they are the layers of one stage, whose ranks are the job. `vpp` and `pp_comm`
// concern what passes between stages, which the layers do not have.
enum degree_use { DEGREE_EXPERTS, DEGREE_RANKS, DEGREE_STAGES, DEGREE_ONE, DEGREE_OF_STAGES };
static const struct {
    const char *word, *what;
    enum degree_use use;
} degrees[] = {
    {"ep:", NULL, DEGREE_EXPERTS},        {"all_gpus:", NULL, DEGREE_RANKS},
    {"pp:", NULL, DEGREE_STAGES},         {"cp:", "a split of sequences", DEGREE_ONE},
    {"vpp:", NULL, DEGREE_OF_STAGES},     {"ga:", NULL, DEGREE_OF_STAGES},
    {"pp_comm:", NULL, DEGREE_OF_STAGES}, {"pp_comm", NULL, DEGREE_OF_STAGES},
};
#define N_DEGREES (sizeof degrees / sizeof *degrees)

static int degree_use(const struct text_file *file, size_t i, uint64_t value,
                      struct training_spec *spec)
{
    switch (degrees[i].use) {
    case DEGREE_EXPERTS:
        spec->expert_parallel = value > 0 ? value : 1;
        break;
    case DEGREE_RANKS:
        spec->all_ranks = value;
        spec->whole_gathers = true;
        break;
    case DEGREE_STAGES:
        spec->stages = value;
        break;
    case DEGREE_ONE:
        if (value > 1)
            return text_file_error(file,
                                   "%s %" PRIu64 ": %s has no meaning in this form; an llm job "
                                   "has it",
                                   degrees[i].word, value, degrees[i].what);
        break;
    case DEGREE_OF_STAGES:
        break;
    }
    return 0;
}

// A word that is not known changes nothing where its value is 0 or 1.
static int unknown_take(const struct text_file *file, const char *word, uint64_t value)
{
    char at[512];
    if (value > 1)
        return text_file_error(file,
                               "\"%.40s\" %" PRIu64 " is not known; if it changes nothing, take "
                               "it out of the line",
                               word, value);
    snprintf(at, sizeof at, "%s: %s, line %zu", file->path, file->name, file->line);
    err_warn(file->err, at, "\"%.40s\" %" PRIu64 " is not known and changes nothing", word, value);
    return 0;
}

static bool is_mark(const char *word)
{
    return strcmp(word, "checkpoints:") == 0 || strcmp(word, "checkpoint_initiates:") == 0;
}

static int degrees_take(const struct text_file *file, struct words *words,
                        struct training_spec *spec)
{
    while (words->n > 1 && !is_mark(words->at[0])) {
        const char *word = words->at[0];
        uint64_t value;
        size_t i = 0;
        while (i < N_DEGREES && strcmp(word, degrees[i].word) != 0)
            i++;
        if (i == N_DEGREES && word[strlen(word) - 1] != ':')
            return 0;
        word_take(words);
        if (word_count(file, word, word_take(words), UINT32_MAX, &value) != 0)
            return -1;
        if ((i < N_DEGREES ? degree_use(file, i, value, spec) : unknown_take(file, word, value)) !=
            0)
            return -1;
    }
    return 0;
}

static int arguments_take(const struct text_file *file, struct words *words,
                          struct training_spec *spec)
{
    uint64_t layer;
    switch (spec->keyword) {
    case TRAINING_HYBRID_DLRM:
    case TRAINING_HYBRID_DLRM_ENHANCED:
        if (word_count(file, "the last bottom layer", word_take(words), LAYERS_MAX, &layer) != 0)
            return -1;
        spec->last_bottom_layer = (uint32_t)layer;
        break;
    case TRAINING_HYBRID_TRANSFORMER:
    case TRAINING_HYBRID_TRANSFORMER_FWD_IN_BCKWD:
        if (label_take(file, words, "model_parallel_NPU_group:") != 0 ||
            word_count(file, "the model-parallel group", word_take(words), UINT32_MAX,
                       &spec->model_parallel) != 0 ||
            degrees_take(file, words, spec) != 0)
            return -1;
        if (spec->model_parallel == 0)
            return text_file_error(file, "the model-parallel group has no rank");
        if (spec->keyword == TRAINING_HYBRID_TRANSFORMER_FWD_IN_BCKWD &&
            (words->n > 0 || spec->all_ranks == 0) && // SimAI's files may end before
            (marks_take(file, words, "checkpoints:", &spec->checkpoints) != 0 ||
             marks_take(file, words, "checkpoint_initiates:", &spec->initiates) != 0))
            return -1;
        break;
    default:
        break;
    }
    if (degrees_take(file, words, spec) != 0)
        return -1;
    if (words->n == 0)
        return 0;
    return text_file_error(file, "%zu words too many after the keyword, from \"%.40s\" on",
                           words->n, words->at[0]);
}

// A pipeline's layers are those of one stage.
static int stages_check(const struct text_file *file, const struct training_spec *spec)
{
    char at[512];
    if (spec->stages <= 1)
        return 0;
    if (spec->all_ranks == 0 || spec->all_ranks % spec->stages != 0)
        return text_file_error(file,
                               "pp: %" PRIu64 " stages do not divide %" PRIu64 " GPUs (all_gpus:)",
                               spec->stages, spec->all_ranks);
    snprintf(at, sizeof at, "%s: %s, line %zu", file->path, file->name, file->line);
    err_warn(file->err, at, "pp: %" PRIu64 ": " TRAINING_ONE_STAGE, spec->stages);
    return 0;
}

static int keyword_line(struct text_file *file, struct training_spec *spec)
{
    char *all[WORDS_MAX], *line = line_next(file);
    if (line == NULL)
        return text_file_error(file, "the file is empty: a keyword is expected");
    struct words words = {all, words_cut(line, all, WORDS_MAX)};
    if (words.n > WORDS_MAX)
        return text_file_error(file, "%zu words are more than %d", words.n, WORDS_MAX);
    spec->keyword = word_keyword(file, word_take(&words));
    if (spec->keyword < 0 || arguments_take(file, &words, spec) != 0)
        return -1;
    return stages_check(file, spec);
}

// ---- layers ----

static int step_take(const struct text_file *file, const char *part, char **words,
                     const struct training_spec *spec, struct training_step *step)
{
    char what[32];
    snprintf(what, sizeof what, "%s compute", part);
    int status = word_count(file, what, words[0], TRAINING_NS_MAX, &step->compute_ns);
    status |= word_type(file, part, words[1], spec, step);
    snprintf(what, sizeof what, "%s bytes", part);
    return status | word_count(file, what, words[2], TRAINING_BYTES_MAX, &step->bytes);
}

// A single layer may only have a keyword that does not depend on arguments of the whole job.
static int layer_keyword(const struct text_file *file, const char *word)
{
    int keyword = word_keyword(file, word);
    if (keyword <= TRAINING_HYBRID_MODEL_DATA)
        return keyword;
    return text_file_error(file, "keyword %s is not allowed for a single layer", word);
}

static int layer_line(const struct text_file *file, char *line, struct training_spec *spec)
{
    char *words[COLUMNS + 1];
    size_t n = words_cut(line, words, COLUMNS + 1);
    size_t want = COLUMNS + (spec->keyword == TRAINING_HYBRID_CUSTOMIZED);
    if (n != want)
        return text_file_error(file, "%zu columns, not %zu", n, want);
    json_t *name = json_string(words[0]);
    if (name == NULL)
        return text_file_error(file, "the layer's name is not UTF-8 text");
    json_decref(name);
    struct training_layer *layer = &spec->layers[spec->n_layers++];
    layer->name = memory_text(words[0]);
    layer->keyword = spec->keyword;
    int status = 0;
    uint64_t reserved;
    if (parse_count(words[1] + (words[1][0] == '-'), &reserved) != 0)
        status = text_file_error(file, "column 2 \"%.40s\" is not a whole number", words[1]);
    for (size_t part = 0; part < TRAINING_PARTS; part++)
        status |=
            step_take(file, training_parts[part], words + 2 + 3 * part, spec, &layer->parts[part]);
    status |= word_count(file, "update_delay", words[11], TRAINING_NS_MAX, &layer->update_delay_ns);
    if (n > COLUMNS)
        layer->keyword = layer_keyword(file, words[COLUMNS]);
    return layer->keyword < 0 ? -1 : status;
}

static int layers_read(struct text_file *file, struct training_spec *spec)
{
    char *words[2], *line = line_next(file);
    uint64_t n = 0;
    if (line == NULL)
        return text_file_error(file, "the file ends before the number of layers");
    size_t n_words = words_cut(line, words, 2);
    if (n_words != 1)
        return text_file_error(file, "%zu words, not the number of layers", n_words);
    if (parse_count(words[0], &n) != 0 || n == 0 || n > LAYERS_MAX)
        return text_file_error(file, "\"%.40s\" is not a number of layers from 1 to %d", line,
                               LAYERS_MAX);
    spec->layers = memory_zeroed((size_t)n, sizeof *spec->layers);
    size_t errors = file->err->n_errors;
    for (uint64_t i = 0; i < n && file->err->n_errors < errors + ERRORS_MAX; i++) {
        line = line_next(file);
        if (line == NULL)
            return text_file_error(file, "the file ends after %" PRIu64 " of %" PRIu64 " layers", i,
                                   n);
        layer_line(file, line, spec);
    }
    if (file->err->n_errors > errors)
        return -1;
    if (line_next(file) != NULL)
        return text_file_error(file, "more layers than the %" PRIu64 " of line 2", n);
    return 0;
}

// ---- the complete file ----

int astra_workload_read(const char *dir, const char *name, const char *path,
                        struct training_spec *spec, struct err *err)
{
    size_t errors = err->n_errors;
    char *text = text_file_load(dir, name, path, err);
    struct text_file file = {.name = name, .path = path, .rest = text, .err = err};
    *spec = (struct training_spec){0};
    if (text != NULL && keyword_line(&file, spec) == 0) {
        char at[512]; // an error that remains concerns the arguments
        snprintf(at, sizeof at, "%s: %s, line %zu", path, name, file.line);
        if (layers_read(&file, spec) == 0)
            training_check(spec, at, err);
    }
    free(text);
    if (err->n_errors == errors)
        return 0;
    training_free(spec);
    return -1;
}

// ---- writing ----

static const char *type_word(int op)
{
    size_t i = 0;
    while (i + 1 < N_TYPES && types[i].op != op)
        i++;
    return types[i].word;
}

char *astra_workload_text(const struct training_spec *spec)
{
    struct text text;
    FILE *out = text_open(&text);
    fprintf(out, "%s\n%zu", training_keywords[spec->keyword], spec->n_layers);
    for (size_t i = 0; i < spec->n_layers; i++) {
        const struct training_layer *layer = &spec->layers[i];
        fprintf(out, "\n%s -1", layer->name);
        for (int part = 0; part < TRAINING_PARTS; part++)
            fprintf(out, " %" PRIu64 " %s %" PRIu64, layer->parts[part].compute_ns,
                    type_word(layer->parts[part].op), layer->parts[part].bytes);
        fprintf(out, " %" PRIu64, layer->update_delay_ns);
    }
    return text_close(out, &text);
}
