// SPDX-License-Identifier: MIT
// Files that a run writes beside metrics.json and run.json: name, the function of report/ that writes it (NULL from
// it = nothing to write), and whether a run of `spec` may write it. One line is one file.
#pragma once

#define OUTPUT_LIST(X)                                                                             \
    X("series.csv", series_csv, spec->report.sample_ps > 0)                                        \
    X("EndToEnd.csv", training_end_to_end_csv, spec_trains(spec))                                  \
    X("detailed.csv", training_detailed_csv, spec_trains(spec))                                    \
    X("dimensions.csv", training_dimensions_csv, spec_trains(spec))                                \
    X("timeline.json", timeline_json, spec->report.timeline)
