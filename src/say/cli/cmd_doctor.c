/* jeoul doctor: what of the optional parts is missing here, what for, and the command that brings it. */
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/dynlib.h"
#include "base/json.h"
#include "cli/calibrate_this.h"
#include "cli/data_dir.h"
#include "cli/this_machine.h"
#include "cli/view.h"
#include "comm/comm.h"
#include "gpu/cuda.h"

/* One part: present, or why not. */
struct part {
	const char *name;
	const char *used_for;
	const char *env, *const *libraries;                          /* a library that is opened at run time; or */
	enum jl_status (*look)(struct jl_cli *cli, struct jl_err *); /* JL_OK: it is there */
	bool nvidia;                                                 /* nobody misses it where there is no such GPU */
	const char *package; /* of Debian and Ubuntu; NULL: `command` brings it */
	const char *command;
};

static enum jl_status kernels(struct jl_cli *cli, struct jl_err *err)
{
	(void)cli;
	return jl_gpu_has_kernels() ? JL_OK : jl_fail(err, JL_E_ABSENT, "built where nvcc was not");
}

static enum jl_status mpi(struct jl_cli *cli, struct jl_err *err)
{
	(void)cli;
	return jl_comm_mpi_present(err);
}

static enum jl_status published(struct jl_cli *cli, struct jl_err *err)
{
	return jl_data_dir(cli) ? JL_OK : jl_fail(err, JL_E_ABSENT, "no share/jeoul/validation beside the program");
}

static enum jl_status topology(struct jl_cli *cli, struct jl_err *err)
{
	(void)cli;
	return access("/sys/devices/system/cpu/online", R_OK) == 0
		       ? JL_OK
		       : jl_fail(err, JL_E_ABSENT, "/sys is hidden or empty: a container without it");
}

static enum jl_status calibrated(struct jl_cli *cli, struct jl_err *err)
{
	const struct jl_probe_machine *machine = NULL;
	bool on = false;
	enum jl_status status = jl_this_machine_probe(cli, &machine, err);

	if (!status)
		status = jl_calibrate_lay(&on, cli, machine, err);
	if (!status && !on)
		status = jl_fail(err, JL_E_ABSENT, "'this' is weighed by listed or estimated rates");
	return status;
}

#define LIBRARY(ENV, ...)                                                                                              \
	.env = (ENV), .libraries = (const char *const[])                                                               \
	{                                                                                                              \
		__VA_ARGS__, NULL                                                                                      \
	}

/* clang-format off: a row a part */
static const struct part parts[] = {
	{ JL_N("NVIDIA driver"), JL_N("probe, bench: GPUs, their links, clocks and power"), .nvidia = true,
	  LIBRARY("JEOUL_NVML", "libnvidia-ml.so.1"), .package = "nvidia-driver" },
	{ JL_N("GPU kernels"), JL_N("bench memory, bench train on GPUs"), .nvidia = true, .look = kernels,
	  .command = "apt-get install nvidia-cuda-toolkit && make clean all" },
	{ "cuBLASLt", JL_N("bench gemm, bench train on GPUs"), .nvidia = true,
	  LIBRARY("JEOUL_CUBLASLT", "libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"),
	  .package = "cuda-libraries-12-9" },
	{ "NCCL", JL_N("bench allreduce and others between GPUs"), .nvidia = true,
	  LIBRARY("JEOUL_NCCL", "libnccl.so.2"), .package = "libnccl2" },
	{ "OpenBLAS", JL_N("bench gemm on the CPU"), LIBRARY("JEOUL_OPENBLAS", "libopenblas.so.0"),
	  .package = "libopenblas0" },
	{ "MPI", JL_N("bench, plan under mpirun and srun"), .look = mpi, .package = "openmpi-bin" },
	{ "PostgreSQL", JL_N("store: results of a team on a server"), LIBRARY("JEOUL_LIBPQ", "libpq.so.5"),
	  .package = "libpq5" },
	{ "/sys", JL_N("probe: caches, NUMA, PCIe"), .look = topology, .command = "docker run -v /sys:/sys:ro ..." },
	{ JL_N("published runs"), JL_N("validate, calibrate --fit"), .look = published,
	  .command = "export JEOUL_DATA=.../jeoul/data" },
	{ JL_N("this machine"), JL_N("--on this: its own measured rates"), .look = calibrated,
	  .command = "jeoul bench all --quick && jeoul calibrate" },
};
/* clang-format on */
#define N_PARTS (sizeof(parts) / sizeof(*parts))

struct found {
	bool here, needed;
	struct jl_err why;
};

/* By what the bus says: the driver may be what is missing. */
static bool has_nvidia(void)
{
	glob_t files = { 0 };
	bool found = access("/dev/nvidia0", F_OK) == 0 || access("/proc/driver/nvidia", F_OK) == 0;

	if (!found && glob("/sys/bus/pci/devices/*/vendor", 0, NULL, &files) == 0)
		for (size_t i = 0; i < files.gl_pathc && !found; i++) {
			FILE *file = fopen(files.gl_pathv[i], "re");
			char text[16] = "";

			found = file && fgets(text, sizeof(text), file) && strncmp(text, "0x10de", 6) == 0;
			if (file)
				(void)fclose(file);
		}
	globfree(&files);
	return found;
}

static void look(struct found found[N_PARTS], struct jl_cli *cli)
{
	const bool nvidia = has_nvidia();

	for (size_t i = 0; i < N_PARTS; i++) {
		const struct part *p = &parts[i];
		struct jl_dynlib library;

		found[i] = (struct found){ .needed = nvidia || !p->nvidia };
		if (p->look) {
			found[i].here = p->look(cli, &found[i].why) == JL_OK;
		} else if (jl_dynlib_open(&library, p->env, p->libraries, NULL, 0, NULL, &found[i].why) == JL_OK) {
			found[i].here = true;
			jl_dynlib_close(&library);
		}
	}
}

/* All packages that are missing, as one command; NULL: none is. */
static const char *install_all(struct jl_cli *cli, const struct found found[N_PARTS])
{
	const char *all = NULL;

	for (size_t i = 0; i < N_PARTS; i++)
		if (found[i].needed && !found[i].here && parts[i].package)
			all = jl_arena_printf(&cli->arena, "%s %s", all ? all : "apt-get install", parts[i].package);
	return all;
}

static const char *command_of(struct jl_cli *cli, const struct part *p)
{
	return p->package ? jl_arena_printf(&cli->arena, "apt-get install %s", p->package) : p->command;
}

static void print_json(struct jl_cli *cli, const struct found found[N_PARTS])
{
	const char *all = install_all(cli, found);
	struct jl_json json;

	jl_json_init(&json, &cli->out, true);
	jl_json_object(&json);
	jl_json_put_array(&json, "parts");
	for (size_t i = 0; i < N_PARTS; i++) {
		jl_json_object(&json);
		jl_json_put_string(&json, "part", parts[i].name);
		jl_json_put_string(&json, "for", parts[i].used_for);
		jl_json_put_bool(&json, "present", found[i].here);
		jl_json_put_bool(&json, "needed", found[i].needed);
		if (!found[i].here) {
			jl_json_put_string(&json, "why", found[i].why.en);
			jl_json_put_string(&json, "command", command_of(cli, &parts[i]));
		}
		jl_json_end_object(&json);
	}
	jl_json_end_array(&json);
	jl_json_put_string(&json, "install", all ? all : "");
	jl_json_end_object(&json);
	jl_json_finish(&json);
}

static void tell(struct jl_doc *doc, struct jl_cli *cli, const struct found found[N_PARTS])
{
	static const struct jl_tell_head heads[] = { { JL_N("component"), JL_COLUMN_KEEP },
						     { JL_N("for"), JL_COLUMN_TEXT },
						     { JL_N("here"), JL_COLUMN_KEEP } };
	const char *all = install_all(cli, found);
	bool missing = false;

	jl_tell_table(doc, NULL, heads, sizeof(heads) / sizeof(*heads));
	for (size_t i = 0; i < N_PARTS; i++) {
		jl_doc_cell_name(doc, jl_msg(parts[i].name));
		jl_doc_cell_name(doc, jl_msg(parts[i].used_for));
		jl_doc_cell(doc, found[i].here ? JL_MARK_GOOD : found[i].needed ? JL_MARK_WARN : JL_MARK_NONE);
		jl_doc_text(doc, found[i].here ? JL_("yes") : found[i].needed ? JL_("missing") : JL_("no such GPU"));
		jl_doc_end_row(doc, false);
		missing |= found[i].needed && !found[i].here;
	}
	for (size_t i = 0; i < N_PARTS; i++) {
		if (found[i].here || !found[i].needed)
			continue;
		jl_doc_entry(doc, jl_msg(parts[i].name));
		jl_doc_name(doc, found[i].why.text);
		jl_doc_entry(doc, "");
		jl_doc_code(doc, command_of(cli, &parts[i]));
	}
	if (all) {
		jl_doc_entry(doc, JL_("At once"));
		jl_doc_code(doc, all);
	} else if (!missing) {
		jl_doc_para(doc);
		JL_TELL(doc, "Nothing is missing here.");
	}
}

enum jl_status jl_cmd_doctor(struct jl_cli *cli, struct jl_err *err)
{
	struct found found[N_PARTS];
	struct jl_doc doc;

	look(found, cli);
	if (cli->json) {
		print_json(cli, found);
		return JL_OK;
	}
	jl_view_page(cli, &doc);
	tell(&doc, cli, found);
	return jl_view_show(cli, &doc, err);
}
