// SPDX-License-Identifier: MIT
// The writes of a sender's thread into the send buffer, if the host has costs
// (transport/nic/stack.h). The data of messages enters the buffer a call at a time, after the
// thread's time for the call, and as far as the buffer has room. Only written data can be sent.
// Without costs all data that fits is written at once.
//
// As in Linux (sk_stream_write_space()) a thread that waits for room continues when a third of the
// buffer is free, or when all remaining data fits.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "transport/nic/stack.h"
#include "transport/tcp/tcp.h"

#define ROOM_SHARE 3

struct tcp_writer {
    struct core_task task;
    struct core_thread *thread;
    struct sender *sender;
    uint64_t written, bytes; // offset in the stream; of the part that is being written
    uint64_t calls;          // for that part
    uint32_t message;        // at `written`; MESSAGE_NIL = not known
    bool busy;
};

static struct tcp_writer *writer_of(const struct sender *s) { return s->cold.own; }

// Returns the end of the posted messages in the stream.
static uint64_t posted_end(const struct sender *s)
{
    if (s->cold.newest == MESSAGE_NIL)
        return s->una_bytes;
    const struct message *m = hosts_message(sender_hosts(s), s->cold.newest);
    return m->start_byte + m->bytes;
}

static ps_t begin(struct core_task *task, ps_t now)
{
    const struct tcp_writer *w = (const struct tcp_writer *)task;
    (void)now;
    return stack_send_ps(sender_hosts(w->sender), w->thread, w->bytes, w->calls,
                         w->sender->dim->mtu_bytes);
}

static void done(struct core_task *task, ps_t now)
{
    struct tcp_writer *w = (struct tcp_writer *)task;
    struct sender *s = w->sender;
    w->busy = false;
    if (s->failed)
        return;
    sender_catch_up(s, now);
    sender_begin(s);
    w->written += w->bytes;
    s->dim->ops->on_written(s, w->bytes, now);
    sender_end(s, now);
}

// The first message that is not wholly written. All are in the list until they are acknowledged.
static uint32_t unwritten(const struct tcp_writer *w)
{
    const struct sender *s = w->sender;
    struct hosts *hosts = sender_hosts(s);
    if (w->message != MESSAGE_NIL)
        return w->message;
    uint32_t slot = s->cold.newest;
    if (hosts_message(hosts, slot)->start_byte == w->written)
        return slot;
    for (slot = s->oldest; slot != MESSAGE_NIL; slot = hosts_message(hosts, slot)->next) {
        const struct message *m = hosts_message(hosts, slot);
        if (m->start_byte + m->bytes > w->written)
            break;
    }
    return slot;
}

// Take at most `bytes` of the next messages, a call for each of them: a part of the first one, or
// whole messages.
static void take_messages(struct tcp_writer *w, uint64_t bytes)
{
    struct hosts *hosts = sender_hosts(w->sender);
    uint64_t at = w->written, to = at + bytes;
    w->calls = 0;
    w->message = unwritten(w);
    while (w->message != MESSAGE_NIL && at < to) {
        const struct message *m = hosts_message(hosts, w->message);
        uint64_t end = m->start_byte + m->bytes;
        if (end > to && w->calls > 0)
            break;
        w->calls++;
        at = end < to ? end : to;
        if (end <= to)
            w->message = m->next;
    }
    w->bytes = at - w->written;
}

uint64_t tcp_writer_bytes(const struct sender *s) { return writer_of(s)->written; }

void tcp_write(struct sender *s, ps_t now)
{
    struct tcp_writer *w = writer_of(s);
    if (w->busy)
        return;
    uint64_t buffer = tcp_of(s)->buffer_bytes, end = posted_end(s);
    uint64_t left = end > w->written ? end - w->written : 0,
             used = w->written > s->una_bytes ? w->written - s->una_bytes : 0,
             room = buffer > used ? buffer - used : 0;
    bool sends = used >= s->dim->mtu_bytes; // less than a segment alone is not sent: no ACK comes
    if (left == 0 || (room < left && room < buffer / ROOM_SHARE && sends))
        return;
    uint64_t bytes = stack_send_call(sender_hosts(s), s->dim->mtu_bytes);
    bytes = bytes < left ? bytes : left;
    take_messages(w, bytes < room ? bytes : room);
    w->busy = true;
    stack_run(sender_hosts(s), w->thread, &w->task, now);
}

void tcp_writer_open(struct sender *s)
{
    struct hosts *hosts = sender_hosts(s);
    if (!stack_sends(hosts))
        return;
    struct tcp_writer *w = s->cold.own = memory_zeroed(1, sizeof *w);
    *w = (struct tcp_writer){.task = {.begin = begin, .done = done},
                             .thread = stack_send_thread(hosts, s->flow),
                             .sender = s,
                             .message = MESSAGE_NIL,
                             .written = s->una_bytes};
    tcp_of(s)->writes = true;
}
