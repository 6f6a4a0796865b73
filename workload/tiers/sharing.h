// SPDX-License-Identifier: MIT
// Channels of bandwidth that transfers share fairly, as a fluid (processor sharing).
//
// A transfer runs through one or two channels at once, such as the reading side of one memory and
// the writing side of another. At every instant the rates are max-min fair: the channel with the
// smallest equal share fixes the rate of its transfers, what they leave on their other channels is
// divided among the rest, and so on (progressive filling: Bertsekas and Gallager, Data Networks,
// section 6.5.2). k equal transfers alone on a channel therefore take k times as long as one.
//
// Rates change only when a transfer begins or ends, and only for transfers that are joined to it
// through channels. Work is counted in integers of 2^-30 bit * ps / s, so results depend on no
// order of addition; a rate is rounded down by less than 2^-30 bit/s. A transfer ends in the first
// picosecond in which all but 2^-20 ps of its time has passed.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/slots.h"
#include "engine/base/units.h"

#define SHARING_CHANNELS 2 // most channels of a transfer
#define SHARING_NONE UINT32_MAX

// Work and rates; see above for the unit.
__extension__ typedef unsigned __int128 sharing_work;

struct sharing_transfer {
    /* config */
    uint32_t channels[SHARING_CHANNELS]; // SHARING_NONE = fewer
    void *owner;
    /* state */
    uint32_t next[SHARING_CHANNELS], before[SHARING_CHANNELS]; // in the list of each channel
    uint64_t visit;
    sharing_work left, rate; // left: at since_ps
    ps_t since_ps, end_ps;   // end_ps: with the present rate
    bool fixed;
};

struct sharing_channel {
    /* config */
    uint64_t rate_bps;
    /* state */
    uint32_t first; // transfer
    uint64_t visit;
    sharing_work free; // while rates are computed: what the fixed transfers leave
    uint32_t open;     // transfers that are not fixed
};

struct sharing {
    struct sharing_channel *channels; // [n_channels]
    uint32_t n_channels;
    struct sharing_transfer *transfers;
    struct slots numbers;
    uint64_t visits;
    uint32_t *group; // channels whose rates are being computed
    uint32_t n_group;
    // Transfers whose end has changed with the last begin or end of a transfer.
    uint32_t *changed;
    size_t n_changed, cap_changed;
};

// Channels are added before the first transfer begins; they are numbered from 0.
uint32_t sharing_channel_new(struct sharing *s, uint64_t rate_bps);
void sharing_free(struct sharing *s);

// Begin a transfer of `bytes` at `now`, and end it; `channels` has SHARING_CHANNELS numbers, of
// which the first is a channel, and both differ. Returns the number of the transfer. Afterwards
// s->changed lists the transfers whose end_ps is another one, the new transfer included.
uint32_t sharing_begin(struct sharing *s, const uint32_t *channels, uint64_t bytes, void *owner,
                       ps_t now);
void sharing_end(struct sharing *s, uint32_t transfer, ps_t now);
