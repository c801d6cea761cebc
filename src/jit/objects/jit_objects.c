/* SPDX-License-Identifier: MIT */
/*
 * jit_objects.c - tracks the code that JIT compilers in the target register for debuggers.
 */
#include "wallsample/jit/jit_objects.h"

#include <inttypes.h>
#include <string.h>

#include "jit/objects/jit_elf_internal.h"
#include "jit/objects/jit_watch_internal.h"
#include "wallsample/base/table.h"

/* WORK_NS: most time that one tick spends on copying files. PIECE_SIZE: bytes that are copied at
 * once. */
#define WORK_NS (2 * NS_PER_MS)
#define PIECE_SIZE (UINT64_C(1) << 20)
/* A list is read when its head has changed, and at least at intervals of WALK_INTERVAL_NS. The
 * pause after a read is at least WALK_COST_FACTOR times its duration: reading takes at most 1% of
 * the time. */
#define WALK_INTERVAL_NS NS_PER_SEC
#define WALK_COST_FACTOR 100

/* Most files that are compared with their copies after the read of one list. */
#define VERIFY_MOST 256

/* Largest number of pieces of code in all files: each new file causes a sort of all pieces. */
#define PIECES_MAX ((size_t)4 * JIT_OBJECTS_MAX)

/* The fingerprint of a file covers HEAD_SIZE bytes at its beginning and TAIL_SIZE bytes at its end.
 * Compilers put the section headers, which have the addresses of the code, in one of these
 * places. */
#define HEAD_SIZE ((uint64_t)1 << 10)
#define TAIL_SIZE ((uint64_t)4 << 10)

#define CONTENT_NONE UINT32_MAX

/* The code that a file describes. It is kept until jit_objects_free(), because samples may refer to
 * its module. */
struct content {
	struct mapping *mapping;
	size_t mapping_count;
	bool passed; /* update_maps() has already added `mapping` in its present call */
};

enum object_state {
	OBJECT_NEW,   /* the file is still to be copied */
	OBJECT_READY, /* `content` is set */
	OBJECT_BAD,   /* the file cannot be used */
};

/* An item of a list. */
struct object {
	uint64_t descriptor; /* `address` of the list's struct jit_watch */
	struct jit_listed listed;
	enum object_state state;
	bool copied;          /* the file was copied: `fingerprint` is set */
	uint64_t fingerprint; /* hash of the beginning and the end of the copy */
	uint32_t content;     /* index in `content` of struct jit_objects */
};

struct jit_objects {
	struct maps *maps;
	const struct log *log;
	struct jit_reader reader;
	struct memory memory; /* reads through `reader` */

	struct jit_watches watches;

	struct object *object; /* the items of all lists */
	size_t count;
	size_t verified;      /* number of objects that verify() has visited */
	bool changed;         /* mappings have changed since the last maps_set_objects() */
	struct jit_list list; /* the list that was read last */

	struct jit_listed copied; /* the file that is being copied */
	uint8_t *copy; /* bytes of the file that is being copied; NULL: no file is being copied */
	uint64_t copy_done; /* number of bytes that have been copied */

	struct content *content;
	size_t content_count, content_capacity;
	size_t pieces;           /* number of mappings of all contents */
	struct table by_content; /* hash and size of a file -> index of its content */
	uint64_t total_size;     /* size in bytes of all files of which a content was made */
	bool warned;             /* the warning about an unusable file was written */
};

struct jit_objects *
jit_objects_create(const struct process *process, struct maps *maps, const struct log *log)
{
	struct jit_objects *o = xcalloc(1, sizeof(*o));

	o->maps = maps;
	o->log = log;
	o->reader = (struct jit_reader){ process, process->pid };
	o->memory = (struct memory){ jit_read, &o->reader };
	o->watches.maps = maps;
	table_init(&o->by_content);
	return o;
}

void
jit_objects_free(struct jit_objects *o)
{
	if (o == NULL)
		return;
	for (size_t i = 0; i < o->content_count; i++)
		free(o->content[i].mapping);
	free(o->content);
	table_release(&o->by_content);
	free(o->watches.heads);
	free(o->object);
	free(o->list.item);
	free(o->copy);
	free(o);
}

/* --- lists --------------------------------------------------------------------------- */

/* Removes the objects of lists that have no watch any more. */
static void
remove_unwatched(struct jit_objects *o)
{
	size_t kept = 0;

	for (size_t i = 0; i < o->count; i++) {
		if (jit_watches_at(&o->watches, o->object[i].descriptor) != NULL)
			o->object[kept++] = o->object[i];
		else
			o->changed |= o->object[i].state == OBJECT_READY;
	}
	o->count = kept;
}

/* Computes the fingerprint of a file from `copy` or, if that is NULL, from the memory of the
 * target. Returns false when the memory cannot be read. */
static bool
fingerprint(const struct jit_objects *o, const struct jit_listed *listed, const uint8_t *copy,
	    uint64_t *result)
{
	const uint64_t size = listed->size;
	const uint64_t head = size < HEAD_SIZE ? size : HEAD_SIZE;
	const uint64_t tail = size - head < TAIL_SIZE ? size - head : TAIL_SIZE;
	uint8_t ends[HEAD_SIZE + TAIL_SIZE];

	if (copy != NULL) {
		memcpy(ends, copy, head);
		memcpy(ends + head, copy + size - tail, tail);
	} else if (!memory_read(&o->memory, listed->address, ends, head) ||
		   !memory_read(&o->memory, listed->address + size - tail, ends + head, tail)) {
		return false;
	}
	*result = hash_bytes(ends, head + tail);
	return true;
}

/* Compares up to VERIFY_MOST files with their copies, and continues with the others in the next
 * call. A file that has changed is copied again: an allocator may give the memory of an old file to
 * a new one, often of the same size. */
static void
verify(struct jit_objects *o)
{
	for (size_t i = 0; i < VERIFY_MOST && i < o->count; i++) {
		struct object *object = &o->object[o->verified++ % o->count];
		uint64_t now;

		if (!object->copied || !fingerprint(o, &object->listed, NULL, &now) ||
		    now == object->fingerprint)
			continue;
		o->changed |= object->state == OBJECT_READY;
		object->state = OBJECT_NEW;
		object->copied = false;
	}
}

/* Replaces the objects of the watch's list by the items of o->list, which was read from that list.
 * An item that was in the list before keeps the state of its object. */
static void
take_list(struct jit_objects *o, const struct jit_watch *watch)
{
	struct object *objects = xcalloc(o->count + o->list.count + 1, sizeof(*objects));
	struct table by_place; /* node and address of a file -> index of the old object */
	size_t count = 0;

	table_init(&by_place);
	for (size_t i = 0; i < o->count; i++)
		if (o->object[i].descriptor == watch->address)
			*table_insert(&by_place, o->object[i].listed.entry,
				      o->object[i].listed.address, 0, NULL) = (uint32_t)i;
	for (size_t i = 0; i < o->list.count; i++) {
		const struct jit_listed *listed = &o->list.item[i];
		uint32_t old;

		objects[count] = (struct object){ .descriptor = watch->address, .listed = *listed };
		if (table_find(&by_place, listed->entry, listed->address, &old) &&
		    o->object[old].listed.size == listed->size) {
			objects[count] = o->object[old];
			/* with this state the loop below does not count the object as removed */
			o->object[old].state = OBJECT_NEW;
		}
		count++;
	}
	for (size_t i = 0; i < o->count; i++) {
		if (o->object[i].descriptor != watch->address)
			objects[count++] = o->object[i];
		else
			o->changed |= o->object[i].state == OBJECT_READY;
	}
	table_release(&by_place);
	free(o->object);
	o->object = objects;
	o->count = count;
}

/*
 * Returns the largest number of objects that the list of the watch may have: JIT_OBJECTS_MAX minus
 * the number of objects of other lists.
 */
static size_t
room_for(const struct jit_objects *o, const struct jit_watch *watch)
{
	size_t room = JIT_OBJECTS_MAX;

	for (size_t i = 0; i < o->count; i++)
		room -= o->object[i].descriptor != watch->address;
	return room;
}

/* Reads the list of the watch when its head has changed or WALK_INTERVAL_NS has passed, but not
 * before watch->not_before_ns. */
static void
update_list(struct jit_objects *o, struct jit_watch *watch, uint64_t now_ns)
{
	struct jit_descriptor head;
	uint64_t began_ns, cost;

	/* The head of the list cannot be read in a process that exits. The objects stay, because
	 * the last stacks of the process are still to be unwound. */
	if (now_ns < watch->not_before_ns || !jit_watch_read(watch, &o->memory, &head))
		return;
	if (watch->walked && now_ns < watch->due_ns &&
	    memcmp(&head, &watch->last, sizeof(head)) == 0)
		return;
	began_ns = clock_now_ns();
	if (jit_watch_walk(watch, &o->memory, &head, room_for(o, watch), &o->list)) {
		take_list(o, watch);
		verify(o);
		watch->last = head;
		watch->walked = true;
	}
	cost = (clock_now_ns() - began_ns) * WALK_COST_FACTOR;
	watch->not_before_ns = now_ns + cost;
	watch->due_ns = now_ns + (cost > WALK_INTERVAL_NS ? cost : WALK_INTERVAL_NS);
}

/* --- files ----------------------------------------------------------------------------- */

static void
objects_warn(struct jit_objects *o, const struct jit_listed *listed, const char *why)
{
	log_say(o->log, o->warned ? LOG_DEBUG : LOG_NORMAL,
		"JIT code of process %d described at 0x%" PRIx64 " (%" PRIu64
		" bytes) stays unnamed: %s",
		(int)o->reader.process->pid, listed->address, listed->size, why);
	o->warned = true;
}

/* Makes the mappings of a file's code. */
static void
add_mappings(struct content *content, const struct jit_elf *elf, const struct image *image,
	     uint32_t module)
{
	content->mapping = xcalloc(elf->range_count, sizeof(*content->mapping));
	content->mapping_count = elf->range_count;
	for (size_t i = 0; i < elf->range_count; i++) {
		struct mapping *mapping = &content->mapping[i];

		mapping->start = elf->range[i].start;
		mapping->end = elf->range[i].end;
		mapping->module = module;
		/* Addresses in the image are those in the target: the offset is the address. */
		mapping->offset = mapping->start;
		if (!elf->has_tables)
			continue; /* without an image the unwinder follows frame pointers */
		mapping->image = image;
		mapping->low = image->low;
		mapping->high = image->high;
	}
}

/* Makes a module of o->copy, which has `size` bytes. Returns the index of the module's content;
 * CONTENT_NONE, with a warning, when the file cannot be used. */
static uint32_t
make_content(struct jit_objects *o, uint64_t size)
{
	const struct jit_listed listed = o->copied;
	uint8_t *bytes = o->copy;
	struct jit_elf elf;
	uint32_t module;

	o->copy = NULL;
	if (!jit_elf_open(&elf, bytes, size, &o->memory)) {
		objects_warn(o, &listed, elf.why);
		return CONTENT_NONE;
	}
	module = elf.range_count <= PIECES_MAX - o->pieces ?
			 modules_add_object(maps_modules(o->maps), elf.image) :
			 MODULE_NONE;
	if (module == MODULE_NONE) {
		objects_warn(o, &listed, "there is too much of such code");
		jit_elf_release(&elf);
		return CONTENT_NONE;
	}
	o->total_size += size;
	o->pieces += elf.range_count;
	o->content = xgrow(o->content, &o->content_capacity, o->content_count + 1,
			   sizeof(*o->content));
	add_mappings(&o->content[o->content_count], &elf, elf.image, module);
	return (uint32_t)o->content_count++;
}

/* Sets the content of an object whose file has been copied, or its state to OBJECT_BAD if the file
 * cannot be used. */
static void
take_copy(struct jit_objects *o, struct object *object)
{
	uint64_t size = object->listed.size, hash;
	uint32_t content;

	object->copied = fingerprint(o, &object->listed, o->copy, &object->fingerprint);
	if (object->listed.start != 0)
		o->copy = jit_unwind_wrap(o->copy, &object->listed, &size);
	hash = hash_bytes(o->copy, size);
	/* The same bytes are the same module, for example when a database generates code again for
	 * the same query. */
	if (!table_find(&o->by_content, hash, size, &content)) {
		content = make_content(o, size);
		if (content != CONTENT_NONE)
			*table_insert(&o->by_content, hash, size, 0, NULL) = content;
	}
	free(o->copy);
	o->copy = NULL;
	object->content = content;
	object->state = content != CONTENT_NONE ? OBJECT_READY : OBJECT_BAD;
	o->changed |= object->state == OBJECT_READY;
}

/* Returns the reason why a file is not copied, or NULL when it may be copied. */
static const char *
why_refused(const struct jit_objects *o, const struct jit_listed *listed)
{
	/* The object file that is made for unwind tables also has room for the code. */
	const uint64_t size = listed->size + (listed->end - listed->start);

	if (listed->size > JIT_OBJECT_MAX_SIZE)
		return "it is too large";
	if (o->content_count >= JIT_OBJECTS_MAX || o->total_size > JIT_OBJECTS_MAX_SIZE ||
	    size > JIT_OBJECTS_MAX_SIZE - o->total_size)
		return "there is too much of such code";
	return NULL;
}

/* Copies the next piece of an object's file; sets the object's state when the copy is complete or
 * impossible. An incomplete copy of another file is discarded. */
static void
copy_piece(struct jit_objects *o, struct object *object)
{
	const struct jit_listed *listed = &object->listed;
	const char *why = why_refused(o, listed);
	uint64_t part;

	if (o->copy != NULL && memcmp(&o->copied, listed, sizeof(*listed)) != 0) {
		free(o->copy);
		o->copy = NULL;
	}
	if (why == NULL && o->copy == NULL) {
		o->copied = *listed;
		o->copy = xmalloc(listed->size + 1);
		o->copy_done = 0;
	}
	if (why == NULL) {
		part = listed->size - o->copy_done;
		if (part > PIECE_SIZE)
			part = PIECE_SIZE;
		if (memory_read(&o->memory, listed->address + o->copy_done, o->copy + o->copy_done,
				part))
			o->copy_done += part;
		else
			why = "its memory could not be read";
	}
	if (why != NULL) {
		objects_warn(o, listed, why);
		object->state = OBJECT_BAD;
	} else if (o->copy_done == listed->size) {
		take_copy(o, object);
	}
}

/* Returns the object whose file is being copied, or NULL when there is none. */
static struct object *
object_of_copy(const struct jit_objects *o)
{
	for (size_t i = 0; i < o->count && o->copy != NULL; i++)
		if (o->object[i].state == OBJECT_NEW &&
		    memcmp(&o->object[i].listed, &o->copied, sizeof(o->copied)) == 0)
			return &o->object[i];
	return NULL;
}

/* Copies files until the time of the tick is used up. A file of which a part has already been
 * copied comes first. */
static void
copy_files(struct jit_objects *o)
{
	uint64_t end_ns = clock_now_ns() + WORK_NS;
	struct object *object = object_of_copy(o);

	for (size_t i = 0; i < o->count; i++) {
		if (object == NULL)
			object = &o->object[i];
		while (object->state == OBJECT_NEW) {
			if (clock_now_ns() >= end_ns)
				return;
			copy_piece(o, object);
		}
		object = NULL;
	}
}

/* Passes the mappings of the contents of all objects to the maps, each content once. Contents with
 * names come before those that have unwind tables only: of two mappings that overlap, the maps keep
 * the first. */
static void
update_maps(struct jit_objects *o)
{
	struct mapping *all = NULL;
	size_t capacity = 0, count = 0;

	for (size_t i = 0; i < o->content_count; i++)
		o->content[i].passed = false;
	for (size_t i = 0; i < 2 * o->count; i++) {
		const struct object *object = &o->object[i % o->count];
		const bool tables_alone = object->listed.start != 0;
		struct content *content;

		if (object->state != OBJECT_READY || tables_alone != (i >= o->count))
			continue;
		content = &o->content[object->content];
		if (content->passed)
			continue;
		content->passed = true;
		all = xgrow(all, &capacity, count + content->mapping_count, sizeof(*all));
		memcpy(all + count, content->mapping, content->mapping_count * sizeof(*all));
		count += content->mapping_count;
	}
	maps_set_objects(o->maps, all, count);
	free(all);
	o->changed = false;
}

void
jit_objects_tick(struct jit_objects *o, uint64_t now_ns)
{
	if (jit_watches_update(&o->watches, &o->memory, now_ns))
		remove_unwatched(o);
	for (size_t i = 0; i < o->watches.count; i++)
		update_list(o, &o->watches.watch[i], now_ns);
	if (o->count > 0)
		copy_files(o);
	if (o->changed)
		update_maps(o);
}

size_t
jit_objects_count(const struct jit_objects *o)
{
	size_t count = 0;

	for (size_t i = 0; i < o->count; i++)
		count += o->object[i].state == OBJECT_READY;
	return count;
}

bool
jit_objects_busy(const struct jit_objects *o)
{
	for (size_t i = 0; i < o->count; i++)
		if (o->object[i].state == OBJECT_NEW)
			return true;
	return jit_watches_searching(&o->watches);
}
