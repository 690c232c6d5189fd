/* Records as people read them: one row each, or a whole page; shared by `jeoul store` and `jeoul import`. */
#ifndef JL_CLI_STORE_VIEW_H
#define JL_CLI_STORE_VIEW_H

#include "base/table.h"
#include "cli/command.h"
#include "record/record.h"
#include "store/store.h"

#define JL_STORE_VIEW_TEXT_MAX 160

/* "algbw_Bps", 1.56e11 → "156 GB/s". */
const char *jl_store_view_value(char out[JL_STORE_VIEW_TEXT_MAX], const char *name, double value);
/* "256 MiB float, 8 ranks": what was measured, from the parameters. */
const char *jl_store_view_what(char out[JL_STORE_VIEW_TEXT_MAX], const struct jl_record *record);
/* The figure that is judged; empty where the record has none. */
const char *jl_store_view_result(char out[JL_STORE_VIEW_TEXT_MAX], const struct jl_record *record);
/* "2026-11-15 05:02", in the time zone of the person. */
const char *jl_store_view_time(char out[32], double time_s);

/* Everything that is known of it. */
enum jl_status jl_store_view_page(struct jl_cli *cli, const struct jl_record *record, struct jl_err *err);

/* "  ⚠ line 12: dropped: ..." */
void jl_store_view_remark(struct jl_buf *out, size_t line, const char *text);
const char *jl_store_view_dim(const struct jl_cli *cli);
const char *jl_store_view_reset(const struct jl_cli *cli);

/* What waits for the server, what was sent just now, what the server refuses and why. */
void jl_store_view_spool(struct jl_cli *cli, const struct jl_store *store);

#endif
