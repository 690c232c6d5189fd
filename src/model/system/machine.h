/* A system ready for the model: catalog facts and fitted parameters as plain numbers. Rates are those of training runs, lower than those of single
 * operators and collectives in benchmarks. */
#pragma once

#include "catalog/sysexpr.h"
#include "kernels/conv.h"
#include "kernels/device.h"
#include "fabric/fabric.h"
#include "memory/memory.h"
#include "power/power.h"
#include "timeline/profile.h"
#include "parameters/interval.h"
#include "parameters/link_params.h"

/* Host besides the accelerators: threads, memory, power. Catalog facts, else defaults of its class, marked as assumed. */
enum jl_host_class {
	JL_HOST_BOARD,   /* accelerators on a baseboard: SXM, OAM, superchips */
	JL_HOST_SERVER,  /* server with cards: data-centre cards, or more than four of any kind */
	JL_HOST_DESKTOP, /* up to four consumer or workstation cards */
	JL_HOST_CPU,
	JL_N_HOST_CLASS
};

struct jl_host {
	enum jl_host_class kind;
	double n_threads;     /* hardware threads */
	bool threads_assumed; /* default of the class, not from the catalog */
	double ram_B;         /* NAN: unknown */
	double power_W;       /* processors, memory, NICs, fans and losses under load, accelerators excluded */
	double power_half_ln; /* half of an 80 % interval, as ln */
	bool power_assumed;   /* default of the class, not from the system's rated power */
};

void jl_host_of(struct jl_host *ret_host, const struct jl_sys *sys);

/* Peak power at the wall with accelerators at their limit, for sizing circuits and racks. Energy uses average power instead. */
double jl_host_peak_W(const struct jl_host *host, double boards_W, const struct jl_catalog *cat);

/* "server with boards", ...: name of the class, for notes. */
const char *jl_host_class_name(enum jl_host_class kind);

struct jl_machine {
	const struct jl_catalog *cat; /* catalog that records what has been measured; must outlive the machine */
	struct jl_widths widths;      /* uncertainty of answers about this machine */
	struct jl_sys sys;
	struct jl_device dev;
	struct jl_device served;     /* rates of single operators, which serving uses */
	struct jl_fabric fabric;     /* n_nodes 1 and JL_INTRA_NONE: a single device */
	struct jl_fabric alone;      /* the same links as seen by a collective benchmark */
	bool device_fitted;          /* fitted to measurements of this accelerator; false: its family's values */
	enum jl_wire intra, inter;   /* link types between devices and between hosts; JL_WIRE_NONE: only one */
	struct jl_memory_fit memory; /* device memory besides tensors */
	struct jl_power_fit power;
	double rate_half_ln; /* half interval (ln) of estimated rates; 0: rates are not estimated */
	double host_mem_Bps; /* per host, all sockets; assumed if the catalog has no value */
	double host_idle_W;  /* power of a host besides its accelerators, from `host`; NAN: unknown */
	struct jl_host host;
	struct jl_conv_fit conv; /* parameters for networks given as operator lists */
	double conv_bus_Bps;     /* rate of their gradient all-reduce inside one host */
	bool conv_fitted;        /* such runs were measured on this accelerator */
	bool spells_blocks; /* more of them than of transformers: transformer blocks inside networks use this fit too */
	/* host seconds per launch on hosts with baseboards, from transformer runs: eager, compiled */
	double board_launch_s[2];
};

enum jl_status jl_machine_make(struct jl_machine *ret_machine, const struct jl_catalog *cat, const struct jl_sys *sys,
			       struct jl_err *err);
/* JL_E_ABSENT if memory size or bandwidth is not listed: training and serving cannot be predicted. */
enum jl_status jl_machine_has_memory(const struct jl_machine *machine, struct jl_err *err);

/* Host seconds per launch of a network. `own_s`: from its own runs, mostly on desktops. Vision networks on hosts with baseboards take the value of
 * transformers there. */
double jl_machine_launch_s(const struct jl_machine *machine, double own_s, bool pictures, bool compiled);

/* Power of the hosts besides their accelerators, the share of n_devices; 0: unknown. */
double jl_machine_host_W(const struct jl_machine *machine, double n_devices);

/* The first n devices: fewer hosts first, then fewer devices in the last one (n must divide evenly or fit one host). */
enum jl_status jl_machine_take(struct jl_machine *ret_machine, const struct jl_machine *machine, int n_devices,
			       struct jl_err *err);

/* Reasons to doubt an answer: device, family, link or workload never measured, or only few sources measured them together. Fills in the device of
 * `axes`. */
void jl_machine_doubt(struct jl_doubt *doubt, const struct jl_machine *machine, enum jl_asked answer,
		      struct jl_axes axes);
/* True if the link types in use were measured for this kind of answer. */
bool jl_machine_links_seen(const struct jl_machine *machine, enum jl_asked answer);

/* True if all devices of a host are connected by NVLink. */
bool jl_machine_conv_nvlink(const struct jl_machine *machine);

/* Framework profile with fitted values. code: id of a codebase; NULL: unspecified. */
void jl_machine_profile(struct jl_profile *ret_profile, const struct jl_catalog *cat, enum jl_framework framework,
			const char *code);
