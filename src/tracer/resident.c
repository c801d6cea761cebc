/* SPDX-License-Identifier: MIT */
/* resident.c - reads /proc/PID/pagemap: Documentation/admin-guide/mm/pagemap.rst of Linux. */
#include "wallsample/tracer/resident.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define IN_MEMORY (UINT64_C(1) << 63)
#define IN_SWAP (UINT64_C(1) << 62)

void
resident_init(struct resident *resident, const struct process *process)
{
	*resident = (struct resident){ .process = process, .fd = -1 };
	resident_renew(resident);
}

void
resident_release(struct resident *resident)
{
	if (resident->fd >= 0)
		close(resident->fd);
	resident->fd = -1;
}

void
resident_renew(struct resident *resident)
{
	uint64_t entry;

	/* The open file is kept if it can still be read: after an exec a read of the pagemap of the
	 * old program returns 0 bytes. */
	if (resident->unknown ||
	    (resident->fd >= 0 && pread(resident->fd, &entry, sizeof(entry), 0) > 0))
		return;
	resident_release(resident);
	resident->fd = process_open_file(resident->process, "pagemap", O_RDONLY | O_CLOEXEC);
	/* The file does not exist without CONFIG_PROC_PAGE_MONITOR; it needs the same rights as
	 * reading the memory of the process. */
	resident->unknown = resident->fd < 0 &&
			    (errno == ENOENT || errno == EACCES || errno == EPERM);
}

uint32_t
resident_pages(const struct resident *resident, uint64_t address, bool swapped)
{
	const uint64_t wanted = swapped ? IN_MEMORY | IN_SWAP : IN_MEMORY;
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), first = address / page;
	const uint64_t last = (address + (RESIDENT_BYTES - 1)) / page;
	uint64_t entry[RESIDENT_PAGES] = { 0 };
	uint32_t found = 0;

	if (resident->unknown)
		return UINT32_MAX;
	if (resident->fd < 0 || pread(resident->fd, entry, (last - first + 1) * sizeof(*entry),
				      (off_t)(first * sizeof(*entry))) < 0)
		return 0;
	/* A page of the machine may consist of several pages of MEMORY_PAGE bytes. */
	for (uint64_t i = 0; i < RESIDENT_PAGES; i++)
		if ((entry[(address + i * MEMORY_PAGE) / page - first] & wanted) != 0)
			found |= UINT32_C(1) << i;
	return found;
}
