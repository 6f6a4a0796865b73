// SPDX-License-Identifier: MIT
// Values and notes of the page's document.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "report/page/page_internal.h"

json_t *page_copy(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    return value && !json_is_null(value) ? json_incref(value) : NULL;
}

void page_set(json_t *object, const char *key, json_t *value)
{
    if (value)
        json_object_set_new(object, key, value);
}

json_t *page_number(double value)
{
    if (isnan(value))
        return json_null();
    if (fabs(value) < 1e15 && value == floor(value))
        return json_integer((json_int_t)value);
    return json_real(value);
}

void page_note(struct page *page, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t i;
    const json_t *note;
    json_array_foreach(page->notes, i, note)
    {
        if (strcmp(json_string_value(note), text) == 0)
            return;
    }
    json_t *value = json_string(text);
    if (value)
        json_array_append_new(page->notes, value);
}
