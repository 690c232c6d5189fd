/* libjeoul: GPU systems weighed, for programs.
 *
 * Every figure comes with its unit, origin, source and date. Handles are opaque; strings belong to the handle and live until it is
 * closed, unless it says otherwise. The library neither prints nor exits. Interfaces are only ever added: JEOUL_API grows by one with each. */
#ifndef JEOUL_JEOUL_H
#define JEOUL_JEOUL_H

#ifdef __cplusplus
extern "C" {
#endif

#define JEOUL_API 3

enum jeoul_status {
	JEOUL_OK = 0,
	JEOUL_FAILED = 1,    /* data, files, memory */
	JEOUL_USAGE = 2,     /* a key or argument that does not exist */
	JEOUL_NOT_FOUND = 3, /* a name nobody knows: the text has the nearest ones */
	JEOUL_AMBIGUOUS = 4, /* a name that fits several: the text lists them */
	JEOUL_BAD = 5        /* jeoul_ask: answered, and the verdict of a check or audit is bad */
};

struct jeoul_error {
	enum jeoul_status status;
	char text[640]; /* what was wrong, where, what would be right */
};

struct jeoul; /* a catalog and the memory of everything that was asked of it */

const char *jeoul_version(void);

/* The built-in catalog, with the files of the NULL-terminated list of folders laid over it (or NULL for none). NULL on failure. */
struct jeoul *jeoul_open(const char *const *overlay_dirs, struct jeoul_error *error);
void jeoul_close(struct jeoul *jeoul); /* NULL is fine */

struct jeoul_fact {
	double value;       /* in `unit`, SI base units; NaN: unknown */
	const char *unit;   /* "B", "Bps", "flopps", "W", ... as in the key */
	const char *origin; /* "measured", "published", "listed", "estimated"; NULL: unknown */
	const char *source; /* id */
	const char *source_url;
	const char *date;
};

/* One figure of an accelerator: name as people write it ("rtx-3090", "H100 SXM5"), key as in the JSON ("mem_Bps", "bf16_dense_flopps"). */
enum jeoul_status jeoul_gpu_fact(struct jeoul *jeoul, const char *name, const char *key, struct jeoul_fact *ret_fact,
				 struct jeoul_error *error);

struct jeoul_system {
	const char *text; /* canonical form */
	int n_nodes;
	int n_per_node;
	const char *gpu;     /* id; NULL for a CPU-only host */
	const char *join;    /* id of how the devices of a host are joined; NULL: one device */
	const char *network; /* id; NULL: one host */
	struct jeoul_fact join_oneway_Bps;
	struct jeoul_fact network_oneway_Bps;
};

/* A system as people write it: "4x v100-dgxs-32gb via nvlink2-mesh", "125x aws:p5.48xlarge". */
enum jeoul_status jeoul_system_parse(struct jeoul *jeoul, const char *text, struct jeoul_system *ret_system,
				     struct jeoul_error *error);

/* Everything that the program answers: predict, plan, compare, fit, cost, check, serve, recommend, catalog list|search|show|prices, ...
 *
 *     jeoul_ask(jeoul, "predict", "{\"model\": \"llama-3-8b\", \"on\": \"8x h100-sxm5\", \"batch\": 4}", &answer, &error);
 *
 * The keys are the command's options ("global-batch" or "global_batch") and its argument ("model"); `jeoul help COMMAND` has them all, and
 * "files": {"config.json": "..."} holds the text of what arguments name. `command` NULL: the key "command" says it. The answer is, to the
 * byte, the JSON that the command prints with --json (or, with "as": "html", its document as a fragment of a page), ends with NUL, and is
 * given back with jeoul_free. Written only with JEOUL_OK and JEOUL_BAD. Any number of threads may ask one handle at a time; "lang": "ko"
 * asks for Korean in errors, pages and texts; JSON is English in every language (a document of "report" says its own). */
enum jeoul_status jeoul_ask(const struct jeoul *jeoul, const char *command, const char *request, char **ret_answer,
			    struct jeoul_error *error);
/* The same, and arguments may name these files and folders (NULL-terminated; the names as the request has them) of this machine: model
 * files that are no text, folders of a model. Nothing else is read by a name that the request has. Not for requests of strangers. */
enum jeoul_status jeoul_ask_reading(const struct jeoul *jeoul, const char *command, const char *request,
				    const char *const *paths, char **ret_answer, struct jeoul_error *error);
void jeoul_free(char *answer); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
