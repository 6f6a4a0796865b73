// SPDX-License-Identifier: MIT
// Writes values as JSON by their tables.
#include <stdlib.h>
#include <string.h>

#include "engine/text/read.h"

// A number without a fraction as a JSON integer, so that it reads "8" and not "8.0".
static json_t *number_json(double value)
{
    if (value > -1e15 && value < 1e15 && value == (double)(int64_t)value)
        return json_integer((int64_t)value);
    return json_real(value);
}

json_t *param_json(const struct param *param, const char *text)
{
    if (strcmp(text, "auto") == 0)
        return json_string(text);
    if (choice_is_bool(param, text))
        return json_boolean(strcmp(text, "true") == 0);
    switch (param->type) {
    case PARAM_BOOL:
        return json_boolean(strcmp(text, "true") == 0);
    case PARAM_COUNT:
        return json_integer(strtoll(text, NULL, 10));
    case PARAM_RATIO:
        return number_json(strtod(text, NULL));
    default:
        return json_string(text);
    }
}

// Empty texts are left out, since they mean "none".
void write_params(json_t *json, const struct param *params, size_t n, const void *base)
{
    struct param_walk walk = params_walk(params, n);
    for (const struct param *param; (param = params_next(&walk)) != NULL;) {
        char buf[PARAM_TEXT_MAX];
        const char *text = param_text(param, base, buf);
        if (param->type != PARAM_TEXT || text[0] != '\0')
            json_object_set_new(json, param->name, param_json(param, text));
    }
}

json_t *params_json(const struct param *params, size_t n, const void *base)
{
    json_t *json = json_object();
    write_params(json, params, n, base);
    return json;
}

// 15 digits suffice to print 0.1 as it was written; numbers that need more get 17, which are always
// exact.
char *json_text(const json_t *json)
{
    char *text = json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_t *again = json_loads(text, JSON_DECODE_ANY, NULL);
    if (!json_equal(json, again)) {
        free(text);
        text = json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    }
    json_decref(again);
    return text;
}
