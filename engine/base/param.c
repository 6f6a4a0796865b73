// SPDX-License-Identifier: MIT
// Parameter tables: parses, checks, stores and prints a setting according to its table row.
//
// A value is checked in a union, then copied to its field. Every member of the union starts at
// offset 0, so one memcpy of the member's size stores or loads any type.
#include "engine/base/param.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/assert.h"
#include "engine/base/memory.h"
#include "engine/base/param_hint.h"

union value {
    bool flag;
    uint64_t integer; // COUNT, BYTES, RATE
    ps_t time;
    double ratio;
    int choice;
    const char *text;
    struct line_rate line_rate;
};

static const struct type_info {
    const char *name, *noun, *like;
    size_t size;
    const char *least; // the least value of a quantity, which cannot be negative
} types[] = {
    [PARAM_BOOL] = {"bool", "a boolean", "true or false", sizeof(bool), NULL},
    [PARAM_COUNT] = {"count", "a count", "it like 16", sizeof(uint64_t), "0"},
    [PARAM_BYTES] = {"bytes", "a size", "it like \"128MB\", \"32MiB\" or 4096", sizeof(uint64_t),
                     "0B"},
    [PARAM_RATE] = {"rate", "a rate", "it like \"100Gbps\"", sizeof(uint64_t), "0bps"},
    [PARAM_TIME] = {"time", "a time", "it like \"12.5us\"", sizeof(ps_t), "0ns"},
    [PARAM_RATIO] = {"ratio", "a number", "it like 0.5", sizeof(double), NULL},
    [PARAM_ENUM] = {"one of", "a choice", "one of the choices", sizeof(int), NULL},
    [PARAM_TEXT] = {"text", "a text", "a string", sizeof(const char *), NULL},
    [PARAM_LINE_RATE] = {"line rate", "a rate", "it like \"40Mbps\" or \"line/1000\"",
                         sizeof(struct line_rate), "0bps"},
};

const char *param_type_name(enum param_type type) { return types[type].name; }

size_t param_size(enum param_type type) { return types[type].size; }

// ---- one value ----

// A number as in JSON. strtod() alone would also accept "inf", "0x1p3" and leading blanks.
static int parse_ratio(const char *text, double *ratio)
{
    const char *digits = text + (text[0] == '-');
    if (*digits < '0' || *digits > '9' || strspn(digits, "0123456789.eE+-") != strlen(digits))
        return -1;
    char *end;
    double value = strtod(text, &end);
    if (*end != '\0' || end[-1] == '.' || value - value != 0)
        return -1;
    *ratio = value;
    return 0;
}

// "40Mbps", "line" or "line/1000".
static int parse_line_rate(const char *text, struct line_rate *rate)
{
    *rate = (struct line_rate){0, 1};
    if (strcmp(text, "line") == 0)
        return 0;
    if (strncmp(text, "line/", 5) == 0)
        return parse_count(text + 5, &rate->divisor) == 0 && rate->divisor > 0 ? 0 : -1;
    rate->divisor = 0;
    return parse_rate(text, &rate->bps);
}

// The case of letters does not matter: NCCL writes Simple and LL128, papers write DCQCN.
static int parse_choice(const char *text, const char *const *choices, int *choice)
{
    for (int i = 0; choices[i] != NULL; i++) {
        if (strcasecmp(text, choices[i]) == 0) {
            *choice = i;
            return 0;
        }
    }
    return -1;
}

// Stores the number that encodes "auto". Returns false if the type has no "auto".
static bool value_auto(enum param_type type, union value *value)
{
    switch (type) {
    case PARAM_COUNT:
    case PARAM_BYTES:
    case PARAM_RATE:
        value->integer = PARAM_AUTO;
        return true;
    case PARAM_TIME:
        value->time = PARAM_AUTO_TIME;
        return true;
    case PARAM_RATIO:
        value->ratio = PARAM_AUTO_RATIO;
        return true;
    case PARAM_LINE_RATE:
        value->line_rate = (struct line_rate){PARAM_AUTO, 0};
        return true;
    default:
        return false;
    }
}

// Returns -1, 0 or 1. It is 0 also for values without an order: enums, texts, or a fixed rate and a
// fraction of the line rate.
static int value_order(enum param_type type, const union value *a, const union value *b)
{
    switch (type) {
    case PARAM_COUNT:
    case PARAM_BYTES:
    case PARAM_RATE:
        return (a->integer > b->integer) - (a->integer < b->integer);
    case PARAM_TIME:
        return (a->time > b->time) - (a->time < b->time);
    case PARAM_RATIO:
        return (a->ratio > b->ratio) - (a->ratio < b->ratio);
    case PARAM_LINE_RATE: {
        struct line_rate x = a->line_rate, y = b->line_rate;
        if ((x.divisor == 0) != (y.divisor == 0))
            return 0;
        if (x.divisor == 0)
            return (x.bps > y.bps) - (x.bps < y.bps);
        return (x.divisor < y.divisor) - (x.divisor > y.divisor);
    }
    default:
        return 0;
    }
}

static bool value_is_auto(const struct param *param, const union value *value)
{
    union value auto_value;
    // a fixed rate and a fraction of the line rate cannot be compared
    if (param->type == PARAM_LINE_RATE)
        return param->can_auto && value->line_rate.bps == PARAM_AUTO;
    return param->can_auto && value_auto(param->type, &auto_value) &&
           value_order(param->type, value, &auto_value) == 0;
}

static int value_parse_typed(const struct param *param, const char *text, union value *value)
{
    switch (param->type) {
    case PARAM_BOOL:
        value->flag = strcmp(text, "true") == 0;
        return value->flag || strcmp(text, "false") == 0 ? 0 : -1;
    case PARAM_COUNT:
        return parse_count(text, &value->integer);
    case PARAM_BYTES:
        return parse_bytes(text, &value->integer);
    case PARAM_RATE:
        return parse_rate(text, &value->integer);
    case PARAM_TIME:
        return parse_time(text, &value->time);
    case PARAM_RATIO:
        return parse_ratio(text, &value->ratio);
    case PARAM_ENUM:
        return parse_choice(text, param->choices, &value->choice);
    case PARAM_TEXT:
        value->text = text;
        return 0;
    case PARAM_LINE_RATE:
        return parse_line_rate(text, &value->line_rate);
    }
    return -1;
}

bool param_has_words(const struct param *param)
{
    return param->choices != NULL && (param->type == PARAM_BYTES || param->type == PARAM_TIME);
}

// Returns the size or time behind a word, else the text itself.
static const char *word_value(const struct param *param, const char *text)
{
    const char *const *words = param_has_words(param) ? param->choices : NULL;
    for (const char *const *w = words; w != NULL && *w != NULL; w += 2)
        if (strcmp(text, *w) == 0)
            return w[1];
    return text;
}

// Checks the type, not the range. The number that encodes "auto" is not a legal value.
static int value_parse(const struct param *param, const char *text, union value *value)
{
    text = word_value(param, text);
    if (param->can_auto && strcmp(text, "auto") == 0)
        return value_auto(param->type, value) ? 0 : -1;
    if (value_parse_typed(param, text, value) != 0)
        return -1;
    return value_is_auto(param, value) ? -1 : 0;
}

// ---- a table ----

static void value_store(const struct param *param, void *base, const union value *value)
{
    memcpy((char *)base + param->offset, value, types[param->type].size);
}

struct param_walk params_walk(const struct param *params, size_t n)
{
    const struct param *end = n > 0 ? params + n : params; // params may be NULL where n is 0
    return (struct param_walk){.levels = {{params, end, 0}}, .depth = 1};
}

const struct param *params_next(struct param_walk *walk)
{
    while (walk->depth > 0) {
        unsigned top = walk->depth - 1;
        const struct param *at = walk->levels[top].at;
        if (at == walk->levels[top].end || (at->name == NULL && at->include == NULL)) {
            walk->depth--;
            continue;
        }
        walk->levels[top].at++;
        size_t offset = walk->levels[top].offset + at->offset;
        if (at->include == NULL) {
            walk->row = *at;
            walk->row.offset = offset;
            return &walk->row;
        }
        if (walk->depth == PARAM_DEPTH)
            sim_assert_fail("tables of parameters nest too deeply", __FILE__, __LINE__, 0, -1);
        walk->levels[walk->depth].at = at->include;
        walk->levels[walk->depth].end = NULL;
        walk->levels[walk->depth].offset = offset;
        walk->depth++;
    }
    return NULL;
}

void params_default(const struct param *params, size_t n, void *base)
{
    struct param_walk walk = params_walk(params, n);
    for (const struct param *param; (param = params_next(&walk)) != NULL;) {
        union value value = {0};
        if (param->def == NULL)
            continue;
        if (value_parse(param, param->def, &value) != 0)
            sim_assert_fail("the default of a parameter parses", __FILE__, __LINE__, 0, -1);
        value_store(param, base, &value);
    }
}

struct param param_find(const struct param *params, size_t n, const char *name)
{
    struct param_walk walk = params_walk(params, n);
    for (const struct param *param; (param = params_next(&walk)) != NULL;) {
        if (strcmp(param->name, name) == 0)
            return *param;
    }
    return (struct param){0};
}

static int choice_error(const struct param *param, const char *text, const char *path,
                        struct err *err)
{
    char list[256] = "";
    size_t used = 0;
    for (const char *const *choice = param->choices; *choice != NULL; choice++) {
        int n = snprintf(list + used, sizeof list - used, "%s%s", used > 0 ? ", " : "", *choice);
        used += n > 0 ? (size_t)n : 0;
        if (used >= sizeof list)
            break;
    }
    const char *near = err_near_miss(text, param->choices);
    if (near != NULL)
        return err_add(err, path, "\"%s\" is not one of %s; did you mean \"%s\"?", text, list,
                       near);
    return err_add(err, path, "\"%s\" is not one of %s", text, list);
}

#define WORDS_MAX 16

// Report a word that is none of the words allowed in place of a size or a time.
static int word_error(const struct param *param, const char *text, const char *path,
                      struct err *err)
{
    const char *names[WORDS_MAX + 1] = {NULL};
    for (size_t i = 0; i < WORDS_MAX && param->choices[2 * i] != NULL; i++)
        names[i] = param->choices[2 * i];
    struct param named = *param;
    named.choices = names;
    return choice_error(&named, text, path, err);
}

static int range_check(const struct param *param, const union value *value, const char *text,
                       const char *path, struct err *err)
{
    union value bound = {0};
    if (value_is_auto(param, value))
        return 0;
    if (param->min != NULL && value_parse(param, param->min, &bound) == 0 &&
        value_order(param->type, value, &bound) < 0)
        return err_add(err, path, "%s is below the minimum %s", text, param->min);
    if (param->max == NULL || value_parse(param, param->max, &bound) != 0 ||
        value_order(param->type, value, &bound) <= 0)
        return 0;
    if (param->type == PARAM_RATIO && bound.ratio == 1 && value->ratio <= 100) // a percentage?
        return err_add(err, path, "%s is above the maximum 1; %s %% is %g", text, text,
                       value->ratio / 100);
    return err_add(err, path, "%s is above the maximum %s", text, param->max);
}

// Returns true if only the sign keeps `text` from being a quantity of this type.
static bool is_negative(const struct param *param, const char *text)
{
    union value value = {0};
    return types[param->type].least != NULL && text[0] == '-' &&
           value_parse(param, text + 1, &value) == 0;
}

// Returns true if `text` would parse with a smaller number, which means that the number exceeds 64
// bits.
static bool only_too_large(const struct param *param, const char *text)
{
    char small[PARAM_TEXT_MAX];
    union value value = {0};
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || text[digits] == '.')
        return false;
    snprintf(small, sizeof small, "1%s", text + digits);
    return value_parse(param, small, &value) == 0;
}

int param_set(const struct param *param, void *base, const char *text, const char *path,
              struct err *err)
{
    union value value = {0};
    const struct type_info *type = &types[param->type];
    if (value_parse(param, text, &value) != 0) {
        if (param->type == PARAM_ENUM)
            return choice_error(param, text, path, err);
        if (param_has_words(param) && isalpha((unsigned char)text[0]))
            return word_error(param, text, path, err);
        if (only_too_large(param, text))
            return err_add(err, path, "%s is too large%s%s", text,
                           param->max ? "; the maximum is " : "", param->max ? param->max : "");
        if (is_negative(param, text))
            return err_add(err, path, "\"%s\" is not %s, since it is negative: the least is %s",
                           text, type->noun, param->min != NULL ? param->min : type->least);
        char hint[HINT_TEXT];
        if (param_hint(param->type, text, hint)[0] != '\0')
            return err_add(err, path, "\"%s\" %s", text, hint);
        return err_add(err, path, "\"%s\" is not %s (write %s%s)", text, type->noun, type->like,
                       param->can_auto ? ", or \"auto\"" : "");
    }
    if (range_check(param, &value, text, path, err) != 0)
        return -1;
    value_store(param, base, &value);
    return 0;
}

// Prints the fewest digits that read back to the same double.
static const char *ratio_text(double ratio, char *buf)
{
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(buf, PARAM_TEXT_MAX, "%.*g", digits, ratio);
        if (strtod(buf, NULL) == ratio)
            break;
    }
    return buf;
}

static const char *line_rate_text(struct line_rate rate, char *buf)
{
    if (rate.divisor == 0)
        return format_rate(rate.bps, buf);
    snprintf(buf, PARAM_TEXT_MAX, rate.divisor == 1 ? "line" : "line/%llu",
             (unsigned long long)rate.divisor);
    return buf;
}

const char *param_text(const struct param *param, const void *base, char *buf)
{
    union value value = {0};
    memcpy(&value, (const char *)base + param->offset, types[param->type].size);
    if (value_is_auto(param, &value))
        return strcpy(buf, "auto");
    switch (param->type) {
    case PARAM_BOOL:
        return strcpy(buf, value.flag ? "true" : "false");
    case PARAM_COUNT:
        snprintf(buf, PARAM_TEXT_MAX, "%llu", (unsigned long long)value.integer);
        return buf;
    case PARAM_BYTES:
        return format_bytes(value.integer, buf);
    case PARAM_RATE:
        return format_rate(value.integer, buf);
    case PARAM_TIME:
        return format_time(value.time, buf);
    case PARAM_RATIO:
        return ratio_text(value.ratio, buf);
    case PARAM_ENUM:
        return param->choices[value.choice];
    case PARAM_TEXT:
        return value.text;
    case PARAM_LINE_RATE:
        return line_rate_text(value.line_rate, buf);
    }
    return buf;
}

bool param_is_default(const struct param *param, const void *base)
{
    size_t size = param_size(param->type);
    unsigned char *other = memory_zeroed(1, param->offset + size);
    params_default(param, 1, other);
    bool same =
        memcmp((const unsigned char *)base + param->offset, other + param->offset, size) == 0;
    free(other);
    return same;
}
