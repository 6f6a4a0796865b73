// SPDX-License-Identifier: MIT
// Files that a run writes in addition to metrics.json and run.json, one per line: name, the
// function of report/ that writes it, and whether a run of `spec`
// may write it.
#pragma once

#define OUTPUT_LIST(X)                                                                             \
    X("series.csv", series_csv, spec->report.sample_ps > 0)                                        \
    X("measured.csv", measured_csv, spec_has_measured(spec))                                       \
    X("measured_collectives.csv", measured_collectives_csv, spec_has_programs(spec))               \
    X("EndToEnd.csv", training_end_to_end_csv, spec_trains(spec))                                  \
    X("detailed.csv", training_detailed_csv, spec_trains(spec))                                    \
    X("phases.csv", training_phases_csv, spec_trains(spec))                                        \
    X("dimensions.csv", training_dimensions_csv, spec_trains(spec))                                \
    X("timeline.json", timeline_json, spec->report.timeline)
