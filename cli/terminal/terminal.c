// SPDX-License-Identifier: MIT
// Wraps text to the width of the terminal.
#include "cli/terminal/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "engine/base/text.h"

enum { WIDTH = 80, WIDTH_LEAST = 40, WIDTH_MOST = 1 << 20 };

size_t terminal_width(FILE *out)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS"); // of what is not a terminal (POSIX, XBD 8.3)
    unsigned long width = WIDTH;
    if (ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col != 0)
        width = size.ws_col;
    else if (columns && *columns >= '1' && *columns <= '9')
        width = strtoul(columns, NULL, 10);
    return width < WIDTH_LEAST ? WIDTH_LEAST : width > WIDTH_MOST ? WIDTH_MOST : width;
}

bool terminal_colours(FILE *out)
{
    const char *no = getenv("NO_COLOR"), *kind = getenv("TERM");
    if ((no && *no) || !kind || strcmp(kind, "dumb") == 0)
        return false;
    return isatty(fileno(out)) == 1;
}

// The code of a character of UTF-8 that changes the direction of the text behind it (Unicode, UAX
// 9), or 0.
static unsigned direction_code(const unsigned char *c)
{
    if (c[0] == 0xd8 && c[1] == 0x9c)
        return 0x61c;
    if (c[0] != 0xe2 || c[1] < 0x80 || c[1] > 0x81 || c[2] < 0x80)
        return 0;
    unsigned code = 0x2000u | (c[1] & 0x3fu) << 6 | (c[2] & 0x3fu);
    bool mark = code == 0x200e || code == 0x200f, isolate = code >= 0x2066 && code <= 0x2069;
    return mark || isolate || (code >= 0x202a && code <= 0x202e) ? code : 0;
}

// Print control characters as \xNN and those of direction as \uNNNN, so that names from files
// cannot control the terminal or show a text in another order; line feeds are kept.
void text_print(FILE *out, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        bool c1 = c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0; // C1 controls in UTF-8
        unsigned direction = direction_code(c);
        if (direction > 0) {
            fprintf(out, "\\u%04x", direction);
            c += direction < 0x800 ? 1 : 2;
        } else if (c1)
            fprintf(out, "\\x%02x", *++c);
        else if ((*c < 0x20 && *c != '\n') || *c == 0x7f)
            fprintf(out, "\\x%02x", *c);
        else
            fputc(*c, out);
    }
}

void path_print(FILE *out, const char *format, const char *path)
{
    const char *at = strstr(format, "%s");
    char *line = text_format("%.*s%s%s", (int)(at - format), format, path, at + 2);
    text_print(out, line);
    free(line);
}

const char *clock_text(double seconds, char *text)
{
    unsigned long all = seconds > 0 ? (unsigned long)(seconds + 0.5) : 0;
    snprintf(text, CLOCK_TEXT, "%lu:%02lu:%02lu", all / 3600, all / 60 % 60, all % 60);
    return text;
}

static void blanks(FILE *out, size_t n) { fprintf(out, "%*s", (int)n, ""); }

// The columns of a text in UTF-8: bytes that do not continue a character.
static size_t columns_of(const char *text, size_t bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++)
        n += ((unsigned char)text[i] & 0xc0) != 0x80;
    return n;
}

// True if the word is a unit, which stays in the line of its number. Punctuation may follow.
static bool is_unit(const char *word)
{
    static const char *const units[] = {"%",  "ns", "us",  "ms",   "s",    "B",    "KB",
                                        "MB", "GB", "b/s", "Kb/s", "Mb/s", "Gb/s", "Tb/s"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t length = strlen(units[i]);
        if (strncmp(word, units[i], length) == 0 && strchr(" \n,.;:)", word[length]))
            return true;
    }
    return false;
}

// The length of the next word, with the unit behind a number.
static size_t word_length(const char *word)
{
    size_t bytes = strcspn(word, " \n");
    char last = bytes > 0 ? word[bytes - 1] : ' ';
    if (last >= '0' && last <= '9' && word[bytes] == ' ' && is_unit(word + bytes + 1))
        bytes += 1 + strcspn(word + bytes + 1, " \n");
    return bytes;
}

void terminal_wrap(FILE *out, const char *text, size_t at, size_t indent, size_t width)
{
    bool empty = true; // nothing is in the line yet
    for (const char *word = text + strspn(text, " \n"); *word != '\0';) {
        size_t bytes = word_length(word), columns = columns_of(word, bytes);
        if (!empty && at + 1 + columns > width) {
            fputc('\n', out);
            blanks(out, indent);
            at = indent;
            empty = true;
        }
        if (!empty)
            fputc(' ', out);
        char *copy = text_format("%.*s", (int)bytes, word);
        text_print(out, copy);
        free(copy);
        at += columns + !empty;
        empty = false;
        word += bytes;
        word += strspn(word, " \n");
    }
    fputc('\n', out);
}

void terminal_entry(FILE *out, const char *left, const char *right, size_t column, size_t width)
{
    size_t used = 2 + columns_of(left, strlen(left));
    blanks(out, 2);
    text_print(out, left);
    if (used + 2 > column) {
        fputc('\n', out);
        used = 0;
    }
    blanks(out, column - used);
    terminal_wrap(out, right, column, column, width);
}

void terminal_paragraphs(FILE *out, const char *text, size_t width)
{
    while (*text != '\0') {
        const char *end = strstr(text, "\n\n");
        size_t length = end ? (size_t)(end - text) : strlen(text);
        char *paragraph = text_format("%.*s", (int)length, text);
        if (strncmp(paragraph, "  ", 2) == 0)
            fprintf(out, "%s\n", paragraph);
        else
            terminal_wrap(out, paragraph, 0, 0, width);
        free(paragraph);
        text += length;
        if (*text != '\0')
            fputc('\n', out);
        text += strspn(text, "\n");
    }
}
