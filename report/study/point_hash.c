// SPDX-License-Identifier: MIT
// Hashes a scenario and its files (SHA-256, FIPS 180-4).
#include "report/study/point_hash.h"

#include <jansson.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/regular_file.h"
#include "engine/base/text.h"

// Add a text with its length, so that no two lists of texts are the same bytes.
static void add_text(struct sha256_ctx *sha, const char *text)
{
    char length[32];
    int n = snprintf(length, sizeof length, "%zu:", strlen(text));
    sha256_update(sha, (size_t)n, (const uint8_t *)length);
    sha256_update(sha, strlen(text), (const uint8_t *)text);
}

static void add_file(struct sha256_ctx *sha, const char *dir, const char *name)
{
    unsigned char buffer[65536];
    struct stat about;
    ssize_t got;
    char *path = text_format("%s%s%s", name[0] == '/' ? "" : dir, name[0] == '/' ? "" : "/", name);
    const char *why;
    int file = *name != '\0' ? regular_file_open(path, &why) : -1;
    free(path);
    if (file < 0)
        return;
    if (fstat(file, &about) == 0) {
        char size[32];
        snprintf(size, sizeof size, "%lld bytes", (long long)about.st_size);
        // The size marks where the content ends, as the length of a text does.
        add_text(sha, name);
        add_text(sha, size);
        while ((got = read(file, buffer, sizeof buffer)) > 0)
            sha256_update(sha, (size_t)got, buffer);
    }
    close(file);
}

static void add_files(struct sha256_ctx *sha, const char *dir, const json_t *json)
{
    const char *key;
    json_t *value;
    // Any text of a scenario may be the name of a file; a text that names none adds nothing.
    size_t i;
    if (json_is_string(json))
        add_file(sha, dir, json_string_value(json));
    json_array_foreach(json, i, value) add_files(sha, dir, value);
    if (json_is_object(json))
        json_object_foreach((json_t *)(uintptr_t)json, key, value) add_files(sha, dir, value);
}

void point_hash(const char *resolved, const char *dir, const char *version, char hash[POINT_HASH])
{
    struct sha256_ctx sha;
    uint8_t digest[SHA256_DIGEST_SIZE];
    json_t *json = json_loads(resolved, 0, NULL);
    sha256_init(&sha);
    add_text(&sha, version);
    add_text(&sha, resolved);
    add_files(&sha, dir, json);
    sha256_digest(&sha, sizeof digest, digest);
    json_decref(json);
    text_hex(digest, sizeof digest, hash);
}
