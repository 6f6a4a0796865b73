// SPDX-License-Identifier: MIT
// What the presets of NICs do not know.
#include "engine/base/text.h"
#include "sim/advice/advice_internal.h"

void advise_unknowns(struct advice *a, const struct fabric *fabric)
{
    const struct nic_preset *said = NULL;
    for (uint32_t d = 0; d < fabric->spec->n_dims; d++) {
        const struct nic_preset *preset = fabric->spec->dims[d].nic.preset;
        if (!preset->unknown || preset == said)
            continue;
        said = preset;
        advice_warn(a, ADVICE_UNKNOWN, "nic",
                    text_format("no public text gives of %s: %s; vary transport.slow_restart and "
                                "transport.nak_repeat where packets are lost",
                                preset->name, preset->unknown));
    }
}
