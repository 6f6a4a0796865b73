// SPDX-License-Identifier: MIT
// CSV of addresses and ranks.
#include "cli/replay/address_map.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/units.h"
#include "engine/text/text_file.h"

#define BLANKS " \t\r"
#define ERRORS_MAX 20

struct address_rank {
    struct address address;
    uint32_t rank;
    size_t line;
};

static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

const char *address_text(const struct address *address, char *out)
{
    bool ipv4 = memcmp(address->bytes, mapped, sizeof mapped) == 0;
    const uint8_t *at = address->bytes + (ipv4 ? sizeof mapped : 0);
    return inet_ntop(ipv4 ? AF_INET : AF_INET6, at, out, ADDRESS_TEXT);
}

static bool address_parse(const char *text, struct address *address)
{
    if (inet_pton(AF_INET6, text, address->bytes) == 1)
        return true;
    memcpy(address->bytes, mapped, sizeof mapped);
    return inet_pton(AF_INET, text, address->bytes + sizeof mapped) == 1;
}

static char *trim(char *text)
{
    text += strspn(text, BLANKS);
    for (size_t n = strlen(text); n > 0 && strchr(BLANKS, text[n - 1]); n--)
        text[n - 1] = '\0';
    return text;
}

static void line_read(const struct text_file *file, char *line, struct address_map *map,
                      size_t *cap)
{
    struct address_rank row = {.line = file->line};
    uint64_t rank;
    char *rest = line, *address = strsep(&rest, ",");
    if (file->line == 1 && strncmp(line, "address", 7) == 0)
        return; // a heading
    if (rest == NULL || strchr(rest, ',') != NULL) {
        text_file_error(file, "is not address,rank");
    } else if (!address_parse(trim(address), &row.address)) {
        text_file_error(file, "\"%.60s\" is not an IPv4 or IPv6 address", trim(address));
    } else if (parse_count(trim(rest), &rank) != 0 || rank >= UINT32_MAX) {
        text_file_error(file, "\"%.60s\" is not a rank", trim(rest));
    } else {
        row.rank = (uint32_t)rank;
        if (map->n == *cap)
            map->list = memory_grow(map->list, cap, sizeof *map->list);
        map->list[map->n++] = row;
    }
}

static int by_address(const void *a, const void *b)
{
    const struct address_rank *x = a, *y = b;
    int order = memcmp(&x->address, &y->address, sizeof x->address);
    return order != 0 ? order : (x->line > y->line) - (x->line < y->line);
}

static void check_twice(const struct address_map *map, const char *path, struct err *err)
{
    char text[ADDRESS_TEXT];
    for (size_t i = 1; i < map->n; i++) {
        const struct address_rank *row = &map->list[i];
        if (memcmp(&row[-1].address, &row->address, sizeof row->address) == 0)
            err_add(err, NULL, "%s, line %zu: %s is in line %zu already", path, row->line,
                    address_text(&row->address, text), row[-1].line);
    }
}

int address_map_read(struct address_map *map, const char *path, struct err *err)
{
    size_t errors = err->n_errors, cap = 0;
    *map = (struct address_map){0};
    char *text = text_file_load(".", path, NULL, err), *line;
    struct text_file file = {.name = path, .rest = text, .err = err};
    while (text != NULL && err->n_errors < errors + ERRORS_MAX &&
           (line = text_file_next(&file)) != NULL)
        line_read(&file, line, map, &cap);
    free(text);
    if (err->n_errors == errors && map->n == 0)
        err_add(err, path, "contains no addresses");
    if (map->n > 0)
        qsort(map->list, map->n, sizeof *map->list, by_address);
    check_twice(map, path, err);
    return err->n_errors == errors ? 0 : -1;
}

void address_map_free(struct address_map *map)
{
    free(map->list);
    *map = (struct address_map){0};
}

uint32_t address_map_find(const struct address_map *map, const struct address *address)
{
    for (size_t low = 0, high = map->n; low < high;) {
        size_t middle = low + (high - low) / 2;
        int order = memcmp(address, &map->list[middle].address, sizeof *address);
        if (order == 0)
            return map->list[middle].rank;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return UINT32_MAX;
}
