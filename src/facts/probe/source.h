/* Where the facts of a machine are read from: the running one, or one that was captured.
 *
 * Readers ask for files, folders and links of /sys and /proc by their absolute path and for what NVML says; they
 * cannot tell which kind of source answers. Whatever is asked is remembered, so that a capture holds exactly what a
 * replay will ask for. What a source tells lives in the arena that it was made with, also when the source is gone.
 *
 * A capture is a folder with two text files. machine.txt has one record for each thing that was there when it was asked
 * for; lines of content begin with a tab:
 *     jeoul capture 1
 *     file /proc/sys/kernel/osrelease
 *     <tab>6.1.0-18-amd64
 *     list /sys/class/net
 *     <tab>eth0
 *     link /sys/class/net/eth0/device ../../../0000:01:00.0
 *     end 3
 * and nvml.json. Paths are keys that are looked up, never opened, so a capture cannot lead anywhere else. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "probe/nvml.h"
#include "probe/records.h"

#define JL_SOURCE_FILE_MAX_B    ((size_t)4 << 20) /* of one file; longer ones are cut */
#define JL_SOURCE_RECORDS_MAX   65536
#define JL_SOURCE_LIST_MAX      8192
#define JL_SOURCE_CAPTURE_MAX_B ((size_t)64 << 20)

struct jl_probe_source;

/* The running machine. */
enum jl_status jl_source_live(struct jl_probe_source **ret_source, struct jl_arena *arena, struct jl_err *err);
/* A captured one: a folder with machine.txt and nvml.json (without the latter: no NVML). */
enum jl_status jl_source_replay(struct jl_probe_source **ret_source, const char *dir, struct jl_arena *arena,
				struct jl_err *err);
/* The same from memory; `name` is for messages. `nvml_json` may be NULL. */
enum jl_status jl_source_replay_text(struct jl_probe_source **ret_source, const char *name, const char *text,
				     size_t len, const char *nvml_json, size_t nvml_len, struct jl_arena *arena,
				     struct jl_err *err);
void jl_source_destroy(struct jl_probe_source *source);

/* The content at a path (printf format); NULL: it does not exist, or cannot be read. */
const char *jl_source_ask(struct jl_probe_source *source, enum jl_asked_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
#define jl_source_read(source, ...) jl_source_ask(source, JL_ANSWER_FILE, __VA_ARGS__) /* without the last line end */
#define jl_source_link(source, ...) jl_source_ask(source, JL_ANSWER_LINK, __VA_ARGS__) /* where a link points */
/* Names in a folder, sorted, one a line; "" for an empty one. */
#define jl_source_list(source, ...) jl_source_ask(source, JL_ANSWER_LIST, __VA_ARGS__)
/* A whole number in a file; else what is given. */
#define jl_source_whole(source, otherwise, ...) jl_text_whole(jl_source_read(source, __VA_ARGS__), otherwise)
/* What access control a PCI bridge imposes, as "0x001d": bits of its ACS control register. Needs root on the running
 * machine. A bridge without the capability has "none". */
const char *jl_source_acs(struct jl_probe_source *source, const char *device_path);

/* The NVML snapshot; its `absent_*` members say why values are missing. With `load`, each GPU copies for a moment while its link is read. Read
 * once, then kept. */
const struct jl_nvml_snapshot *jl_source_nvml(struct jl_probe_source *source, jl_link_load *load);

/* Set when something did not fit the limits or memory ran out. */
enum jl_status jl_source_failed(const struct jl_probe_source *source, struct jl_err *err);

/* Everything that was asked so far into `dir`, which is made if it is not there. Without `with_names`, host names,
 * serial numbers, hardware addresses, UUIDs and paths of containers are left out (jl_redact). */
enum jl_status jl_source_capture(struct jl_probe_source *source, const char *dir, bool with_names, struct jl_err *err);
