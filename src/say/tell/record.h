/* Records as people read them: a page of one, rows of many, what became of them in a store. */
#pragma once

#include "record/record.h"
#include "store/store.h"
#include "tell/tell.h"

/* "2026-11-15 05:02", in the time zone of the person. */
const char *jl_record_time_text(char out[32], double time_s);

/* Everything that is known of it. */
void jl_tell_record(struct jl_doc *doc, const struct jl_record *record);

/* Rows of `jeoul store list` and of `jeoul import`: a table is opened, and each record is a row. */
void jl_tell_stored_table(struct jl_doc *doc);
void jl_tell_stored_row(struct jl_doc *doc, const struct jl_record *record);
void jl_tell_imported_table(struct jl_doc *doc);
void jl_tell_imported_row(struct jl_doc *doc, const struct jl_record *record);
