// SPDX-License-Identifier: MIT
// Reads metrics.json without its long lists, which may be hundreds of megabytes, and replaces
// values in it.
#pragma once

#include <jansson.h>

// The metrics in a text that metrics_write() has made, with the first record alone of `flows`,
// `ranks` and `links`; with all `flows` if messages are from a capture, since these are shown one
// by one. A text of any other layout is read as it is. NULL = not JSON. To be released.
json_t *metrics_brief(const char *text);

// Returns a copy of a text that metrics_write() has made, in which the values of `keys`, a list
// that ends with NULL, are those of `from`. NULL = it is not such a text. To be freed.
char *metrics_replaced(const char *text, const char *const *keys, const json_t *from);
