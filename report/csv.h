// SPDX-License-Identifier: MIT
// Records as rows of CSV (RFC 4180, lines ended by a line feed), by tables of metrics.
#pragma once

#include <stdio.h>

#include "report/metric.h"

// Write a cell of text: quoted where it must be, and never taken for a formula by a spreadsheet.
void csv_text(FILE *out, const char *text);

void csv_heading(FILE *out, const struct metric_table *table);

// Write a row; a null value is an empty cell.
void csv_row(FILE *out, const struct metric_table *table, const void *record);
