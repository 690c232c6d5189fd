/* Energy counters of this host: RAPL packages (powercap), hwmon energy inputs. A GPU's is its engine's
 * (jl_engine_kernels.energy_J). */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "train/run.h"

static double read_number(const char *path)
{
	double value = NAN;
	FILE *file = fopen(path, "re");
	if (!file)
		return NAN;
	if (fscanf(file, "%lf", &value) != 1)
		value = NAN;
	fclose(file);
	return value;
}

static void add(double *sum, double more)
{
	if (!isnan(more))
		*sum = isnan(*sum) ? more : *sum + more;
}

/* Packages only ("intel-rapl:0"): their parts ("intel-rapl:0:0") are counted in them. */
static double rapl_J(void)
{
	double sum_J = NAN;
	DIR *dir = opendir("/sys/class/powercap");
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		char path[320];
		const char *colon = strchr(entry->d_name, ':');
		if (strncmp(entry->d_name, "intel-rapl:", 11) != 0 || strchr(colon + 1, ':'))
			continue;
		snprintf(path, sizeof path, "/sys/class/powercap/%s/energy_uj", entry->d_name);
		add(&sum_J, read_number(path) * 1e-6);
	}
	if (dir)
		closedir(dir);
	return sum_J;
}

static double hwmon_J(void)
{
	double sum_J = NAN;
	for (int i = 0; i < 64; i++) {
		char path[128];
		snprintf(path, sizeof path, "/sys/class/hwmon/hwmon%d/energy1_input", i);
		add(&sum_J, read_number(path) * 1e-6);
	}
	return sum_J;
}

double jl_train_energy_J(const char **ret_from)
{
	double energy_J = rapl_J();
	*ret_from = "RAPL";
	if (isnan(energy_J)) {
		energy_J = hwmon_J();
		*ret_from = "hwmon";
	}
	if (isnan(energy_J))
		*ret_from = NULL;
	return energy_J;
}
