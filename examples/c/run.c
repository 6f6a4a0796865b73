// SPDX-License-Identifier: MIT
// Runs a scenario with another policy and prints when it ended.
//   cc run.c $(pkg-config --cflags --libs collwire) -o run && ./run scenario.json dcqcn
#include <collwire/collwire.h>
#include <stdio.h>

static int show(void *ctx, const struct collwire_progress *p)
{
    (void)ctx;
    fprintf(stderr, "%5.1f %%\n", 100 * p->done);
    return 0; // another number ends the run
}

static void print(struct collwire_messages *m)
{
    for (size_t i = 0; i < collwire_messages_count(m); i++)
        fprintf(stderr, "%s%s\n", collwire_messages_is_warning(m, i) ? "warning: " : "",
                collwire_messages_text(m, i));
    collwire_messages_clear(m);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: run SCENARIO POLICY\n");
        return 2;
    }
    int code = 2;
    struct collwire_messages *m = collwire_messages_new();
    struct collwire_policies *policies = collwire_policies_new(NULL);
    struct collwire_setting settings[] = {{"cc", "{}"}, {"cc.kind", argv[2]}};
    struct collwire_scenario *s = collwire_scenario_load(argv[1], settings, 2, policies, m);
    struct collwire_sim *sim = s ? collwire_sim_new(s, 1, m) : NULL;
    print(m);
    if (sim) {
        struct collwire_run how = {.bytes = sizeof how, .progress = show, .progress_s = 1};
        struct collwire_summary summary = {.bytes = sizeof summary};
        code = collwire_sim_run(sim, &how, m) == COLLWIRE_COMPLETED ? 0 : 1;
        collwire_sim_summary(sim, &summary);
        print(m);
        printf("%s under %s: %.3f us\n", collwire_scenario_name(s), argv[2],
               (double)summary.sim_time_ps / 1e6);
    }
    collwire_sim_free(sim);
    collwire_scenario_free(s);
    collwire_policies_free(policies);
    collwire_messages_free(m);
    return code;
}
