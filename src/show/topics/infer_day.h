/* A served model over a day, as part of jeoul serve's answer. */
#pragma once

#include "serve/day.h"
#include "topics/show.h"

void jl_show_day_lead(struct jl_doc *doc, const struct jl_day *day); /* the answer in a sentence */
void jl_show_day(struct jl_doc *doc, const struct jl_day *day);
