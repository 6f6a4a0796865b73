// SPDX-License-Identifier: MIT
// Connects the layers of messages, and calls them together.
#include "sim/delivery/delivery_internal.h"
#include "sim/hybrid/hybrid.h"

void delivery_init(struct delivery *delivery, struct fabric *fabric, struct ideals *ideals)
{
    delivery->fabric = fabric;
    delivery->ideals = ideals;
    path_book_init(&delivery->path_book, fabric->graph.n_ranks);
    delivery->path_book.keep_steps = fabric->spec->report.timeline;
    records_init(delivery);
}

// Each layer is a client of the one below: workload, relay, admission, stripes, completions,
// ledger, hosts.
void delivery_connect(struct delivery *delivery, struct transfer_client workload)
{
    if (fabric_is_analytical(delivery->fabric)) {
        analytical_init(delivery, workload);
        return;
    }
    delivery->client = workload;
    ledger_init(delivery);
    delivery->hybrid = hybrid_attach(delivery->fabric, &delivery->path_book);
    if (delivery->fabric->spec->dims[0].sw.routing.relay)
        relay_init(delivery);
    clear_to_send_init(delivery);
    stripes_init(delivery);
    clear_to_send_attach(delivery);
    completions_init(delivery, delivery->client);
    if (!delivery->relay)
        delivery->entry = delivery->transfer;
}

// A layer that has state of several ranks is called under the lock, and so is the observer of
// packets.
static bool is_by_rank(const struct delivery *delivery)
{
    return !delivery->relay && !delivery->clear_to_send && !delivery->stripes &&
           !ledger_keeps_origins(delivery) && !completions_take_time(delivery) &&
           !delivery->fabric->hosts.stack;
}

bool delivery_shard(struct delivery *delivery, uint32_t n_shards)
{
    if (!is_by_rank(delivery))
        return false;
    delivery->fabric->hosts.client.by_rank = true;
    path_book_share(&delivery->path_book, n_shards);
    ledger_shard(delivery, n_shards);
    ideals_share(delivery->ideals, n_shards);
    return true;
}

void delivery_free(struct delivery *delivery)
{
    relay_free(delivery);
    clear_to_send_free(delivery);
    stripes_free(delivery);
    completions_free(delivery);
    replica_free(delivery);
    hybrid_free(delivery->hybrid);
    ledger_free(delivery);
    analytical_free(&delivery->analytical);
    path_book_free(&delivery->path_book);
    records_free(delivery);
}

double delivery_bandwidth(const struct delivery *delivery, uint32_t src, uint32_t dst)
{
    return fabric_is_analytical(delivery->fabric)
               ? analytical_bandwidth(&delivery->analytical, src, dst)
               : fabric_bandwidth(delivery->fabric, src, dst);
}

void delivery_running(struct delivery *delivery)
{
    if (delivery->ledger)
        ledger_running(delivery);
    hybrid_running(delivery->hybrid);
    clear_to_send_running(delivery);
    analytical_running(delivery);
}

bool delivery_pending(const struct delivery *delivery)
{
    return clear_to_send_copying(delivery) || completions_pending(delivery) ||
           hybrid_pending(delivery->hybrid);
}

void delivery_describe(const struct delivery *delivery, FILE *out)
{
    analytical_describe(delivery, out);
}
