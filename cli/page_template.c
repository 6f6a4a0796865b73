// SPDX-License-Identifier: MIT
// Finds the template of reports by the place of the running program, so that an installation can be
// moved.
#include "cli/page_template.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/folder.h"
#include "engine/text.h"

#define TEMPLATE "report-template.html"

// The folder of the running program; "." if the system does not say.
static char *program_folder(void)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
    return text_format("%s", slash ? path : ".");
}

static char *read_in(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char *text = fd >= 0 ? folder_read(fd, TEMPLATE) : NULL;
    if (fd >= 0)
        close(fd);
    return text;
}

char *page_template(char **path, struct err *err)
{
    const char *named = getenv("COLLWIRE_SHARE");
    char *program = program_folder(), *text = NULL;
    char *folders[] = {text_format("%s", named ? named : ""),
                       text_format("%s/share/collwire", program),
                       text_format("%s/../share/collwire", program)};
    size_t first = named ? 0 : 1, n = named ? 1 : 3;
    for (size_t i = first; i < n && !text; i++)
        if ((text = read_in(folders[i])) != NULL)
            *path = text_format("%s/" TEMPLATE, folders[i]);
    if (!text)
        err_add(err, NULL, "no report.html: `make report-assets` first (it needs nodejs and npm)");
    free(program);
    for (size_t i = 0; i < 3; i++)
        free(folders[i]);
    return text;
}
