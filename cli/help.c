// SPDX-License-Identifier: MIT
// collwire help: the list of commands, and a page for each.
#include "cli/help.h"

#include <stdlib.h>
#include <string.h>

#include "cli/options/option_table.h"
#include "cli/terminal/terminal.h"
#include "engine/base/text.h"

const char help_question[] = "What does this congestion control policy do to my training job?";

const char help_notes[] =
    "A SCENARIO is a JSON file, or - for stdin. Results are in out/NAME unless --out names "
    "another directory.\n\n"
    "Exit codes: 0 completed, 1 ran but did not complete, 2 bad usage or scenario, 130 "
    "interrupted.";

enum { COMMAND_COLUMN = 13, OPTION_COLUMN = 24 };

// "--out DIR", "-h, --help"; to be freed.
static char *option_text(const struct option_row *row)
{
    char letter[8] = "";
    if (row->letter)
        snprintf(letter, sizeof letter, "-%c%s", row->letter, row->name ? ", " : "");
    return text_format("%s%s%s%s%s", letter, row->name ? "--" : "", row->name ? row->name : "",
                       row->argument ? " " : "", row->argument ? row->argument : "");
}

static void option_print(FILE *out, const struct option_row *row, size_t width)
{
    char *left = option_text(row);
    terminal_entry(out, left, row->help, OPTION_COLUMN, width);
    free(left);
}

void help_overview(const struct commands *commands, FILE *out)
{
    size_t width = terminal_width(out);
    fprintf(out, "collwire: %s\n\nusage: collwire COMMAND [ARGUMENTS] [OPTIONS]\n\n",
            help_question);
    for (size_t i = 0; i < commands->n; i++)
        if (!commands->items[i]->hidden)
            terminal_entry(out, commands->items[i]->name, commands->items[i]->help, COMMAND_COLUMN,
                           width);
    fputs("\ncollwire COMMAND --help prints the page of a command.\n\n", out);
    terminal_paragraphs(out, help_notes, width);
}

void help_page(FILE *out, const struct command *command)
{
    size_t width = terminal_width(out);
    fprintf(out, "collwire %s: %s\n\n", command->name, command->help);
    char *usage = text_format("collwire %s %s [OPTIONS]", command->name, command->args);
    fputs("usage: ", out);
    terminal_wrap(out, usage, 7, 11, width);
    free(usage);
    if (command->text[0] != '\0') {
        fputc('\n', out);
        terminal_paragraphs(out, command->text, width);
    }
    fputs("\nOptions:\n", out);
    for (size_t i = 0; i < n_option_rows; i++)
        if (option_fits(&option_rows[i], command->name) && strcmp(command->name, "help") != 0)
            option_print(out, &option_rows[i], width);
}

static int command_help(const struct options *o)
{
    if (o->n_args == 0) {
        help_overview(o->known, stdout);
        return EXIT_DONE;
    }
    if (o->n_args > 1) {
        fputs("collwire: help takes one command; see collwire --help\n", stderr);
        return EXIT_BAD_USE;
    }
    const struct command *command = command_named(o->known, o->args[0]);
    if (!command)
        return EXIT_BAD_USE;
    help_page(stdout, command);
    return EXIT_DONE;
}

/* ---- its row ---- */

const struct command help_command = {
    .name = "help",
    .help = "the page of a command",
    .args = "[COMMAND]",
    .text = "",
    .run = command_help,
    .completes = COMPLETE_COMMANDS,
};
