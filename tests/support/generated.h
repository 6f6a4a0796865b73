// SPDX-License-Identifier: MIT
// Files of the repository that are written from tables. Such a test shows that a file is current, not
// that what it says is right.
#pragma once

// The file's text is `text`, else the test fails. With REGEN=1 in the environment (`make regen`) the
// file is written anew first.
void assert_generated(const char *path, const char *text);
