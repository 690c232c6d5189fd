/* Overlays: given keys replace, others stay, new records are added. */
#include "files.h"

#include <math.h>

#include "base/mem.h"
#include "catalog/find.h"
#include "catalog/load.h"

struct world {
	char base_dir[64], dir[64];
	struct jl_arena arena;
	const struct jl_catalog *base;
	struct jl_err err;
};

static void world_make(struct world *world)
{
	const char *dirs[] = { world->base_dir };

	*world = (struct world){ .base = NULL };
	folder_make(world->base_dir);
	folder_make(world->dir);
	folder_fill(world->base_dir, NULL, NULL);
	jl_arena_init(&world->arena, JL_ARENA_LIMIT_B);
	if (jl_catalog_read(&world->base, NULL, dirs, 1, &world->arena, NULL, &world->err))
		fail_msg("%s", world->err.en);
}

static void world_end(struct world *world)
{
	folder_remove(world->base_dir);
	folder_remove(world->dir);
	jl_arena_release(&world->arena);
}

static enum jl_status lay(struct world *world, const struct jl_catalog **ret_cat)
{
	const char *dirs[] = { world->dir };

	return jl_catalog_read(ret_cat, world->base, dirs, 1, &world->arena, NULL, &world->err);
}

static void put(struct world *world, const char *name, const char *text)
{
	folder_put(world->dir, name, text, strlen(text));
}

static void test_amend(void **state)
{
	struct world world;
	const struct jl_catalog *cat = NULL;
	const struct jl_gpu *gpu, *was;

	(void)state;
	world_make(&world);
	put(&world, "mine.yaml",
	    "gpus:\n"
	    "  - id: h100-sxm5\n"
	    "    source: our-rack\n"
	    "    tdp: 600 W\n"
	    "    note: capped by us\n");
	put(&world, "sources.yaml",
	    "sources:\n"
	    "  - id: our-rack\n"
	    "    title: Our own rack\n"
	    "    date: 2026-10-01\n"
	    "    origin: measured\n");
	if (lay(&world, &cat))
		fail_msg("%s", world.err.en);
	assert_int_equal(cat->n_gpus, 1);
	assert_int_equal(cat->n_sources, 3);
	gpu = &cat->gpus[0];
	was = &world.base->gpus[0];
	assert_true(gpu->tdp_W.value == 600);
	assert_string_equal(gpu->tdp_W.source, "our-rack");
	assert_string_equal(gpu->tdp_W.date, "2026-10-01");
	assert_int_equal(gpu->tdp_W.origin, JL_MEASURED);
	assert_string_equal(gpu->note, "capped by us");
	assert_string_equal(gpu->name, "H100 SXM5 80GB");
	assert_true(gpu->mem_Bps.value == 3350e9);
	assert_string_equal(gpu->mem_Bps.source, "maker-sheet");
	assert_string_equal(gpu->mem_Bps.date, "2024-03");
	assert_true(was->tdp_W.value == 700); /* the base is unchanged */
	assert_null(was->note);
	assert_ptr_equal(cat->n_links ? cat->links[0].id : NULL, world.base->links[0].id);
	world_end(&world);
}

static void test_amend_needs_source(void **state)
{
	struct world world;
	const struct jl_catalog *cat = NULL;
	char where[128];

	(void)state;
	world_make(&world);
	put(&world, "mine.yaml", "gpus:\n  - id: h100-sxm5\n    tdp: 600 W\n");
	assert_int_equal(lay(&world, &cat), JL_E_DATA);
	snprintf(where, sizeof(where), "%s/mine.yaml:3:10: gpu h100-sxm5: tdp: no source", world.dir);
	assert_non_null(strstr(world.err.en, where));
	put(&world, "mine.yaml", "gpus:\n  - id: h100-sxm5\n    tdp: 600 W @somebody measured (capped)\n");
	if (lay(&world, &cat))
		fail_msg("%s", world.err.en);
	assert_int_equal(cat->gpus[0].tdp_W.origin, JL_MEASURED);
	world_end(&world);
}

static void test_add(void **state)
{
	struct world world;
	const struct jl_catalog *cat = NULL;
	const struct jl_catalog *again = NULL;
	const char *dirs[2];

	(void)state;
	world_make(&world);
	put(&world, "more.yaml",
	    "gpus:\n"
	    "  - id: x200\n"
	    "    name: X200\n"
	    "    vendor: NVIDIA\n"
	    "    family: hopper\n"
	    "    source: somebody\n"
	    "    mem: 99 GB\n");
	put(&world, "sub/prices.csv",
	    "kind,provider,item,gpu,gpu_count,vcpu,ram_gb,region,on_demand_usd_h,spot_usd_h_min,"
	    "spot_usd_h_median,price_usd,price_basis,as_of,source_url,notes\n"
	    "gpu,us,box,X200,1,,,,,,,1234,bought,2026-09,https://example.org,\n");
	put(&world, "tariffs.yaml",
	    "tariffs:\n"
	    "  - {id: kr-home, name: home, region: Korea, component: energy, value: 200 KRW/kWh, source: somebody}\n"
	    "  - {id: home2, name: other, region: Korea, component: energy, value: 100 KRW/kWh, source: somebody}\n");
	put(&world, "README", "not a catalog file\n");
	if (lay(&world, &cat))
		fail_msg("%s", world.err.en);
	assert_int_equal(cat->n_gpus, 2);
	assert_string_equal(cat->gpus[1].id, "x200");
	assert_string_equal(cat->gpus[1].date, "2025-06-01"); /* default date from its source */
	assert_int_equal(cat->n_prices, 3);
	assert_true(cat->prices[2].price_usd == 1234);
	assert_string_equal(cat->prices[2].gpu, "x200");
	assert_int_equal(cat->n_tariffs, 2); /* the group kr-home is replaced as a whole */
	assert_string_equal(cat->tariffs[0].value, "200 KRW/kWh");
	assert_string_equal(cat->tariffs[1].id, "home2");
	/* the same folder twice: the second pass amends the records of the first */
	dirs[0] = dirs[1] = world.dir;
	if (jl_catalog_read(&again, world.base, dirs, 2, &world.arena, NULL, &world.err))
		fail_msg("%s", world.err.en);
	assert_int_equal(again->n_gpus, 2);
	world_end(&world);
}

static void test_wrong_overlay(void **state)
{
	struct world world;
	const struct jl_catalog *cat = NULL;
	char where[320];

	(void)state;
	world_make(&world);
	put(&world, "mine.yaml", "gpus:\n  - id: h100-sxm5\n    bf16_dense: 1979 TFLOP/s @somebody\n");
	assert_int_equal(lay(&world, &cat), JL_E_DATA);
	snprintf(where, sizeof(where),
		 "%s/mine.yaml:3:17: gpu h100-sxm5: bf16_dense: 1.979 PFLOP/s looks like the sparse", world.dir);
	if (!strstr(world.err.en, where))
		fail_msg("wanted '%s', got '%s'", where, world.err.en);
	put(&world, "mine.yaml", "gpus:\n  - id: h100-sxm5\n    family: nothing\n");
	put(&world, "other.yaml", "gpus:\n  - id: h100-sxm5\n    note: again\n");
	assert_int_not_equal(lay(&world, &cat), JL_OK);
	snprintf(where, sizeof(where),
		 "%s/other.yaml:2:9: duplicate id 'h100-sxm5': the first one is at %s/mine.yaml:2:9", world.dir,
		 world.dir);
	if (!strstr(world.err.en, where))
		fail_msg("wanted '%s', got '%s'", where, world.err.en);
	world_end(&world);
}

/* Over the built-in catalog. */
static void test_over_embedded(void **state)
{
	struct world world;
	const struct jl_catalog *cat = NULL;
	const struct jl_catalog *embedded = jl_catalog_embedded();
	const char *dirs[] = { world.dir };
	const char *missing[] = { "/nonexistent/catalog" };
	char text[256];

	(void)state;
	world_make(&world);
	assert_int_equal(jl_catalog_overlay(&cat, NULL, 0, &world.arena, &world.err), JL_OK);
	assert_ptr_equal(cat, embedded);
	snprintf(text, sizeof(text), "gpus:\n  - id: %s\n    tdp: 123 W @%s\n", embedded->gpus[0].id,
		 embedded->sources[0].id);
	put(&world, "mine.yaml", text);
	if (jl_catalog_overlay(&cat, dirs, 1, &world.arena, &world.err))
		fail_msg("%s", world.err.en);
	assert_int_equal(cat->n_gpus, embedded->n_gpus);
	assert_int_equal(cat->n_prices, embedded->n_prices);
	assert_true(cat->gpus[0].tdp_W.value == 123);
	assert_int_equal(jl_catalog_overlay(&cat, missing, 1, &world.arena, &world.err), JL_E_NOTFOUND);
	assert_non_null(strstr(world.err.en, "/nonexistent/catalog: "));
	world_end(&world);
}

static void test_starved(void **state)
{
	struct world world;
	enum jl_status status = JL_E_NOMEM;
	size_t nth;

	(void)state;
	world_make(&world);
	put(&world, "mine.yaml", "gpus:\n  - id: h100-sxm5\n    tdp: 600 W @somebody\n    aliases: [a, b]\n");
	put(&world, "wrong.yaml", "gpus:\n  - id: other\n    tdp: 600\n");
	for (nth = 1; status == JL_E_NOMEM && nth < 10000; nth++) {
		struct jl_arena arena;
		const struct jl_catalog *cat = NULL;
		const char *dirs[] = { world.dir };

		jl_arena_init(&arena, JL_ARENA_LIMIT_B);
		jl_mem_fail_from(nth);
		status = jl_catalog_read(&cat, world.base, dirs, 1, &arena, NULL, &world.err);
		jl_mem_fail_from(0);
		jl_arena_release(&arena);
	}
	assert_int_equal(status, JL_E_UNIT);
	world_end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_amend),         cmocka_unit_test(test_amend_needs_source),
		cmocka_unit_test(test_add),           cmocka_unit_test(test_wrong_overlay),
		cmocka_unit_test(test_over_embedded), cmocka_unit_test(test_starved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
