// SPDX-License-Identifier: MIT
// Sorted by name, so that the order in the file system does not matter.
#include "cli/import/import_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"

#define DEPTH_MOST 8 // of folders in folders

static bool ends_so(const char *name, const char *const *ends)
{
    size_t n = strlen(name);
    for (; *ends != NULL; ends++) {
        size_t m = strlen(*ends);
        if (n > m && strcmp(name + n - m, *ends) == 0)
            return true;
    }
    return false;
}

static int list(struct folder *folder, const char *path, const char *const *ends, unsigned depth,
                struct err *err)
{
    DIR *dir = opendir(path);
    if (dir == NULL)
        return err_add(err, path, "cannot be read: %s", strerror(errno));
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        struct stat info;
        if (entry->d_name[0] == '.')
            continue;
        char *name = text_format("%s/%s", path, entry->d_name);
        bool known = stat(name, &info) == 0;
        if (known && S_ISDIR(info.st_mode) && depth < DEPTH_MOST) {
            list(folder, name, ends, depth + 1, err);
        } else if (known && S_ISREG(info.st_mode) && ends_so(name, ends)) {
            if (folder->n == folder->cap)
                folder->paths = memory_grow(folder->paths, &folder->cap, sizeof(char *));
            folder->paths[folder->n++] = name;
            continue;
        } else {
            folder->n_others++;
        }
        free(name);
    }
    closedir(dir);
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int folder_list(struct folder *folder, const char *path, const char *const *ends, struct err *err)
{
    size_t length = strlen(path);
    char *plain = memory_text(path);
    while (length > 1 && plain[length - 1] == '/')
        plain[--length] = '\0';
    int result = list(folder, plain, ends, 0, err);
    free(plain);
    if (result != 0)
        return -1;
    if (folder->n == 0)
        return err_add(err, path, "has no file that ends in %s%s%s", ends[0],
                       ends[1] != NULL ? " or " : "", ends[1] != NULL ? ends[1] : "");
    qsort(folder->paths, folder->n, sizeof *folder->paths, by_name);
    return 0;
}

void folder_free(struct folder *folder)
{
    for (size_t i = 0; i < folder->n; i++)
        free(folder->paths[i]);
    free(folder->paths);
}

int64_t path_rank(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *word = strstr(name, "rank");
    if (word == NULL)
        return -1;
    word += strlen("rank");
    word += strspn(word, "-_.");
    return *word >= '0' && *word <= '9' ? strtoll(word, NULL, 10) : -1;
}
