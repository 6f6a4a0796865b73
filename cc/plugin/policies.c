// SPDX-License-Identifier: MIT
// Loads plugins: file, contract, names, trial, and then the catalogue.
#include "cc/plugin/policies.h"

#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cc/plugin/guard.h"
#include "cc/plugin/plugin_trial.h"
#include "engine/base/memory.h"
#include "engine/base/regular_file.h"
#include "engine/base/text.h"

struct policies policies_builtin(const struct collwire_loader *loader)
{
    return (struct policies){.catalogue = cc_catalogue_builtin(), .loader = loader};
}

struct policies policies_copy(const struct policies *from)
{
    struct policies copy = *from;
    copy.plugins = NULL;
    copy.n_borrowed = from->n_plugins;
    if (from->n_plugins > 0) {
        copy.plugins = memory_zeroed(from->n_plugins, sizeof *copy.plugins);
        memcpy(copy.plugins, from->plugins, from->n_plugins * sizeof *copy.plugins);
    }
    return copy;
}

static void plugin_free(struct plugin *plugin)
{
    free(plugin->file);
    free(plugin->folded);
    free(plugin->guards);
    free(plugin);
}

void policies_free(struct policies *p)
{
    for (size_t i = p->n_borrowed; i < p->n_plugins; i++)
        plugin_free(p->plugins[i]);
    free(p->plugins);
    *p = (struct policies){0};
}

/* ---- the file ---- */

// The digest of a file's bytes as text; "" if it cannot be read.
static void digest_file(const char *path, char text[PLUGIN_DIGEST])
{
    struct sha256_ctx sha;
    uint8_t digest[SHA256_DIGEST_SIZE], buffer[16384];
    ssize_t got = -1;
    const char *why;
    int file = regular_file_open(path, &why);
    text[0] = '\0';
    sha256_init(&sha);
    while (file >= 0 && (got = read(file, buffer, sizeof buffer)) > 0)
        sha256_update(&sha, (size_t)got, buffer);
    if (file >= 0)
        close(file);
    if (got < 0)
        return;
    sha256_digest(&sha, sizeof digest, digest);
    text_hex(digest, sizeof digest, text);
}

static bool loaded(const struct policies *p, const char *folded)
{
    for (size_t i = 0; i < p->n_plugins; i++)
        if (strcmp(p->plugins[i]->folded, folded) == 0)
            return true;
    return false;
}

// Note that code of plugin `file`, other than hooks, is about to run; NULL = it has returned.
static void note(struct collwire_activity *activity, const char *file)
{
    if (!activity)
        return;
    activity->policy = activity->hook = NULL;
    activity->file = file;
}

// Returns the struct cc_plugin that the file exports, or NULL with an error.
static const struct cc_plugin *open_file(const struct policies *p, const char *path,
                                         const char *folded, const char *file, struct err *err)
{
    char why[512] = "";
    const char *unfit;
    struct collwire_activity *activity = p->loader->activity;
    int fd = regular_file_open(folded, &unfit); // to load a FIFO would wait for a writer
    if (fd < 0) {
        err_add(err, path, "%s: cannot be loaded: %s", file, unfit);
        return NULL;
    }
    close(fd);
    note(activity, file);
    const struct cc_plugin *exported =
        p->loader->symbol(p->loader->ctx, folded, CC_PLUGIN_SYMBOL, why, sizeof why);
    note(activity, NULL);
    why[sizeof why - 1] = '\0';
    if (!exported) {
        err_add(err, path, "%s: cannot be loaded: %s", file, why);
        return NULL;
    }
    if (exported->version != CC_VERSION)
        err_add(err, path, "%s: is of version %u of the contract, here it is version %d", file,
                (unsigned)exported->version, CC_VERSION);
    else if (exported->bytes != sizeof *exported || exported->n_policies == 0 ||
             !exported->policies)
        err_add(err, path, "%s: its struct cc_plugin is not sound", file);
    else
        return exported;
    return NULL;
}

/* ---- its policies ---- */

// Check a policy and add it with a guard, or add errors.
static void admit(struct policies *p, struct plugin *plugin, const struct cc_ops *policy,
                  const char *path, struct err *err)
{
    struct err own = {0};
    struct guarded *guard = &plugin->guards[plugin->n];
    struct collwire_activity *activity = p->loader->activity;
    note(activity, plugin->file);
    int status = policy ? cc_ops_check(policy, &own) : err_add(&own, "policy", "is NULL");
    note(activity, NULL);
    if (status == 0) {
        guard_init(guard, policy, plugin->file, activity);
        plugin->n++;
        if (cc_catalogue_append(&p->catalogue, &guard->ops, &own) == 0)
            trial_run(&guard->ops, policy->name, &own);
    }
    for (size_t i = 0; i < own.n_items; i++)
        err_add(err, path, "%s: %s", plugin->file, own.items[i].text);
    err_free(&own);
}

int policies_load(struct policies *p, const char *path, const char *file, struct err *err)
{
    if (!p->loader)
        return err_add(err, path, "%s: this program cannot load plugins", file);
    char *folded = realpath(file, NULL);
    if (!folded)
        return err_add(err, path, "%s: there is no such file", file);
    const struct cc_plugin *exported = NULL;
    bool again = loaded(p, folded);
    if (again || !(exported = open_file(p, path, folded, file, err))) {
        free(folded);
        return again ? 0 : -1;
    }
    size_t errors = err->n_errors;
    struct cc_catalogue before = p->catalogue;
    struct plugin *plugin = memory_zeroed(1, sizeof *plugin);
    plugin->file = memory_text(file);
    plugin->folded = folded;
    plugin->guards = memory_zeroed(exported->n_policies, sizeof *plugin->guards);
    digest_file(folded, plugin->sha256);
    for (size_t i = 0; i < exported->n_policies; i++)
        admit(p, plugin, exported->policies[i], path, err);
    if (err->n_errors > errors) {
        p->catalogue = before;
        plugin_free(plugin);
        return -1;
    }
    p->plugins = memory_resize(p->plugins, p->n_plugins + 1, sizeof(struct plugin *));
    p->plugins[p->n_plugins++] = plugin;
    return 0;
}
