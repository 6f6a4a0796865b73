// SPDX-License-Identifier: MIT
// Objects of a scenario: one description each, over which reading, the resolved form, the schema and
// `collwire list` loop.
//
// An object that is a table, or a list of such objects, needs no code: object.c reads, writes and
// describes it by its table. One with a form of its own brings functions in place of those. To add an
// object at the top of a scenario: a field of struct spec (sim/spec.h), a file with its description,
// its line in objects.c. To add a key to an object: the field and a row of the table.
#pragma once

#include <jansson.h>

#include "cc/catalogue.h"
#include "engine/param.h"

struct reader;
struct scenario;
struct place;

// A key that no table describes, as people see it.
struct own_key {
    const char *key, *type, *def, *help;
};

// Takes the keys of an object, for `collwire list`.
struct key_sink {
    void *ctx;
    void (*table)(void *ctx, const char *prefix, const struct param *params, size_t n);
    void (*own)(void *ctx, const struct own_key *key);
};

// What `collwire list OBJECT` shows a line of: a kind of the object, or the object itself.
struct object_entry {
    const char *name, *doc, *source;
    const struct cc_ops *policy; // has presets; NULL = none
    const void *kind;            // for ops->keys
};

// Objects are read in this order: dimensions take over what the settings say, all else names places.
enum object_stage { STAGE_SETTINGS, STAGE_NETWORK, STAGE_REST };

// Values that the functions get: the struct that the object describes, or for a list the field that
// points to its items.
struct object {
    const char *key, *doc, *source;
    enum object_stage stage; // at the top of a scenario
    bool required;
    bool packets_only;      // makes no sense over closed forms
    bool shared;            // its schema is a definition that others refer to
    const char *type, *def; // as people see it, where it is more than an object; NULL = it is not
    /* its table */
    const struct param *params;
    const size_t *n_params;            // the count, which the table's owner exports
    size_t offset;                     // in the struct of the object that it is part of
    const struct object *const *parts; // objects inside, NULL-terminated; NULL = none
    /* a list: `offset` is that of the pointer to the items */
    size_t item_bytes; // 0 = it is no list
    size_t count_at;   // offset of the number of items
    /* all may be NULL */
    void (*finish)(struct reader *r, const struct place *place, void *value); // read, or left out
    void (*free)(void *value);
    /* in place of what object.c does by the table */
    void (*defaults)(void *value);
    void (*read)(struct reader *r, const struct place *place, void *value);
    json_t *(*write)(const struct scenario *s, const void *value); // NULL from it: left out
    json_t *(*schema)(const struct cc_catalogue *policies);
    void (*definitions)(json_t *defs); // of the schema, before those of later objects
    // Entry `i`; false past the last one. NULL = the object is its only entry.
    bool (*entry)(const struct cc_catalogue *policies, size_t i, struct object_entry *out);
    void (*keys)(const struct object_entry *entry, const char *prefix, const struct key_sink *to);
};

// The scenario itself, a struct scenario; its parts are the objects in the order of the resolved form.
extern const struct object scenario_object;

// Defaults of all that the object describes.
void object_defaults(const struct object *o, void *value);

// Read what stands at `place` into `value`, which has its defaults.
void object_read(struct reader *r, const struct place *place, const struct object *o, void *value);

// The resolved form: every key with its value; NULL where there is nothing to write.
json_t *object_json(const struct scenario *s, const struct object *o, const void *value);

json_t *object_schema(const struct object *o, const struct cc_catalogue *policies);

// What its functions have allocated for `value`.
void object_free(const struct object *o, void *value);

// The keys of an entry of the object (or of a part, under `prefix`).
void object_keys(const struct object *o, const struct object_entry *entry, const char *prefix,
                 const struct key_sink *to);
