/* Output that the commands share: facts as table rows and as JSON. */
#pragma once

#include "base/json.h"
#include "base/progress.h"
#include "base/table.h"
#include "cli/command.h"
#include "predict/fields.h"
#include "topics/show.h"

/* Prints "label: text" wrapped at spaces to the terminal's width; further lines are indented by four more columns. */
void jl_view_wrapped(struct jl_cli *cli, size_t indent, const char *label, const char *text);

/* Prints text from column `at` on, wrapped at spaces; further lines are indented by `indent`. */
void jl_view_flow(struct jl_cli *cli, size_t at, size_t indent, const char *text);

/* Prints a row at once with fixed-width columns (width < 0: left-aligned), measured in terminal columns. */
#define JL_LIVE(CLI, WIDTHS, ...) jl_view_live((CLI), (WIDTHS), JL_LEN(WIDTHS), (const char *const[]){ __VA_ARGS__ })
void jl_view_live(struct jl_cli *cli, const int *widths, size_t n, const char *const *texts);

/* Starts a progress line if `on` and on a terminal; jl_progress_update continues it. */
void jl_view_progress(const struct jl_cli *cli, struct jl_progress *progress, const char *label, double total, bool on);

/* The same for several sets of measurements; for jl_calibrate_in.progress and jl_validate_options.progress. */
struct jl_view_sets {
	const struct jl_cli *cli;
	struct jl_progress progress;
	const char *set;
};
void jl_view_set(void *ctx, const char *set, size_t done, size_t total);

/* Writes a struct as the command's JSON by its field table. */
enum jl_status jl_view_fields(struct jl_cli *cli, const struct jl_schema *schema, const void *record);
/* Starts the command's document; builders of `topics` fill it. */
void jl_view_page(struct jl_cli *cli, struct jl_doc *ret_doc);
/* Prints it, with assumptions about ambiguous names. */
enum jl_status jl_view_show(struct jl_cli *cli, struct jl_doc *doc, struct jl_err *err);
/* Ends a command. SHOW: a call that adds the answer to `doc`. WRITE: calls that write it to `json`. JL_ANSWER chooses: JSON by the field table
 * with --json, otherwise SHOW. */
#define JL_PAGE(CLI, ERR, SHOW)                                                                                        \
	do {                                                                                                           \
		struct jl_doc doc;                                                                                     \
		jl_view_page((CLI), &doc);                                                                             \
		SHOW;                                                                                                  \
		return jl_view_show((CLI), &doc, (ERR));                                                               \
	} while (0)
#define JL_JSON(CLI, WRITE)                                                                                            \
	do {                                                                                                           \
		struct jl_json json;                                                                                   \
		jl_json_init(&json, &(CLI)->out, true);                                                                \
		WRITE;                                                                                                 \
		jl_json_finish(&json);                                                                                 \
		return JL_OK;                                                                                          \
	} while (0)
#define JL_ANSWER(CLI, ERR, FIELDS, RESULT, SHOW)                                                                      \
	do {                                                                                                           \
		if ((CLI)->json)                                                                                       \
			return jl_view_fields((CLI), (FIELDS), (RESULT));                                              \
		JL_PAGE((CLI), (ERR), SHOW);                                                                           \
	} while (0)
/* Names of the command's options, NULL-terminated; NULL: out of memory. */
const char *const *jl_view_options(struct jl_cli *cli);

/* Reports the spool: records waiting for the server, just sent, and refused with the reason. */
struct jl_store;
void jl_view_spool(struct jl_cli *cli, const struct jl_store *store);
/* Reports rows that are not valid records; sets exit code 1. */
void jl_view_damaged(struct jl_cli *cli, const struct jl_store *store);

/* Escape sequences on a colour terminal, otherwise "". */
const char *jl_view_bold(const struct jl_cli *cli);
const char *jl_view_dim(const struct jl_cli *cli);
const char *jl_view_reset(const struct jl_cli *cli);
