/* Networks that are text: what they expand to, against the counts that model tables publish. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/csv.h"
#include "catalog/load.h"
#include "workload/convnet.h"
#include "workload/network.h"

#define MODELS_MAX 4096

struct seen {
	char name[JL_NET_NAME_MAX];
};

struct tally {
	struct seen *seen;
	size_t n_seen, n_known, n_equal;
};

static bool is_new(struct tally *t, const char *name)
{
	for (size_t i = 0; i < t->n_seen; i++)
		if (strcmp(t->seen[i].name, name) == 0)
			return false;
	assert_true(t->n_seen < MODELS_MAX);
	snprintf(t->seen[t->n_seen++].name, sizeof(t->seen->name), "%s", name);
	return true;
}

/* Tables print two digits behind the point; torch's own attention kernel is not seen by the counting tool, so that both counts are
 * published. */
static void compare(struct tally *t, const char *name, double params_m, double gmac, double macts)
{
	struct jl_arena arena;
	struct jl_convnet net;
	struct jl_err err = { 0 };

	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	const enum jl_status status = jl_convnet_load(&net, jl_catalog_embedded(), name, &arena, &err);

	if (status == JL_OK) {
		const struct jl_layers_total total = jl_layers_sum(net.ops, net.n_ops);
		const double core = total.mac_kind[JL_CONV_ATTENTION], tolerance = 0.01 * gmac + 0.005;
		const bool same_params = fabs(net.n_params / 1e6 - params_m) < 0.0051;
		const bool same_mac = fabs(total.mac / 1e9 - gmac) <= tolerance ||
				      fabs((total.mac - core) / 1e9 - gmac) <= tolerance;

		t->n_known++;
		if (same_params && same_mac)
			t->n_equal++;
		else if (getenv("JEOUL_SHOW"))
			print_message("%s: %.3f M (published %.2f), %.3f GMAC or %.3f (%.2f), %.2f Mact (%.2f)\n", name,
				      net.n_params / 1e6, params_m, total.mac / 1e9, (total.mac - core) / 1e9, gmac,
				      net.n_outputs / 1e6, macts);
	} else if (status != JL_E_NOTFOUND) {
		print_error("%s: %s\n", name, err.en);
		t->n_known++;
	}
	jl_arena_release(&arena);
}

static void test_published_counts(void **state)
{
	static const char *const files[] = { "vision_train", "vision_infer" };
	struct tally t = { .seen = calloc(MODELS_MAX, sizeof(*t.seen)) };

	(void)state;
	for (size_t f = 0; f < 2; f++) {
		char path[512], name[JL_NET_NAME_MAX];
		struct jl_csv csv;
		struct jl_buf text;
		struct jl_err err = { 0 };
		bool more;

		snprintf(path, sizeof(path), "%s/data/validation/%s.csv", JL_SOURCE_DIR, files[f]);
		assert_int_equal(jl_buf_read_file(&text, path, 16 << 20, &err), JL_OK);
		assert_int_equal(jl_csv_open(&csv, text.data, text.len, ',', files[f], &err), JL_OK);
		while (jl_csv_next(&csv, &more, &err) == JL_OK && more) {
			const char *gmac = jl_csv_text(&csv, jl_csv_find(&csv, "gmacs"));

			snprintf(name, sizeof(name), "%.100s@%.10s", jl_csv_text(&csv, jl_csv_find(&csv, "model")),
				 jl_csv_text(&csv, jl_csv_find(&csv, "img_size")));
			if (*gmac && is_new(&t, name))
				compare(&t, name, atof(jl_csv_text(&csv, jl_csv_find(&csv, "params_m"))), atof(gmac),
					atof(jl_csv_text(&csv, jl_csv_find(&csv, "macts"))));
		}
		jl_csv_release(&csv);
		jl_buf_release(&text);
	}
	print_message("%zu networks with published counts, %zu known by name, %zu equal\n", t.n_seen, t.n_known,
		      t.n_equal);
	assert_true(t.n_equal >= 60);
	free(t.seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
