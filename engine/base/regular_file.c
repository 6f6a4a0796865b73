// SPDX-License-Identifier: MIT
// Opens files without waiting, and checks by their kind whether they can be read.
#include "engine/base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Why a file of this kind is not read, NULL if it is.
static const char *refusal(mode_t mode)
{
    if (S_ISREG(mode))
        return NULL;
    if (S_ISDIR(mode))
        return "it is a directory, not a file";
    if (S_ISFIFO(mode))
        return "it is a pipe, not a regular file (pipe it to stdin, and give - as its name)";
    return "it is a device, not a regular file";
}

static int open_in(int folder, const char *name, int flags, const char **why)
{
    struct stat about;
    // without O_NONBLOCK a FIFO would wait for a writer; for a regular file it has no effect
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);
    if (fd < 0) {
        *why = errno == ENXIO ? "it is a socket, not a regular file" : strerror(errno);
        return -1;
    }
    *why = fstat(fd, &about) != 0 ? strerror(errno) : refusal(about.st_mode);
    if (*why == NULL)
        return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

int regular_file_open(const char *path, const char **why)
{
    return open_in(AT_FDCWD, path, 0, why);
}

int regular_file_open_at(int folder, const char *name, const char **why)
{
    return open_in(folder, name, O_NOFOLLOW, why);
}

FILE *regular_file_stream(const char *path, const char **why)
{
    int fd = regular_file_open(path, why);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "rb");
    if (fd >= 0 && !stream) {
        *why = strerror(errno);
        close(fd);
    }
    return stream;
}

long long regular_file_bytes(FILE *stream)
{
    struct stat info;
    bool regular = fstat(fileno(stream), &info) == 0 && S_ISREG(info.st_mode);
    return regular ? (long long)info.st_size : -1;
}
