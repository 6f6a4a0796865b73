// SPDX-License-Identifier: MIT
// The catalogue of transports. No other file names them all.
#include "transport/transport.h"

extern const struct transport_ops roce_transport;

const struct transport_ops *const transport_registry[] = {
    &roce_transport,
    NULL,
};
