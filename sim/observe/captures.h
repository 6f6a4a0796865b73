// SPDX-License-Identifier: MIT
// The captures of a scenario: opens and closes them, and passes the packets of watched ports to
// them.
#pragma once

#include "net/capture/capture.h"
#include "sim/delivery/delivery.h"
#include "sim/observe/capture_sink.h"

struct captures;

// Check that the captures' places exist and that their filters are valid. Returns 0, or -1 with
// errors; opens no file.
int captures_check(const struct fabric *fabric, struct err *err);
// Open them; NULL if there are none. Adds an error for each that cannot be opened.
struct captures *captures_open(struct delivery *delivery, const struct capture_output *to,
                               struct err *err);
void captures_shard(struct captures *captures); // the network has been divided
// Write the packets whose order is final; ends the run if a file cannot be written.
void captures_advance(struct captures *captures);
// One run in several processes: hand the packets of the process's own ports to process 0, which
// writes them in order with its own ones. Both have processed all events before `done_ps`, and no
// packet of the reader is written that is not before the latest `done_ps` of all processes, which
// must all be read one after the other. `captures` may be NULL.
void captures_hand_over(struct parcel *p, struct captures *captures, ps_t done_ps);
const char *captures_failure(const struct captures *captures); // why it ended; NULL = it did not
// Returns 0, or -1 with one error per file that could not be written.
int captures_close(struct captures *captures, struct err *err);
bool captures_failed(const struct captures *captures, size_t c);
struct capture_count captures_count(const struct captures *captures, size_t c);
void captures_free(struct captures *captures);

#define CAPTURE_HEAD_BYTES 128 // a snaplen that keeps the headers of every frame

// Number of link directions that a capture has.
uint32_t captures_ports(const struct fabric *fabric, size_t c);
// Approximate bytes in the capture's file for a packet with a frame of this length.
uint64_t captures_packet_bytes(const struct capture_spec *spec, uint64_t frame_bytes);
// Write the table of flows (source, destination, header numbers). Returns 0, or -1 with errors.
int captures_write_qpmap(const struct fabric *fabric, const char *path, struct err *err);
