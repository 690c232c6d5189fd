/* Private to hf_*.c: the table of families. */
#pragma once

/* Letters of sizes in recipes: B batch, S sequence, T = B * S, N heads, K key heads, D head size, H hidden, F feed-forward, V vocabulary, E
 * experts, k experts per token, P positions. Flags, 0 or 1: b, q, o biases, h bias of the head, n norms of q and k, r keys are repeated, c logits
 * are capped. */
struct hf_family {
	const char *types; /* model_types, separated by blanks */
	const char *slots; /* "E embed|L layer …": recipes by letter that differ from Llama's */
	const char *flags; /* "b=1 d=1": variables */
};
extern const struct hf_family hf_families[];
extern const char *const hf_defaults; /* the recipes of Llama */
