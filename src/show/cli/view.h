/* What the commands of the catalog share: facts as table rows and as JSON. */
#pragma once

#include "base/json.h"
#include "base/progress.h"
#include "base/table.h"
#include "cli/command.h"
#include "predict/fields.h"
#include "topics/show.h"

/* "label: text" broken at blanks to the width of the terminal; what follows the first line is indented by four more. */
void jl_view_wrapped(struct jl_cli *cli, size_t indent, const char *label, const char *text);

/* The rest of a line that has come to column `at`, broken at blanks; what follows the first line is indented by `indent`. */
void jl_view_flow(struct jl_cli *cli, size_t at, size_t indent, const char *text);

/* Cells of a row that is printed as soon as it is known: columns of fixed width (below 0: to the left), by what they take on a terminal. */
#define JL_LIVE(CLI, WIDTHS, ...) jl_view_live((CLI), (WIDTHS), JL_LEN(WIDTHS), (const char *const[]){ __VA_ARGS__ })
void jl_view_live(struct jl_cli *cli, const int *widths, size_t n, const char *const *texts);

/* A line on the terminal that says how far something is, where `on` and there is one; jl_progress_update goes on. */
void jl_view_progress(const struct jl_cli *cli, struct jl_progress *progress, const char *label, double total, bool on);

/* The same for one set of measurements after another: as jl_calibrate_in.progress and jl_validate_options.progress have it. */
struct jl_view_sets {
	const struct jl_cli *cli;
	struct jl_progress progress;
	const char *set;
};
void jl_view_set(void *ctx, const char *set, size_t done, size_t total);

/* A command's JSON: a struct by its table. */
enum jl_status jl_view_fields(struct jl_cli *cli, const struct jl_schema *schema, const void *record);
/* A command's page: begins a document, which a builder of `topics` fills. */
void jl_view_page(struct jl_cli *cli, struct jl_doc *ret_doc);
/* ... with what was assumed about the names that were written. */
enum jl_status jl_view_show(struct jl_cli *cli, struct jl_doc *doc, struct jl_err *err);
/* The end of a command: SHOW, a call that adds the answer to `doc`; WRITE, calls that write it to `json`; or, most often, JSON by its field
 * table where --json is given and SHOW elsewhere. */
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
/* Names of the command's own options, NULL at the end; NULL: out of memory. */
const char *const *jl_view_options(struct jl_cli *cli);

/* Reports the spool: records waiting for the server, sent just now, and refused with the reason. */
struct jl_store;
void jl_view_spool(struct jl_cli *cli, const struct jl_store *store);
/* Rows that were met and are no records: said, and exit 1. */
void jl_view_damaged(struct jl_cli *cli, const struct jl_store *store);

/* Escape sequences where the output is a terminal with colour, else "". */
const char *jl_view_bold(const struct jl_cli *cli);
const char *jl_view_dim(const struct jl_cli *cli);
const char *jl_view_reset(const struct jl_cli *cli);
