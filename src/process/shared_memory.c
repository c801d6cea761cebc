/* SPDX-License-Identifier: MIT */
/* shared_memory.c - finds the shared object behind an address of a process, by PROCMAP_QUERY or by
 * the text of /proc/PID/maps. */
#include "wallsample/process/shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process/maps_source_internal.h"
#include "process/process_internal.h"
#include "wallsample/base/search.h"
#include "wallsample/base/table.h"

/* Most shared mappings, and bytes of their paths, that are kept of the text. */
#define MAPPINGS_MOST 8192
#define PATHS_MOST (1 << 20)

/* Shortest time between two reads of the text: for known mappings, and for an unknown address. It
 * is longer if a read takes more than 1% of it. */
#define KNOWN_NS NS_PER_SEC
#define UNKNOWN_NS (10 * NS_PER_MS)
#define READ_COST_FACTOR 100

struct shared_mapping {
	uint64_t start, end, offset, dev, inode;
	uint32_t path; /* number in shared_memory.paths */
};

struct shared_memory {
	const struct process *process;
	int fd;              /* of /proc/PID/maps, for queries; -1: not open */
	bool can_query;      /* the kernel may have PROCMAP_QUERY */
	char path[PATH_MAX]; /* of the last query */
	uint64_t ipc;        /* inode of the IPC namespace; 0: not read yet, or not readable */

	/* Of the last read of the text. */
	bool was_read;
	uint64_t read_ns, cost_ns;      /* when it began; how long it took */
	struct shared_mapping *mapping; /* ascending, without overlap */
	size_t count, capacity;
	struct strings *paths;
};

struct shared_memory *
shared_memory_create(const struct process *process)
{
	struct shared_memory *memory = xcalloc(1, sizeof(*memory));

	memory->process = process;
	memory->fd = -1;
	memory->can_query = true;
	return memory;
}

void
shared_memory_free(struct shared_memory *memory)
{
	if (memory == NULL)
		return;
	if (memory->fd >= 0)
		close(memory->fd);
	free(memory->mapping);
	strings_free(memory->paths);
	free(memory);
}

/* --- objects ---------------------------------------------------------------------------------- */

static bool
begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Segments of System V have the path "/SYSV", eight digits of the key, and " (deleted)":
 * ipc/shm.c of the kernel, newseg(). */
static bool
is_system_v(const char *path)
{
	if (!begins(path, "/SYSV"))
		return false;
	path += strlen("/SYSV");
	return strspn(path, "0123456789abcdef") == 8 && strcmp(path + 8, MODULE_DELETED) == 0;
}

/* Names of other files without a directory: mm/memfd.c, shmem_zero_setup() in mm/shmem.c, and
 * hugetlb_file_setup() in mm/mmap.c (memory of MAP_HUGETLB) of the kernel. */
static enum shared_kind
kind_of_path(const char *path)
{
	if (is_system_v(path))
		return SHARED_SYSTEM_V;
	if (begins(path, "/memfd:") && module_path_is_deleted(path))
		return SHARED_MEMFD;
	if (strcmp(path, "/dev/zero" MODULE_DELETED) == 0 ||
	    strcmp(path, "/anon_hugepage" MODULE_DELETED) == 0)
		return SHARED_ANONYMOUS;
	return SHARED_FILE;
}

/* Returns the inode in a link such as "ipc:[4026531839]" below the directory of a process; 0: it is
 * not readable. */
static uint64_t
read_ipc(int dirfd)
{
	char link[64] = "";
	const char *at = link + strlen("ipc:[");
	uint64_t inode;

	if (readlinkat(dirfd, "ns/ipc", link, sizeof(link) - 1) <= 0 || !begins(link, "ipc:[") ||
	    !parse_u64(&at, 10, &inode))
		return 0;
	return inode;
}

static void
set_place(struct shared_memory *memory, const struct maps_line *line, uint64_t address,
	  struct shared_place *place)
{
	*place = (struct shared_place){
		.object = { .kind = kind_of_path(line->path),
			    .dev = line->dev,
			    .inode = line->inode },
		.offset = line->offset + (address - line->start),
		.path = line->path,
	};
	if (place->object.kind != SHARED_SYSTEM_V)
		return;
	if (memory->ipc == 0)
		memory->ipc = read_ipc(memory->process->dirfd);
	place->object.ipc = memory->ipc;
}

/* --- the text of /proc/PID/maps --------------------------------------------------------------- */

/* The shared mappings that have been parsed so far. */
struct shared_collector {
	uint64_t address; /* is looked up: its mapping is kept in any case */
	struct shared_mapping *mapping;
	size_t count, capacity;
	struct strings *paths;
	size_t path_bytes;
};

static void
collect_shared(void *context, const struct maps_line *line)
{
	struct shared_collector *new = context;
	const bool wanted = new->address - line->start < line->end - line->start;
	const size_t size = strlen(line->path) + 1;
	const bool named = wanted || new->path_bytes + size <= PATHS_MOST;

	if (new->count >= MAPPINGS_MOST && !wanted)
		return;
	/* The file is not read atomically: a mapping made during the read may overlap the previous
	 * line, and is then skipped. */
	if (new->count > 0 && line->start < new->mapping[new->count - 1].end)
		return;
	new->mapping = xgrow(new->mapping, &new->capacity, new->count + 1, sizeof(*new->mapping));
	new->mapping[new->count++] = (struct shared_mapping){
		.start = line->start,
		.end = line->end,
		.offset = line->offset,
		.dev = line->dev,
		.inode = line->inode,
		.path = strings_intern(new->paths, named ? line->path : ""),
	};
	new->path_bytes += named ? size : 0;
}

/* Reads the shared mappings of the process, to look up `address`. If nothing can be read, the
 * process is exiting, and its known mappings are kept. */
static void
read_shared(struct shared_memory *memory, uint64_t address, uint64_t now_ns)
{
	struct shared_collector new = { .address = address, .paths = strings_create() };
	const uint64_t began_ns = clock_now_ns();
	const int fd = maps_source_open(memory->process);
	bool any = false;

	if (fd >= 0) {
		any = maps_source_read_shared(fd, collect_shared, &new);
		close(fd);
	}
	if (any) {
		free(memory->mapping);
		strings_free(memory->paths);
		memory->mapping = new.mapping;
		memory->count = new.count;
		memory->capacity = new.capacity;
		memory->paths = new.paths;
	} else {
		free(new.mapping);
		strings_free(new.paths);
	}
	memory->was_read = true;
	memory->read_ns = now_ns;
	memory->cost_ns = clock_now_ns() - began_ns;
}

/* Returns true if the text was never read, or `least_ns` and the budget since then have passed. */
static bool
text_is_due(const struct shared_memory *memory, uint64_t least_ns, uint64_t now_ns)
{
	const uint64_t budget_ns = memory->cost_ns * READ_COST_FACTOR;
	const uint64_t pause_ns = budget_ns > least_ns ? budget_ns : least_ns;

	return !memory->was_read ||
	       (now_ns > memory->read_ns && now_ns - memory->read_ns >= pause_ns);
}

static const struct shared_mapping *
find_known(const struct shared_memory *memory, uint64_t address)
{
	size_t index;

	SEARCH_FIRST_NOT(index, memory->count, memory->mapping[index].end <= address);
	if (index == memory->count || address < memory->mapping[index].start)
		return NULL;
	return &memory->mapping[index];
}

static bool
find_in_text(struct shared_memory *memory, uint64_t address, uint64_t now_ns,
	     struct maps_line *line)
{
	const struct shared_mapping *found = find_known(memory, address);

	if (text_is_due(memory, found != NULL ? KNOWN_NS : UNKNOWN_NS, now_ns)) {
		read_shared(memory, address, now_ns);
		found = find_known(memory, address);
	}
	if (found == NULL)
		return false;
	*line = (struct maps_line){
		.start = found->start,
		.end = found->end,
		.offset = found->offset,
		.dev = found->dev,
		.inode = found->inode,
		.path = strings_text(memory->paths, found->path),
	};
	return true;
}

/* --- queries ---------------------------------------------------------------------------------- */

/* Asks the kernel. The descriptor is opened again if it gives no answer: after an exec it belongs
 * to an address space that has ended. */
static enum maps_query
query_again(struct shared_memory *memory, uint64_t address, struct maps_line *line)
{
	enum maps_query end = MAPS_QUERY_FAILED;

	if (memory->fd >= 0)
		end = maps_source_query_shared(memory->fd, address, line, memory->path);
	if (end != MAPS_QUERY_FAILED)
		return end;
	if (memory->fd >= 0)
		close(memory->fd);
	memory->fd = maps_source_open(memory->process);
	if (memory->fd < 0)
		return MAPS_QUERY_FAILED;
	return maps_source_query_shared(memory->fd, address, line, memory->path);
}

bool
shared_place(struct shared_memory *memory, uint64_t address, uint64_t now_ns,
	     struct shared_place *place)
{
	enum maps_query end = MAPS_QUERY_UNSUPPORTED;
	struct maps_line line;

	if (memory->can_query)
		end = query_again(memory, address, &line);
	if (end == MAPS_QUERY_UNSUPPORTED)
		memory->can_query = false;
	if (end == MAPS_QUERY_NONE)
		return false;
	if (end != MAPS_QUERY_FOUND && !find_in_text(memory, address, now_ns, &line))
		return false;
	set_place(memory, &line, address, place);
	return true;
}

bool
shared_place_of_futex(struct shared_memory *memory, uint64_t word, bool is_private, uint64_t now_ns,
		      struct shared_place *place)
{
	return !is_private && shared_place(memory, word, now_ns, place);
}

/* --- another process -------------------------------------------------------------------------- */

struct object_search {
	const struct shared_object *object;
	bool found;
};

static void
compare_object(void *context, const struct maps_line *line)
{
	struct object_search *search = context;
	const struct shared_object *object = search->object;

	search->found |= line->inode == object->inode && line->dev == object->dev &&
			 kind_of_path(line->path) == object->kind;
}

bool
shared_object_may_be_mapped(pid_t pid, const struct shared_object *object)
{
	struct object_search search = { .object = object };
	char name[32];
	uint64_t ipc;
	bool any;
	int dirfd, fd;

	snprintf(name, sizeof(name), "/proc/%d", (int)pid);
	dirfd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dirfd < 0)
		return errno != ENOENT;
	ipc = object->kind == SHARED_SYSTEM_V ? read_ipc(dirfd) : 0;
	fd = openat(dirfd, "maps", O_RDONLY | O_CLOEXEC);
	close(dirfd);
	if (fd < 0)
		return true;
	any = maps_source_read_shared(fd, compare_object, &search);
	close(fd);
	if (ipc != 0 && object->ipc != 0 && ipc != object->ipc)
		return false;
	return search.found || !any;
}
