// SPDX-License-Identifier: MIT
// Reads the template of reports, which is installed beside the program.
#include "cli/results/page_template.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/results/folder.h"
#include "cli/results/share_folder.h"
#include "engine/base/text.h"

#define TEMPLATE "report-template.html"

static char *read_file(const char *path)
{
    char *folder = text_format("%s", path);
    *strrchr(folder, '/') = '\0';
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char *text = fd >= 0 ? folder_read(fd, TEMPLATE) : NULL;
    if (fd >= 0)
        close(fd);
    free(folder);
    return text;
}

char *page_template(char **path, struct err *err)
{
    char *found = share_find(TEMPLATE), *text = found ? read_file(found) : NULL;
    if (text) {
        *path = found;
        return text;
    }
    free(found);
    err_add(err, NULL,
            "no report.html: share/collwire/" TEMPLATE
            " is missing beside the program; link to the "
            "program in place of copying it, or name the folder in COLLWIRE_SHARE");
    return NULL;
}
