// SPDX-License-Identifier: MIT
// Files of the repository that are generated from tables. Such a test shows that a file is current,
// not that its content is correct.
#pragma once

// Fail the test unless the file contains `text`. With REGEN=1 in the environment (`make regen`) the
// file is first written.
void assert_generated(const char *path, const char *text);
