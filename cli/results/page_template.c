// SPDX-License-Identifier: MIT
// Reads the files of charts, which are installed beside the program.
#include "cli/results/page_template.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/results/folder.h"
#include "cli/results/share_folder.h"
#include "engine/base/text.h"

static char *read_file(const char *path)
{
    char *folder = text_format("%s", path), *name = strrchr(folder, '/');
    *name++ = '\0';
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char *text = fd >= 0 ? folder_read(fd, name) : NULL;
    if (fd >= 0)
        close(fd);
    free(folder);
    return text;
}

// The text of a file of share/collwire; `lacking` is what there is not without it.
static char *share_read(const char *name, const char *lacking, char **path, struct err *err)
{
    char *found = share_find(name), *text = found ? read_file(found) : NULL;
    if (text) {
        *path = found;
        return text;
    }
    free(found);
    err_add(err, NULL,
            "%s: share/collwire/%s is missing beside the program; link to the program in place of "
            "copying it, or name the folder in COLLWIRE_SHARE",
            lacking, name);
    return NULL;
}

char *page_template(char **path, struct err *err)
{
    return share_read("report-template.html", "no report.html", path, err);
}

char *plot_program(struct err *err)
{
    char *path = NULL, *text = share_read("report-plot.js", "no picture", &path, err);
    free(path);
    return text;
}
