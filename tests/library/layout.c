// SPDX-License-Identifier: MIT
// Prints the layout of the public structs, which tests/library/abi.txt records.
#include <collwire/cc.h>
#include <collwire/cc_extras.h>
#include <collwire/cc_helpers.h>
#include <collwire/collwire.h>
#include <stdio.h>

#define STRUCT(type) printf("struct %s: %zu bytes\n", #type, sizeof(struct type))
#define FIELD(type, field) printf("  %s at %zu\n", #field, offsetof(struct type, field))

int main(void)
{
    printf("contract of policies: version %d\n", CC_VERSION);
    STRUCT(collwire_activity);
    FIELD(collwire_activity, policy);
    FIELD(collwire_activity, hook);
    FIELD(collwire_activity, calls);
    STRUCT(collwire_loader);
    FIELD(collwire_loader, symbol);
    FIELD(collwire_loader, activity);
    STRUCT(collwire_setting);
    STRUCT(collwire_cost);
    FIELD(collwire_cost, memory_bytes);
    FIELD(collwire_cost, memory_limit_bytes);
    FIELD(collwire_cost, output_bytes);
    FIELD(collwire_cost, packet_hops);
    FIELD(collwire_cost, wall_s);
    STRUCT(collwire_progress);
    FIELD(collwire_progress, now_ps);
    FIELD(collwire_progress, packet_hops);
    FIELD(collwire_progress, events);
    STRUCT(collwire_run);
    FIELD(collwire_run, ctx);
    FIELD(collwire_run, progress);
    FIELD(collwire_run, progress_s);
    FIELD(collwire_run, memory_low);
    FIELD(collwire_run, pace_ps);
    FIELD(collwire_run, plain);
    STRUCT(collwire_summary);
    FIELD(collwire_summary, status);
    FIELD(collwire_summary, reason);
    FIELD(collwire_summary, sim_time_ps);
    FIELD(collwire_summary, wall_s);
    FIELD(collwire_summary, packet_hops);
    FIELD(collwire_summary, ended_by_machine);
    STRUCT(cc_plugin);
    FIELD(cc_plugin, bytes);
    FIELD(cc_plugin, policies);
    FIELD(cc_plugin, n_policies);
    STRUCT(cc_contract);
    STRUCT(cc_ops);
    STRUCT(cc);
    STRUCT(cc_env);
    STRUCT(cc_ack);
    STRUCT(cc_signal);
    STRUCT(cc_post);
    STRUCT(cc_preset);
    STRUCT(cc_preset_value);
    STRUCT(cc_basis);
    STRUCT(cc_profile);
    STRUCT(cc_notification);
    STRUCT(cc_credits);
    STRUCT(cc_hint);
    STRUCT(cc_helpers);
    STRUCT(cc_cap);
    STRUCT(cc_extras);
    STRUCT(cc_growth);
    STRUCT(line_rate);
    STRUCT(collwire_processes);
    STRUCT(collwire_bytes);
    STRUCT(param);
    STRUCT(int_hop);
    return 0;
}
