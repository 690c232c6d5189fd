/* Serving engines: rows of catalog/engines.yaml, identified by their index in the built-in table. Row 0 is the default for all others. */
#pragma once

#include "catalog/catalog.h"
#include "timeline/serve.h"

#define JL_ENGINE_GENERAL 0
#define JL_ENGINES_MAX    48

int jl_n_engine(void);
/* A row, including what it inherits by `of`. */
const struct jl_engine_info *jl_engine_info(int engine);
const char *jl_engine_id(int engine);
int jl_engine_parent(int engine);              /* -1: row 0 has no parent */
bool jl_engine_is(int engine, const char *id); /* true for the engine itself, its versions and its backends */
const struct jl_policy *jl_policy_of(int engine);

/* Finds an engine by a spelling with or without a version: "vllm", "vLLM 0.6", "llama.cpp (May 2024)"; JL_ENGINE_GENERAL: unknown. Without a
 * version, the row's `undated` version applies. */
int jl_engine_by_text(const char *text);
int jl_engine_of_source(const char *text, const char *version);
/* The engine's backend for a vendor's devices, if it has one. */
int jl_engine_on(int engine, const char *vendor);

/* Index among the engines with measured operators; -1: not measured. */
int jl_engine_operators(int engine);
int jl_engine_with_operators(int at);

/* Adapts a format to the engine's kernels: static scales of 8-bit activations, sums in 16 bit; llama.cpp files with narrow experts store everything
 * else in 8 bit. */
void jl_engine_format(struct jl_serve_format *format, int engine);
