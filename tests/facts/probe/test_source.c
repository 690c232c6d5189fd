/* Captures: round trip, damaged files, removal of private data. */
#include "machines.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/nvml_json.h"
#include "probe/records.h"

static struct jl_arena arena;
static char folder[64];

static int set_up(void **state)
{
	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	snprintf(folder, sizeof(folder), "/tmp/jeoul-source-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/machine.txt", folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/nvml.json", folder);
	unlink(path);
	rmdir(folder);
	jl_arena_release(&arena);
	return 0;
}

static void put(const char *file, const char *text)
{
	char path[128];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	unlink(path);
	out = fopen(path, "w");
	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
}

static enum jl_status parse(const char *text, struct jl_err *err)
{
	struct jl_records records = { .arena = &arena };

	return jl_records_parse(&records, "capture", text, strlen(text), err);
}

static void test_round_trip(void **state)
{
	const char *text =
		"jeoul capture 1\nfile /a\n\tone\n\t\n\ttwo\nfile /empty\nlink /l ../x\nlist /d\n\ta\n\tb\nend 4\n";
	struct jl_records records = { .arena = &arena };
	struct jl_err err = { 0 };
	struct jl_buf out;

	(void)state;
	assert_int_equal(jl_records_parse(&records, "capture", text, strlen(text), &err), JL_OK);
	assert_string_equal(jl_records_find(&records, "/a", JL_ANSWER_FILE)->text, "one\n\ntwo");
	assert_string_equal(jl_records_find(&records, "/empty", JL_ANSWER_FILE)->text, "");
	assert_string_equal(jl_records_find(&records, "/l", JL_ANSWER_LINK)->text, "../x");
	assert_null(jl_records_find(&records, "/a", JL_ANSWER_LIST));
	jl_buf_init(&out, 4096);
	jl_records_write(&records, &out);
	assert_string_equal(
		jl_buf_text(&out),
		"jeoul capture 1\nfile /a\n\tone\n\t\n\ttwo\nlist /d\n\ta\n\tb\nfile /empty\nlink /l ../x\nend 4\n");
	jl_buf_release(&out);
	/* CRLF line ends */
	records = (struct jl_records){ .arena = &arena };
	text = "jeoul capture 1\r\nfile /a\r\n\tone\r\nend 1\r\n";
	assert_int_equal(jl_records_parse(&records, "capture", text, strlen(text), &err), JL_OK);
	assert_string_equal(jl_records_find(&records, "/a", JL_ANSWER_FILE)->text, "one");
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "", "no capture" },
		{ "jeoul capture 2\nend 0\n", "capture:1: no capture" },
		{ "jeoul capture 1\nfile /a\n\tx\n", "ends early" },
		{ "jeoul capture 1\nfile /a\n\tx\nend 2\n", "capture:4: 1 records where 'end' says 2" },
		{ "jeoul capture 1\nfile relative\nend 1\n", "capture:2: 'file relative'" },
		{ "jeoul capture 1\nfile /sys/../etc/shadow\nend 1\n", "'..'" },
		{ "jeoul capture 1\nlink /a\nend 1\n", "capture:2:" },
		{ "jeoul capture 1\nhello\nend 0\n", "capture:2: 'hello' is not a record" },
		{ "jeoul capture 1\n\tstray\nend 0\n", "capture:2:" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct jl_err err = { 0 };

		assert_int_equal(parse(bad[i].text, &err), JL_E_PARSE);
		if (!strstr(err.en, bad[i].says))
			fail_msg("%zu: '%s' lacks '%s'", i, err.en, bad[i].says);
		assert_null(strchr(err.en, '\n'));
		assert_true(err.text[0] != '\0');
	}
}

/* A truncated capture is refused. */
static void test_truncated(void **state)
{
	struct jl_buf text = { 0 };
	struct jl_err err = { 0 };

	(void)state;
	assert_int_equal(jl_buf_read_file(&text, MACHINES "gpuless-arm64-vm/machine.txt", 1 << 20, &err), JL_OK);
	for (size_t len = 0; len + 4 < text.len; len += 7) {
		struct jl_records records = { .arena = &arena };

		assert_int_equal(jl_records_parse(&records, "cut", text.data, len, &err), JL_E_PARSE);
	}
	jl_buf_release(&text);
}

static void test_broken_folders(void **state)
{
	struct jl_probe_source *source = NULL;
	struct jl_err err = { 0 };
	char path[128];

	(void)state;
	assert_int_equal(jl_source_replay(&source, "/nonexistent", &arena, &err), JL_E_IO);
	assert_non_null(strstr(err.en, "--capture"));
	put("machine.txt", "jeoul capture 1\nend 0\n");
	assert_int_equal(jl_source_replay(&source, folder, &arena, &err), JL_OK);
	assert_non_null(strstr(jl_source_nvml(source, false)->absent_en, "nvml.json"));
	jl_source_destroy(source);
	/* a symbolic link loop, and a pipe without a writer */
	snprintf(path, sizeof(path), "%s/nvml.json", folder);
	assert_int_equal(symlink("nvml.json", path), 0);
	assert_int_equal(jl_source_replay(&source, folder, &arena, &err), JL_E_IO);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(jl_source_replay(&source, folder, &arena, &err), JL_E_IO);
	assert_non_null(strstr(err.en, "plain file"));
	put("nvml.json", "{ \"gpus\": [ { \"name\": 5 } ] }");
	assert_int_equal(jl_source_replay(&source, folder, &arena, &err), JL_E_DATA);
	assert_non_null(strstr(err.en, "'name'"));
}

static void test_nvml_json(void **state)
{
	static const char *const bad[] = {
		"",
		"[]",
		"{}",
		"{ \"gpus\": 1 }",
		"{ \"gpus\": [ { \"mem_B\": \"much\" } ] }",
		"{ \"gpus\": [ { \"mem_B\": -1 } ] }",
		"{ \"gpus\": [ { \"pcie_gen\": 1e9 } ] }",
		"{ \"gpus\": [ { \"pcie_gen\": 99999999 } ] }",
		"{ \"gpus\": [ {}, {} ], \"p2p\": { \"read\": [ [ \"X\" ] ] } }",
		"{ \"gpus\": [ {}, {} ], \"p2p\": { \"read\": [ [ \"X\", \"OK\" ], [ \"HM\", \"X\" ] ] } }",
		"{ \"gpus\": [ { \"nvlinks\": 3 } ] }",
	};
	struct jl_nvml_snapshot snap;
	struct jl_err err = { 0 };
	struct jl_buf first = { 0 }, text;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(jl_nvml_parse(&snap, "nvml.json", bad[i], strlen(bad[i]), &arena, &err), JL_E_DATA);
	/* round trip */
	assert_int_equal(jl_buf_read_file(&first, MACHINES "dgx-station-v100/nvml.json", 1 << 20, &err), JL_OK);
	assert_int_equal(jl_nvml_parse(&snap, "nvml.json", first.data, first.len, &arena, &err), JL_OK);
	jl_buf_release(&first);
	jl_buf_init(&first, 1 << 20);
	jl_buf_init(&text, 1 << 20);
	jl_nvml_write(&first, &snap, true);
	assert_int_equal(jl_nvml_parse(&snap, "nvml.json", first.data, first.len, &arena, &err), JL_OK);
	jl_nvml_write(&text, &snap, true);
	assert_string_equal(jl_buf_text(&first), jl_buf_text(&text));
	jl_buf_release(&first);
	jl_buf_release(&text);
}

static void test_privacy(void **state)
{
	struct jl_records records = { .arena = &arena }, out;
	struct jl_err err = { 0 };
	struct jl_buf text;
	const char *all;

	(void)state;
	jl_records_add(&records, "/sys/class/net", JL_ANSWER_LIST, "enx0a1b2c3d4e5f\neth0", &err);
	jl_records_add(&records, "/sys/class/net/enx0a1b2c3d4e5f/speed", JL_ANSWER_FILE, "1000", &err);
	jl_records_add(&records, "/proc/sys/kernel/hostname", JL_ANSWER_FILE, "worker-04", &err);
	jl_records_add(&records, "/proc/cmdline", JL_ANSWER_FILE, "root=UUID=0a-b quiet iommu=pt user=kim", &err);
	jl_records_add(&records, "/proc/self/cgroup", JL_ANSWER_FILE, "0::/docker/deadbeef0123/kim", &err);
	jl_records_add(&records, "/sys/fs/cgroup/docker/deadbeef0123/kim/cpu.max", JL_ANSWER_FILE, "max 100000", &err);
	jl_records_add(&records, "/x", JL_ANSWER_FILE,
		       "at 0a:1b:2c:3d:4e:5f and GPU-01234567-89ab-cdef-0123-456789abcdef on 0000:52:00.0", &err);
	assert_int_equal(jl_redact(&records, &out, &err), JL_OK);
	jl_buf_init(&text, 65536);
	jl_records_write(&out, &text);
	all = jl_buf_text(&text);
	assert_null(strstr(all, "0a1b2c3d4e5f"));
	assert_null(strstr(all, "worker-04"));
	assert_null(strstr(all, "kim"));
	assert_null(strstr(all, "deadbeef"));
	assert_null(strstr(all, "0a:1b"));
	assert_null(strstr(all, "89ab"));
	assert_non_null(strstr(all, "0000:52:00.0"));
	assert_non_null(strstr(all, "iommu=pt"));
	/* renamed consistently, so that a replay finds its queries */
	assert_non_null(strstr(all, "\tenx000000000001\n"));
	assert_non_null(strstr(all, "/sys/class/net/enx000000000001/speed"));
	assert_non_null(strstr(all, "0::/g1-docker/g2/g3"));
	assert_non_null(strstr(all, "/sys/fs/cgroup/g1-docker/g2/g3/cpu.max"));
	jl_buf_release(&text);
}

/* This machine: a captured and replayed probe equals the live one. */
static void test_this_machine(void **state)
{
	const struct jl_probe_machine *live = NULL, *again = NULL;
	struct jl_probe_source *source = NULL;
	struct jl_err err = { 0 };

	(void)state;
	assert_int_equal(jl_source_live(&source, &arena, &err), JL_OK);
	assert_int_equal(jl_probe_machine(source, jl_catalog_embedded(), NULL, &arena, &live, &err), JL_OK);
	assert_true(live->cpu.n_threads > 0 && live->memory.total_B > 0 && live->kernel && live->arch);
	assert_int_equal(jl_source_capture(source, folder, false, &err), JL_OK);
	jl_source_destroy(source);
	assert_int_equal(jl_source_replay(&source, folder, &arena, &err), JL_OK);
	assert_int_equal(jl_probe_machine(source, jl_catalog_embedded(), NULL, &arena, &again, &err), JL_OK);
	assert_string_equal(jl_probe_fingerprint(again), jl_probe_fingerprint(live));
	assert_string_equal(again->short_name, live->short_name);
	assert_int_equal(again->n_pci, live->n_pci);
	assert_int_equal(again->n_nics, live->n_nics);
	assert_int_equal(again->n_disks, live->n_disks);
	assert_true(again->memory.available_B == live->memory.available_B);
	assert_int_equal(!again->limits.in, !live->limits.in);
	jl_source_destroy(source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),   cmocka_unit_test(test_refused),
		cmocka_unit_test(test_truncated),    cmocka_unit_test(test_broken_folders),
		cmocka_unit_test(test_nvml_json),    cmocka_unit_test(test_privacy),
		cmocka_unit_test(test_this_machine),
	};

	jl_lang_set_default(jl_lang_find("ko"));
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
