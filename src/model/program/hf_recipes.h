/* Inside the producer of transformers' code only: its table of families. */
#pragma once

/* Letters of a recipe's sizes: B batch, S sequence, T both, N heads, K heads of keys, D their width, H hidden, F feed-forward, V vocabulary, E experts,
 * k experts a token, P positions; 0 or 1: b, q, o biases, h: of the head; n: norms of q and k, r: keys are repeated, c: logits are capped. */
struct hf_family {
	const char *types; /* model_type, between blanks */
	const char *slots; /* "E embed|L layer …": recipes by letter where they are not Llama's */
	const char *flags; /* "b=1 d=1": variables */
};
extern const struct hf_family hf_families[];
extern const char *const hf_defaults; /* the same, of Llama */
