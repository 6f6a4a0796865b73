// SPDX-License-Identifier: MIT
// How an interrupted command ends: every command alike, with EXIT_INTERRUPTED and the word
// "interrupted". Outside of workers and simulations the handlers of signals.h end the program with
// the same code and word.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct pool_ops;

// pool_run(), and note if a signal has ended it. Returns the number of the signal, or 0.
int ends_pool(const struct pool_ops *ops, size_t n, size_t jobs);

// A signal has ended what the command waited for.
void ends_note(void);

bool ends_interrupted(void);

// What an interrupted command says after the word, such as "the same command runs the rest".
// Static text.
void ends_say(const char *kept);

// The exit code of the program: `code`, or EXIT_INTERRUPTED after one line if a pool was
// interrupted. For main() alone.
int ends_code(int code);
