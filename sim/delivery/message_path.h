// SPDX-License-Identifier: MIT
// The critical path of a message up to the start of its last packet, from its sender's account.
#pragma once

#include "transport/sender/sender_time.h"

// Returns the path, with a reference. `posted` is the path up to the message's post at `posted_ps`,
// whose reference it takes over.
uint32_t message_path(struct path_book *book, const struct sender_account *account, uint32_t posted,
                      ps_t posted_ps, ps_t now);
