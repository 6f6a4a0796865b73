// SPDX-License-Identifier: MIT
// Objects of a scenario. Each has one description, which drives reading, the resolved form, the
// schema and `collwire list`.
//
// An object that is a table, or a list of such objects, needs no code: object.c reads, writes and
// describes it by its table. An object of another form has functions that replace those. To add an
// object at the top of a scenario: a field of struct spec (sim/spec/spec.h), a file with its
// description, its line in config/object/objects.c. To add a key to an object: the field and a row
// of the table.
#pragma once

#include <jansson.h>

#include "engine/base/param.h"

struct cc_catalogue;
struct cc_ops;
struct reader;
struct scenario;
struct place;

// The description of a key that is in no table, for people.
struct own_key {
    const char *key, *type, *def, *help;
};

// A callback that receives the keys of an object, for `collwire list`.
struct key_sink {
    void *ctx;
    void (*table)(void *ctx, const char *prefix, const struct param *params, size_t n);
    void (*own)(void *ctx, const struct own_key *key);
};

// An entry that `collwire list OBJECT` shows: a kind of the object, or the object itself.
struct object_entry {
    const char *name, *doc, *source;
    const struct cc_ops *policy; // the policy whose presets are listed; NULL = none
    const void *kind;            // for ops->keys
};

// The stages in which objects are read: dimensions inherit from the settings, and all other objects
// name places in the network.
enum object_stage { STAGE_SETTINGS, STAGE_NETWORK, STAGE_REST };

// The functions get a pointer to the struct that the object describes; for a list, to the field
// that points to its items.
struct object {
    const char *key, *doc, *source;
    enum object_stage stage; // for objects at the top of a scenario
    bool required;
    bool packets_only;      // an error with "network": "analytical"
    bool shared;            // its schema is a definition that other schemas refer to
    bool listable;          // it may also be a list of such objects
    const char *type, *def; // type and default shown to people; NULL = an object, required or empty
    /* its table */
    const struct param *params;
    const size_t *n_params;            // the number of rows, which the table's owner exports
    size_t offset;                     // offset in the struct of the containing object
    const struct object *const *parts; // contained objects, NULL-terminated; NULL = none
    /* a list: `offset` is the offset of the pointer to its items */
    size_t item_bytes; // 0 = not a list
    size_t count_at;   // offset of the number of items
    /* all may be NULL */
    // called after reading, or if the object is missing
    void (*finish)(struct reader *r, const struct place *place, void *value);
    void (*free)(void *value);
    /* replace the functions of object.c that use the table */
    void (*defaults)(void *value);
    void (*read)(struct reader *r, const struct place *place, void *value);
    // returning NULL leaves the object out
    json_t *(*write)(const struct scenario *s, const void *value);
    json_t *(*schema)(const struct cc_catalogue *policies);
    // adds definitions to the schema, before those of later objects
    void (*definitions)(json_t *defs);
    // Sets *out to entry `i`; returns false after the last one. NULL = the object is its only
    // entry.
    bool (*entry)(const struct cc_catalogue *policies, size_t i, struct object_entry *out);
    void (*keys)(const struct object_entry *entry, const char *prefix, const struct key_sink *to);
};

// The scenario itself, a struct scenario; its parts are in the order of the resolved form.
extern const struct object scenario_object;

// Set the defaults of everything that the object describes.
void object_defaults(const struct object *o, void *value);

// Read the JSON at `place` into `value`, which must hold its defaults.
void object_read(struct reader *r, const struct place *place, const struct object *o, void *value);

// The resolved form: every key with its value; NULL if there is nothing to write.
json_t *object_json(const struct scenario *s, const struct object *o, const void *value);

json_t *object_schema(const struct object *o, const struct cc_catalogue *policies);

// Free the memory that the object's functions have allocated for `value`.
void object_free(const struct object *o, void *value);

// Report the keys of an entry of the object (or of a part, under `prefix`).
void object_keys(const struct object *o, const struct object_entry *entry, const char *prefix,
                 const struct key_sink *to);
