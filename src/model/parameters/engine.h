/* Serving engines: rows of catalog/engines.yaml, known by their place in the built-in table. The first stands for every other one. */
#pragma once

#include "catalog/catalog.h"
#include "timeline/serve.h"

#define JL_ENGINE_GENERAL 0
#define JL_ENGINES_MAX    48

int jl_n_engine(void);
/* A row with what it takes over from those it is `of`. */
const struct jl_engine_info *jl_engine_info(int engine);
const char *jl_engine_id(int engine);
int jl_engine_parent(int engine);              /* -1: the first has none */
bool jl_engine_is(int engine, const char *id); /* it, a version or a backend of it */
const struct jl_policy *jl_policy_of(int engine);

/* By a spelling, with or without a version: "vllm", "vLLM 0.6", "llama.cpp (May 2024)"; JL_ENGINE_GENERAL where it is not known. A source
 * that names no version ran what the table says of such (`undated`). */
int jl_engine_by_text(const char *text);
int jl_engine_of_source(const char *text, const char *version);
/* The engine's backend for a vendor's devices, where it differs. */
int jl_engine_on(int engine, const char *vendor);

/* Place among the engines whose operators were measured; -1: its were not. */
int jl_engine_operators(int engine);
int jl_engine_with_operators(int at);

/* As its kernels run a format: scales of 8-bit activations that are known, sums in 16 bit; files of llama.cpp keep beside narrow experts
 * all in 8 bit. */
void jl_engine_format(struct jl_serve_format *format, int engine);
