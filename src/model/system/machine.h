/* A system ready for the model: listed facts from the catalog and fitted physics, as plain numbers. Devices and links are
 * as a training run sees them: less than single operators and collectives reach alone. */
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

/* The host around the accelerators: processor threads, memory, what it draws. Listed facts where the catalog has them, else
 * what hosts of that kind have, marked as assumed. */
enum jl_host_class {
	JL_HOST_BOARD,   /* accelerators on a board of their own: SXM, OAM, superchips */
	JL_HOST_SERVER,  /* cards in a server: data-centre cards, or more than four of any kind */
	JL_HOST_DESKTOP, /* up to four consumer or workstation cards */
	JL_HOST_CPU,     /* no accelerator */
	JL_N_HOST_CLASS
};

struct jl_host {
	enum jl_host_class kind;
	double n_threads;     /* hardware threads */
	bool threads_assumed; /* the catalog does not say */
	double ram_B;         /* NAN: not known */
	double power_W;       /* beside the accelerators while they work: processors, memory, NICs, fans, losses */
	double power_half_ln; /* how sure that is: half an 80 % interval, as ln */
	bool power_assumed;   /* by the class of the host, not from a rated power of the system */
};

void jl_host_of(struct jl_host *ret_host, const struct jl_sys *sys);

/* What a host draws from the wall at most, its accelerators at their power limit: what a circuit or a rack must bear. Energy is of what it draws
 * on average. */
double jl_host_peak_W(const struct jl_host *host, double boards_W, const struct jl_catalog *cat);

/* "server with boards", ...: of the class, for notes. */
const char *jl_host_class_name(enum jl_host_class kind);

struct jl_machine {
	const struct jl_catalog *cat; /* that says what has been measured; outlives the machine */
	struct jl_widths widths;      /* how far off answers about it may be */
	struct jl_sys sys;
	struct jl_device dev;
	struct jl_device served;     /* as its operators are by themselves: what engines are scored with */
	struct jl_fabric fabric;     /* n_nodes 1 and JL_INTRA_NONE for a single device */
	struct jl_fabric alone;      /* the same links as a collective sees them that is measured by itself */
	bool device_fitted;          /* fitted to measurements of this accelerator; else its family's values */
	enum jl_wire intra, inter;   /* what joins its devices and its hosts; JL_WIRE_NONE: there are not several */
	struct jl_memory_fit memory; /* what a device holds beside tensors */
	struct jl_power_fit power;
	double rate_half_ln; /* half interval of its rates where they are estimated; else 0 */
	double host_mem_Bps; /* of one host, all sockets; an assumption where the catalog does not say */
	double host_idle_W;  /* what a host draws beside its accelerators; of `host`; NAN: not known */
	struct jl_host host;
	struct jl_conv_fit conv; /* physics of networks that are lists of operators */
	double conv_bus_Bps;     /* rate of their gradient ring inside one host */
	bool conv_fitted;        /* this accelerator had such runs */
	bool spells_blocks; /* ... more of them than of transformers: blocks of transformers inside them go by these too */
	double board_launch_s[2]; /* a launch on hosts of boards, as transformers there need it: eager, compiled */
};

enum jl_status jl_machine_make(struct jl_machine *ret_machine, const struct jl_catalog *cat, const struct jl_sys *sys,
			       struct jl_err *err);
/* JL_E_ABSENT where size or rate of its memory is not listed: training and serving cannot be predicted. */
enum jl_status jl_machine_has_memory(const struct jl_machine *machine, struct jl_err *err);

/* Host time of one launch of such a network: as its own runs needed it (`own_s`), most of them on desktops; networks of pictures on the
 * hosts of boards as transformers there. */
double jl_machine_launch_s(const struct jl_machine *machine, double own_s, bool pictures, bool compiled);

/* Of what its hosts draw beside their accelerators, the share of so many of these; 0: not known. */
double jl_machine_host_W(const struct jl_machine *machine, double n_devices);

/* The first n devices of a machine: fewer hosts first, then fewer devices in the last one (n must divide evenly or fit one host). */
enum jl_status jl_machine_take(struct jl_machine *ret_machine, const struct jl_machine *machine, int n_devices,
			       struct jl_err *err);

/* Reasons to doubt an answer about this machine: its device or family were never measured, nor the kind of what runs on it, or few sources
 * have measured them together. The device of `axes` is filled in here. */
void jl_machine_doubt(struct jl_doubt *doubt, const struct jl_machine *machine, enum jl_asked answer,
		      struct jl_axes axes);
/* Were such links, inside a host and between hosts, ever measured for this kind of answer? */
bool jl_machine_links_seen(const struct jl_machine *machine, enum jl_asked answer);

/* Do all devices of a host reduce gradients over NVLink? */
bool jl_machine_conv_nvlink(const struct jl_machine *machine);

/* A framework profile with its fitted values. */
/* code: id of a codebase; NULL: not named. */
void jl_machine_profile(struct jl_profile *ret_profile, const struct jl_catalog *cat, enum jl_framework framework,
			const char *code);
