/* Energy counters of the host: RAPL packages (powercap) and hwmon energy inputs. The engine reads a GPU's counter (jl_engine_kernels.energy_J). */
#include <math.h>

#include "bench/noise.h"
#include "train/run.h"

double jl_train_energy_J(const char **ret_from)
{
	/* packages only ("intel-rapl:0", "intel-rapl:10"): they include their subdomains ("intel-rapl:0:0") */
	static const struct {
		const char *pattern, *from;
	} counters[] = { { "/sys/class/powercap/intel-rapl:[0-9]/energy_uj", "RAPL" },
			 { "/sys/class/powercap/intel-rapl:[0-9][0-9]/energy_uj", "RAPL" },
			 { "/sys/class/hwmon/hwmon*/energy1_input", "hwmon" } };
	double energy_J = NAN, n;

	*ret_from = NULL;
	for (size_t i = 0; i < JL_LEN(counters) && (!*ret_from || i == 1); i++) {
		const double more_J = 1e-6 * jl_noise_sum(counters[i].pattern, &n);

		if (isnan(more_J))
			continue;
		energy_J = isnan(energy_J) ? more_J : energy_J + more_J;
		*ret_from = counters[i].from;
	}
	return energy_J;
}
