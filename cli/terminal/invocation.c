// SPDX-License-Identifier: MIT
// Quotes the words of the command line for a POSIX shell.
#include "cli/terminal/invocation.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/text.h"

static char *kept;

static void put_word(FILE *out, const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,:=+@%";
    if (*word != '\0' && word[strspn(word, plain)] == '\0') {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word != '\0'; word++)
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, out);
    fputc('\'', out);
}

void invocation_keep(int argc, char **argv)
{
    struct text text;
    FILE *out = text_open(&text);
    fputs("collwire", out);
    for (int i = 1; i < argc; i++) {
        fputc(' ', out);
        put_word(out, argv[i]);
    }
    free(kept);
    kept = text_close(out, &text);
}

const char *invocation_text(void) { return kept ? kept : ""; }
