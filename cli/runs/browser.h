// SPDX-License-Identifier: MIT
// A headless browser that the system has, as a program that turns a local file into text or PDF.
#pragma once

// The browser in the variable COLLWIRE_BROWSER, else the first of Chromium's names in PATH; to be
// freed. NULL = there is none.
char *browser_find(void);

// The names that browser_find() tries, for messages.
extern const char browser_names[];

// Open the page in file `dir`/`page`, run its scripts, and write what then is in it as HTML to
// `dir`/`out`; or print it as PDF into that file. The browser's own files are below `dir`, and it
// reaches no network. Returns 0, or -1 after a message.
int browser_dump(const char *browser, const char *dir, const char *page, const char *out);
int browser_print(const char *browser, const char *dir, const char *page, const char *out);
