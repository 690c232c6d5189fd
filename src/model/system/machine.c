/* Assembles a machine from catalog facts and fitted parameters. */
#include "system/machine.h"

#include <math.h>

#include "catalog/find.h"
#include "parameters/conv_params.h"
#include "parameters/device_params.h"
#include "parameters/framework_params.h"
#include "parameters/link_params.h"
#include "parameters/power_params.h"
#include "system/resolve.h"
#include "parameters/arch.h"

/* default for a two-socket server: the catalog has no host bandwidth */
static const double host_mem_Bps = 200e9;

/* the link types in use depend on the number of hosts and devices */
static void name_wires(struct jl_machine *machine)
{
	const struct jl_sys *sys = &machine->sys;

	machine->intra = machine->fabric.intra_kind == JL_INTRA_NONE ? JL_WIRE_NONE : jl_wire_of(sys->join);
	machine->inter = sys->n_nodes > 1 ? jl_wire_of(sys->net) : JL_WIRE_NONE;
}

/* Id of the device whose measurements apply: itself, or one with the same chip; NULL: none. */
static const char *measured_as(const struct jl_machine *machine, enum jl_asked answer)
{
	const struct jl_gpu *gpu = machine->sys.gpu;

	if (!gpu || jl_seen(machine->cat, answer, "gpu", gpu->id))
		return gpu ? gpu->id : NULL;
	return gpu->computes_as && jl_seen(machine->cat, answer, "gpu", gpu->computes_as) ? gpu->computes_as : NULL;
}

void jl_machine_doubt(struct jl_doubt *doubt, const struct jl_machine *machine, enum jl_asked answer,
		      struct jl_axes axes)
{
	/* a CPU whose rate was measured on this machine */
	const bool own = !machine->sys.gpu && machine->device_fitted;
	const char *gpu = measured_as(machine, answer), *family = jl_arch_id(machine->dev.arch);

	axes.device = answer == JL_ASKED_PRODUCT ? family : gpu ? gpu : "-";
	doubt->x[JL_DOUBT_GPU] = !own && !gpu;
	doubt->x[JL_DOUBT_FAMILY] = !own && !jl_seen(machine->cat, answer, "family", family);
	doubt->x[JL_DOUBT_KIND] = axes.kind && !jl_seen(machine->cat, answer, "kind", axes.kind);
	doubt->x[JL_DOUBT_FEW] = own ? 0
				     : jl_few(machine->cat, answer,
					      &(struct jl_axes){ .device = axes.device, .kind = axes.kind });
	axes.kind = NULL;
	doubt->x[JL_DOUBT_NEAR] = own ? 0 : jl_few(machine->cat, answer, &axes);
}

bool jl_machine_links_seen(const struct jl_machine *machine, enum jl_asked answer)
{
	char pair[JL_PAIR_ID_MAX];

	if (machine->intra == JL_WIRE_NONE && machine->inter == JL_WIRE_NONE)
		return true;
	return jl_seen(machine->cat, answer, "link",
		       jl_wire_pair(pair, machine->intra, machine->inter, answer != JL_ASKED_COLLECTIVE));
}

static void fill_links(struct jl_machine *machine, const struct jl_catalog *cat, const double *train_x)
{
	const struct jl_sys *sys = &machine->sys;
	const struct jl_family *family = sys->gpu ? jl_family_by_id(cat, sys->gpu->family) : NULL;
	const struct jl_link_info *wire = sys->join ? jl_link_by_id(cat, sys->join->wire) : NULL;
	double x[JL_COLL_MAX_PARAMS];

	name_wires(machine);
	const enum jl_wire intra = machine->intra;

	/* fully connected xGMI: the record gives the number of links */
	if (intra == JL_WIRE_XGMI && wire && wire->n_links.value > 1.0)
		machine->fabric.mesh_peers = fmin(wire->n_links.value, fmax(1.0, sys->n_per_node - 1));
	machine->fabric.lanes_given = sys->join && !sys->join_assumed;
	jl_coll_read(cat, x);
	jl_coll_fill(x, intra, jl_wire_of(sys->net), family && family->n_dies > 1, &machine->fabric);
	machine->alone = machine->fabric;
	jl_llm_resolve_fabric(train_x, jl_wires[intra].run, jl_wires[jl_wire_of(sys->net)].run, &machine->fabric);
}

bool jl_machine_conv_nvlink(const struct jl_machine *machine)
{
	const enum jl_intra_kind kind = machine->fabric.intra_kind;

	return kind == JL_INTRA_SWITCH || kind == JL_INTRA_MESH ||
	       (kind == JL_INTRA_BRIDGE_PAIR && machine->fabric.n_per_node <= 2);
}

/* True if this GPU family has more measured runs of networks than of transformers. */
static bool mostly_networks(const struct jl_machine *machine)
{
	const char *family = jl_arch_id(machine->dev.arch);

	return jl_times_seen(machine->cat, JL_ASKED_NETWORK, "family", family) +
		       jl_times_seen(machine->cat, JL_ASKED_FORWARD, "family", family) >
	       jl_times_seen(machine->cat, JL_ASKED_STEP, "family", family);
}

/* Networks given as operator lists have their own fit, relative to listed rates. */
static void fill_conv(struct jl_machine *machine, const struct jl_catalog *cat, const char *gpu_id)
{
	double x[JL_CONV_MAX_PARAMS];

	machine->conv_fitted = jl_conv_read(cat, gpu_id, x);
	machine->spells_blocks = mostly_networks(machine);
	jl_conv_resolve(x, machine->conv_fitted ? 0 : -1, &machine->dev, &machine->conv);
	machine->conv_bus_Bps = jl_conv_bus_Bps(x, &machine->dev, jl_machine_conv_nvlink(machine));
}

double jl_machine_launch_s(const struct jl_machine *machine, double own_s, bool pictures, bool compiled)
{
	return pictures && (machine->host.kind == JL_HOST_BOARD || machine->host.kind == JL_HOST_SERVER)
		       ? fmax(own_s, machine->board_launch_s[compiled])
		       : own_s;
}

/* Id of the GPU whose fitted parameters apply: its own, else that of its twin (computes_as). */
static const char *fitted_id(const struct jl_catalog *cat, const struct jl_gpu *gpu)
{
	if (!gpu)
		return NULL;
	return gpu->computes_as && !jl_llm_seen(cat, gpu->id) ? gpu->computes_as : gpu->id;
}

enum jl_status jl_machine_make(struct jl_machine *ret_machine, const struct jl_catalog *cat, const struct jl_sys *sys,
			       struct jl_err *err)
{
	struct jl_machine machine = { .cat = cat, .sys = *sys, .host_mem_Bps = host_mem_Bps };
	const char *gpu_id = fitted_id(cat, sys->gpu);
	double x[JL_LLM_MAX_PARAMS];

	jl_resolve_system_device(&machine.dev, cat, sys);
	JL_TRY(jl_resolve_fabric(&machine.fabric, cat, sys, err));
	if (!sys->gpu && !isnan(machine.dev.mem_Bps))
		machine.host_mem_Bps = machine.dev.mem_Bps;
	const char *chip_id = sys->gpu ? jl_gpu_chip(cat, sys->gpu)->id : NULL;
	const bool by_ops = jl_gemm_shipped(cat, gpu_id, &machine.dev), by_runs = jl_llm_read(cat, chip_id, x);

	machine.served = machine.dev;

	/* a CPU whose rate was measured on this machine */
	machine.device_fitted = by_ops || by_runs ||
				(!sys->gpu && sys->cpu && sys->cpu->fp32_flopps.origin == JL_MEASURED);
	if (!sys->gpu && sys->cpu && sys->cpu->fp32_flopps.hi > 0)
		machine.rate_half_ln = log(sys->cpu->fp32_flopps.hi / sys->cpu->fp32_flopps.value);
	jl_llm_resolve_device(x, by_runs ? 0 : -1, &machine.dev);
	if (!sys->gpu)
		machine.dev.fit.align_frac = 1; /* CPU products pack their rows first, so alignment does not matter */
	machine.memory = jl_llm_resolve_memory(x, JL_LLM_DEVICE);
	machine.power = jl_power_shipped(cat);
	fill_links(&machine, cat, x);
	fill_conv(&machine, cat, gpu_id);
	machine.board_launch_s[0] = jl_llm_resolve_profile(x, JL_FW_EAGER, -1).launch_s;
	machine.board_launch_s[1] = jl_llm_resolve_profile(x, JL_FW_COMPILED, -1).launch_s;
	jl_widths_read(&machine.widths, cat);
	jl_host_of(&machine.host, sys);
	machine.host_idle_W = machine.host.power_W;
	*ret_machine = machine;
	return JL_OK;
}

double jl_machine_host_W(const struct jl_machine *machine, double n_devices)
{
	return isnan(machine->host_idle_W) ? 0 : machine->host_idle_W * n_devices / jl_sys_per_node(&machine->sys);
}

/* Keeps the assignment to root complexes: the first 8 of 10 cards are five and three, not four and four. */
enum jl_status jl_machine_take(struct jl_machine *ret_machine, const struct jl_machine *machine, int n_devices,
			       struct jl_err *err)
{
	struct jl_machine part = *machine;
	int per_node = jl_sys_per_node(&machine->sys);

	if (n_devices > per_node * machine->sys.n_nodes)
		return jl_fail(err, JL_E_RANGE, "%d devices, but there are %d x %d; take at most %d", n_devices,
			       machine->sys.n_nodes, per_node, per_node * machine->sys.n_nodes);
	if (n_devices < 1 || (n_devices > per_node && n_devices % per_node))
		return jl_fail(err, JL_E_RANGE,
			       "%d devices cannot be taken from %d hosts of %d; take up to %d, or whole hosts",
			       n_devices, machine->sys.n_nodes, per_node, per_node);
	part.sys.n_nodes = part.fabric.n_nodes = n_devices > per_node ? n_devices / per_node : 1;
	part.sys.n_per_node = part.fabric.n_per_node = n_devices > per_node ? per_node : n_devices;
	if (part.sys.n_nodes == 1) { /* what joins hosts is not of it, and not assumed */
		part.sys.net = NULL;
		part.sys.net_assumed = false;
		part.inter = JL_WIRE_NONE;
	}
	part.alone.n_nodes = part.fabric.n_nodes;
	part.alone.n_per_node = part.fabric.n_per_node;
	name_wires(&part);
	*ret_machine = part;
	return JL_OK;
}

void jl_machine_profile(struct jl_profile *ret_profile, const struct jl_catalog *cat, enum jl_framework framework,
			const char *code)
{
	double x[JL_LLM_MAX_PARAMS];

	(void)jl_llm_read(cat, NULL, x);
	*ret_profile = jl_llm_resolve_profile(x, framework, -1);
	jl_profile_scale(ret_profile, jl_code_ratio(cat, jl_codebase_by_id(code), false));
}

enum jl_status jl_machine_has_memory(const struct jl_machine *machine, struct jl_err *err)
{
	if (isnan(machine->dev.mem_B) || isnan(machine->dev.mem_Bps))
		return jl_fail(err, JL_E_ABSENT, "the catalog does not list the memory of %.60s", machine->sys.text);
	return JL_OK;
}
