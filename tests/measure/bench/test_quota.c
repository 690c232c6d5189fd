/* The CPU quota of the own cgroup, from folders as the kernel lays them out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/quota.h"

static char root[] = "/tmp/jeoul-quota-XXXXXX";

static void put(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void folder(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

static void both_versions(void **state)
{
	char own[256];
	struct jl_quota q;

	(void)state;
	assert_non_null(mkdtemp(root));
	snprintf(own, sizeof(own), "%s/own", root);
	folder("cpu"), folder("cpu/a"), folder("a"), folder("a/b");
	put("a/cpu.max", "150000 100000\n");
	put("a/cpu.stat", "usage_usec 1\nnr_periods 10\nnr_throttled 4\nthrottled_usec 500000\n");
	put("a/b/cpu.max", "max 100000\n");
	put("own", "0::/a/b\n");
	jl_quota_find(&q, root, own);
	assert_true(q.cpus == 1.5); /* of the group above */
	put("a/cpu.stat", "nr_throttled 8\nthrottled_usec 750000\n");
	assert_true(fabs(jl_quota_stopped_s(&q) - 0.25) < 1e-9);
	put("a/b/cpu.max", "50000 100000\n"); /* it has no cpu.stat */
	jl_quota_find(&q, root, own);
	assert_true(q.cpus == 0.5 && isnan(jl_quota_stopped_s(&q)));
	put("cpu/a/cpu.cfs_quota_us", "25000\n");
	put("cpu/a/cpu.cfs_period_us", "100000\n");
	put("cpu/a/cpu.stat", "nr_periods 10\nnr_throttled 4\nthrottled_time 2000000000\n");
	put("own", "11:memory:/x\n4:cpu,cpuacct:/a\n0::/\n");
	jl_quota_find(&q, root, own);
	assert_true(q.cpus == 0.25 && q.stopped_s == 2);
	put("cpu/a/cpu.cfs_quota_us", "-1\n");
	jl_quota_find(&q, root, own);
	assert_true(isnan(q.cpus) && isnan(jl_quota_stopped_s(&q)));
	put("own", "0::/../../etc\n");
	jl_quota_find(&q, root, own);
	assert_true(isnan(q.cpus));
	jl_quota_find(&q, root, "/nonexistent");
	assert_true(isnan(q.cpus));
}

static int clean(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command) == 0 ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test_teardown(both_versions, clean) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
