// SPDX-License-Identifier: MIT
#pragma once

// The destination of captures.
struct capture_output {
    const char *folder;  // of the files; NULL = another process writes them
    const char *shown;   // the folder in messages
    const char *program; // name and version of this program, for the files
};
