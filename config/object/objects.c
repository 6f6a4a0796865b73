// SPDX-License-Identifier: MIT
// The scenario as an object: its own keys, and the only list of the objects in it.
#include "config/object/objects.h"

#include <string.h>

#include "config/object/scenario_parts.h"
#include "engine/text/read.h"

static const char *const routes[] = {"all_dims", "first_dim", "last_dim", "links", NULL};
static const char *const networks[] = {"packet", "analytical", "hybrid", NULL};

#define FIELD(name) offsetof(struct spec, name)

static const struct param scenario_params[] = {
    PARAM_ROW("name", TEXT, FIELD(name),
              .help = "letters, digits, dot, underscore, hyphen; names the output folder"),
    PARAM_ROW("description", TEXT, FIELD(description), .def = "", .help = "for readers"),
    PARAM_ROW("source", TEXT, FIELD(source), .def = "", .help = "where it comes from"),
    PARAM_ROW("shrunk", TEXT, FIELD(shrunk), .def = "",
              .help =
                  "what `collwire shrink` has left out of a larger scenario: the summary and the "
                  "report say it"),
    PARAM_ROW("seed", COUNT, FIELD(seed), .def = "1", .max = "9007199254740992",
              .help = "of every random choice"),
    PARAM_ROW("duration", TIME, FIELD(duration_ps), .def = "auto", .min = "1ns", .max = "100000s",
              .can_auto = true,
              .help = "planned end in simulated time; auto = when the work is done"),
    PARAM_ROW("network", ENUM, FIELD(network), .def = "packet", .choices = networks,
              .help =
                  "packet by packet; or analytical: closed forms of messages without contention; "
                  "or hybrid: closed forms where no other message shares a path, packets where "
                  "one does (docs/hybrid.md)",
              .source = "Rashidi et al., ISPASS 2020 (ASTRA-sim)"),
    PARAM_ROW(
        "analytical_route", ENUM, FIELD(route), .def = "all_dims", .choices = routes,
        .help = "analytical network: a message crosses all dimensions in which its ranks differ, "
                "over all parallel links; or only the first of them, over one link; or only the "
                "last, over all parallel links; or all of them link by link, and a link serves one "
                "message at a time",
        .source = "ASTRA-sim 1.0; ASTRA-sim 2 (Won et al., ISPASS 2023)"),
};
static const size_t n_scenario_params = sizeof scenario_params / sizeof *scenario_params;

_Static_assert(offsetof(struct scenario, spec) == 0, "the table and the parts share offsets");

// ---- $schema: for editors ----

static void ignore(struct reader *r, const struct place *place, void *value)
{
    (void)r;
    (void)place;
    (void)value;
}

static json_t *leave_out(const struct scenario *s, const void *value)
{
    (void)s;
    (void)value;
    return NULL;
}

static json_t *text_schema(const struct cc_catalogue *policies)
{
    (void)policies;
    return json_pack("{s:s}", "type", "string");
}

static const struct object editor_object = {
    .key = "$schema",
    .doc = "where editors find the schema; not used otherwise",
    .type = "text",
    .def = "none",
    .read = ignore,
    .write = leave_out,
    .schema = text_schema,
};

// ---- the scenario ----

extern const struct object plugins_object;
extern const struct object workload_object;
extern const struct object links_object;
extern const struct object faults_object;
extern const struct object routes_object;
extern const struct object meters_object;
extern const struct object capture_object;
extern const struct object report_object;
extern const struct object memory_object;
extern const struct object limits_object, explain_object, noise_object, host_object;

// The objects in the order of the resolved form.
// clang-format off
static const struct object *const objects[] = {
    &editor_object, &plugins_object,   &topology_object, &links_object,
    &switch_object, &nic_object,       &transport_object, &cc_object,
    &workload_object, &memory_object,  &noise_object,    &host_object,
    &faults_object,  &routes_object,   &meters_object,
    &capture_object, &report_object,   &limits_object,   &explain_object,
    NULL,
};
// clang-format on

static void check_name(struct reader *r, const struct place *place)
{
    const char *name = json_string_value(place->json);
    if (name == NULL)
        return; // the table has reported it
    // The output folder has this name.
    if (name[0] == '\0' ||
        name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")] !=
            '\0')
        place_error(r->err, place, "\"%s\" must be letters, digits, dots, underscores and hyphens",
                    name);
    else if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        place_error(r->err, place, "\"%s\" is not a name", name);
    else if (strlen(name) > NAME_MAX_LETTERS)
        place_error(r->err, place, "has %zu letters; the maximum is %d", strlen(name),
                    NAME_MAX_LETTERS);
}

// Add an error for every object that requires a packet network.
static void check_analytical(struct reader *r, const struct place *root)
{
    struct place nic = place_key(root, "nic");
    if (nic.json != NULL)
        place_warn(r->err, &nic, "the analytical network has no NICs beside their links");
    for (const struct object *const *o = objects; *o != NULL; o++) {
        struct place list = place_key(root, (*o)->key);
        if ((*o)->packets_only && json_array_size(list.json) > 0)
            place_error(r->err, &list, "the analytical network has no packets, links or switches");
    }
}

static void scenario_finish(struct reader *r, const struct place *place, void *value)
{
    const struct scenario *s = value;
    struct place name = place_key(place, "name");
    check_name(r, &name);
    memory_check(r, place);
    if (s->spec.network == NETWORK_ANALYTICAL)
        check_analytical(r, place);
}

// Report the scenario's own keys; the objects report theirs.
static void scenario_keys(const struct object_entry *entry, const char *prefix,
                          const struct key_sink *to)
{
    (void)entry;
    struct own_key schema = {editor_object.key, editor_object.type, editor_object.def,
                             editor_object.doc};
    to->table(to->ctx, prefix, scenario_params, n_scenario_params);
    to->own(to->ctx, &schema);
}

const struct object scenario_object = {
    .key = "scenario",
    .doc = "keys of the scenario itself",
    .params = scenario_params,
    .n_params = &n_scenario_params,
    .parts = objects,
    .finish = scenario_finish,
    .keys = scenario_keys,
};
