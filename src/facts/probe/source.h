/* Source of a machine's facts: the running machine, or a captured one.
 *
 * Readers query files, folders and links of /sys and /proc by absolute path, and the NVML snapshot; they cannot distinguish the sources. All
 * queries are recorded, so a capture contains exactly what a replay will query. Answers live in the arena given at creation, also after the source
 * is closed.
 *
 * A capture is a folder with two text files. machine.txt has one record per existing object queried; content lines begin with a tab:
 *     jeoul capture 1
 *     file /proc/sys/kernel/osrelease
 *     <tab>6.1.0-18-amd64
 *     list /sys/class/net
 *     <tab>eth0
 *     link /sys/class/net/eth0/device ../../../0000:01:00.0
 *     end 3
 * nvml.json has the NVML snapshot. Paths are keys for lookups and are never opened, so a capture cannot make a replay read other files. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "probe/nvml.h"
#include "probe/records.h"

#define JL_SOURCE_FILE_MAX_B    ((size_t)4 << 20) /* per file; longer ones are truncated */
#define JL_SOURCE_RECORDS_MAX   65536
#define JL_SOURCE_LIST_MAX      8192
#define JL_SOURCE_CAPTURE_MAX_B ((size_t)64 << 20)

struct jl_probe_source;

/* The running machine. */
enum jl_status jl_source_live(struct jl_probe_source **ret_source, struct jl_arena *arena, struct jl_err *err);
/* A captured machine: a folder with machine.txt and nvml.json (missing: no NVML). */
enum jl_status jl_source_replay(struct jl_probe_source **ret_source, const char *dir, struct jl_arena *arena,
				struct jl_err *err);
/* The same from memory; `name` is for messages. `nvml_json` may be NULL. */
enum jl_status jl_source_replay_text(struct jl_probe_source **ret_source, const char *name, const char *text,
				     size_t len, const char *nvml_json, size_t nvml_len, struct jl_arena *arena,
				     struct jl_err *err);
void jl_source_destroy(struct jl_probe_source *source);

/* Content at a path (printf format); NULL: missing or unreadable. */
const char *jl_source_ask(struct jl_probe_source *source, enum jl_asked_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
#define jl_source_read(source, ...) jl_source_ask(source, JL_ANSWER_FILE, __VA_ARGS__) /* without the last line end */
#define jl_source_link(source, ...) jl_source_ask(source, JL_ANSWER_LINK, __VA_ARGS__) /* target of a link */
/* Names in a folder, sorted, one per line; "": empty folder. */
#define jl_source_list(source, ...) jl_source_ask(source, JL_ANSWER_LIST, __VA_ARGS__)
/* Integer in a file; else `otherwise`. */
#define jl_source_whole(source, otherwise, ...) jl_text_whole(jl_source_read(source, __VA_ARGS__), otherwise)
/* ACS control register of a PCI bridge, as "0x001d"; "none": no ACS capability. Needs root on the running machine. */
const char *jl_source_acs(struct jl_probe_source *source, const char *device_path);

/* The NVML snapshot; its `absent_*` members give reasons for missing values. With `load`, each GPU copies briefly while its link is read. Read
 * once, then cached. */
const struct jl_nvml_snapshot *jl_source_nvml(struct jl_probe_source *source, jl_link_load *load);

/* Error if a limit was exceeded or memory ran out. */
enum jl_status jl_source_failed(const struct jl_probe_source *source, struct jl_err *err);

/* Writes everything queried so far to `dir`, which is created if missing. Without `with_names`, host names, serial numbers, hardware addresses,
 * UUIDs and container paths are removed (jl_redact). */
enum jl_status jl_source_capture(struct jl_probe_source *source, const char *dir, bool with_names, struct jl_err *err);
