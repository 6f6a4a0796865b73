// SPDX-License-Identifier: MIT
// A file of XML that is read piece by piece with expat. Memory is bounded by what the caller keeps
// of the elements; a document type is refused, since it could define entities that expand, but for
// one of a given name without definitions of its own.
#pragma once

#include <expat.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/base/err.h"

struct xml_pieces {
    /* config */
    const char *name, *path; // the file, and the place of errors
    struct err *err;
    const char *noun;    // what the file should be, such as "an algorithm"
    const char *doctype; // name of a document type that is elsewhere; NULL = the file has none
    unsigned deepest;    // how deep elements may be nested; 0 = without a limit
    // An element of `depth` open ones begins; `attributes`: name, value, .., NULL. An error stops
    // the reading.
    void (*start)(struct xml_pieces *x, const char *element, const char **attributes,
                  unsigned depth, unsigned long line);
    void (*end)(struct xml_pieces *x, unsigned depth); // NULL = not needed
    /* state */
    XML_Parser parser;
    unsigned depth;   // elements that are open
    uint64_t reached; // byte of the file behind the last token
    bool failed;
};

// Read the file, which is named as seen from folder `dir`. Returns false after one error.
bool xml_pieces_read(struct xml_pieces *x, const char *dir);

// Add an error of a line, of which only the first counts, and stop.
__attribute__((format(printf, 3, 4))) void
xml_pieces_error(struct xml_pieces *x, unsigned long line, const char *format, ...);

// Return the value of an attribute, or NULL.
const char *xml_attribute(const char **attributes, const char *name);
