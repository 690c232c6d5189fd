/* jeoul predict MODEL --serve: a language model that answers requests instead of being trained. */
#pragma once

#include "cli/command.h"
#include "serving/serve.h"

#define JL_SERVING_OPTIONS                                                                                             \
	JL_O_FLAG("serve", JL_N("answer requests with the model instead of training it")),                             \
		JL_O_TEXT("requests", "N,N,...", JL_N("serve: requests at once (default: 1,8,32,128)"),                \
			  .with = "serve"),                                                                            \
		JL_O_COUNT("prompt", "TOKENS", 1, 100000000, JL_N("serve: tokens of a question (default: 1024)"),      \
			   .with = "serve", JL_TO(jl_serve_ask, prompt)),                                              \
		JL_O_COUNT("output", "TOKENS", 1, 100000000, JL_N("serve: tokens of an answer (default: 256)"),        \
			   .with = "serve", JL_TO(jl_serve_ask, output)),                                              \
		JL_O_TEXT("weights", "FORMAT",                                                                         \
			  JL_N("serve: bf16, fp16, fp8, fp4, int8, int4, awq, q4_k_m ... (default: bf16)"),            \
			  .with = "serve", JL_TO(jl_serve_ask, weights)),                                              \
		JL_O_TEXT("engine", "NAME",                                                                            \
			  JL_N("serve: vllm, sglang, trtllm, llama.cpp ... (default: none in particular)"),            \
			  .with = "serve")

struct jl_request;
enum jl_status jl_predict_serving(struct jl_cli *cli, const struct jl_request *req, struct jl_err *err);
