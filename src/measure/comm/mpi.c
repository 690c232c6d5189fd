/* Loads the MPI module and reads the launcher's environment variables. The program is not linked with MPI, so that it starts fast and runs
 * without MPI. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/dynlib.h"
#include "comm/comm.h"
#include "comm/mpi_module.h"

/* Environment variables with the number of processes and the rank. */
static const struct {
	const char *size, *rank;
} launchers[] = {
	{ "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK" }, /* Open MPI's mpirun */
	{ "PMI_SIZE", "PMI_RANK" },                         /* MPICH, Intel MPI, srun --mpi=pmi2 */
	{ "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK" },   /* MVAPICH2 */
	{ "SLURM_STEP_NUM_TASKS", "SLURM_PROCID" },         /* srun */
};

static int number_of(const char *name, int instead)
{
	const char *text = getenv(name);
	char *end;

	if (!text || !*text)
		return instead;
	long value = strtol(text, &end, 10);
	return *end == '\0' && value >= 0 && value < INT_MAX ? (int)value : instead;
}

int jl_comm_mpi_launched(int *ret_rank)
{
	for (size_t i = 0; i < JL_LEN(launchers); i++) {
		const int size = number_of(launchers[i].size, 0);

		if (size > 0) {
			*ret_rank = number_of(launchers[i].rank, 0);
			return size;
		}
	}
	*ret_rank = 0;
	return 1;
}

bool jl_comm_mpi_wanted(void)
{
	int rank;

	return jl_comm_mpi_launched(&rank) > 1;
}

/* Candidates: JEOUL_MPI_MODULE, next to the program, the installation folder. */
static enum jl_status module_path(char ret_path[PATH_MAX], struct jl_err *err)
{
	const char *named = NULL;
	static const char *const places[] = { "jeoul-mpi.so", "../" JEOUL_LIBDIR "/jeoul/jeoul-mpi.so" };
	char self[PATH_MAX];

	JL_TRY(jl_dynlib_named("JEOUL_MPI_MODULE", &named, err));
	if (named) {
		(void)snprintf(ret_path, PATH_MAX, "%s", named);
		return JL_OK;
	}
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[len > 0 ? len : 0] = '\0';
	char *slash = strrchr(self, '/');
	if (slash)
		slash[1] = '\0';
	for (size_t i = 0; slash && i < JL_LEN(places); i++) {
		if (snprintf(ret_path, PATH_MAX, "%s%s", self, places[i]) < PATH_MAX && access(ret_path, R_OK) == 0)
			return JL_OK;
	}
	return jl_fail(err, JL_E_ABSENT,
		       "the module jeoul-mpi.so is not there: built without MPI; install libopenmpi-dev and build "
		       "again, or set JEOUL_MPI_MODULE");
}

static enum jl_status load_module(const struct jl_mpi_module **ret_module, struct jl_err *err)
{
	static const struct jl_mpi_module *loaded;
	char path[PATH_MAX];
	void *handle;

	if (loaded) {
		*ret_module = loaded;
		return JL_OK;
	}
	JL_TRY(module_path(path, err));
	/* Open MPI's plug-ins resolve its symbols globally */
	handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	if (!handle) {
		const char *why = dlerror();

		return jl_fail(err, JL_E_ABSENT, "MPI cannot be loaded: %s (package libopenmpi3)", why ? why : "?");
	}
	const struct jl_mpi_module *module = dlsym(handle, JL_MPI_MODULE_SYMBOL);
	if (!module || module->abi != JL_MPI_MODULE_ABI) {
		dlclose(handle);
		return jl_fail(err, JL_E_ABSENT, "%s belongs to another version of jeoul: build both together", path);
	}
	loaded = module;
	*ret_module = module;
	return JL_OK;
}

enum jl_status jl_comm_mpi_present(struct jl_err *err)
{
	const struct jl_mpi_module *module;

	return load_module(&module, err);
}

static void (*on_stuck)(int rank);

void jl_comm_mpi_on_stuck(void (*stuck)(int rank))
{
	on_stuck = stuck;
}

static enum jl_status open_world(bool overlap, struct jl_comm **ret_comm, struct jl_err *err)
{
	const struct jl_mpi_module *module;
	int rank, launched = jl_comm_mpi_launched(&rank), n_ranks;
	struct jl_comm *comm;

	JL_TRY(load_module(&module, err));
	JL_TRY(module->open(overlap, on_stuck, &comm, err));
	n_ranks = comm->n_ranks;
	if (n_ranks == launched || launched == 1) {
		*ret_comm = comm;
		return JL_OK;
	}
	/* launcher and library belong to different MPIs: each process sees only itself */
	jl_comm_destroy(comm);
	return jl_fail(err, JL_E_DATA,
		       "the launcher started %d processes but MPI sees %d: the ranks run apart. Use the mpirun of the "
		       "MPI that jeoul-mpi.so is linked with (srun: --mpi=pmix)",
		       launched, n_ranks);
}

enum jl_status jl_comm_mpi(struct jl_comm **ret_comm, struct jl_err *err)
{
	return open_world(true, ret_comm, err);
}

enum jl_status jl_comm_mpi_plain(struct jl_comm **ret_comm, struct jl_err *err)
{
	return open_world(false, ret_comm, err);
}
