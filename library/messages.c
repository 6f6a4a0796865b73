// SPDX-License-Identifier: MIT
// Messages and texts of the library.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "library/handles.h"

const char *collwire_version(void) { return COLLWIRE_VERSION; }

void collwire_free(char *text) { free(text); }

struct collwire_messages *collwire_messages_new(void)
{
    return messages_of(memory_zeroed(1, sizeof(struct err)));
}

void collwire_messages_free(struct collwire_messages *m)
{
    if (m)
        err_free(err_of(m));
    free(m);
}

void collwire_messages_clear(struct collwire_messages *m) { err_free(err_of(m)); }

static const struct err *read_only(const struct collwire_messages *m)
{
    return (const struct err *)m;
}

size_t collwire_messages_count(const struct collwire_messages *m) { return read_only(m)->n_items; }

size_t collwire_messages_errors(const struct collwire_messages *m)
{
    return read_only(m)->n_errors;
}

const char *collwire_messages_text(const struct collwire_messages *m, size_t i)
{
    return i < read_only(m)->n_items ? read_only(m)->items[i].text : NULL;
}

int collwire_messages_is_warning(const struct collwire_messages *m, size_t i)
{
    return i < read_only(m)->n_items && read_only(m)->items[i].warning;
}
