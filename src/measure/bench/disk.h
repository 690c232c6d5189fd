/* Finds the drive that a folder is on. */
#pragma once

#include "bench/backend.h"

/* "nvme0n1", "sda", "md0"; "": not a single block device (network file system, several drives). */
void jl_disk_under(const char *dir, char ret_name[JL_DISK_NAME_MAX]);
