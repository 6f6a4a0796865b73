// SPDX-License-Identifier: MIT
// Every kind of job, with its reader if it needs one. To add a kind, add a line.
#include "workload/chakra/chakra_job.h"
#include "workload/cnn/cnn_job.h"
#include "workload/collective_job.h"
#include "workload/flows.h"
#include "workload/goal/goal_job.h"
#include "workload/llm/llm_job.h"
#include "workload/nodes/program_job.h"
#include "workload/read/job_reader.h"
#include "workload/training/parameter_server.h"
#include "workload/training/training_job.h"

// One entry per line.
// clang-format off
const struct job_entry job_registry[] = {
    {&flows_kind, &flows_reader},
    {&incast_kind, &incast_reader},
    {&permutation_kind, &permutation_reader},
    {&collective_kind, &collective_reader},
    {&training_kind, &training_reader},
    {&program_kind, &program_reader},
    {&llm_kind, &llm_reader},
    {&cnn_kind, &cnn_reader},
    {&parameter_server_kind, &parameter_server_reader},
    {&poisson_kind, &poisson_reader},
    {&chakra_kind, &chakra_reader},
    {&goal_kind, &goal_reader},
    {NULL, NULL},
};
// clang-format on
