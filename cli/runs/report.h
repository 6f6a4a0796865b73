// SPDX-License-Identifier: MIT
// Writes the HTML report of a directory of results.
#pragma once

#include "cli/options/options.h"
#include "engine/base/err.h"
#include "report/page.h"

// Read the results in `dir` into the document of a page, to be freed with page_free(); NULL with an
// error.
struct page *report_page(const char *dir, struct err *err);

// Write DIR/report.html as one more file of the set of results in DIR. Errors and warnings go to
// `err`. Returns EXIT_DONE; EXIT_NOT_COMPLETED if the charts are not built or the file cannot be
// written; EXIT_BAD_USE if the directory has no results or another command is writing there.
int report_write(const char *dir, struct err *err);

// After a command has written its results to `dir` and given the directory back: write the report
// too, and say where it is. Without charts one line says how to build them, and `code` remains.
// Returns the command's exit code.
int report_after(const struct options *o, const char *dir, int code);
