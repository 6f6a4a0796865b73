// SPDX-License-Identifier: MIT
// The words of a GOAL file, with their lines.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define GOAL_WORD_MAX 256

struct goal_words {
    FILE *in;
    uint64_t line;            // of the current word, from 1
    char word[GOAL_WORD_MAX]; // "" = the end of the file
    bool too_long;            // a word has more characters than fit
    uint64_t next_line;
    int c; // the next character
};

void goal_words_begin(struct goal_words *w, FILE *in);

// Go to the next word: a run of letters, digits and others that are no blanks, or one of : ; { }
void goal_words_next(struct goal_words *w);
