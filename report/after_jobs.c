// SPDX-License-Identifier: MIT
// Why a run lasts longer than its jobs. A job ends when its messages have arrived; the run ends
// when all of them are acknowledged too, since a sender may still retransmit until then.
#include "report/after_jobs.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/text.h"
#include "engine/base/units.h"

#define MUCH_LATER 1.5 // times the end of the last job

static json_int_t number(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

char *after_jobs_text(const json_t *metrics)
{
    const json_t *job, *jobs = json_object_get(metrics, "jobs");
    json_int_t run = number(metrics, "sim_time_ns"), end = 0;
    size_t i;
    json_array_foreach(jobs, i, job)
    {
        if (!json_is_integer(json_object_get(job, "end_ns")))
            return NULL; // not all have ended
        end = number(job, "end_ns") > end ? number(job, "end_ns") : end;
    }
    const char *status = json_string_value(json_object_get(metrics, "status"));
    // A run that was stopped, or that lasts only a little longer, needs no explanation.
    if (end == 0 || status == NULL || strcmp(status, "completed") != 0 ||
        (double)run < MUCH_LATER * (double)end)
        return NULL;
    json_int_t timeouts = number(json_object_get(metrics, "recovery"), "timeouts");
    char ended[UNIT_TEXT], until[UNIT_TEXT];
    char *why = timeouts == 0 ? text_format("%s", "")
                              : text_format(", after %lld retransmission timeout%s",
                                            (long long)timeouts, timeouts == 1 ? "" : "s");
    char *text = text_format(
        "%s ended at %s; until %s the run only waits for the last acknowledgements%s",
        json_array_size(jobs) == 1 ? "the job" : "the last job",
        human_time((ps_t)end * PS_PER_NS, ended), human_time((ps_t)run * PS_PER_NS, until), why);
    free(why);
    return text;
}
