// SPDX-License-Identifier: MIT
// What the presets of NICs do not know.
#include "engine/base/text.h"
#include "sim/advice/advice_internal.h"

void advise_unknowns(struct advice *a, const struct fabric *fabric)
{
    const struct nic_preset *said = NULL;
    for (uint32_t i = 0; i < fabric->spec->n_dims * NIC_KINDS_MOST; i++) {
        const struct nic_kinds *nics = &fabric->spec->dims[i / NIC_KINDS_MOST].nics;
        if (i % NIC_KINDS_MOST > nics->more)
            continue;
        const struct nic_preset *preset = nics->list[i % NIC_KINDS_MOST].preset;
        if (!preset->unknown || preset == said)
            continue;
        said = preset;
        advice_warn(a, ADVICE_UNKNOWN, "nic",
                    text_format("no public text gives of %s: %s; vary transport.slow_restart and "
                                "transport.nak_repeat where packets are lost",
                                preset->name, preset->unknown));
    }
}
