/* NVML snapshots as JSON, for captures and display. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/json.h"
#include "probe/nvml.h"

/* Writes the members into the open object; unknown values are null. */
void jl_nvml_gpu_json(struct jl_json *json, const struct jl_nvml_gpu *gpu, bool with_names);
/* writes the peer-to-peer matrix as one value */
void jl_nvml_p2p_json(struct jl_json *json, const struct jl_nvml_snapshot *snapshot);
/* Writes the whole document. Without `with_names`, UUIDs are left out. */
void jl_nvml_write(struct jl_buf *out, const struct jl_nvml_snapshot *snapshot, bool with_names);
/* Refuses wrong types, sizes and unknown enum words; ignores unknown keys. */
enum jl_status jl_nvml_parse(struct jl_nvml_snapshot *ret_snapshot, const char *name, const char *text, size_t len,
			     struct jl_arena *arena, struct jl_err *err);
