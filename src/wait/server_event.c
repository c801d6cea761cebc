/* SPDX-License-Identifier: MIT */
/* server_event.c - reads the wait event that PostgreSQL publishes. */
#include "wallsample/wait/server_event.h"

#include <stdlib.h>
#include <string.h>

#include "wallsample/base/table.h"
#include "wallsample/elf/symbol_search.h"
#include "wallsample/process/module.h"

/* Most bytes of the names and symbols of a program that are read: PostgreSQL 15 has 0.7 MB in
 * .dynsym and its names, and some 3 MB more if it is not stripped. */
#define SYMBOLS_MOST (16u << 20)

/* Classes of wait events: the most significant byte. The low 16 bits are the event. */
#define CLASS_LWLOCK 0x01
#define CLASS_LOCK 0x03
#define EVENT_MOST 0xffff

/* --- names -------------------------------------------------------------------------------- */

/* Kinds of heavyweight locks by number: enum LockTagType in src/include/storage/locktag.h (lock.h
 * until PostgreSQL 18). The waiters for a row wait for the end of a transaction, one after the
 * other; the others wait for the tuple. */
static const char *const lock_name[] = {
	"relation",
	"relation (extend)",
	"database (frozenid)",
	"page",
	"row (transactionid, tuple)",
	"row (transactionid, tuple)",
	"transaction (virtualxid)",
	"row (spectoken)",
	"object",
	"userlock",
	"advisory",
	"applytransaction",
};

/* Lightweight locks by number: src/include/storage/lwlocklist.h (lwlocknames.txt until PostgreSQL
 * 16), where numbers are not used again. */
static const char *const lwlock_name[] = {
	[1] = "ShmemIndex",
	[2] = "OidGen",
	[3] = "XidGen",
	[4] = "ProcArray",
	[5] = "SInvalRead",
	[6] = "SInvalWrite",
	[7] = "WALBufMapping",
	[8] = "WALWrite",
	[9] = "ControlFile",
	[11] = "XactSLRU",
	[12] = "SubtransSLRU",
	[13] = "MultiXactGen",
	[14] = "MultiXactOffsetSLRU",
	[15] = "MultiXactMemberSLRU",
	[16] = "RelCacheInit",
	[17] = "CheckpointerComm",
	[18] = "TwoPhaseState",
	[19] = "TablespaceCreate",
	[20] = "BtreeVacuum",
	[21] = "AddinShmemInit",
	[22] = "Autovacuum",
	[23] = "AutovacuumSchedule",
	[24] = "SyncScan",
	[25] = "RelationMapping",
	[26] = "NotifySLRU",
	[27] = "NotifyQueue",
	[28] = "SerializableXactHash",
	[29] = "SerializableFinishedList",
	[30] = "SerializablePredicateList",
	[31] = "SerialSLRU",
	[32] = "SyncRep",
	[33] = "BackgroundWorker",
	[34] = "DynamicSharedMemoryControl",
	[35] = "AutoFile",
	[36] = "ReplicationSlotAllocation",
	[37] = "ReplicationSlotControl",
	[38] = "CommitTsSLRU",
	[39] = "CommitTs",
	[40] = "ReplicationOrigin",
	[41] = "MultiXactTruncation",
	[42] = "OldSnapshotTimeMap",
	[43] = "LogicalRepWorker",
	[44] = "XactTruncation",
	[46] = "WrapLimitsVacuum",
	[47] = "NotifyQueueTail",
};

/* Groups of lightweight locks (tranches) of PostgreSQL 14 to 16 in their order, from the first one
 * after the locks above: enum BuiltinTrancheIds in src/include/storage/lwlock.h. */
static const char *const group_name[] = {
	"XactBuffer",
	"CommitTsBuffer",
	"SubtransBuffer",
	"MultiXactOffsetBuffer",
	"MultiXactMemberBuffer",
	"NotifyBuffer",
	"SerialBuffer",
	"WALInsert",
	"BufferContent",
	"ReplicationOriginState",
	"ReplicationSlotIO",
	"LockFastPath",
	"BufferMapping",
	"LockManager",
	"PredicateLockManager",
};

static const char *
find_lwlock(const struct server_process *process, uint32_t event)
{
	if (process->locks != 0 && event >= process->locks)
		return event - process->locks < ARRAY_SIZE(group_name) ?
			       group_name[event - process->locks] :
			       NULL;
	return event < ARRAY_SIZE(lwlock_name) ? lwlock_name[event] : NULL;
}

/* --- programs ------------------------------------------------------------------------------- */

enum { SYMBOL_EVENT, SYMBOL_LOCKS };
static const struct symbol_wanted wanted[] = {
	[SYMBOL_EVENT] = { .name = "my_wait_event_info" },
	/* An array of pointers to the names of the single locks, until PostgreSQL 16. */
	[SYMBOL_LOCKS] = { .name = "IndividualLWLockNames" },
};

/* In the image. */
struct program {
	uint64_t variable; /* 0: there is none */
	uint32_t locks;
};

struct server_programs {
	struct table of_image; /* address of the image -> index in program[] */
	struct program *program;
	size_t capacity;
};

struct server_programs *
server_programs_create(void)
{
	return xcalloc(1, sizeof(struct server_programs));
}

void
server_programs_free(struct server_programs *programs)
{
	if (programs == NULL)
		return;
	table_release(&programs->of_image);
	free(programs->program);
	free(programs);
}

static void
search_image(const struct image *image, struct program *out)
{
	const struct symbol_search_found *variable, *locks;
	struct symbol_search search;
	uint64_t budget = SYMBOLS_MOST;

	symbol_search_init(&search, image, wanted, ARRAY_SIZE(wanted));
	while (budget > 0 && !symbol_search_step(&search, &budget))
		;
	variable = symbol_search_first(&search, SYMBOL_EVENT);
	locks = symbol_search_first(&search, SYMBOL_LOCKS);
	if (variable == NULL)
		return;
	out->variable = variable->vaddr;
	if (locks != NULL && locks->size / sizeof(uint64_t) <= EVENT_MOST)
		out->locks = (uint32_t)(locks->size / sizeof(uint64_t));
}

static const struct program *
program_of_image(struct server_programs *programs, const struct image *image)
{
	const uint64_t key[] = { (uintptr_t)image, 0 };
	const size_t before = programs->of_image.count;
	uint32_t at;

	programs->program = table_row(&programs->of_image, key, programs->program,
				      &programs->capacity, sizeof(*programs->program), &at);
	if (programs->of_image.count > before)
		search_image(image, &programs->program[at]);
	return &programs->program[at];
}

void
server_process_find(struct server_programs *programs, const struct maps *maps,
		    struct server_process *out)
{
	const struct modules *modules = maps_modules(maps);

	*out = (struct server_process){ .variable = 0 };
	for (size_t i = 0; i < maps_count(maps); i++) {
		const struct mapping *mapping = maps_at(maps, i);
		const struct program *program;

		if (mapping->image == NULL ||
		    strcmp(modules_at(modules, mapping->module)->name, "postgres") != 0)
			continue;
		program = program_of_image(programs, mapping->image);
		if (program->variable != 0) {
			out->variable = program->variable + mapping->bias;
			out->locks = program->locks;
		}
		return;
	}
}

bool
server_process_add_lock(const struct server_process *process, const struct memory *memory,
			enum wait_kind kind, struct strbuf *out)
{
	/* A process waits for a heavyweight lock in epoll, or in poll where epoll is missing, and
	 * for a lightweight one at a semaphore, which is not always recognised. */
	const bool events = wait_kind_is_events(kind);
	uint64_t address;
	uint32_t event, class;
	const char *name;

	if (process->variable == 0 || (kind != WAIT_SEMAPHORE && kind != WAIT_FUTEX && !events))
		return false;
	if (!memory_read(memory, process->variable, &address, sizeof(address)) || address == 0 ||
	    !memory_read(memory, address, &event, sizeof(event)))
		return false;
	class = event >> 24;
	event &= EVENT_MOST;
	if (class == CLASS_LOCK && events && event < ARRAY_SIZE(lock_name)) {
		strbuf_add_text(out, lock_name[event]);
		return true;
	}
	if (class != CLASS_LWLOCK || events)
		return false;
	name = find_lwlock(process, event);
	if (name != NULL)
		strbuf_add_format(out, "%s (LWLock)", name);
	else
		strbuf_add_format(out, "LWLock %u", event);
	return true;
}
