// SPDX-License-Identifier: MIT
// Reads metrics.json without its list of messages, which may be hundreds of megabytes.
#pragma once

#include <jansson.h>

// The metrics in a text that metrics_write() has made, with the first record of `flows` alone;
// with all of them if messages are from a capture, since these are shown one by one. A text of any
// other layout is read as it is. NULL = not JSON. To be released.
json_t *metrics_brief(const char *text);
