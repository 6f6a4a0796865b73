// SPDX-License-Identifier: MIT
// Which kinds of an object have a key that the kind at hand does not have.
#include "engine/text/key_owners.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "engine/text/object.h"

struct finding {
    const char *key;
    bool found;
};

// Keys of contained objects come with a prefix: they are not keys of the object itself.
static void table_seen(void *ctx, const char *prefix, const struct param *params, size_t n)
{
    struct finding *f = ctx;
    f->found |= *prefix == '\0' && param_find(params, n, f->key).name != NULL;
}

static void own_seen(void *ctx, const struct own_key *key)
{
    struct finding *f = ctx;
    f->found |= strcmp(key->key, f->key) == 0;
}

const char *key_owners(const struct object *o, const struct cc_catalogue *policies, const char *key,
                       char buf[OWNERS_TEXT])
{
    struct object_entry entry;
    unsigned n = 0;
    size_t used = 0;
    buf[0] = '\0';
    for (size_t i = 0; o->entry != NULL && o->entry(policies, i, &entry); i++) {
        struct finding f = {.key = key};
        const struct key_sink sink = {&f, table_seen, own_seen};
        if (entry.kind != NULL) // else it only groups keys for people
            o->keys(&entry, "", &sink);
        if (!f.found || n++ > OWNERS_NAMED)
            continue;
        used += (size_t)snprintf(buf + used, OWNERS_TEXT - used, "%s%s", n > 1 ? ", " : "",
                                 n > OWNERS_NAMED ? ".." : entry.name);
        if (used >= OWNERS_TEXT)
            break;
    }
    return buf;
}
