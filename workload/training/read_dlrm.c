// SPDX-License-Identifier: MIT
// {"batch": 2048, "sharding": "table", "tables": [{"rows": 4000000, "dim": 64, "pooling": 20}, ..],
// "bottom": [512, 256, 64], "top": [512, 256, 1], "tflops": 312, ..}
#include "workload/training/read_dlrm.h"

#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/text/schema_parts.h"
#include "workload/training/training_layers.h"

#define WIDTH_MAX 1000000
#define PLACES_MAX 1e9 // limit of pieces of tables times ranks

static const struct param table_params[] = {
    PARAM_ROW("rows", COUNT, offsetof(struct dlrm_table, rows), .min = "1", .max = "100000000000",
              .help = "of the table"),
    PARAM_ROW("dim", COUNT, offsetof(struct dlrm_table, dim), .min = "1", .max = "65536",
              .help = "columns"),
    PARAM_ROW("pooling", COUNT, offsetof(struct dlrm_table, pooling), .def = "1", .min = "1",
              .max = "1000000", .help = "rows that a sample looks up"),
};
#define N_TABLE_PARAMS (sizeof table_params / sizeof *table_params)

// A list that is not empty.
static json_t *some_schema(json_t *item)
{
    json_t *list = schema_list(item);
    json_object_set_new(list, "minItems", json_integer(1));
    return list;
}

// A table without a pooling has that of `dlrm`.
static json_t *tables_schema(void)
{
    json_t *table = schema_table(table_params, N_TABLE_PARAMS);
    json_object_del(json_object_get(json_object_get(table, "properties"), "pooling"), "default");
    return some_schema(table);
}

static json_t *widths_schema(void)
{
    json_t *width = schema_integer(1);
    json_object_set_new(width, "maximum", json_integer(WIDTH_MAX));
    return some_schema(width);
}

static json_t *placement_schema(void) { return schema_list(schema_integer(0)); }

const struct job_part dlrm_parts[] = {
    PART_ROW("tables", "list", "n_tables that are alike",
             "of {rows, dim, pooling}: every table by itself; its pooling is that of `dlrm` unless "
             "given",
             .schema = tables_schema),
    PART_ROW("bottom", "list", "512, 256, dim",
             "widths of the layers over the dense features; the last is the tables' dim",
             .schema = widths_schema),
    PART_ROW("top", "list", "512, 512, 256, 1", "widths of the layers after the interaction",
             .schema = widths_schema),
    PART_ROW("placement", "list", "the most lookups first, on the rank with the fewest",
             "sharding table: the rank of each table (collwire partition writes it)",
             .schema = placement_schema),
    PARTS_END,
};

static void read_tables(struct reader *r, const struct place *place, struct dlrm_spec *d)
{
    const struct dlrm_params *p = &d->params;
    bool listed = place->json != NULL && read_list(r, place);
    d->n_tables = listed ? json_array_size(place->json) : (size_t)p->n_tables;
    if (d->n_tables == 0)
        place_error(r->err, place, "must not be empty");
    d->tables = memory_zeroed(d->n_tables, sizeof *d->tables);
    for (size_t t = 0; t < d->n_tables; t++) {
        struct keys keys = {0};
        d->tables[t] = (struct dlrm_table){p->rows, p->dim, p->pooling};
        struct place item = place_item(place, t);
        if (!listed || !read_object(r, &item))
            continue;
        read_params(r, &item, &keys, table_params, N_TABLE_PARAMS, &d->tables[t]);
        keys_check(r, &item, &keys);
    }
}

static void read_placement(struct reader *r, const struct place *place, struct dlrm_spec *d,
                           uint32_t ranks)
{
    if (place->json == NULL || !read_list(r, place))
        return;
    size_t n = json_array_size(place->json);
    if (d->params.sharding != DLRM_TABLE)
        place_error(r->err, place, "belongs to `sharding` table");
    else if (n != d->n_tables)
        place_error(r->err, place, "lists %zu ranks, and there are %zu tables", n, d->n_tables);
    else if (ranks > 0)
        d->placement = memory_zeroed(n, sizeof *d->placement);
    for (size_t t = 0; t < n && d->placement != NULL; t++) {
        struct place item = place_item(place, t);
        json_int_t rank = json_is_integer(item.json) ? json_integer_value(item.json) : -1;
        if (rank < 0 || rank >= ranks)
            place_error(r->err, &item, "must be a rank from 0 to %u", ranks - 1);
        else
            d->placement[t] = (uint32_t)rank;
    }
}

static const uint64_t top_widths[] = {512, 512, 256, 1};
#define N_TOP_WIDTHS (sizeof top_widths / sizeof *top_widths)
#define N_BOTTOM_WIDTHS 3

// Default widths; the last one must be the tables' dim, as the interaction requires.
static void bottom_widths(uint64_t dim, uint64_t widths[N_BOTTOM_WIDTHS])
{
    widths[0] = 512, widths[1] = 256, widths[2] = dim;
}

static void machine_defaults(struct gemm_params *machine)
{
    params_default(gemm_params, n_gemm_params, machine);
    machine->element_bytes = 4; // single precision
}

static const char *const tier_keys[] = {"ddr",     "ranks_per_host", "ddr_gbs",  "host_link_gbs",
                                        "ssd_gbs", "ssd_page",       "row_skew", NULL};

static void machine_check(struct reader *r, const struct place *place,
                          const struct gemm_params *machine)
{
    const char *key, *refused = gemm_refused(machine, &key);
    struct place at = place_key(place, refused != NULL ? key : "compute");
    if (refused != NULL)
        place_error(r->err, &at, "%s", refused);
    if (machine->compute != GEMM_TILES)
        place_keys_need(r->err, place, gemm_params, n_gemm_params, machine, gemm_tile_keys,
                        "`compute` tiles");
}

static uint64_t *read_widths(struct reader *r, const struct place *place, const uint64_t *otherwise,
                             size_t n_otherwise, size_t *n)
{
    bool listed = place->json != NULL && read_list(r, place);
    *n = listed ? json_array_size(place->json) : n_otherwise;
    if (*n == 0)
        place_error(r->err, place, "must not be empty");
    uint64_t *widths = memory_zeroed(*n, sizeof *widths);
    for (size_t i = 0; i < *n; i++) {
        struct place item = place_item(place, i);
        json_int_t width = listed ? json_integer_value(item.json) : (json_int_t)otherwise[i];
        if (width < 1 || width > WIDTH_MAX)
            place_error(r->err, &item, "must be a width from 1 to %d", WIDTH_MAX);
        widths[i] = (uint64_t)width;
    }
    return widths;
}

// The most that the rows of a batch take from SSDs, or from the host, in ns.
static double fetch_most(const struct dlrm_spec *d, double samples)
{
    const struct tier_shares host = {1, 0}, ssd = {0, 1};
    const struct embedding_tiers *tiers = &d->params.tiers;
    double ns = 0;
    if (tiers->hbm == PARAM_AUTO)
        return 0;
    for (size_t t = 0; t < d->n_tables; t++) {
        double row = (double)d->tables[t].dim * (double)d->params.machine.element_bytes,
               lookups = samples * (double)d->tables[t].pooling;
        ns += lookups * embedding_fetch_ns(tiers, tiers->ddr == PARAM_AUTO ? &host : &ssd, row);
    }
    return ns;
}

// Check the sizes that the layers are computed from. Doubles, since the products could overflow
// integers.
static void sizes_check(struct reader *r, const struct place *place, const struct dlrm_spec *d,
                        uint32_t ranks)
{
    const struct dlrm_params *p = &d->params;
    bool cuts = p->sharding == DLRM_COLUMN, copies = p->sharding == DLRM_DATA;
    double samples = (double)p->batch * ranks, element = (double)p->machine.element_bytes;
    double columns = 0, lookups = 0, weights = 0;
    for (size_t t = 0; t < d->n_tables; t++) {
        const struct dlrm_table *table = &d->tables[t];
        columns += (double)table->dim;
        lookups += (double)table->dim * (double)table->pooling;
        weights += (double)table->dim * (double)table->rows;
    }
    double ns = 2 * samples * lookups * element / p->machine.memory_gbs;
    struct place hbm = place_key(place, "hbm");
    if (p->tiers.hbm != PARAM_AUTO && (double)p->tiers.hbm < columns * element)
        place_error(r->err, &hbm, "has no room for one row of each table, %.0f B",
                    columns * element);
    if (samples * columns * element > (double)TRAINING_BYTES_MAX)
        place_error(r->err, place, "the vectors of a batch are more than 1 PB");
    else if (copies && weights * element > (double)TRAINING_BYTES_MAX)
        place_error(r->err, place, "the tables are more than 1 PB");
    else if (ns > (double)TRAINING_NS_MAX || fetch_most(d, samples) > (double)TRAINING_NS_MAX)
        place_error(r->err, place, "the lookups of a batch take more than 100000 s");
    else if ((double)d->n_tables * (cuts ? (double)p->column_shards : 1) * ranks > PLACES_MAX)
        place_error(r->err, place, "%zu tables%s are too many for %u ranks", d->n_tables,
                    cuts ? " with their column_shards" : "", ranks);
}

int dlrm_read(struct reader *r, const struct place *place, uint32_t ranks,
              struct training_spec *spec)
{
    char path[PLACE_TEXT];
    uint64_t towards[N_BOTTOM_WIDTHS];
    struct keys keys = {0};
    struct dlrm_spec d = {0};
    size_t errors = r->err->n_errors;
    struct place tables = place_key(place, "tables"), bottom = place_key(place, "bottom"),
                 tops = place_key(place, "top"), ranks_of = place_key(place, "placement");
    *spec = (struct training_spec){0};
    if (!read_object(r, place))
        return -1;
    params_default(dlrm_params, n_dlrm_params, &d.params);
    machine_defaults(&d.params.machine);
    read_params(r, place, &keys, dlrm_params, n_dlrm_params, &d.params);
    read_params(r, place, &keys, gemm_params, n_gemm_params, &d.params.machine);
    machine_check(r, place, &d.params.machine);
    if (d.params.tiers.hbm == PARAM_AUTO)
        place_keys_need(r->err, place, dlrm_params, n_dlrm_params, &d.params, tier_keys, "`hbm`");
    bottom_widths(d.params.dim, towards);
    read_tables(r, &tables, &d);
    read_placement(r, &ranks_of, &d, ranks);
    d.bottom = read_widths(r, &bottom, towards, N_BOTTOM_WIDTHS, &d.n_bottom);
    d.top = read_widths(r, &tops, top_widths, N_TOP_WIDTHS, &d.n_top);
    parts_add(&keys, dlrm_parts);
    keys_check(r, place, &keys);
    if (r->err->n_errors == errors && ranks > 0)
        sizes_check(r, place, &d, ranks);
    bool good = r->err->n_errors == errors && ranks > 0;
    if (good)
        *spec = dlrm_training(&d, ranks);
    dlrm_free(&d);
    return good ? training_check_sizes(spec, place_text(place, path), r->err) : -1;
}

static void default_params(json_t *json, const struct param *params, size_t n, const void *base)
{
    for (size_t i = 0; i < n; i++) {
        char buf[PARAM_TEXT_MAX];
        if (json_object_get(json, params[i].name) == NULL)
            json_object_set_new(json, params[i].name,
                                param_json(&params[i], param_text(&params[i], base, buf)));
    }
}

static void default_widths(json_t *json, const char *key, const uint64_t *widths, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_integer((json_int_t)widths[i]));
    if (json_object_get(json, key) == NULL)
        json_object_set(json, key, list);
    json_decref(list);
}

void dlrm_write(json_t *job, const char *key, const void *value, const json_t *given)
{
    struct dlrm_params params;
    uint64_t towards[N_BOTTOM_WIDTHS];
    json_t *own = json_object_get(given, key), *json = own != NULL ? json_deep_copy(own) : NULL;
    (void)value;
    if (json == NULL)
        return;
    params_default(dlrm_params, n_dlrm_params, &params);
    machine_defaults(&params.machine);
    default_params(json, dlrm_params, n_dlrm_params, &params);
    default_params(json, gemm_params, n_gemm_params, &params.machine);
    bottom_widths((uint64_t)json_integer_value(json_object_get(json, "dim")), towards);
    default_widths(json, "bottom", towards, N_BOTTOM_WIDTHS);
    default_widths(json, "top", top_widths, N_TOP_WIDTHS);
    json_object_set_new(job, key, json);
}

// Unlike for a list of matrix products, elements are of single precision by default.
json_t *dlrm_schema(void)
{
    json_t *object = schema_object(), *properties = json_object_get(object, "properties");
    schema_params(object, dlrm_params, n_dlrm_params);
    schema_params(object, gemm_params, n_gemm_params);
    json_object_set_new(json_object_get(properties, "element"), "default", json_string("4B"));
    parts_schema(object, dlrm_parts);
    for (const struct job_part *part = dlrm_parts; part->own.key != NULL; part++)
        json_object_set_new(json_object_get(properties, part->own.key), "description",
                            json_string(part->own.help));
    return object;
}
