// SPDX-License-Identifier: MIT
// Files relative to an open folder, without following symbolic links. Names may have several parts
// ("a/b.pcap") and must be normalized (config/object/output_name.h). Functions return 0, or -1 with
// errno, unless stated otherwise.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

// Make a folder and its parents. *existed is set to the length of the leading part of `path` that
// existed before.
int folder_make(const char *path, size_t *existed);

// Remove an empty folder and those of its parents that did not exist before.
void folder_unmake(const char *path, size_t existed);

// Open a folder inside `fd`, which must not be a symbolic link. Returns a descriptor, or -1.
int folder_open(int fd, const char *name);

// Open the folder that contains `name`; `make`: create it if it is missing. *last is set to the
// last part of the name. Returns a descriptor, or -1.
int folder_of(int fd, const char *name, bool make, const char **last);

int folder_stat(int fd, const char *name, struct stat *out);
int folder_unlink(int fd, const char *name);
int folder_move(int from, int to, const char *name);

// Read a complete regular file. Returns its text, to be freed, or NULL with errno.
char *folder_read(int fd, const char *name);
int folder_write(int fd, const char *name, const char *text, size_t length);
// Write a file piece by piece: `write` prints to `out`, whose errors are noticed afterwards. If it
// returns false, there is no file, and no error. After an error there is no file either.
int folder_stream(int fd, const char *name, bool (*write)(void *ctx, FILE *out), void *ctx);

// Empty a folder and remove it.
void folder_wipe(int fd, const char *name);
