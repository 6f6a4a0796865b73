// SPDX-License-Identifier: MIT
// The parts of metrics.json.
#pragma once

#include "engine/base/units.h"
#include "report/metric.h"

double metric_gpu_hours(ps_t total_ps, uint32_t ranks); // NAN = the job has not ended; metric.c

// metric_flows.c
extern const struct metric_table flow_table, summary_table, measured_table, collective_table;
// metric_critical.c
extern const struct metric_table critical_table, life_table, slowest_table, cost_table,
    critical_phase_table;
extern const struct metric_table pfc_table, credits_table, retry_table, ecn_table, tcp_table,
    uec_table, admission_table, hybrid_table, drops_table, trims_table, recovery_table,
    change_table, queues_table, link_table, nic_table,
    aggregator_table;                                                       // metric_fabric.c
extern const struct metric_table time_stats_table, ratio_stats_table;       // metric_flows.c
extern const struct metric_table job_table;                                 // metric_jobs.c
extern const struct metric_table training_table;                            // metric_training.c
extern const struct metric_table program_table, rank_table;                 // metric_programs.c
extern const struct metric_table measured_collectives_table, against_table; // metric_measured.c
extern const struct metric_table memory_table;                              // metric_memory.c
