/* The host around the accelerators: processor threads, memory, what it draws. Listed facts where the catalog has them, else
 * what hosts of that kind have, marked as assumed. */
#pragma once

#include "catalog/sysexpr.h"

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

/* "server with boards", ...: of the class, for notes. */
const char *jl_host_class_name(enum jl_host_class kind);
