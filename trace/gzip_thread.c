// SPDX-License-Identifier: MIT
// Compression by ISA-L, about seven times as fast as zlib's fastest level; its format is gzip's. One
// block is filled while the other is compressed. The thread allocates nothing, and signals are left to
// the thread of the run. What it writes does not depend on its timing.
#include "trace/gzip_thread.h"

#include <errno.h>
#include <isa-l/igzip_lib.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/memory.h"

#define LEVEL 1
#define BLOCKS 2

struct gzip_thread {
    int fd;
    pthread_t thread;
    bool running; // else the caller's thread compresses
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* under the lock */
    size_t put, taken; // numbers of blocks handed over, and compressed
    int error;         // errno of the first failed write
    /* of the block's present owner */
    size_t bytes[BLOCKS];
    bool end[BLOCKS];
    uint8_t blocks[BLOCKS][GZIP_BLOCK];
    /* of the thread */
    struct isal_zstream stream;
    uint8_t level[ISAL_DEF_LVL1_DEFAULT];
    uint8_t out[GZIP_BLOCK];
};

static int write_all(int fd, const uint8_t *bytes, size_t n)
{
    while (n > 0) {
        ssize_t written = write(fd, bytes, n);
        if (written < 0 && errno != EINTR)
            return errno;
        if (written > 0) {
            bytes += written;
            n -= (size_t)written;
        }
    }
    return 0;
}

static int compress_block(struct gzip_thread *g, size_t which)
{
    struct isal_zstream *s = &g->stream;
    int error = 0;
    s->next_in = g->blocks[which];
    s->avail_in = (uint32_t)g->bytes[which];
    s->end_of_stream = g->end[which];
    do {
        s->next_out = g->out;
        s->avail_out = sizeof g->out;
        if (isal_deflate(s) != COMP_OK)
            return EIO;
        error = write_all(g->fd, g->out, sizeof g->out - s->avail_out);
    } while (!error && s->avail_out == 0);
    return error;
}

// Compress block number g->taken. Called with the lock held, which is released meanwhile. After an
// error blocks are only counted.
static void take_block(struct gzip_thread *g)
{
    size_t which = g->taken % BLOCKS;
    int error = g->error;
    pthread_mutex_unlock(&g->lock);
    if (!error)
        error = compress_block(g, which);
    pthread_mutex_lock(&g->lock);
    g->error = error;
    g->taken++;
    pthread_cond_broadcast(&g->changed);
}

static void *work(void *arg)
{
    struct gzip_thread *g = arg;
    pthread_mutex_lock(&g->lock);
    for (bool end = false; !end;) {
        while (g->taken == g->put)
            pthread_cond_wait(&g->changed, &g->lock);
        end = g->end[g->taken % BLOCKS];
        take_block(g);
    }
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

struct gzip_thread *gzip_thread_start(int fd)
{
    struct gzip_thread *g = memory_zeroed(1, sizeof *g);
    sigset_t all, before;
    g->fd = fd;
    isal_deflate_init(&g->stream);
    g->stream.level = LEVEL;
    g->stream.level_buf = g->level;
    g->stream.level_buf_size = sizeof g->level;
    g->stream.gzip_flag = IGZIP_GZIP;
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->changed, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    g->running = pthread_create(&g->thread, NULL, work, g) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return g;
}

uint8_t *gzip_thread_block(struct gzip_thread *g)
{
    pthread_mutex_lock(&g->lock);
    while (g->put - g->taken == BLOCKS)
        pthread_cond_wait(&g->changed, &g->lock);
    pthread_mutex_unlock(&g->lock);
    return g->blocks[g->put % BLOCKS];
}

int gzip_thread_put(struct gzip_thread *g, size_t n, bool end)
{
    g->bytes[g->put % BLOCKS] = n;
    g->end[g->put % BLOCKS] = end;
    pthread_mutex_lock(&g->lock);
    g->put++;
    if (g->running)
        pthread_cond_broadcast(&g->changed);
    else
        take_block(g);
    int error = g->error;
    pthread_mutex_unlock(&g->lock);
    return error;
}

int gzip_thread_end(struct gzip_thread *g)
{
    if (g->running)
        pthread_join(g->thread, NULL);
    int error = g->error;
    pthread_mutex_destroy(&g->lock);
    pthread_cond_destroy(&g->changed);
    free(g);
    return error;
}
