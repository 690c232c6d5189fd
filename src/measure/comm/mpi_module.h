/* Interface of the module jeoul-mpi.so. */
#pragma once

#include "comm/comm.h"

#define JL_MPI_MODULE_ABI    3
#define JL_MPI_MODULE_SYMBOL "jl_mpi_module"

struct jl_mpi_module {
	int abi;
	enum jl_status (*open)(bool overlap, void (*stuck)(int rank), struct jl_comm **ret_comm, struct jl_err *err);
};

#ifndef JEOUL_LIBDIR
#define JEOUL_LIBDIR "lib"
#endif
