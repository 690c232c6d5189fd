/* jeoul doctor: lists missing optional libraries, what they are for, and how to install them. */
#include "base/dynlib.h"
#include "base/json.h"
#include "cli/calibrate_this.h"
#include "cli/data_dir.h"
#include "cli/this_machine.h"
#include "cli/view.h"
#include "comm/comm.h"
#include "comm/confine.h"
#include "gpu/cuda.h"

struct part {
	const char *name;
	const char *used_for;
	const char *env, *const *libraries; /* library opened at run time, or: */
	enum jl_status (*look)(struct jl_cli *, const struct jl_probe_machine *,
			       struct jl_err *); /* returns JL_OK if present */
	bool nvidia;                             /* needed only with an NVIDIA GPU */
	const char *package;                     /* on Debian and Ubuntu; NULL: see `command` */
	const char *command;
};

static enum jl_status kernels(struct jl_cli *cli, const struct jl_probe_machine *machine, struct jl_err *err)
{
	(void)cli, (void)machine;
	return jl_gpu_has_kernels() ? JL_OK : jl_fail(err, JL_E_ABSENT, "built where nvcc was not");
}

static enum jl_status mpi(struct jl_cli *cli, const struct jl_probe_machine *machine, struct jl_err *err)
{
	(void)cli, (void)machine;
	return jl_comm_mpi_present(err);
}

static enum jl_status published(struct jl_cli *cli, const struct jl_probe_machine *machine, struct jl_err *err)
{
	(void)machine;
	return jl_data_dir(cli) ? JL_OK : jl_fail(err, JL_E_ABSENT, "no share/jeoul/validation next to the program");
}

static enum jl_status calibrated(struct jl_cli *cli, const struct jl_probe_machine *machine, struct jl_err *err)
{
	bool on = false;
	enum jl_status status = jl_calibrate_lay(&on, cli, machine, err);

	return status || on ? status : jl_fail(err, JL_E_ABSENT, "'this' is predicted from listed or estimated rates");
}

/* Checks the kernel's support for sandboxing (comm/confine.h). */
static enum jl_status confinement(struct jl_cli *cli, const struct jl_probe_machine *machine, struct jl_err *err)
{
	(void)cli, (void)machine;
	if (!jl_confine_seccomp())
		return jl_fail(err, JL_E_ABSENT, "this kernel filters no system calls (seccomp)");
	return jl_confine_landlock()
		       ? JL_OK
		       : jl_fail(err, JL_E_ABSENT,
				 "this kernel has no Landlock, or it is switched off: files stay readable");
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
	{ "SQLite", JL_N("store: results of this machine"), LIBRARY("JEOUL_SQLITE", "libsqlite3.so.0"),
	  .package = "libsqlite3-0" },
	{ "PostgreSQL", JL_N("store: results of a team on a server"), LIBRARY("JEOUL_LIBPQ", "libpq.so.5"),
	  .package = "libpq5" },
	{ JL_N("published runs"), JL_N("validate, calibrate --fit"), .look = published,
	  .command = "export JEOUL_DATA=.../jeoul/data" },
	{ JL_N("confinement"), JL_N("web, bench --listen: isolates untrusted input from files and programs"),
	  .look = confinement, .command = "lsm=landlock,... on the kernel's command line (Linux 5.13 or newer)" },
	{ JL_N("this machine"), JL_N("--on this: its own measured rates"), .look = calibrated,
	  .command = "jeoul bench all --quick && jeoul calibrate" },
};
/* clang-format on */
#define N_PARTS (JL_LEN(parts))

struct found {
	bool here, needed;
	struct jl_err why;
};

/* Looks for NVIDIA devices on the PCI bus, since the driver may be missing. */
static bool has_nvidia(const struct jl_probe_machine *machine)
{
	size_t i = 0;

	while (i < machine->n_pci && (machine->pci[i].vendor != 0x10de || machine->pci[i].class_code >> 16 != 0x03))
		i++;
	return machine->n_gpus > 0 || i < machine->n_pci;
}

static bool is_here(const struct part *p, struct jl_cli *cli, const struct jl_probe_machine *machine,
		    struct jl_err *why)
{
	struct jl_dynlib library = { 0 };
	const enum jl_status status = p->look ? p->look(cli, machine, why)
					      : jl_dynlib_open(&library, p->env, p->libraries, NULL, 0, NULL, why);

	jl_dynlib_close(&library);
	return !status;
}

static void look(struct found found[N_PARTS], struct jl_cli *cli, const struct jl_probe_machine *machine)
{
	for (size_t i = 0; i < N_PARTS; i++) {
		found[i] = (struct found){ .needed = !parts[i].nvidia || has_nvidia(machine) };
		found[i].here = is_here(&parts[i], cli, machine, &found[i].why);
	}
}

/* One command that installs all missing packages; NULL: none is missing. */
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

static void put_parts(struct jl_json *json, struct jl_cli *cli, const struct found found[N_PARTS])
{
	const char *all = install_all(cli, found);

	jl_json_pack(json, "{parts:[");
	for (size_t i = 0; i < N_PARTS; i++) {
		const bool here = found[i].here;

		jl_json_pack(json, "{part:s for:s present:b needed:b why?s command?s}", parts[i].name,
			     parts[i].used_for, here, found[i].needed, here ? NULL : found[i].why.en,
			     here ? NULL : command_of(cli, &parts[i]));
	}
	jl_json_pack(json, "] install:s}", all ? all : "");
}

static void tell(struct jl_doc *doc, struct jl_cli *cli, const struct found found[N_PARTS])
{
	const char *all = install_all(cli, found);

	jl_show_table(doc, NULL, "ktk", JL_N("component|for|here"));
	for (size_t i = 0; i < N_PARTS; i++) {
		JL_CELLS(doc, JL_NAMED(jl_msg(parts[i].name)), JL_NAMED(jl_msg(parts[i].used_for)));
		JL_ROW(doc, false,
		       JL_MARKED(found[i].here     ? JL_MARK_GOOD
				 : found[i].needed ? JL_MARK_WARN
						   : JL_MARK_NONE,
				 found[i].here     ? JL_("yes")
				 : found[i].needed ? JL_("missing")
						   : JL_("no such GPU")));
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
	}
}

enum jl_status jl_cmd_doctor(struct jl_cli *cli, struct jl_err *err)
{
	const struct jl_probe_machine *machine = NULL;
	struct found found[N_PARTS];

	JL_TRY(jl_this_machine_probe(cli, &machine, err));
	look(found, cli, machine);
	if (cli->json)
		JL_JSON(cli, put_parts(&json, cli, found));
	JL_PAGE(cli, err, tell(&doc, cli, found));
}
