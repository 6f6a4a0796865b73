// SPDX-License-Identifier: MIT
// What a quantity that does not parse was probably meant to be, for error messages.
#pragma once

#include "collwire/param.h"

#define HINT_TEXT 128

// Write a hint for a rate, size or time with its unit spelt in another way, such as "400G",
// "100 Gbps", "100GB/s" or "64Mb": a sentence that follows the text, as in `is in bytes, and rates
// are in bits: write "800Gbps"`. "" = there is none. What it says to write parses. Returns `buf`.
const char *param_hint(enum param_type type, const char *text, char buf[HINT_TEXT]);

// Write the JSON value of a count, number or boolean that was given as a string, such as 0.05 for
// "5%", 8 for "8" or false for "off". "" = there is none. Returns `buf`.
const char *param_unquoted(enum param_type type, const char *text, char buf[HINT_TEXT]);
