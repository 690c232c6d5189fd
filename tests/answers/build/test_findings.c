#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "build/findings.h"

static struct jl_arena arena;

static int set_up(void **state)
{
	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	jl_arena_release(&arena);
	return 0;
}

static void check_file(struct jl_part_findings *found, const char *name)
{
	const struct jl_yaml *root;
	struct jl_rig rig;
	struct jl_err err;

	if (jl_yaml_read_file(&root, name, &arena, &err) ||
	    jl_rig_read(&rig, root, jl_catalog_embedded(), &arena, &err))
		fail_msg("%s", err.en);
	jl_rig_check(found, &rig, jl_catalog_embedded());
}

static enum jl_part_level level_of(const struct jl_part_findings *found, const char *id)
{
	for (size_t i = 0; i < found->n; i++)
		if (strcmp(found->items[i].id, id) == 0)
			return found->items[i].level;
	fail_msg("no finding '%s'", id);
	return JL_N_PART_LEVEL;
}

static void four_3090_in_one_box_do_not_work(void **state)
{
	struct jl_part_findings found;

	(void)state;
	check_file(&found, JL_SOURCE_DIR "/examples/builds/4x-rtx-3090.yaml");
	assert_int_equal(level_of(&found, "psu-standard"), JL_PART_ERROR);
	assert_int_equal(level_of(&found, "psu"), JL_PART_ERROR);
	assert_int_equal(level_of(&found, "slots"), JL_PART_ERROR);
	assert_int_equal(level_of(&found, "cooling"), JL_PART_ERROR);
	assert_int_equal(level_of(&found, "p2p"), JL_PART_WARNING);
	assert_true(found.load_W == 4 * 350 + 175 + 75);
}

static void the_two_way_machine_works(void **state)
{
	struct jl_part_findings found;

	(void)state;
	check_file(&found, JL_SOURCE_DIR "/examples/builds/seed-003-2way.yaml");
	for (size_t i = 0; i < found.n; i++)
		assert_int_not_equal(found.items[i].level, JL_PART_ERROR);
	assert_int_equal(level_of(&found, "psu"), JL_PART_OK);
	assert_int_equal(level_of(&found, "slots"), JL_PART_OK);
	assert_int_equal(level_of(&found, "cooling"), JL_PART_OK);
	assert_int_equal(level_of(&found, "ram"), JL_PART_CONFLICT); /* two rules disagree and both are shown */
}

static void the_single_card_machine_is_sound(void **state)
{
	struct jl_part_findings found;

	(void)state;
	check_file(&found, JL_SOURCE_DIR "/examples/builds/romaglushko-3070.yaml");
	for (size_t i = 0; i < found.n; i++)
		assert_true(found.items[i].level == JL_PART_OK || found.items[i].level == JL_PART_UNCHECKED);
	assert_int_equal(level_of(&found, "psu"), JL_PART_OK);
	assert_int_equal(level_of(&found, "ram"), JL_PART_OK);
}

/* A weaker supply, more cards or thicker cards never make a list better. */
static void worse_parts_never_look_better(void **state)
{
	enum jl_part_level last_psu = JL_PART_OK, last_slots = JL_PART_OK;
	struct jl_part_findings found;
	struct jl_rig rig;
	const struct jl_yaml *root;
	struct jl_err err;

	(void)state;
	assert_int_equal(jl_yaml_read_file(&root, JL_SOURCE_DIR "/examples/builds/seed-003-2way.yaml", &arena, &err),
			 JL_OK);
	assert_int_equal(jl_rig_read(&rig, root, jl_catalog_embedded(), &arena, &err), JL_OK);
	for (rig.psu_W = 2000; rig.psu_W > 200; rig.psu_W -= 50) {
		jl_rig_check(&found, &rig, jl_catalog_embedded());
		assert_true(level_of(&found, "psu") >= last_psu);
		last_psu = level_of(&found, "psu");
	}
	assert_int_equal(last_psu, JL_PART_ERROR);
	for (rig.gpu_slots = 1; rig.gpu_slots <= 5; rig.gpu_slots += 0.5) {
		jl_rig_check(&found, &rig, jl_catalog_embedded());
		assert_true(level_of(&found, "slots") >= last_slots);
		last_slots = level_of(&found, "slots");
	}
	assert_int_equal(last_slots, JL_PART_ERROR);
}

static void bad_lists_name_the_place(void **state)
{
	static const struct {
		const char *text, *expect;
	} bad[] = {
		{ "psu: 1600 W\n", "needs its cards" },
		{ "gpu: 2x rtx-3090\npsu: 1600\n", "x.yaml:2:6" },
		{ "gpu: 2x rtx-3090\npsuu: 1600 W\n",
		  "x.yaml:2:1: unknown key 'psuu' in a parts list; did you mean 'psu'?" },
		{ "gpu: 0x rtx-3090\n", "from 1 to" },
		{ "gpu: 2x rtx-9999999\n", "x.yaml:1:6" },
		{ "gpu: rtx-3090\ncooling: magic\n", "none of open-air" },
		{ "gpu: rtx-3090\nram: -3 GiB\n", "not between" },
		{ "gpu: [1]\n", "one value" },
		{ "gpu: 99xrtx-3090\n", "from 1 to" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		const struct jl_yaml *root;
		struct jl_rig rig;
		struct jl_err err = { 0 };

		assert_int_equal(jl_yaml_read(&root, "x.yaml", bad[i].text, strlen(bad[i].text), &arena, &err), JL_OK);
		assert_int_not_equal(jl_rig_read(&rig, root, jl_catalog_embedded(), &arena, &err), JL_OK);
		if (!strstr(err.en, bad[i].expect))
			fail_msg("%s -> %s", bad[i].text, err.en);
		assert_true(strlen(err.text) > 0);
	}
}

static struct jl_rig rig_of(const char *text)
{
	const struct jl_yaml *root;
	struct jl_rig rig = { 0 };
	struct jl_err err;

	if (jl_yaml_read(&root, "x.yaml", text, strlen(text), &arena, &err) ||
	    jl_rig_read(&rig, root, jl_catalog_embedded(), &arena, &err))
		fail_msg("%s: %s", text, err.en);
	return rig;
}

/* Two cards of 24 GiB ask for 96 GiB by the rule that doubles them; GiB are called GiB. */
static void memory_is_told_in_GiB(void **state)
{
	const struct jl_rig rig = rig_of("gpu: 2xrtx-3090\nram: 64 GiB\n");
	struct jl_part_findings found;

	(void)state;
	assert_int_equal(rig.n_gpus, 2);
	jl_rig_check(&found, &rig, jl_catalog_embedded());
	for (size_t i = 0; i < found.n; i++)
		if (strcmp(found.items[i].id, "ram") == 0) {
			assert_non_null(strstr(found.items[i].en, "64 GiB of RAM"));
			assert_non_null(strstr(found.items[i].en, "96 GiB"));
			assert_non_null(strstr(found.items[i].text, "96 GiB"));
			assert_null(strstr(found.items[i].en, " GB"));
			assert_null(strstr(found.items[i].text, " GB"));
		}
}

/* Figures and measured peaks are the catalog's: a folder of one's own changes what is found. */
static void figures_come_from_the_catalog(void **state)
{
	const struct jl_rule rules[] = {
		{ .id = "build-cpu-power", .kind = "figure", .figure = 400 },
		{ .id = "mine", .kind = "transient", .subject = "rtx-3090", .figure = 900, .conditions = "2 ms" },
	};
	const struct jl_rig rig = rig_of("gpu: 2x rtx-3090\npsu: 1600 W\n");
	struct jl_catalog mine = *jl_catalog_embedded();
	struct jl_part_findings found;

	(void)state;
	jl_rig_check(&found, &rig, &mine);
	assert_true(found.load_W == 2 * 350 + 175 + 75);
	mine.rules = rules;
	mine.n_rules = 2;
	jl_rig_check(&found, &rig, &mine);
	assert_true(found.load_W == 2 * 350 + 400 + 75); /* what it does not say is as built in */
	assert_int_equal(level_of(&found, "transients"), JL_PART_WARNING);
}

/* A supply, a board and a case by name: what is published of them is filled in; what a person gives stays. */
static void parts_are_known_by_name(void **state)
{
	struct jl_rig rig = rig_of(
		"gpu: 2x rtx-5090\npsu: Seasonic PRIME TX-1600\nboard: ASUS WRX90E-SAGE SE\ncooling: open-air\n");
	struct jl_part_findings found;

	(void)state;
	assert_true(isnan(rig.psu_W));
	jl_rig_check(&found, &rig, jl_catalog_embedded());
	assert_int_equal(level_of(&found, "connectors"), JL_PART_OK); /* two 12VHPWR cables */
	assert_int_equal(level_of(&found, "transients"), JL_PART_OK); /* 1850 W of the 2000 W it was seen to bear */
	assert_int_equal(level_of(&found, "slots"),
			 JL_PART_OK); /* seven slots beside each other: two cards stand apart */
	assert_int_equal(level_of(&found, "cooling"), JL_PART_OK);
	rig.psu_peak_W = 1700;
	jl_rig_check(&found, &rig, jl_catalog_embedded());
	assert_int_equal(level_of(&found, "transients"), JL_PART_WARNING);
	rig = rig_of("gpu: 5x rtx-3090\nboard: WRX90E-SAGE\ncase_slots: 20\n"); /* three slots each, one free between */
	jl_rig_check(&found, &rig, jl_catalog_embedded());
	assert_int_equal(level_of(&found, "slots"), JL_PART_ERROR);
	rig = rig_of("gpu: h200-nvl\nboard: nobody's X1\n");
	jl_rig_check(&found, &rig, jl_catalog_embedded());
	assert_int_equal(level_of(&found, "cooling"), JL_PART_WARNING); /* passive */
	assert_int_equal(level_of(&found, "board"), JL_PART_UNCHECKED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(four_3090_in_one_box_do_not_work),
		cmocka_unit_test(the_two_way_machine_works),
		cmocka_unit_test(the_single_card_machine_is_sound),
		cmocka_unit_test(worse_parts_never_look_better),
		cmocka_unit_test(figures_come_from_the_catalog),
		cmocka_unit_test(bad_lists_name_the_place),
		cmocka_unit_test(memory_is_told_in_GiB),
		cmocka_unit_test(parts_are_known_by_name),
	};

	jl_lang_set_default(jl_lang_find("ko"));
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
