// SPDX-License-Identifier: MIT
// The commands, in the order in which help lists them. The row of each stands beside its code.
#include "cli/commands.h"
#include "cli/diagnose/diagnose.h"
#include "cli/extcap/extcap.h"
#include "cli/fit/fit.h"
#include "cli/gpcnet/gpcnet.h"
#include "cli/import/import_command.h"
#include "cli/library/library_command.h"
#include "cli/partition/partition.h"
#include "cli/plan/plan_command.h"
#include "cli/replay/replay_command.h"
#include "cli/runs/runs.h"
#include "cli/sweep/sweep_command.h"
#include "cli/synth/synth_cli.h"
#include "cli/tune/tune.h"

static const struct command *const commands[] = {
    &run_command,       &compare_command,  &sweep_command,  &explain_command,  &report_command,
    &plot_command,      &validate_command, &new_command,    &list_command,     &import_command,
    &gpcnet_command,    &fit_command,      &tune_command,   &diagnose_command, &plan_command,
    &partition_command, &synth_command,    &shrink_command, &export_command,   &workload_command,
    &replay_command,    &library_command,  &extcap_command, &help_command,     &generate_command,
};
const struct commands all_commands = {commands, sizeof commands / sizeof *commands};
