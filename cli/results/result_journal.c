// SPDX-License-Identifier: MIT
// Writes the journal and completes its actions.
#include "cli/results/result_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/results/folder.h"
#include "config/object/output_name.h"
#include "engine/base/memory.h"
#include "engine/base/regular_file.h"
#include "engine/base/text.h"

int result_journal_write(int own_fd, json_t *install, json_t *remove)
{
    json_t *journal = json_pack("{s:O, s:O}", "install", install, "remove", remove);
    char *text = journal ? json_dumps(journal, JSON_COMPACT) : NULL;
    int status = -1, reason = ENOMEM;
    if (text) {
        status = folder_write(own_fd, "journal.tmp", text, strlen(text));
        if (status == 0)
            status = renameat(own_fd, "journal.tmp", own_fd, "journal");
        reason = errno;
        if (status == 0)
            fsync(own_fd);
    }
    free(text);
    json_decref(journal);
    errno = reason;
    return status;
}

// A name from a file; NULL if it could leave the directory.
static const char *safe_name(const json_t *item)
{
    const char *name = json_string_value(item);
    return name && *name && !output_name_escapes(name) ? name : NULL;
}

static int remove_old(int dir_fd, const json_t *names)
{
    size_t i;
    json_t *item;
    json_array_foreach(names, i, item)
    {
        const char *name = safe_name(item);
        if (name && folder_unlink(dir_fd, name) != 0 && errno != ENOENT)
            return -1;
    }
    return 0;
}

// Install the staged files. A file that is no longer staged has been installed before.
static int install_new(int dir_fd, int new_fd, const json_t *names)
{
    size_t i;
    json_t *item;
    json_array_foreach(names, i, item)
    {
        const char *name = safe_name(item);
        if (name && folder_move(new_fd, dir_fd, name) != 0 && errno != ENOENT)
            return -1;
    }
    return folder_move(new_fd, dir_fd, "run.json") == 0 || errno == ENOENT ? 0 : -1;
}

static int carry_out(int dir_fd, int own_fd, const json_t *journal)
{
    int new_fd = folder_open(own_fd, RESULT_NEW);
    int status = 0;
    struct stat staged;
    if (new_fd < 0)
        return errno == ENOENT ? 0 : -1;
    // otherwise only the journal remains to be removed
    if (folder_stat(new_fd, "run.json", &staged) == 0) {
        status = unlinkat(dir_fd, "run.json", 0) == 0 || errno == ENOENT ? 0 : -1;
        if (status == 0)
            status = remove_old(dir_fd, json_object_get(journal, "remove"));
        if (status == 0)
            status = install_new(dir_fd, new_fd, json_object_get(journal, "install"));
    }
    int reason = errno;
    close(new_fd);
    errno = reason;
    return status;
}

int result_journal_recover(int dir_fd, int own_fd)
{
    char *text = folder_read(own_fd, "journal");
    int missing = errno;
    json_t *journal = text ? json_loads(text, 0, NULL) : NULL;
    int status = 0;
    if (journal) {
        status = carry_out(dir_fd, own_fd, journal);
        if (status == 0)
            status = unlinkat(own_fd, "journal", 0);
    } else if (text || missing != ENOENT) { // the journal exists but cannot be read
        status = -1;
        errno = text ? EIO : missing;
    }
    int reason = errno;
    json_decref(journal);
    free(text);
    if (status == 0) {
        unlinkat(own_fd, "journal.tmp", 0);
        folder_wipe(own_fd, RESULT_NEW);
    }
    errno = reason;
    return status;
}

int result_hash(int fd, const char *name, char text[RESULT_HASH_TEXT])
{
    enum { CHUNK = 1 << 16 };
    const char *last;
    int at = folder_of(fd, name, false, &last);
    const char *why;
    int file = at < 0 ? -1 : regular_file_open_at(at, last, &why);
    uint8_t digest[SHA256_DIGEST_SIZE], *buffer = memory_bytes(CHUNK);
    ssize_t got = file < 0 ? -1 : 1;
    struct sha256_ctx sha;
    sha256_init(&sha);
    while (got > 0 && (got = read(file, buffer, CHUNK)) > 0)
        sha256_update(&sha, (size_t)got, buffer);
    sha256_digest(&sha, sizeof digest, digest);
    text_hex(digest, sizeof digest, text);
    // captures are not synced when they are written
    if (got == 0 && fsync(file) != 0 && errno != EINVAL)
        got = -1;
    int reason = errno;
    free(buffer);
    if (file >= 0)
        close(file);
    if (at >= 0)
        close(at);
    errno = reason;
    return got == 0 ? 0 : -1;
}
