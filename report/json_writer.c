// SPDX-License-Identifier: MIT
// Writes JSON to a stream. Numbers are formatted here, since printf() takes most of the time of a
// file with millions of them; what is rare is left to jansson.
#include "report/json_writer.h"

#include <math.h>
#include <string.h>

#include "engine/base/assert.h"

void json_writer_open(struct json_writer *w, FILE *out)
{
    w->out = out;
    w->key = NULL;
    w->depth = 0;
    w->empty = true;
    w->is_object = 0;
    w->n = 0;
}

void json_writer_flush(struct json_writer *w)
{
    fwrite(w->buffer, 1, w->n, w->out);
    w->n = 0;
}

static void put(struct json_writer *w, const char *bytes, size_t n)
{
    // The buffer is emptied before a value that does not fit, so that values stay in order.
    if (w->n + n > sizeof w->buffer)
        json_writer_flush(w);
    if (n > sizeof w->buffer) {
        fwrite(bytes, 1, n, w->out);
        return;
    }
    memcpy(w->buffer + w->n, bytes, n);
    w->n += n;
}

static int put_more(const char *bytes, size_t n, void *w)
{
    put(w, bytes, n);
    return 0;
}

static void put_line(struct json_writer *w)
{
    static const char line[] = "\n                                                               ";
    put(w, line, 1 + w->depth);
}

// The number of leading bytes that JSON has as they are.
static size_t plain_length(const char *text)
{
    size_t n = 0;
    while (text[n] >= 0x20 && text[n] < 0x7f && text[n] != '"' && text[n] != '\\')
        n++;
    return n;
}

static void put_quoted(struct json_writer *w, const char *text)
{
    size_t n = plain_length(text);
    // Almost all texts are plain, and need no escapes.
    if (text[n] == '\0') {
        put(w, "\"", 1);
        put(w, text, n);
        put(w, "\"", 1);
        return;
    }
    // jansson escapes what is not plain, and checks that the text is UTF-8.
    json_t *string = json_string(text);
    json_dump_callback(string, put_more, w, JSON_ENCODE_ANY);
    json_decref(string);
}

// What precedes a value: a comma, a line, and in an object the key.
static void before_value(struct json_writer *w)
{
    if (w->depth == 0)
        return;
    if (!w->empty)
        put(w, ",", 1);
    w->empty = false;
    put_line(w);
    if (w->is_object >> w->depth & 1) {
        put_quoted(w, w->key);
        put(w, ": ", 2);
    }
}

static void put_value(struct json_writer *w, const char *text, size_t n)
{
    before_value(w);
    put(w, text, n);
}

void json_writer_key(struct json_writer *w, const char *key) { w->key = key; }

static void begin(struct json_writer *w, bool object)
{
    put_value(w, object ? "{" : "[", 1);
    if (++w->depth == JSON_WRITER_DEPTH)
        sim_assert_fail("values are nested too deeply", __FILE__, __LINE__, 0, -1);
    w->is_object = (w->is_object & ~((uint64_t)1 << w->depth)) | (uint64_t)object << w->depth;
    w->empty = true;
}

void json_writer_object(struct json_writer *w) { begin(w, true); }
void json_writer_list(struct json_writer *w) { begin(w, false); }

void json_writer_end(struct json_writer *w)
{
    bool object = w->is_object >> w->depth & 1;
    w->depth--;
    if (!w->empty)
        put_line(w);
    w->empty = false;
    put(w, object ? "}" : "]", 1);
}

void json_writer_null(struct json_writer *w) { put_value(w, "null", 4); }

// Write a number so that its last digit is before `end`; returns where it begins.
static char *digits_before(char *end, uint64_t value)
{
    do {
        *--end = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    return end;
}

void json_writer_integer(struct json_writer *w, int64_t value)
{
    char text[24], *end = text + sizeof text;
    // The negative of the smallest integer does not fit into int64_t.
    char *at = digits_before(end, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
    if (value < 0)
        *--at = '-';
    put_value(w, at, (size_t)(end - at));
}

/* ---- reals ---- */

enum { REAL_DIGITS = 10, REAL_TEXT = 32 };

static const double power_of_ten[] = {1e0, 1e1, 1e2, 1e3,  1e4,  1e5,  1e6,
                                      1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13};

// The ten digits of a value from 1e-4 up to, but not including, 1e10, as an integer from 1e9 to
// 1e10; *decimals is set to how many of them follow the point. Returns 0 if the digits are
// uncertain: the scale is exact and the product is rounded once, so it is wrong by less than 1e-5,
// and only a value closer than this to the middle of two integers could be rounded to the wrong
// one.
static uint64_t ten_digits(double value, unsigned *decimals)
{
    unsigned at = 0;
    while (at < 13 && value * power_of_ten[at] < 1e9)
        at++;
    double scaled = value * power_of_ten[at], whole = floor(scaled), part = scaled - whole;
    if (fabs(part - 0.5) < 1e-5)
        return 0;
    uint64_t digits = (uint64_t)whole + (part > 0.5);
    *decimals = at;
    return digits < 10000000000u ? digits : 0;
}

// As "%.10g" and jansson: fixed point without trailing zeros, but with one digit after the point.
// Returns the length, or 0 if this function does not cover the value.
static size_t real_text(double value, char text[REAL_TEXT])
{
    double size = fabs(value);
    unsigned decimals;
    if (!(size >= 1e-4 && size < 1e10))
        return 0;
    uint64_t digits = ten_digits(size, &decimals);
    if (digits == 0)
        return 0;
    while (decimals > 1 && digits % 10 == 0) {
        digits /= 10;
        decimals--;
    }
    char *end = text + REAL_TEXT, *at = end;
    if (decimals == 0) {
        *--at = '0';
    } else {
        for (unsigned i = 0; i < decimals; i++) {
            *--at = (char)('0' + digits % 10);
            digits /= 10;
        }
    }
    *--at = '.';
    at = digits_before(at, digits);
    if (value < 0)
        *--at = '-';
    size_t n = (size_t)(end - at);
    memmove(text, at, n);
    return n;
}

void json_writer_real(struct json_writer *w, double value)
{
    char text[REAL_TEXT] = "0.0";
    // -0.0 is left to jansson, which writes its sign.
    size_t n = value == 0 && !signbit(value) ? 3 : real_text(value, text);
    if (n > 0) {
        put_value(w, text, n);
        return;
    }
    json_t *real = json_real(value);
    if (real) {
        before_value(w);
        json_dump_callback(real, put_more, w, JSON_ENCODE_ANY | JSON_REAL_PRECISION(REAL_DIGITS));
    }
    json_decref(real);
}

/* ---- texts, and values of jansson ---- */

static bool is_utf8(const char *text)
{
    if (text[plain_length(text)] == '\0')
        return true;
    json_t *string = json_string(text);
    json_decref(string);
    return string != NULL;
}

void json_writer_text(struct json_writer *w, const char *text)
{
    // JSON cannot have a text that is not UTF-8, so the value is left out.
    if (!is_utf8(text))
        return;
    before_value(w);
    put_quoted(w, text);
}

void json_writer_value(struct json_writer *w, const json_t *value)
{
    json_t *all = (json_t *)(uintptr_t)value;
    const char *key;
    json_t *one;
    size_t i;
    if (json_is_object(value)) {
        json_writer_object(w);
        json_object_foreach(all, key, one)
        {
            json_writer_key(w, key);
            json_writer_value(w, one);
        }
        json_writer_end(w);
    } else if (json_is_array(value)) {
        json_writer_list(w);
        json_array_foreach(all, i, one) { json_writer_value(w, one); }
        json_writer_end(w);
    } else if (json_is_real(value)) {
        json_writer_real(w, json_real_value(value));
    } else if (value) {
        before_value(w);
        json_dump_callback(value, put_more, w, JSON_ENCODE_ANY);
    }
}
