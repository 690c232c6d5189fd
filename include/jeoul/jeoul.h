/* libjeoul: evaluates GPU systems, for use by programs.
 *
 * Every value has a unit, origin, source and date. Handles are opaque. Strings belong to the handle and are valid until it is closed, unless
 * stated otherwise. The library neither prints nor exits. Interfaces are only added, never changed; JEOUL_API is incremented with each addition. */
#ifndef JEOUL_JEOUL_H
#define JEOUL_JEOUL_H

#ifdef __cplusplus
extern "C" {
#endif

#define JEOUL_API 3

enum jeoul_status {
	JEOUL_OK = 0,
	JEOUL_FAILED = 1,    /* error in data or files, or out of memory */
	JEOUL_USAGE = 2,     /* unknown key or argument */
	JEOUL_NOT_FOUND = 3, /* unknown name; the text suggests similar ones */
	JEOUL_AMBIGUOUS = 4, /* ambiguous name; the text lists the candidates */
	JEOUL_BAD = 5        /* jeoul_ask: success, but a check's or audit's verdict is bad */
};

struct jeoul_error {
	enum jeoul_status status;
	char text[640]; /* what is wrong, where, and what would be right */
};

struct jeoul; /* a catalog, and the memory of all results */

const char *jeoul_version(void);

/* Opens the built-in catalog with overlay folders (NULL-terminated list, or NULL for none). Returns NULL on failure. */
struct jeoul *jeoul_open(const char *const *overlay_dirs, struct jeoul_error *error);
void jeoul_close(struct jeoul *jeoul); /* accepts NULL */

struct jeoul_fact {
	double value;       /* in `unit`, an SI base unit; NaN: unknown */
	const char *unit;   /* "B", "Bps", "flopps", "W", ...; the suffix of the key */
	const char *origin; /* "measured", "published", "listed", "estimated"; NULL: unknown */
	const char *source; /* id of the source */
	const char *source_url;
	const char *date;
};

/* Looks up a fact of an accelerator. `name`: any usual spelling ("rtx-3090", "H100 SXM5"). `key`: as in the JSON ("mem_Bps",
 * "bf16_dense_flopps"). */
enum jeoul_status jeoul_gpu_fact(struct jeoul *jeoul, const char *name, const char *key, struct jeoul_fact *ret_fact,
				 struct jeoul_error *error);

struct jeoul_system {
	const char *text; /* canonical expression */
	int n_nodes;
	int n_per_node;
	const char *gpu;     /* id; NULL: CPU only */
	const char *join;    /* id of the interconnect within a host; NULL: one device */
	const char *network; /* id; NULL: one host */
	struct jeoul_fact join_oneway_Bps;
	struct jeoul_fact network_oneway_Bps;
};

/* Parses a system expression, e.g. "4x v100-dgxs-32gb via nvlink2-mesh", "125x aws:p5.48xlarge". */
enum jeoul_status jeoul_system_parse(struct jeoul *jeoul, const char *text, struct jeoul_system *ret_system,
				     struct jeoul_error *error);

/* Runs a command that answers a question: predict, plan, compare, fit, cost, check, serve, recommend, catalog list|search|show|prices, ...
 *
 *     jeoul_ask(jeoul, "predict", "{\"model\": \"llama-3-8b\", \"on\": \"8x h100-sxm5\", \"batch\": 4}", &answer, &error);
 *
 * The request's keys are the command's options ("global-batch" or "global_batch") and its operand ("model"), as listed by `jeoul help COMMAND`.
 * "files": {"config.json": "..."} holds the text of files that arguments refer to. `command` NULL: taken from the key "command". The answer
 * equals the command's --json output byte for byte (with "as": "html" its document as an HTML fragment), is NUL-terminated and must be freed
 * with jeoul_free. It is set only on JEOUL_OK and JEOUL_BAD. Thread-safe: one handle may be shared. "lang": "ko" selects Korean for errors,
 * pages and texts; JSON is always English (a document of "report" states its own language). */
enum jeoul_status jeoul_ask(const struct jeoul *jeoul, const char *command, const char *request, char **ret_answer,
			    struct jeoul_error *error);
/* The same, but arguments may refer to these files and folders of this machine (NULL-terminated list; names as in the request): binary model
 * files, model folders. No other file named in the request is read. Not for untrusted requests. */
enum jeoul_status jeoul_ask_reading(const struct jeoul *jeoul, const char *command, const char *request,
				    const char *const *paths, char **ret_answer, struct jeoul_error *error);
void jeoul_free(char *answer); /* accepts NULL */

#ifdef __cplusplus
}
#endif

#endif
