// SPDX-License-Identifier: MIT
// The template of reports, and the program that draws one chart: files that `make report-assets`
// builds.
#pragma once

#include "engine/base/err.h"

// The text of share/collwire/report-template.html beside the program (build folder) or one folder
// above it (installation); COLLWIRE_SHARE names another folder. Returns NULL with one error that
// says what to install. *path is set to the file. Both are to be freed.
char *page_template(char **path, struct err *err);

// The text of share/collwire/report-plot.js, likewise.
char *plot_program(struct err *err);
