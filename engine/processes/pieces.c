// SPDX-License-Identifier: MIT
// The bytes of an exchange. The first piece for each process has a fixed size: a header, the number
// of bytes, and the first of them. What does not fit follows in pieces of a gigabyte, since counts
// of MPI are ints. Messages between two processes do not overtake each other (MPI 3.1, 3.5), so
// pieces need no numbers, and those of the next exchange may come while this one still receives.
#include <stdlib.h>
#include <string.h>

#include "engine/processes/mpi_internal.h"

#define FIRST_BYTES 8192 // one piece carries all bytes of most windows
#define HEADER_BYTES 16  // the number of bytes, and room so that data are aligned to 16
#define FIRST_DATA (FIRST_BYTES - HEADER_BYTES)
#define PIECE_BYTES ((size_t)1 << 30)
#define KEEP_BYTES ((size_t)16 << 20) // larger buffers are freed before the next exchange
#define TAG 1

void pieces_make(struct joined *j)
{
    j->first_out = mpi_memory(NULL, (size_t)j->processes.n * FIRST_BYTES);
    j->first_in = mpi_memory(NULL, (size_t)j->processes.n * FIRST_BYTES);
}

void pieces_free(struct joined *j)
{
    for (uint32_t q = 0; q < j->processes.n; q++)
        free(j->peers[q].in);
    free(j->first_out);
    free(j->first_in);
}

static size_t piece(size_t left) { return left < PIECE_BYTES ? left : PIECE_BYTES; }

static int begin_with(struct joined *j, uint32_t q, const struct collwire_bytes *out)
{
    struct peer *peer = &j->peers[q];
    unsigned char *first = j->first_out + (size_t)q * FIRST_BYTES;
    uint64_t n = out->n;
    size_t data = out->n < FIRST_DATA ? out->n : FIRST_DATA;
    if (peer->room > KEEP_BYTES) {
        free(peer->in);
        peer->in = NULL;
        peer->room = 0;
    }
    peer->out = out->data;
    peer->n_out = out->n;
    peer->sent = data;
    peer->received = peer->n_in = 0;
    peer->sends = peer->receives = true;
    memset(first, 0, HEADER_BYTES);
    memcpy(first, &n, sizeof n);
    if (data > 0)
        memcpy(first + HEADER_BYTES, out->data, data);
    int status = MPI_Irecv(j->first_in + (size_t)q * FIRST_BYTES, FIRST_BYTES, MPI_BYTE, (int)q,
                           TAG, j->data, &peer->receive);
    if (status == MPI_SUCCESS)
        status = MPI_Isend(first, (int)(HEADER_BYTES + data), MPI_BYTE, (int)q, TAG, j->data,
                           &peer->send);
    return status;
}

uint32_t pieces_begin(struct joined *j, const struct collwire_bytes *out)
{
    for (uint32_t q = 0; q < j->processes.n; q++)
        if (q != j->processes.rank && begin_with(j, q, &out[q]) != MPI_SUCCESS)
            return 1 + q;
    return 0;
}

static int poll_send(struct joined *j, uint32_t q)
{
    struct peer *peer = &j->peers[q];
    int over, status = MPI_Test(&peer->send, &over, MPI_STATUS_IGNORE);
    if (status != MPI_SUCCESS || !over)
        return status;
    size_t n = piece(peer->n_out - peer->sent);
    peer->sends = n > 0;
    if (n > 0)
        status =
            MPI_Isend(peer->out + peer->sent, (int)n, MPI_BYTE, (int)q, TAG, j->data, &peer->send);
    peer->sent += n;
    return status;
}

// The first piece has come: its header has the number of bytes that follow.
static void open_first(struct joined *j, uint32_t q)
{
    struct peer *peer = &j->peers[q];
    const unsigned char *first = j->first_in + (size_t)q * FIRST_BYTES;
    uint64_t n;
    memcpy(&n, first, sizeof n);
    peer->n_in = (size_t)n;
    peer->received = peer->n_in;
    if (peer->n_in <= FIRST_DATA)
        return;
    peer->received = FIRST_DATA;
    if (peer->n_in > peer->room) {
        free(peer->in); // nothing in it is needed any more
        peer->in = mpi_memory(NULL, peer->n_in);
        peer->room = peer->n_in;
    }
    memcpy(peer->in, first + HEADER_BYTES, FIRST_DATA);
}

static int poll_receive(struct joined *j, uint32_t q)
{
    struct peer *peer = &j->peers[q];
    int over, status = MPI_Test(&peer->receive, &over, MPI_STATUS_IGNORE);
    if (status != MPI_SUCCESS || !over)
        return status;
    peer->heard_s = mpi_now_s();
    if (peer->received == 0)
        open_first(j, q);
    size_t n = piece(peer->n_in - peer->received);
    peer->receives = n > 0;
    if (n > 0)
        status = MPI_Irecv(peer->in + peer->received, (int)n, MPI_BYTE, (int)q, TAG, j->data,
                           &peer->receive);
    peer->received += n;
    return status;
}

uint32_t pieces_poll(struct joined *j, bool *done)
{
    *done = true;
    for (uint32_t q = 0; q < j->processes.n; q++) {
        struct peer *peer = &j->peers[q];
        if (peer->sends && poll_send(j, q) != MPI_SUCCESS)
            return 1 + q;
        if (peer->receives && poll_receive(j, q) != MPI_SUCCESS)
            return 1 + q;
        *done &= !peer->sends && !peer->receives;
    }
    return 0;
}

void pieces_end(struct joined *j, struct collwire_bytes *in)
{
    for (uint32_t q = 0; q < j->processes.n; q++) {
        const struct peer *peer = &j->peers[q];
        if (q == j->processes.rank)
            continue;
        in[q].n = peer->n_in;
        in[q].data = peer->in;
        if (peer->n_in <= FIRST_DATA)
            in[q].data = j->first_in + (size_t)q * FIRST_BYTES + HEADER_BYTES;
    }
}
