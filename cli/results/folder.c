// SPDX-License-Identifier: MIT
// Functions on files of a folder, by the folder's descriptor.
#include "cli/results/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/memory.h"

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
    int file = at < 0 ? -1 : openat(at, last, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    char *text = NULL;
    if (at >= 0)
        close(at);
    if (file >= 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode)) {
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

int folder_write(int fd, const char *name, const char *text, size_t length)
{
    const char *last;
    int at = folder_of(fd, name, true, &last), flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW;
    int file = at < 0 ? -1 : openat(at, last, flags | O_CLOEXEC, 0666);
    int status = file < 0 ? -1 : 0, reason = errno;
    for (size_t done = 0; status == 0 && done < length;) {
        ssize_t put = write(file, text + done, length - done);
        if (put > 0)
            done += (size_t)put;
        else if (put == 0 || errno != EINTR)
            status = -1;
        reason = errno;
    }
    if (status == 0 && fsync(file) != 0)
        status = -1, reason = errno;
    if (file >= 0 && close(file) != 0 && status == 0)
        status = -1, reason = errno;
    if (status != 0 && file >= 0)
        unlinkat(at, last, 0);
    if (at >= 0)
        close(at);
    errno = reason;
    return status;
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
