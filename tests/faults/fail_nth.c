// SPDX-License-Identifier: MIT
// A library for LD_PRELOAD: the n-th call of one kind fails, or is preceded by a signal.
//
// FAIL_CALL: write, open, rename, sync, unlink, malloc, wait (epoll_wait). FAIL_NTH: which call,
// from 1; 0 = none. FAIL_WITH: "error" (ENOSPC, ENOMEM for malloc), or a signal's number that the
// process sends to itself before the call. FAIL_COUNT: a file descriptor that gets the number of
// calls at the end.
//
// stdio streams do not call write() through this library: if such a call is to fail, the stream's
// descriptor is replaced by one of /dev/full, so that the stream fails from then on.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

static bool ready;
static char call[16];
static long nth, count;
static int with; // signal, 0 = an error
static int count_fd = -1;

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("FAIL_CALL");
    if (!text)
        return;
    strncpy(call, text, sizeof call - 1);
    nth = (text = getenv("FAIL_NTH")) ? atol(text) : 0;
    with = (text = getenv("FAIL_WITH")) ? atoi(text) : 0;
    count_fd = (text = getenv("FAIL_COUNT")) ? atoi(text) : -1;
    ready = true;
}

__attribute__((destructor)) static void end(void)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%ld\n", count);
    ready = false;
    if (count_fd >= 0 && write(count_fd, text, (size_t)n) != n)
        _exit(99);
}

// True if this call must fail.
static bool due(const char *kind)
{
    if (!ready || strcmp(kind, call) != 0 || ++count != nth)
        return false;
    if (with) {
        raise(with);
        return false;
    }
    errno = ENOSPC;
    return true;
}

#define REAL(name) ((__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name))

/* ---- files ---- */

// True for a regular file. Writes to pipes and to eventfds are let through, since a full disk does
// not make them fail.
static bool on_disk(int fd)
{
    struct stat about;
    int before = errno;
    bool is = fd > 2 && fd != count_fd && fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
    errno = before;
    return is;
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    return on_disk(fd) && due("write") ? -1 : REAL(write)(fd, bytes, n);
}

static void stream_due(FILE *stream)
{
    int before = errno, fd = fileno(stream); // -1 for streams without a descriptor
    if (on_disk(fd) && due("write")) {
        int full = REAL(open)("/dev/full", O_WRONLY);
        dup2(full, fd);
        close(full);
    }
    errno = before;
}

size_t fwrite(const void *bytes, size_t size, size_t n, FILE *stream)
{
    stream_due(stream);
    return REAL(fwrite)(bytes, size, n, stream);
}

int fflush(FILE *stream)
{
    if (stream)
        stream_due(stream);
    return REAL(fflush)(stream);
}

int fclose(FILE *stream)
{
    stream_due(stream);
    return REAL(fclose)(stream);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
    return on_disk(fd) && due("write") ? -1 : REAL(pwrite64)(fd, bytes, n, at);
}

static mode_t mode_of(int flags, va_list args)
{
    return flags & O_CREAT ? (mode_t)va_arg(args, unsigned) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    return due("open") ? -1 : REAL(open)(path, flags, mode);
}

int openat(int at, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    return due("open") ? -1 : REAL(openat)(at, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
    return due("open") ? NULL : REAL(fopen)(path, mode);
}

int mkdirat(int at, const char *path, mode_t mode)
{
    return due("open") ? -1 : REAL(mkdirat)(at, path, mode);
}

int mkdir(const char *path, mode_t mode) { return due("open") ? -1 : REAL(mkdir)(path, mode); }

int mkstemp(char *path) { return due("open") ? -1 : REAL(mkstemp)(path); }

int mkstemps(char *path, int end) { return due("open") ? -1 : REAL(mkstemps)(path, end); }

int rename(const char *a, const char *b) { return due("rename") ? -1 : REAL(rename)(a, b); }

int renameat(int from, const char *a, int to, const char *b)
{
    return due("rename") ? -1 : REAL(renameat)(from, a, to, b);
}

int fsync(int fd) { return due("sync") ? -1 : REAL(fsync)(fd); }

int unlinkat(int at, const char *path, int flags)
{
    return due("unlink") ? -1 : REAL(unlinkat)(at, path, flags);
}

/* ---- memory: dlsym itself may allocate, so glibc's own names are called ---- */

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static bool no_memory(void)
{
    if (!due("malloc"))
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t n) { return no_memory() ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return no_memory() ? NULL : __libc_calloc(n, size); }
void *realloc(void *old, size_t n) { return no_memory() ? NULL : __libc_realloc(old, n); }
void *aligned_alloc(size_t align, size_t n)
{
    return no_memory() ? NULL : __libc_memalign(align, n);
}

/* ---- the loop ---- */

int epoll_wait(int fd, struct epoll_event *events, int max, int timeout)
{
    due("wait");
    return REAL(epoll_wait)(fd, events, max, timeout);
}
