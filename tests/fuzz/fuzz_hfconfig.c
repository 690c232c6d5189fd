/* config.json: whatever is read is a possible shape with finite counts that can be priced; whatever is not has a
 * message in both languages, one line each. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "program/modelfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

static void check_model(const struct jl_transformer *m)
{
	const struct jl_shard shard = { .micro_batch = 1,
					.seq = 128,
					.tp = 1,
					.cp = 1,
					.ep = 1,
					.flash = 1,
					.dtype = JL_BF16,
					.act_dtype = JL_BF16 };
	const struct jl_transformer_params p = jl_transformer_params(m);
	struct jl_op_list list;

	must(jl_transformer_check(m, NULL) == JL_OK);
	must(isfinite(p.total) && p.total >= 1 && p.active <= p.total && isfinite(jl_transformer_fwd_flop(m, 128, 1)));
	for (int k = 0; k < JL_N_BLOCK; k++) {
		if (k == JL_BLOCK_MOE && !(m->moe.n_experts > 0))
			continue;
		jl_transformer_ops(m, &shard, (enum jl_block_kind)k, &list);
		must(list.n_op < JL_MAX_OPS);
		for (size_t i = 0; i < list.n_op; i++)
			must(isfinite(list.op[i].saved_B) && list.op[i].saved_B >= 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jl_hfconfig config;
	struct jl_arena arena;
	struct jl_err err = { 0 };

	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	if (jl_hfconfig_parse(&config, (const char *)data, size, "config.json", &arena, &err) == JL_OK) {
		check_model(&config.model);
		must(config.type && (isnan(config.seq) || config.seq >= 1));
	} else {
		must(err.status != JL_OK && err.en[0] && err.text[0]);
		must(!strchr(err.en, '\n') && !strchr(err.text, '\n'));
		must(jl_utf8_valid(err.en, strlen(err.en), NULL) && jl_utf8_valid(err.text, strlen(err.text), NULL));
	}
	jl_arena_release(&arena);
	return 0;
}
