// SPDX-License-Identifier: MIT
// Writes the HTML report of a directory of results.
#pragma once

#include "cli/options.h"
#include "engine/err.h"

// Write DIR/report.html as one more file of the set of results in DIR. Errors and warnings go to
// `err`. Returns EXIT_DONE; EXIT_NOT_COMPLETED if the charts are not built or the file cannot be
// written; EXIT_BAD_USE if the directory has no results or another command is writing there.
int report_write(const char *dir, struct err *err);

// Write the report of results that a command has just written, and print where it is. Without the
// charts one line on stderr says what to install; the command's results stay as they are.
void report_after(const struct options *o, const char *dir);
