// SPDX-License-Identifier: MIT
// Other handles of flows in all that the layers of messages keep.
#include "sim/delivery/delivery_internal.h"

void delivery_renumber(struct delivery *delivery, const struct flow_numbers *numbers)
{
    for (size_t i = 0; i < delivery->records.n_flows; i++)
        record_renumber(&delivery->records.flows[i], numbers);
    completions_renumber(delivery, numbers);
    clear_to_send_renumber(delivery, numbers);
    stripes_renumber(delivery, numbers);
    path_book_renumber(&delivery->path_book, numbers);
}
