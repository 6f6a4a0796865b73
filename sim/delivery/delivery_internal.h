// SPDX-License-Identifier: MIT
// Interfaces between the layers of messages.
#pragma once

#include "sim/delivery/delivery.h"

/* ---- layers, in the order in which they are connected ---- */

void ledger_init(struct delivery *delivery); // sets delivery->transfer to the hosts', with records
void relay_init(struct delivery *delivery);
void clear_to_send_init(struct delivery *delivery);   // becomes the client of the lower layers
void stripes_init(struct delivery *delivery);         // replaces the transfer and the client
void clear_to_send_attach(struct delivery *delivery); // takes the place of the stripes' transfer
void completions_init(struct delivery *delivery, struct transfer_client client);
void analytical_init(struct delivery *delivery, struct transfer_client client); // in place of all

void relay_free(struct delivery *delivery);
void clear_to_send_free(struct delivery *delivery);
void stripes_free(struct delivery *delivery);
void completions_free(struct delivery *delivery);
void ledger_free(struct delivery *delivery);

// Let shards use the ledger at the same time, each for its ranks. Before any message is posted.
void ledger_shard(struct delivery *delivery, uint32_t n_shards);
bool ledger_keeps_origins(const struct delivery *delivery);

/* ---- records ---- */

void records_init(struct delivery *delivery);
void records_free(struct delivery *delivery);
// Store and count a message that has finished or that the end of the run has cut off, in the order
// of events; records_put() at once, in work that has been deferred already.
void records_put(struct delivery *delivery, const struct flow_record *record);
void records_keep(struct delivery *delivery, const struct flow_record *record);
// Add the record of a stripe or a piece to that of its message. Returns true if *record is then
// that of a complete message; *token is the message's.
bool stripes_record(struct delivery *delivery, uint64_t *token, struct flow_record *record);
bool clear_to_send_record(struct delivery *delivery, uint64_t token, struct flow_record *record);
// Add the record of a part, posted `shift_ps` after its message, to the record of the message.
void record_merge(struct flow_record *whole, struct flow_record *part, ps_t shift_ps);

// Make records of messages that have not ended, including messages that NICs have ended without a
// completion at the sender yet, and messages that wait for slots.
void completions_running(struct delivery *delivery);
void clear_to_send_running(struct delivery *delivery);
void ledger_running(struct delivery *delivery);
void analytical_running(struct delivery *delivery);

// Name flows by other handles in the records that a layer has.
static inline void record_renumber(struct flow_record *record, const struct flow_numbers *numbers)
{
    record->qp = numbers->of(numbers->ctx, record->qp);
}
void completions_renumber(struct delivery *delivery, const struct flow_numbers *numbers);
void clear_to_send_renumber(struct delivery *delivery, const struct flow_numbers *numbers);
void stripes_renumber(struct delivery *delivery, const struct flow_numbers *numbers);

/* ---- */

bool completions_pending(const struct delivery *delivery);
bool completions_take_time(const struct delivery *delivery); // of some NIC
bool clear_to_send_copying(const struct delivery *delivery); // true while a receiver copies a slot
void analytical_describe(const struct delivery *delivery, FILE *out);
// Count a message that is posted in pieces; returns transfer_request.piece_of of all of them.
uint32_t ledger_count(struct delivery *delivery, uint32_t src);
