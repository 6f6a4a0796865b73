// SPDX-License-Identifier: MIT
// Nodes and links from JSON: {"switches": 2, "links": [{"a": "rank0", "b": "sw1", "rate": ..},
// ..]}, or from a file of another simulator (foreign_graph.h).
#include "config/object/graph_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "config/object/astra_network.h"
#include "config/object/foreign_graph.h"
#include "config/object/infragraph.h"
#include "config/object/link.h"
#include "engine/base/memory.h"
#include "engine/text/json_file.h"
#include "engine/text/yaml_file.h"

#define SWITCHES_MAX "1000000"
#define ERRORS_MAX 20
#define INFRA_BYTES_MAX (16 << 20) // its values take about twenty times as many

static const struct param root_params[] = {
    PARAM_ROW("switches", COUNT, offsetof(struct graph_params, switches), .max = SWITCHES_MAX,
              .help = "how many: sw0, sw1, .."),
};

struct link_text {
    const char *a, *b;
    struct link_spec link;
};

static const struct param end_params[] = {
    PARAM_ROW("a", TEXT, offsetof(struct link_text, a), .help = "rank3 or sw0"),
    PARAM_ROW("b", TEXT, offsetof(struct link_text, b), .help = "rank3 or sw0"),
};

// Parse "rank3" or "sw0"; false if it is neither.
static bool end_parse(const char *text, struct graph_end *end)
{
    uint64_t index;
    end->is_switch = strncmp(text, "sw", 2) == 0;
    if (!end->is_switch && strncmp(text, "rank", 4) != 0)
        return false;
    const char *digits = text + (end->is_switch ? 2 : 4);
    if (digits[0] < '0' || digits[0] > '9' || parse_count(digits, &index) != 0 ||
        index > UINT32_MAX)
        return false;
    end->index = (uint32_t)index;
    return true;
}

static void read_link(struct reader *r, const struct place *place, struct graph_link *link)
{
    struct keys keys = {0};
    struct link_text text = {.link = link->link};
    if (!read_object(r, place))
        return;
    read_params(r, place, &keys, end_params, 2, &text);
    link_read(r, place, &keys, &text.link);
    keys_check(r, place, &keys);
    link->link = text.link;
    for (int e = 0; e < 2; e++) {
        struct place end = place_key(place, e == 0 ? "a" : "b");
        const char *name = json_string_value(end.json);
        if (name != NULL && !end_parse(name, &link->ends[e]))
            place_error(r->err, &end, "\"%s\" is not a node like rank3 or sw0", name);
    }
}

static void read_root(struct reader *r, const struct place *root, struct graph_params *params,
                      const struct link_spec *link)
{
    struct keys keys = {0};
    struct place links = place_key(root, "links");
    if (!json_is_object(root->json)) {
        place_error(r->err, root, "must be an object, not %s", json_noun(root->json));
        return;
    }
    read_params(r, root, &keys, root_params, 1, params);
    keys_add(&keys, "links");
    keys_check(r, root, &keys);
    if (links.json == NULL)
        place_error(r->err, &links, "is required: a list of {a, b, rate, delay}");
    if (!read_list(r, &links))
        return;
    params->n_links = json_array_size(links.json);
    params->links = memory_zeroed(params->n_links, sizeof *params->links);
    // A file of thousands of links with one mistake in each would fill the screen.
    for (size_t l = 0; l < params->n_links && r->err->n_errors < ERRORS_MAX; l++) {
        struct place item = place_item(&links, l);
        // Links without a rate have that of the dimension.
        params->links[l].link = *link;
        read_link(r, &item, &params->links[l]);
    }
}

// Read the file of another simulator. Returns false, and adds nothing, where it is none; `*infra`
// is whether it is a network of InfraGraph.
static bool read_foreign(struct reader *r, const struct place *place, struct graph_params *params,
                         bool *infra)
{
    static const struct {
        bool (*is)(const char *text);
        void (*read)(struct text_file *file, struct graph_params *params);
    } readers[] = {{ns3_graph_is, ns3_graph_read}, {htsim_graph_is, htsim_graph_read}};
    char path[PLACE_TEXT];
    struct err unread = {0};
    char *text = text_file_load(r->scenario->dir, params->file, "", &unread);
    struct text_file file = {
        .name = params->file, .path = place_text(place, path), .rest = text, .err = r->err};
    size_t i = 0, n = sizeof readers / sizeof *readers;
    err_free(&unread); // the reader of JSON reports it
    while (text != NULL && i < n && !readers[i].is(text))
        i++;
    bool found = text != NULL && i < n;
    *infra = !found && text != NULL && infragraph_is(text);
    bool garnet = !found && text != NULL && astra_garnet_is(text);
    if (found)
        readers[i].read(&file, params);
    else if (garnet) {
        char *error = astra_garnet_error(text);
        place_error(r->err, place, "%s %s", params->file, error);
        free(error);
    }
    bool large = *infra && strlen(text) > INFRA_BYTES_MAX;
    if (large)
        place_error(r->err, place, "%s is larger than the 16 MiB that are read of InfraGraph",
                    params->file);
    free(text);
    return found || garnet || large;
}

void graph_file_read(struct reader *r, const struct place *place, struct graph_params *params,
                     const struct link_spec *link)
{
    struct err reading = {0};
    struct reader inner = *r;
    bool infra;
    if (read_foreign(r, place, params, &infra))
        return;
    char *path = path_from(r->scenario->dir, params->file);
    inner.err = &reading;
    // JSON is YAML, but for some of its texts, so its own reader is the first choice.
    json_t *json = json_file_read(path, &reading);
    if (json == NULL && infra) {
        err_free(&reading);
        reading = (struct err){0};
        json = yaml_file_read(path, "", &reading);
    }
    bool read = json != NULL;
    if (read && infra)
        infragraph_read(&inner, &(struct place){.json = json}, link, params);
    else if (read)
        read_root(&inner, &(struct place){.json = json}, params, link);
    // the messages of json_file_read() contain the file name already
    for (size_t i = 0; i < reading.n_items; i++) {
        const char *name = read ? params->file : "", *mark = read ? ": " : "",
                   *text = reading.items[i].text;
        if (reading.items[i].warning)
            place_warn(r->err, place, "%s%s%s", name, mark, text);
        else
            place_error(r->err, place, "%s%s%s", name, mark, text);
    }
    json_decref(json);
    err_free(&reading);
    free(path);
}
