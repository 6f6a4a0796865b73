// SPDX-License-Identifier: MIT
// Streams of bytes. ISA-L compresses about seven times as fast as zlib's fastest level; its format
// is gzip's. Closed pipes are write errors (the program ignores SIGPIPE).
#include "net/capture/capture_output.h"

#include <errno.h>
#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/memory.h"

#define BUFFER_BYTES ((size_t)256 << 10)
// Levels 1 and 2 of ISA-L 2.30 sometimes give other bytes for the same input (1 stream in 40, where
// its memory has new addresses), and captures must be the same in every run.
#define GZIP_LEVEL 0

struct gzip {
    struct isal_zstream stream;
    uint8_t out[BUFFER_BYTES];
};

struct output {
    /* config */
    char *name; // for messages
    int fd;
    bool live;
    struct gzip *gzip; // NULL = not compressed
    /* state */
    size_t n; // bytes in the buffer
    int error;
    uint8_t buffer[BUFFER_BYTES];
};

static struct gzip *gzip_new(void)
{
    struct gzip *g = memory_zeroed(1, sizeof *g);
    isal_deflate_init(&g->stream);
    g->stream.level = GZIP_LEVEL;
    g->stream.gzip_flag = IGZIP_GZIP;
    return g;
}

// A descriptor of its own for stdout, so that closing the stream does not close the program's
// stdout. If it is a pipe, it is opened again, so that writes do not block: a write that blocks
// goes on after signals.
static int stdout_descriptor(void)
{
    struct stat info;
    int fd = -1;
    if (fstat(STDOUT_FILENO, &info) == 0 && S_ISFIFO(info.st_mode))
        fd = open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    return fd >= 0 ? fd : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
}

static int descriptor(const char *path, bool live)
{
    return live ? stdout_descriptor() : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

struct output *output_open(const char *path, const char *name, bool gzip, struct err *err)
{
    bool live = strcmp(path, "-") == 0;
    int fd = descriptor(path, live);
    if (fd < 0) {
        err_add(err, live ? "stdout" : name, "%s", strerror(errno));
        return NULL;
    }
    struct output *o = memory_zeroed(1, sizeof *o);
    o->name = memory_text(live ? "stdout" : name);
    o->fd = fd;
    o->live = live;
    o->gzip = gzip ? gzip_new() : NULL;
    return o;
}

// A live reader may be slow, and the run waits for it. A reader that takes nothing for this time
// after a signal is given up, so that the program can act on the signal.
#define READER_MS 2000

static int poll_reader(struct pollfd *pipe)
{
    if (poll(pipe, 1, -1) > 0)
        return 0;
    int rc;
    do
        rc = poll(pipe, 1, READER_MS);
    while (rc < 0 && errno == EINTR);
    return rc > 0 ? 0 : rc == 0 ? EINTR : errno;
}

// SIGALRM interrupts the wait every second (it is the clock of cli/runs/run_watch.c); it is not a
// signal to end the program.
static int wait_for_reader(const struct output *o)
{
    struct pollfd pipe = {.fd = o->fd, .events = POLLOUT};
    sigset_t ticks, before;
    if (!o->live)
        return 0;
    sigemptyset(&ticks);
    sigaddset(&ticks, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &ticks, &before);
    int error = poll_reader(&pipe);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static void write_all(struct output *o, const uint8_t *bytes, size_t n)
{
    while (n > 0 && !o->error) {
        o->error = wait_for_reader(o);
        ssize_t written = o->error ? 0 : write(o->fd, bytes, n);
        if (written < 0 && errno != EINTR && errno != EAGAIN)
            o->error = errno;
        else if (written > 0) {
            bytes += written;
            n -= (size_t)written;
        }
    }
}

static void compress_buffer(struct output *o, bool end)
{
    struct isal_zstream *s = &o->gzip->stream;
    s->next_in = o->buffer;
    s->avail_in = (uint32_t)o->n;
    s->end_of_stream = end;
    do {
        s->next_out = o->gzip->out;
        s->avail_out = sizeof o->gzip->out;
        if (isal_deflate(s) != COMP_OK) {
            o->error = EIO;
            return;
        }
        write_all(o, o->gzip->out, sizeof o->gzip->out - s->avail_out);
    } while (!o->error && s->avail_out == 0);
}

static void flush(struct output *o, bool end)
{
    if (o->gzip && !o->error)
        compress_buffer(o, end);
    else
        write_all(o, o->buffer, o->n);
    o->n = 0;
}

// Append `n` bytes to the buffer; `from` NULL = zeros.
static void append(struct output *o, const uint8_t *from, size_t n)
{
    while (n > 0) {
        size_t room = BUFFER_BYTES - o->n, part = n < room ? n : room;
        if (from) {
            memcpy(o->buffer + o->n, from, part);
            from += part;
        } else {
            memset(o->buffer + o->n, 0, part);
        }
        o->n += part;
        n -= part;
        if (n > 0)
            flush(o, false);
    }
}

void output_put(struct output *o, const void *bytes, size_t n) { append(o, bytes, n); }

void output_zeros(struct output *o, size_t n) { append(o, NULL, n); }

void output_show(struct output *o)
{
    if (o->live && o->n > 0)
        flush(o, false);
}

int output_error(const struct output *o) { return o->error; }

bool output_is_live(const struct output *o) { return o->live; }

int output_close(struct output *o, struct err *err)
{
    flush(o, true);
    if (close(o->fd) && !o->error)
        o->error = errno;
    int rc = 0;
    if (o->live && (o->error == EPIPE || o->error == EINTR))
        err_warn(err, o->name,
                 "the program that reads the capture closed it before the run ended; the rest "
                 "was not written");
    else if (o->error)
        rc = err_add(err, o->name, "%s", strerror(o->error));
    free(o->gzip);
    free(o->name);
    free(o);
    return rc;
}
