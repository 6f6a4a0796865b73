// SPDX-License-Identifier: MIT
// collwire generate: the manual page and the completions of shells, from the tables of commands and
// options.
#include <stdlib.h>
#include <string.h>

#include "cli/help.h"
#include "cli/list.h"
#include "cli/options/option_table.h"
#include "engine/base/text.h"

/* ---- shared by all outputs ---- */

#define WORDS_MAX 64

// The words that complete an option or a command, separated by blanks; "" = none. To be freed.
static char *words_of(const struct options *o, enum completion completes, const char *const *words)
{
    struct text text;
    FILE *out = text_open(&text);
    const char *names[WORDS_MAX];
    size_t n = completes == COMPLETE_CATEGORIES ? list_categories(names, WORDS_MAX) : 0;
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s%s", i > 0 ? " " : "", names[i]);
    for (size_t i = 0; completes == COMPLETE_WORDS && words[i]; i++)
        fprintf(out, "%s%s", i > 0 ? " " : "", words[i]);
    for (size_t i = 0; completes == COMPLETE_POLICIES && i < options_catalogue(o)->n; i++)
        fprintf(out, "%s ", options_catalogue(o)->policies[i]->name);
    if (completes == COMPLETE_POLICIES)
        fputs("all", out);
    for (size_t i = 0; completes == COMPLETE_COMMANDS && i < o->known->n; i++)
        if (!o->known->items[i]->hidden)
            fprintf(out, "%s%s", i > 0 ? " " : "", o->known->items[i]->name);
    return text_close(out, &text);
}

// Print a text, with a backslash before each of the characters `special`.
static void print_escaped(FILE *out, const char *text, const char *special)
{
    for (; *text != '\0'; text++) {
        if (strchr(special, *text))
            fputc('\\', out);
        fputc(*text, out);
    }
}

/* ---- the manual page: man(7) ---- */

static void man_text(FILE *out, const char *text)
{
    for (bool first = true; *text != '\0'; text++) {
        if (first && (*text == '.' || *text == '\''))
            fputs("\\&", out);
        if (*text == '-')
            fputs("\\-", out);
        else if (*text == '\\')
            fputs("\\e", out);
        else
            fputc(*text, out);
        first = *text == '\n';
    }
    fputc('\n', out);
}

// Paragraphs as help prints them.
static void man_paragraphs(FILE *out, const char *text)
{
    while (*text != '\0') {
        const char *end = strstr(text, "\n\n");
        size_t length = end ? (size_t)(end - text) : strlen(text);
        bool example = strncmp(text, "  ", 2) == 0;
        char *paragraph = text_format("%.*s", (int)length, text);
        fputs(example ? ".PP\n.nf\n" : ".PP\n", out);
        man_text(out, paragraph);
        fputs(example ? ".fi\n" : "", out);
        free(paragraph);
        text += length;
        text += strspn(text, "\n");
    }
}

static void man_option(FILE *out, const struct option_row *row)
{
    fputs(".TP\n\\fB", out);
    if (row->letter)
        fprintf(out, "\\-%c", row->letter);
    if (row->letter && row->name)
        fputs("\\fR, \\fB", out);
    if (row->name) {
        fputs("\\-\\-", out);
        print_escaped(out, row->name, "-");
    }
    fputs("\\fR", out);
    if (row->argument)
        fprintf(out, " \\fI%s\\fR", row->argument);
    fputc('\n', out);
    man_text(out, row->help);
}

static void man_command(FILE *out, const struct command *command)
{
    fprintf(out, ".SS collwire %s %s\n", command->name, command->args);
    man_text(out, command->help);
    man_paragraphs(out, command->text);
    for (size_t i = 0; i < n_option_rows; i++)
        if (option_rows[i].commands && option_fits(&option_rows[i], command->name))
            man_option(out, &option_rows[i]);
}

static void generate_man(FILE *out, const struct options *o)
{
    (void)o;
    fprintf(out, ".TH COLLWIRE 1 \"\" \"collwire %s\" \"User Commands\"\n", collwire_version());
    fputs(".SH NAME\ncollwire \\- transports and congestion control under distributed training\n"
          ".SH SYNOPSIS\n.B collwire\n.I COMMAND\n[\\fIARGUMENTS\\fR] [\\fIOPTIONS\\fR]\n"
          ".SH DESCRIPTION\n",
          out);
    man_text(out, help_question);
    man_paragraphs(out, help_notes);
    fputs(".SH COMMANDS\n", out);
    for (size_t i = 0; i < o->known->n; i++)
        if (!o->known->items[i]->hidden)
            man_command(out, o->known->items[i]);
    fputs(".SH OPTIONS OF ALL COMMANDS\n", out);
    for (size_t i = 0; i < n_option_rows; i++)
        if (!option_rows[i].commands)
            man_option(out, &option_rows[i]);
}

/* ---- bash ---- */

// Statements that set COMPREPLY for one kind of completion.
static void bash_reply(FILE *out, const struct options *o, enum completion completes,
                       const char *const *words)
{
    char *list = words_of(o, completes, words);
    if (completes == COMPLETE_FILES)
        fputs("compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")", out);
    else if (completes == COMPLETE_FOLDERS)
        fputs("compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$cur\")", out);
    else if (completes == COMPLETE_POLICIES) // a list, separated by commas
        fprintf(out,
                "[[ $cur == *,* ]] && before=\"${cur%%,*},\"; COMPREPLY=($(compgen -P "
                "\"$before\" -W \"%s\" -- \"${cur##*,}\"))",
                list);
    else if (completes != COMPLETE_NOTHING)
        fprintf(out, "COMPREPLY=($(compgen -W \"%s\" -- \"$cur\"))", list);
    else
        fputs("COMPREPLY=()", out);
    free(list);
}

static void bash_options(FILE *out, const char *command)
{
    char text[32];
    for (size_t i = 0; i < n_option_rows; i++)
        if (option_fits(&option_rows[i], command))
            fprintf(out, " %s", option_spelling(&option_rows[i], text));
}

static void generate_bash(FILE *out, const struct options *o)
{
    char text[32];
    fputs("# bash completion for collwire, made by collwire generate bash\n"
          "_collwire() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local command= options= before= i\n"
          "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
          "        [[ ${COMP_WORDS[i]} != -* ]] && command=${COMP_WORDS[i]} && break\n"
          "    done\n"
          "    case $prev in\n",
          out);
    for (size_t i = 0; i < n_option_rows; i++) {
        const struct option_row *row = &option_rows[i];
        if (!row->argument)
            continue;
        fprintf(out, "    %s) ", option_spelling(row, text));
        bash_reply(out, o, row->completes, row->words);
        fputs("; return;;\n", out);
    }
    fputs("    esac\n    case $command in\n", out);
    for (size_t i = 0; i < o->known->n; i++) {
        if (o->known->items[i]->hidden)
            continue;
        fprintf(out, "    %s)\n        options=\"", o->known->items[i]->name);
        bash_options(out, o->known->items[i]->name);
        fputs("\"\n        ", out);
        bash_reply(out, o, o->known->items[i]->completes, NULL);
        fputs(";;\n", out);
    }
    fputs("    '')\n        options=\" --help --version\"\n        ", out);
    bash_reply(out, o, COMPLETE_COMMANDS, NULL);
    fputs(";;\n    esac\n"
          "    [[ $cur == -* ]] && COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
          "}\ncomplete -F _collwire collwire\n",
          out);
}

/* ---- zsh ---- */

static void zsh_action(FILE *out, const struct options *o, enum completion completes,
                       const char *const *words)
{
    char *list = words_of(o, completes, words);
    if (completes == COMPLETE_FILES)
        fputs("_files", out);
    else if (completes == COMPLETE_FOLDERS)
        fputs("_files -/", out);
    else if (completes == COMPLETE_POLICIES)
        fprintf(out, "_values -s , policy %s", list);
    else if (completes != COMPLETE_NOTHING)
        fprintf(out, "(%s)", list);
    else
        fputs(" ", out);
    free(list);
}

static void zsh_option(FILE *out, const struct options *o, const struct option_row *row)
{
    char text[32];
    fprintf(out, " \\\n            '%s%s[",
            row->type == OPTION_TEXTS || row->type == OPTION_TAKE ? "*" : "",
            option_spelling(row, text));
    for (const char *c = row->help; *c != '\0'; c++)
        if (strchr("[]:", *c))
            fprintf(out, "\\%c", *c);
        else if (*c == '\'')
            fputs("'\\''", out);
        else
            fputc(*c, out);
    fputc(']', out);
    if (row->argument) {
        fprintf(out, ":%s:", row->argument);
        zsh_action(out, o, row->completes, row->words);
    }
    fputc('\'', out);
}

static void generate_zsh(FILE *out, const struct options *o)
{
    fputs("#compdef collwire\n# zsh completion for collwire, made by collwire generate zsh\n"
          "_collwire() {\n    local -a commands\n    commands=(\n",
          out);
    for (size_t i = 0; i < o->known->n; i++)
        if (!o->known->items[i]->hidden)
            fprintf(out, "        '%s:%s'\n", o->known->items[i]->name, o->known->items[i]->help);
    fputs("    )\n    if ((CURRENT == 2)); then\n        _describe command commands\n"
          "        return\n    fi\n    local command=$words[2]\n    shift words\n"
          "    ((CURRENT--))\n    case $command in\n",
          out);
    for (size_t i = 0; i < o->known->n; i++) {
        if (o->known->items[i]->hidden)
            continue;
        fprintf(out, "    %s)\n        _arguments", o->known->items[i]->name);
        for (size_t r = 0; r < n_option_rows; r++)
            if (option_fits(&option_rows[r], o->known->items[i]->name))
                zsh_option(out, o, &option_rows[r]);
        fputs(" \\\n            '*:argument:", out);
        zsh_action(out, o, o->known->items[i]->completes, NULL);
        fputs("'\n        ;;\n", out);
    }
    fputs("    esac\n}\n_collwire \"$@\"\n", out);
}

/* ---- fish ---- */

static void fish_arguments(FILE *out, const struct options *o, enum completion completes,
                           const char *const *words)
{
    char *list = words_of(o, completes, words);
    if (completes == COMPLETE_FILES)
        fputs(" -F", out);
    else if (completes == COMPLETE_FOLDERS)
        fputs(" -f -a '(__fish_complete_directories)'", out);
    else if (completes == COMPLETE_POLICIES)
        fprintf(out, " -f -a '(__fish_append , %s)'", list);
    else if (*list)
        fprintf(out, " -f -a '%s'", list);
    free(list);
}

static void fish_option(FILE *out, const struct options *o, const struct option_row *row)
{
    fputs("complete -c collwire", out);
    if (row->commands)
        fprintf(out, " -n '__fish_seen_subcommand_from %s'", row->commands);
    if (row->name)
        fprintf(out, " -l %s", row->name);
    if (row->letter)
        fprintf(out, " -s %c", row->letter);
    if (row->argument)
        fputs(" -r", out);
    if (row->argument)
        fish_arguments(out, o, row->completes, row->words);
    fputs(" -d '", out);
    print_escaped(out, row->help, "'\\");
    fputs("'\n", out);
}

static void generate_fish(FILE *out, const struct options *o)
{
    fputs("# fish completion for collwire, made by collwire generate fish\n"
          "complete -c collwire -f\n",
          out);
    for (size_t i = 0; i < o->known->n; i++) {
        if (o->known->items[i]->hidden)
            continue;
        fprintf(out, "complete -c collwire -n __fish_use_subcommand -a %s -d '%s'\n",
                o->known->items[i]->name, o->known->items[i]->help);
        if (o->known->items[i]->completes == COMPLETE_NOTHING)
            continue;
        fprintf(out, "complete -c collwire -n '__fish_seen_subcommand_from %s'",
                o->known->items[i]->name);
        fish_arguments(out, o, o->known->items[i]->completes, NULL);
        fputc('\n', out);
    }
    for (size_t i = 0; i < n_option_rows; i++)
        fish_option(out, o, &option_rows[i]);
}

/* ---- the schema ---- */

static void generate_schema(FILE *out, const struct options *o)
{
    char *text = collwire_policies_schema(o->policies);
    fputs(text, out);
    fputc('\n', out);
    collwire_free(text);
}

/* ---- the command ---- */

static int command_generate(const struct options *o)
{
    static const struct {
        const char *name;
        void (*print)(FILE *out, const struct options *o);
    } kinds[] = {{"man", generate_man},
                 {"bash", generate_bash},
                 {"zsh", generate_zsh},
                 {"fish", generate_fish},
                 {"schema", generate_schema}};
    for (size_t i = 0; o->n_args == 1 && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(o->args[0], kinds[i].name) == 0) {
            kinds[i].print(stdout, o);
            return EXIT_DONE;
        }
    fputs("collwire: generate takes man, bash, zsh, fish or schema\n", stderr);
    return EXIT_BAD_USE;
}

/* ---- its row ---- */

static const char generate_text[] = "Prints the manual page, the completions for a shell (bash, "
                                    "zsh or fish), or the JSON Schema of scenarios, with the "
                                    "policies of --cc-plugin among them.";

const struct command generate_command = {
    .name = "generate",
    .help = "the manual page, completions and the schema",
    .args = "man|bash|zsh|fish|schema",
    .text = generate_text,
    .run = command_generate,
    .completes = COMPLETE_NOTHING,
    .hidden = true,
};
