// SPDX-License-Identifier: MIT
#include "config/program_scenario.h"

#include <string.h>

#include "config/draft.h"
#include "workload/nodes/program_job.h"
#include "workload/read/job_reader.h"

// Keys that say where the ranks and the nodes are, or how they are read.
static bool of_its_own(const char *key)
{
    static const char *const keys[] = {"file",  "order",  "comm_streams", "window", "ranks",
                                       "nodes", "groups", "mapping",      "stride", NULL};
    for (size_t i = 0; keys[i] != NULL; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

static bool shared(const char *key)
{
    return !of_its_own(key) && job_has_key(&program_kind, &program_reader, key);
}

json_t *program_job_like(const struct scenario *scenario, const char *file, unsigned comm_streams,
                         struct err *err)
{
    const struct spec *spec = scenario_spec(scenario);
    if (spec->n_jobs != 1 || spec->jobs[0].kind->nodes == NULL) {
        err_add(err, "workload",
                "must be one job that is a program of nodes: of kind program, "
                "chakra, llm, cnn or goal");
        return NULL;
    }
    const struct node_program *nodes = spec->jobs[0].kind->nodes(&spec->jobs[0]);
    json_t *root = json_loads(scenario_resolved(scenario), 0, NULL), *job = draft_job(root), *value;
    json_t *made = json_pack("{s:s, s:s, s:s, s:I}", "kind", "program", "file", file, "order",
                             nodes->in_order ? "program" : "ready", "comm_streams",
                             (json_int_t)(comm_streams > 0 ? comm_streams : 1));
    const char *key;
    json_object_foreach(job, key, value)
    {
        if (shared(key) && json_object_get(made, key) == NULL)
            json_object_set(made, key, value);
    }
    json_decref(root);
    return made;
}
