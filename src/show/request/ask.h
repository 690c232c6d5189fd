/* A request in JSON, answered in this process by the command that it names: behind libjeoul and behind the page.
 *
 *     {"command": "predict", "model": "llama-3-8b", "on": "8x h100-sxm5", "batch": 4, "near": true}
 *
 * Keys are the command's options as its table has them ('_' may stand for '-'), the key of its operands (struct jl_askable), and
 *     "as"     "json" (default): the command's own JSON; "html": its document as a fragment of a page; "text"
 *     "files"  {"name": "text"}: files that arguments name. Nothing else is read by name but `paths`, nothing is written.
 * Any thread may ask at any time: an answer depends on nothing but the request, the catalog, the day and, where it says `this` or asks
 * for the store, this machine. */
#pragma once

#include "request/command.h"
#include "base/budget.h"

#define JL_ASK_REQUEST_MAX_B ((size_t)8 << 20)
#define JL_ASK_ANSWER_MAX_B  ((size_t)64 << 20)
#define JL_ASK_FILES_MAX     64

struct jl_ask_cache;

struct jl_ask {
	const struct jl_front *front;
	const struct jl_catalog *cat; /* NULL: loaded for each request, with the person's own files */
	long today;                   /* days since 1970-01-01 */
	struct jl_ask_cache *cache;   /* ask/cache.h; NULL: none */
	const char *const *paths; /* files and folders of this machine that may be read by these names; NULL: none */
	/* What it may spend (base/budget.h); a search ends before with the best so far. 0, NULL: no limit. */
	unsigned long long steps_max, bytes_max;
	double limit_s;
	bool (*cancelled)(void *ctx);
	void *cancelled_ctx;
};

enum jl_form { JL_FORM_JSON, JL_FORM_PAGE, JL_FORM_TEXT };

struct jl_answer {
	int code; /* as the command's exit code: 0 fine, 1 failed, 2 the request is wrong, 3 a verdict is bad */
	enum jl_budget_end end; /* code 1: the budget was spent */
	enum jl_form form;
	bool lasting;                     /* asked again on the same day, the answer is the same */
	struct jl_err err;                /* codes 1 and 2 */
	struct jl_buf out;                /* codes 0 and 3 */
	struct jl_buf warn;               /* lines that the command would write to standard error */
	const struct jl_command *command; /* NULL: none was found */
};

/* `command`: where the address says it already ("predict"); NULL: the request does. */
void jl_ask(struct jl_answer *ret_answer, const struct jl_ask *ask, const char *command, const char *request,
	    size_t len);
/* The same from the cache alone; false: it is not there, and `ret_answer` is empty. */
bool jl_ask_recall(struct jl_answer *ret_answer, const struct jl_ask *ask, const char *command, const char *request,
		   size_t len);
/* Keeps an answer that lasts; jl_ask does so by itself. */
void jl_ask_keep(const struct jl_answer *answer, const struct jl_ask *ask, const char *command, const char *request,
		 size_t len);
void jl_answer_release(struct jl_answer *answer);

/* NULL: may not be asked. */
const struct jl_askable *jl_ask_find(const struct jl_front *front, const char *name,
				     const struct jl_command **ret_command);
/* True where a request may contain the option, if it may name the command. */
bool jl_ask_option(const struct jl_option *option);

/* Of a page: what was printed as plain text since the last fragment becomes one itself. */
void jl_ask_page(struct jl_cli *cli);

/* OpenAPI 3.1 of everything that may be asked, from the same tables. */
void jl_ask_openapi(struct jl_buf *out, const struct jl_front *front, const char *version);
