// SPDX-License-Identifier: MIT
// Puts into Wireshark's personal folders, and removes: the program that it starts for scenarios,
// the plugins and the profile.
//
// The program is a line of shell with a mark, the plugins symbolic links to the installed ones. The
// profile is a copy, since Wireshark writes to it; a file in it marks it as ours.
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/extcap/extcap_internal.h"
#include "cli/results/folder.h"
#include "cli/results/share_folder.h"
#include "engine/base/err.h"
#include "engine/base/regular_file.h"
#include "engine/base/text.h"

#define MARK "# written by collwire extcap install; collwire extcap uninstall removes it"
#define PROFILE_MARK ".collwire"
#define PLUGINS 3
#define PROFILE "wireshark/profiles/collwire"

// Versions of Wireshark up to 4.0 have the extcap folder in the folder of settings, later ones
// below ~/.local/lib.
struct places {
    char *extcap[2], *plugin[PLUGINS], *profile; // paths of files; of a folder for the profile
};

static const char *const plugins[PLUGINS] = {
    "wireshark/collwire.lua", "wireshark/collwire_summary.lua", "wireshark/collwire_uec.lua"};

/* ---- Wireshark's folders ---- */

static char *settings_folder(const char *home)
{
    const char *named = getenv("WIRESHARK_CONFIG_DIR"), *base = getenv("XDG_CONFIG_HOME");
    if (named && *named)
        return text_format("%s", named);
    char *settings = base && *base == '/' ? text_format("%s/wireshark", base)
                                          : text_format("%s/.config/wireshark", home);
    char *old = text_format("%s/.wireshark", home);
    if (access(settings, F_OK) != 0 && access(old, F_OK) == 0) {
        free(settings);
        return old;
    }
    free(old);
    return settings;
}

static int places_find(struct places *at, struct err *err)
{
    const char *home = getenv("HOME");
    if (!home || *home != '/')
        return err_add(err, "HOME", "is not set to a folder");
    char *settings = settings_folder(home);
    *at = (struct places){
        .extcap = {text_format("%s/extcap/collwire", settings),
                   text_format("%s/.local/lib/wireshark/extcap/collwire", home)},
        .profile = text_format("%s/profiles/collwire", settings),
    };
    for (unsigned i = 0; i < PLUGINS; i++)
        at->plugin[i] =
            text_format("%s/.local/lib/wireshark/plugins%s", home, strchr(plugins[i], '/'));
    free(settings);
    return 0;
}

static void places_free(struct places *at)
{
    free(at->extcap[0]);
    free(at->extcap[1]);
    for (unsigned i = 0; i < PLUGINS; i++)
        free(at->plugin[i]);
    free(at->profile);
}

/* ---- owners of files ---- */

enum owner { OWNER_NOBODY, OWNER_COLLWIRE, OWNER_OTHER };

static enum owner program_owner(const char *path)
{
    struct stat about;
    char text[512] = "";
    if (lstat(path, &about) != 0)
        return OWNER_NOBODY;
    const char *why;
    FILE *file = S_ISREG(about.st_mode) ? regular_file_stream(path, &why) : NULL;
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[n] = '\0';
    return strstr(text, MARK) ? OWNER_COLLWIRE : OWNER_OTHER;
}

// Returns the owner of a link at `path`: collwire if it leads to a file that ends in `plugin`.
static enum owner plugin_owner(const char *path, const char *plugin)
{
    struct stat about;
    char target[PATH_MAX];
    if (lstat(path, &about) != 0)
        return OWNER_NOBODY;
    ssize_t n = readlink(path, target, sizeof target - 1);
    size_t length = strlen(plugin);
    if (n <= (ssize_t)length || target[(size_t)n - length - 1] != '/')
        return OWNER_OTHER;
    target[n] = '\0';
    return strcmp(target + (size_t)n - length, plugin) == 0 ? OWNER_COLLWIRE : OWNER_OTHER;
}

static enum owner profile_owner(const char *path)
{
    struct stat about;
    char *mark = text_format("%s/" PROFILE_MARK, path);
    enum owner owner = OWNER_OTHER;
    if (lstat(path, &about) != 0)
        owner = OWNER_NOBODY;
    else if (S_ISDIR(about.st_mode) && access(mark, F_OK) == 0)
        owner = OWNER_COLLWIRE;
    free(mark);
    return owner;
}

static void check_free(enum owner owner, const char *path, struct err *err)
{
    if (owner == OWNER_OTHER)
        err_add(err, path, "is there and not from collwire; move it away first");
}

/* ---- install ---- */

static int make_parents(const char *path, struct err *err)
{
    char *folder = text_format("%s", path);
    size_t existed;
    *strrchr(folder, '/') = '\0';
    int status = folder_make(folder, &existed);
    if (status != 0)
        err_add(err, folder, "%s", strerror(errno));
    free(folder);
    return status;
}

// Replace a file by a text.
static void write_file(const char *path, const char *text, mode_t mode, struct err *err)
{
    char *beside = text_format("%s.new", path);
    FILE *file = fopen(beside, "w");
    bool good = file && fputs(text, file) >= 0;
    if (file && fclose(file) != 0)
        good = false;
    if (!good || chmod(beside, mode) != 0 || rename(beside, path) != 0) {
        err_add(err, path, "%s", strerror(errno));
        unlink(beside);
    }
    free(beside);
}

// A word for the shell.
static void put_quoted(FILE *out, const char *word)
{
    fputc('\'', out);
    for (; *word != '\0'; word++)
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, out);
    fputc('\'', out);
}

static char *program_text(const char *program, const char *scenarios)
{
    struct text text;
    FILE *out = text_open(&text);
    fputs("#!/bin/sh\n" MARK "\nexec ", out);
    put_quoted(out, program);
    fputs(" extcap --scenarios ", out);
    put_quoted(out, scenarios);
    fputs(" \"$@\"\n", out);
    return text_close(out, &text);
}

static void install_program(const struct places *at, const char *scenarios, struct err *err)
{
    char *program = program_path();
    char *text = program_text(program ? program : "collwire", scenarios);
    for (unsigned i = 0; i < 2; i++)
        if (make_parents(at->extcap[i], err) == 0)
            write_file(at->extcap[i], text, 0755, err);
    free(text);
    free(program);
}

// Return whether the plugin is beside this program.
static bool install_plugin(const char *path, const char *plugin, struct err *err)
{
    char *source = share_find(plugin), *target = source ? realpath(source, NULL) : NULL;
    bool found = target != NULL;
    if (found && make_parents(path, err) == 0) {
        if (plugin_owner(path, plugin) == OWNER_COLLWIRE)
            unlink(path);
        if (symlink(target, path) != 0)
            err_add(err, path, "%s", strerror(errno));
    }
    free(source);
    free(target);
    return found;
}

static void install_profile(const char *path, const char *source, struct err *err)
{
    struct dirent *entry;
    DIR *list = opendir(source);
    char *mark = text_format("%s/" PROFILE_MARK, path);
    if (list && make_parents(mark, err) == 0)
        write_file(mark, MARK "\n", 0644, err);
    while (list && err->n_errors == 0 && (entry = readdir(list)) != NULL) {
        char *text = entry->d_name[0] == '.' ? NULL : folder_read(dirfd(list), entry->d_name);
        char *to = text_format("%s/%s", path, entry->d_name);
        if (text)
            write_file(to, text, 0644, err);
        free(text);
        free(to);
    }
    if (list)
        closedir(list);
    free(mark);
}

// The folder of scenarios as a full path: that of --scenarios, scenarios, or the installed one.
// NULL with an error.
static char *scenarios_folder(const struct options *o, struct err *err)
{
    const char *folder = o->scenarios ? o->scenarios : "scenarios";
    struct stat about;
    char *installed = !o->scenarios && access(folder, F_OK) != 0 ? share_find(folder) : NULL;
    char *full = realpath(installed ? installed : folder, NULL);
    free(installed);
    if (full && stat(full, &about) == 0 && S_ISDIR(about.st_mode))
        return full;
    err_add(err, "--scenarios", "%s: %s", folder, full ? "is not a folder" : strerror(errno));
    free(full);
    return NULL;
}

static void install_all(const struct places *at, const char *scenarios, struct err *err)
{
    char *profile = share_find(PROFILE);
    bool found[PLUGINS], all = profile != NULL;
    install_program(at, scenarios, err);
    for (unsigned i = 0; i < PLUGINS; i++)
        all &= found[i] = install_plugin(at->plugin[i], plugins[i], err);
    if (profile)
        install_profile(at->profile, profile, err);
    if (err->n_errors == 0) {
        printf("%s\n%s\n", at->extcap[0], at->extcap[1]);
        for (unsigned i = 0; i < PLUGINS; i++)
            if (found[i])
                printf("%s\n", at->plugin[i]);
        if (profile)
            printf("%s\n", at->profile);
        printf("Wireshark has the interface collwire, with the scenarios of %s, when it starts "
               "next.\n",
               scenarios);
        if (!all)
            puts("The plugins and the profile are not beside this program; `make install` puts "
                 "them there.");
    }
    free(profile);
}

int extcap_install(const struct options *o)
{
    struct places at = {0};
    struct err err = {0};
    char *scenarios = scenarios_folder(o, &err);
    if (places_find(&at, &err) == 0) {
        check_free(program_owner(at.extcap[0]), at.extcap[0], &err);
        check_free(program_owner(at.extcap[1]), at.extcap[1], &err);
        for (unsigned i = 0; i < PLUGINS; i++)
            check_free(plugin_owner(at.plugin[i], plugins[i]), at.plugin[i], &err);
        check_free(profile_owner(at.profile), at.profile, &err);
    }
    if (err.n_errors == 0)
        install_all(&at, scenarios, &err);
    int code = err.n_errors == 0 ? EXIT_DONE : EXIT_BAD_USE;
    errors_print(&err);
    places_free(&at);
    free(scenarios);
    return code;
}

/* ---- uninstall ---- */

static bool remove_path(enum owner owner, const char *path, struct err *err)
{
    if (owner != OWNER_COLLWIRE)
        return false;
    if (unlink(path) != 0) {
        err_add(err, path, "%s", strerror(errno));
        return false;
    }
    puts(path);
    return true;
}

// Delete the folder of the Wireshark profile with all its files, those that Wireshark itself wrote
// (recent filters, preferences) included.
static bool remove_profile(const char *path, struct err *err)
{
    struct dirent *entry;
    DIR *list = profile_owner(path) == OWNER_COLLWIRE ? opendir(path) : NULL;
    if (!list)
        return false;
    while ((entry = readdir(list)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(list), entry->d_name, 0);
    closedir(list);
    if (rmdir(path) != 0) {
        err_add(err, path, "%s", strerror(errno));
        return false;
    }
    puts(path);
    return true;
}

int extcap_uninstall(void)
{
    struct places at = {0};
    struct err err = {0};
    bool any = false;
    if (places_find(&at, &err) == 0) {
        any |= remove_path(program_owner(at.extcap[0]), at.extcap[0], &err);
        any |= remove_path(program_owner(at.extcap[1]), at.extcap[1], &err);
        for (unsigned i = 0; i < PLUGINS; i++)
            any |= remove_path(plugin_owner(at.plugin[i], plugins[i]), at.plugin[i], &err);
        any |= remove_profile(at.profile, &err);
        if (!any && err.n_errors == 0)
            puts("Nothing of collwire is installed in Wireshark's personal folders.");
    }
    int code = err.n_errors == 0 ? EXIT_DONE : EXIT_BAD_USE;
    errors_print(&err);
    places_free(&at);
    return code;
}
