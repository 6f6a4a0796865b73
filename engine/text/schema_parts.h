// SPDX-License-Identifier: MIT
// Building blocks of a JSON Schema, for functions that describe an object of the scenario.
#pragma once

#include <jansson.h>

#include "engine/base/param.h"

json_t *schema_object(void); // an object that allows no keys yet
void schema_key(json_t *object, const char *key, json_t *schema, bool required); // takes the schema
void schema_params(json_t *object, const struct param *params, size_t n); // the keys of a table
json_t *schema_table(const struct param *params, size_t n); // an object with the keys of a table
json_t *schema_list(json_t *items);
json_t *schema_one_or_list(json_t *item);       // the item itself, or a list that is not empty
json_t *schema_words(const char *const *words); // one of the words, NULL-terminated
json_t *schema_constant(const char *word);
json_t *schema_integer(int minimum);
json_t *schema_sizes(void);           // a list of numbers of 1 and more
json_t *schema_ref(const char *name); // refers to a definition of the schema
void schema_quantities(json_t *defs); // adds the definitions of sizes, rates and times
json_t *schema_ranks(void);           // distinct ranks: a list, a range like "0-15", or both
