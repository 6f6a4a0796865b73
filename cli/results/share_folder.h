// SPDX-License-Identifier: MIT
// Files that are installed beside the program, found by its place, so that an installation can be
// moved.
#pragma once

// The path of a file or folder, to be freed; NULL = it is not installed. It is looked for in
// $COLLWIRE_SHARE or, if that is not set, in share/collwire beside the program and beside its
// folder.
char *share_find(const char *name);

// The path of the running program, to be freed; NULL if the system does not say.
char *program_path(void);
