// SPDX-License-Identifier: MIT
// The page of a diagnosis: what was measured beside the healthy network and its first cause.
#include <string.h>

#include "report/page/page_internal.h"
#include "report/page/sheet.h"

int page_add_diagnosis(struct page *page, const json_t *diagnosis, const char *path,
                       struct err *err)
{
    static const char *const lists[] = {"causes", "values"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (!json_is_array(json_object_get(diagnosis, lists[i])))
            return err_add(err, path, "has no list \"%s\": it is no diagnosis", lists[i]);
    page_set(page->root, "diagnosis", json_deep_copy(diagnosis));
    return 0;
}

void sheet_diagnosis(struct sheet *s)
{
    const json_t *diagnosis = json_object_get(s->doc, "diagnosis"), *value;
    size_t i;
    json_array_foreach(json_object_get(diagnosis, "values"), i, value)
    {
        if (i == 0)
            fputs(s->chart->heading, s->out);
        sheet_row(s);
        sheet_values(s, value, s->chart->keys);
    }
}
