/* Shared by the importers. Private to src/facts/import. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "import/import.h"
#include "record/record.h"

struct jl_line {
	const char *text; /* without line end, colours and prefixes of mpirun or srun */
	size_t len;
	size_t number; /* line number, from 1 */
	bool torn;     /* the input ended within this line */
};

struct jl_importer;

/* One importer; rows in formats.c. The first importer that accepts a line gets it alone. */
struct jl_format {
	const char *name;
	size_t state_B; /* size of the importer's state, zeroed at the start */
	bool (*line)(struct jl_importer *imp, void *state, const struct jl_line *line);
	bool (*json)(struct jl_importer *imp, const json_t *root, size_t line);
	void (*end)(struct jl_importer *imp, void *state); /* end of input; also frees the state */
};

extern const struct jl_format *const jl_formats[]; /* NULL-terminated */
extern const struct jl_format jl_format_nccl, jl_format_nccl_json, jl_format_osu, jl_format_iperf3,
	jl_format_nvbandwidth, jl_format_nvbandwidth_json, jl_format_topo, jl_format_train, jl_format_trainer_json,
	jl_format_llama_factory, jl_format_fio;

const struct jl_import_options *jl_importer_options(const struct jl_importer *imp);
/* Reports a remark about a line; `dropped`: the line counts as not imported. */
void jl_importer_remark(struct jl_importer *imp, size_t line, bool dropped, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void jl_importer_fail(struct jl_importer *imp, enum jl_status status, const struct jl_err *err);
/* Reports that input of this format was found, even without a record. */
void jl_importer_seen(struct jl_importer *imp, const char *format);

/* Passes a step or a pause of a training run (import/runlog.h) to the sink. */
void jl_importer_step(struct jl_importer *imp, const struct jl_run_step *step);
void jl_importer_pause(struct jl_importer *imp, const struct jl_run_pause *pause);

void jl_importer_emit(struct jl_importer *imp, const struct jl_draft *draft);

/* Statistics of n > 0 samples; sorts them. Kept apart from jl_stats_of, because a record's id is a hash of its values: importing a log again must
 * give the same ids. */
struct jl_stats jl_summarize(double *samples, size_t n);

struct jl_number {
	double value;
	double half; /* rounding error: half a unit of the last digit */
};

/* Plain number at *at (digits, fraction, exponent; no sign, inf or nan); advances *at. */
bool jl_scan_number(const char **at, struct jl_number *ret_number);
/* jl_scan_number for a whole token. */
bool jl_scan_token(const char *token, struct jl_number *ret_number);
bool jl_scan_whole(const char *token, double *ret_value); /* digits only, at most 15 */
/* Number after `key` (and blanks) in `text`, followed by a blank, comma, bar, brace, or the end of a complete line. */
bool jl_scan_after(const struct jl_line *line, const char *key, struct jl_number *ret_number);

/* Splits at blanks and tabs, in place. Returns the number; max + 1: more than max. */
size_t jl_scan_split(char *text, char **ret_tokens, size_t max);

/* Number in a JSON object, possibly written as a string; NAN: none. */
double jl_scan_json(const json_t *object, const char *key);

/* Finds the end of a JSON document byte by byte without storing it, and rejects other text early. */
#define JL_JSON_SCAN_DEPTH_MAX 512

enum jl_json_state { JL_JSON_MORE, JL_JSON_DONE, JL_JSON_BAD };

struct jl_json_scan {
	size_t depth;
	bool in_string, escaped;
	bool started; /* something follows the first brace */
};

enum jl_json_state jl_json_scan(struct jl_json_scan *scan, char c);
