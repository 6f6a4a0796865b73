// SPDX-License-Identifier: MIT
// Draws one chart of a page as a picture: SVG by the page's own definition of the chart, which a
// JavaScript engine runs, and PDF from that SVG.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/err.h"

// The text of a picture, to be freed; NULL with an error.
//
// `program` is the text of report/web/built/report-plot.js. `document` is what page_document()
// returns; it names the chart. *unknown is set to true if the document has no such chart, so that
// the wish is wrong, and not the program. The same texts give the same bytes on every machine.
char *drawing_svg(const char *program, const char *document, bool *unknown, struct err *err);

// The same picture as a PDF of one page of its size, whose *n bytes are to be freed; NULL with an
// error. librsvg is loaded for it. It sets texts in the fonts of the system, and gives the same
// bytes each time on one machine.
char *drawing_pdf(const char *svg, size_t *n, struct err *err);
