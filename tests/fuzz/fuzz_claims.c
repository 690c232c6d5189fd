/* Expressions of claims: whatever they are, a finite value whose interval holds it, or one clear line in both languages. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "notes/claims.h"

#define ARENA_MAX_B ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jl_expr_input inputs[] = { { .name = "n", .val = jl_val_number(8) },
					  { .name = "t", .val = jl_val_of(1.06, JL_K_TIME) } };
	char said[JL_CLAIM_SAY_MAX], *text = malloc(size + 1);
	struct jl_arena arena;
	struct jl_expr_scope reckon = {
		.cat = jl_catalog_embedded(), .arena = &arena, .inputs = inputs, .n_inputs = 2
	};
	struct jl_err err = { .en = "" };
	struct jl_val v;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	jl_arena_init(&arena, ARENA_MAX_B);
	if (jl_expr_eval(&v, &reckon, text, &err) == JL_OK) {
		must(isfinite(v.v) && v.lo <= v.hi);
	} else {
		must(err.en[0] && err.text[0] && !strchr(err.en, '\n') && !strchr(err.text, '\n'));
		must(jl_utf8_valid(err.en, strlen(err.en), NULL) && jl_utf8_valid(err.text, strlen(err.text), NULL));
	}
	must(strlen(jl_claim_say(said, text)) < JL_CLAIM_SAY_MAX);
	jl_arena_release(&arena);
	free(text);
	return 0;
}
