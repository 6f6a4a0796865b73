// SPDX-License-Identifier: MIT
// Comments are those of C and shells: // and # up to the end of the line, and /* to */.
#include "workload/goal/goal_words.h"

#include <string.h>

static void advance(struct goal_words *w)
{
    if (w->c == '\n')
        w->next_line++;
    w->c = getc_unlocked(w->in);
}

void goal_words_begin(struct goal_words *w, FILE *in)
{
    *w = (struct goal_words){.in = in, .next_line = 1, .line = 1};
    w->c = getc_unlocked(in);
    goal_words_next(w);
}

static void skip_line(struct goal_words *w)
{
    while (w->c != '\n' && w->c != EOF)
        advance(w);
}

static void skip_block(struct goal_words *w)
{
    int before = 0;
    advance(w);
    while (w->c != EOF && !(before == '*' && w->c == '/')) {
        before = w->c;
        advance(w);
    }
    if (w->c != EOF)
        advance(w);
}

static bool blank(int c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static bool mark(int c) { return c == ':' || c == ';' || c == '{' || c == '}'; }

void goal_words_next(struct goal_words *w)
{
    size_t n = 0;
    for (;;) {
        while (blank(w->c))
            advance(w);
        if (w->c == '#') {
            skip_line(w);
            continue;
        }
        if (w->c != '/')
            break;
        advance(w);
        if (w->c == '/') {
            skip_line(w);
        } else if (w->c == '*') {
            skip_block(w);
        } else {
            w->word[n++] = '/';
            break;
        }
    }
    w->line = w->next_line;
    if (n == 0 && mark(w->c)) {
        w->word[n++] = (char)w->c;
        advance(w);
    } else {
        while (w->c != EOF && !blank(w->c) && !mark(w->c)) {
            w->too_long = w->too_long || n + 1 == GOAL_WORD_MAX;
            if (n + 1 < GOAL_WORD_MAX)
                w->word[n++] = (char)w->c;
            advance(w);
        }
    }
    w->word[n] = '\0';
}
