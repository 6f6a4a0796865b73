// SPDX-License-Identifier: MIT
// The catalogue of transports. No other file names them all.
#include "transport/transport.h"

extern const struct transport_ops roce_transport;
extern const struct transport_ops tcp_transport;
extern const struct transport_ops uec_transport, mrc_transport;

const struct transport_ops *const transport_registry[] = {
    &roce_transport, &tcp_transport, &uec_transport, &mrc_transport, NULL,
};
