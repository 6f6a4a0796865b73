// SPDX-License-Identifier: MIT
// Numbers are read and written with a decimal point, whatever the locale of the program.
#pragma once

#include <locale.h>

struct plain_locale {
    locale_t plain, before;
};

// From here on the calling thread has the locale "C".
struct plain_locale plain_locale_begin(void);
void plain_locale_end(struct plain_locale l);
