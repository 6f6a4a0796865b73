// SPDX-License-Identifier: MIT
// The rendezvous protocol of ASTRA-sim 2: when a receive is posted, the receiver sends 8192 bytes
// to the sender. The message is sent once it has been posted and these bytes have arrived. The n-th
// message of a key belongs to the n-th receive of that key.
// Source: ASTRA-sim 2, Sys.cc (rendezvous_sim_send, rendezvous_sim_recv).
#pragma once

#include "collective/communicator.h"

#define RENDEZVOUS_BYTES 8192
#define RENDEZVOUS_TOKEN (UINT64_C(1) << (COMM_TOKEN_BITS - 1)) // of the receivers' messages

// A message and a receive with equal keys belong together. `src` and `dst` are ranks of the
// network.
struct rendezvous_key {
    uint32_t src, dst;
    uint32_t comm;   // 1 + the number of the communicator; 0 = no message of a collective
    uint32_t tag;    // of the message
    uint64_t number; // of the stream (collective/rank_streams.h); 0 without one
};

struct rendezvous; // of a job

// From now on messages of the job wait for their receivers.
void rendezvous_begin(struct comm_job *job);
void rendezvous_free(struct rendezvous *r);

// Post a receive of the key. If messages of the job wait for their receivers, `dst` sends `src` a
// message that permits the data.
void rendezvous_receive(const struct comm_job *job, const struct rendezvous_key *key, ps_t now);

// Post a message of the key, or hold a copy of its request until its receiver's message arrives.
void rendezvous_send(const struct comm_job *job, const struct rendezvous_key *key,
                     const struct transfer_request *request, ps_t now);

// The 8192 bytes of a receiver have arrived at the sender; `token`: that of their request.
void rendezvous_delivered(struct rendezvous *r, uint64_t token, ps_t now);
