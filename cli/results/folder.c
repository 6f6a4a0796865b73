// SPDX-License-Identifier: MIT
// Functions on files of a folder, by the folder's descriptor.
#define _GNU_SOURCE // fopencookie

#include "cli/results/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/memory.h"
#include "engine/base/regular_file.h"

int folder_make(const char *path, size_t *existed)
{
    char *copy = memory_text(path);
    int status = 0;
    bool made = false;
    *existed = strlen(path);
    for (char *p = copy + 1; status == 0; p++) {
        if (*p != '/' && *p != '\0')
            continue;
        char end = *p;
        *p = '\0';
        status = mkdir(copy, 0777) != 0 && errno != EEXIST ? -1 : 0;
        if (status == 0 && errno != EEXIST && !made) {
            made = true;
            *existed = (size_t)(p - copy);
        }
        errno = status == 0 ? 0 : errno;
        *p = end;
        if (end == '\0')
            break;
    }
    int reason = errno;
    free(copy);
    errno = reason;
    return status;
}

void folder_unmake(const char *path, size_t existed)
{
    char *copy = memory_text(path);
    for (size_t length = strlen(copy); length >= existed && length > 0; length--)
        if (copy[length] == '\0' || copy[length] == '/') {
            copy[length] = '\0';
            if (rmdir(copy) != 0)
                break;
        }
    free(copy);
}

int folder_open(int fd, const char *name)
{
    return openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int folder_of(int fd, const char *name, bool make, const char **last)
{
    int at = dup(fd);
    const char *slash;
    while (at >= 0 && (slash = strchr(name, '/')) != NULL) {
        char part[NAME_MAX + 1];
        size_t length = (size_t)(slash - name);
        int next = -1;
        if (length > NAME_MAX) {
            errno = ENAMETOOLONG;
        } else {
            memcpy(part, name, length);
            part[length] = '\0';
            if (!make || mkdirat(at, part, 0777) == 0 || errno == EEXIST)
                next = folder_open(at, part);
        }
        int reason = errno;
        close(at);
        errno = reason;
        at = next;
        name = slash + 1;
    }
    *last = name;
    return at;
}

int folder_stat(int fd, const char *name, struct stat *out)
{
    const char *last;
    int at = folder_of(fd, name, false, &last);
    int status = at < 0 ? -1 : fstatat(at, last, out, AT_SYMLINK_NOFOLLOW);
    int reason = errno;
    if (at >= 0)
        close(at);
    errno = reason;
    return status;
}

int folder_unlink(int fd, const char *name)
{
    const char *last;
    int at = folder_of(fd, name, false, &last);
    int status = at < 0 ? -1 : unlinkat(at, last, 0);
    int reason = errno;
    if (at >= 0)
        close(at);
    errno = reason;
    return status;
}

int folder_move(int from, int to, const char *name)
{
    const char *last;
    int source = folder_of(from, name, false, &last);
    int target = source < 0 ? -1 : folder_of(to, name, true, &last);
    int status = target < 0 ? -1 : renameat(source, last, target, last);
    if (status == 0)
        status = fsync(target);
    int reason = errno;
    if (source >= 0)
        close(source);
    if (target >= 0)
        close(target);
    errno = reason;
    return status;
}

char *folder_read(int fd, const char *name)
{
    const char *last;
    struct stat about;
    int at = folder_of(fd, name, false, &last);
    const char *why;
    int file = at < 0 ? -1 : regular_file_open_at(at, last, &why);
    char *text = NULL;
    if (at >= 0)
        close(at);
    if (file >= 0 && fstat(file, &about) == 0) {
        size_t size = (size_t)about.st_size, done = 0;
        ssize_t got = 1;
        text = memory_zeroed(size + 1, 1);
        while (done < size && (got = read(file, text + done, size - done)) > 0)
            done += (size_t)got;
        if (got < 0) {
            free(text);
            text = NULL;
        }
    }
    if (file >= 0)
        close(file);
    return text;
}

// Writes all bytes, unlike the write of a plain stream also after an interruption by a signal.
static ssize_t put_all(void *cookie, const char *bytes, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t put = write(*(const int *)cookie, bytes + done, n - done);
        if (put > 0)
            done += (size_t)put;
        else if (put == 0 || errno != EINTR)
            return 0;
    }
    return (ssize_t)n;
}

// Print the file to its descriptor. Returns 0, or -1 with errno; *written is what `write` returned.
static int print_file(int file, bool (*write)(void *ctx, FILE *out), void *ctx, bool *written)
{
    static const cookie_io_functions_t functions = {.write = put_all};
    FILE *out = fopencookie(&file, "w", functions);
    if (!out)
        return -1;
    errno = 0;
    *written = write(ctx, out);
    int status = ferror(out) || fflush(out) != 0 ? -1 : 0, reason = errno ? errno : EIO;
    fclose(out);
    if (status == 0 && *written && fsync(file) != 0)
        return -1;
    errno = status == 0 ? 0 : reason;
    return status;
}

int folder_stream(int fd, const char *name, bool (*write)(void *ctx, FILE *out), void *ctx)
{
    const char *last;
    bool written = false;
    int at = folder_of(fd, name, true, &last);
    int file =
        at < 0 ? -1 : openat(at, last, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    int status = file < 0 ? -1 : print_file(file, write, ctx, &written), reason = errno;
    if (file >= 0 && close(file) != 0 && status == 0)
        status = -1, reason = errno;
    if ((status != 0 || !written) && file >= 0)
        unlinkat(at, last, 0);
    if (at >= 0)
        close(at);
    errno = reason;
    return status;
}

struct piece {
    const char *text;
    size_t length;
};

static bool write_piece(void *ctx, FILE *out)
{
    const struct piece *piece = ctx;
    fwrite(piece->text, 1, piece->length, out);
    return true;
}

int folder_write(int fd, const char *name, const char *text, size_t length)
{
    struct piece piece = {text, length};
    return folder_stream(fd, name, write_piece, &piece);
}

void folder_wipe(int fd, const char *name)
{
    int at = folder_open(fd, name);
    DIR *list = at >= 0 ? fdopendir(at) : NULL;
    const struct dirent *entry;
    while (list && (entry = readdir(list)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (unlinkat(dirfd(list), entry->d_name, 0) != 0)
            folder_wipe(dirfd(list), entry->d_name);
    }
    if (list)
        closedir(list);
    else if (at >= 0)
        close(at);
    unlinkat(fd, name, AT_REMOVEDIR);
}
