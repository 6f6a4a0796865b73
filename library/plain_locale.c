// SPDX-License-Identifier: MIT
// Sets the locale of a thread, not that of the process.
#include "library/plain_locale.h"

struct plain_locale plain_locale_begin(void)
{
    struct plain_locale l = {newlocale(LC_ALL_MASK, "C", (locale_t)0), (locale_t)0};
    if (l.plain != (locale_t)0)
        l.before = uselocale(l.plain);
    return l;
}

void plain_locale_end(struct plain_locale l)
{
    if (l.plain == (locale_t)0)
        return;
    uselocale(l.before);
    freelocale(l.plain);
}
