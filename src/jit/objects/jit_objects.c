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

/* Of a tick, for files of the target's memory; and one piece of such a file. */
#define WORK_NS (2 * NS_PER_MS)
#define PIECE_SIZE (UINT64_C(1) << 20)
/* The list is read when it has changed, and otherwise so often; at most 1 % of the time. */
#define WALK_INTERVAL_NS NS_PER_SEC
#define WALK_COST_FACTOR 100

/* Files that are looked at again after a walk, whether they are still the same. */
#define VERIFY_MOST 256

/* Pieces of code in all files together: each time that one comes, all are put in order. */
#define PIECES_MAX ((size_t)4 * JIT_OBJECTS_MAX)

#define CONTENT_NONE UINT32_MAX

/* What a file turned out to be. Kept for ever: samples may name its module. */
struct content {
	struct mapping *mapping;
	size_t mapping_count;
	bool told; /* passed to maps_set_objects in this round */
};

enum object_state { OBJECT_NEW, OBJECT_READY, OBJECT_BAD };

/* An entry of a list. */
struct object {
	uint64_t descriptor; /* whose list */
	struct jit_listed listed;
	enum object_state state;
	bool copied; /* and then looked at: `print` is of its ends */
	uint64_t print;
	uint32_t content; /* of READY */
};

struct jit_objects {
	const struct process *process;
	struct maps *maps;
	struct modules *modules;
	const struct log *log;
	struct jit_reader reader;

	struct jit_watches watches;

	/* What the lists say. */
	struct object *object;     /* the newest first */
	size_t count, verified;    /* verified: index of the next object to check */
	struct jit_listed *listed; /* room for a walk */
	size_t listed_capacity;
	bool changed; /* since the last maps_set_objects */

	/* The file of a NEW object that is being copied. */
	struct jit_listed copied;
	uint8_t *copy;
	uint64_t copy_done;

	struct content *content;
	size_t content_count, content_capacity, pieces;
	struct table by_content; /* hash and size -> content */
	uint64_t total_size;     /* of all files that were ever taken */
	bool warned;
};

struct jit_objects *
jit_objects_create(const struct process *process, struct maps *maps, const struct log *log)
{
	struct jit_objects *o = xcalloc(1, sizeof(*o));

	o->process = process;
	o->maps = maps;
	o->modules = maps_modules(maps);
	o->log = log;
	o->reader = (struct jit_reader){ process, process->pid };
	jit_watches_init(&o->watches, maps);
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
	jit_watches_release(&o->watches);
	free(o->object);
	free(o->listed);
	free(o->copy);
	free(o);
}

/* --- lists --------------------------------------------------------------------------- */

/* Removes the objects of descriptors that were removed. */
static void
forget_unwatched(struct jit_objects *o)
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

/* Is the file, judged by its fingerprint, still the one that was copied? */
static bool
is_same(struct jit_objects *o, const struct object *object)
{
	uint8_t head[JIT_HEAD_SIZE], tail[JIT_TAIL_SIZE];
	uint64_t address = object->listed.address, size = object->listed.size;
	struct jit_ends ends = jit_ends_of(size);

	return !object->copied || !jit_read(&o->reader, address, head, ends.head) ||
	       !jit_read(&o->reader, address + size - ends.tail, tail, ends.tail) ||
	       jit_fingerprint_of(head, tail, ends) == object->print;
}

/* An allocator gives the place of an old file to a new one, often of the same size. */
static void
verify(struct jit_objects *o)
{
	for (size_t i = 0; i < VERIFY_MOST && i < o->count; i++) {
		struct object *object = &o->object[o->verified++ % o->count];

		if (object->state == OBJECT_NEW || is_same(o, object))
			continue;
		o->changed |= object->state == OBJECT_READY;
		object->state = OBJECT_NEW;
	}
}

/* The watch's objects are now those that were listed; what is known of them stays known. */
static void
take_list(struct jit_objects *o, const struct jit_watch *watch, size_t listed_count)
{
	struct object *fresh = xcalloc(o->count + listed_count + 1, sizeof(*fresh));
	bool *stays = xcalloc(o->count + 1, sizeof(*stays));
	struct table by_place;
	size_t count = 0;

	table_init(&by_place);
	for (size_t i = 0; i < o->count; i++)
		if (o->object[i].descriptor == watch->address)
			*table_insert(&by_place, o->object[i].listed.entry,
				      o->object[i].listed.address, 0, NULL) = (uint32_t)i;
	for (size_t i = 0; i < listed_count; i++) {
		const struct jit_listed *listed = &o->listed[i];
		uint32_t old;

		fresh[count] = (struct object){ .descriptor = watch->address, .listed = *listed };
		if (table_find(&by_place, listed->entry, listed->address, &old) &&
		    o->object[old].listed.size == listed->size) {
			fresh[count] = o->object[old];
			stays[old] = true;
		}
		count++;
	}
	for (size_t i = 0; i < o->count; i++) {
		if (o->object[i].descriptor != watch->address)
			fresh[count++] = o->object[i];
		else if (!stays[i])
			o->changed |= o->object[i].state == OBJECT_READY;
	}
	table_release(&by_place);
	free(stays);
	free(o->object);
	o->object = fresh;
	o->count = count;
}

/* How many a list may have, beside what the other lists have. */
static size_t
room_for(const struct jit_objects *o, const struct jit_watch *watch)
{
	size_t room = JIT_OBJECTS_MAX;

	for (size_t i = 0; i < o->count; i++)
		room -= o->object[i].descriptor != watch->address;
	return room;
}

static void
look_at(struct jit_objects *o, struct jit_watch *watch, uint64_t now_ns)
{
	struct jit_descriptor descriptor;
	uint64_t began_ns, cost;
	enum jit_walk walk;
	size_t count;

	if (now_ns < watch->not_before_ns || !jit_watch_read(watch, &o->reader, &descriptor))
		return; /* gone, or going: its last stacks are still to be unwound */
	if (watch->walked && now_ns < watch->due_ns &&
	    memcmp(&descriptor, &watch->last, sizeof(descriptor)) == 0)
		return;
	began_ns = clock_now_ns();
	walk = jit_watch_walk(watch, &o->reader, &descriptor, room_for(o, watch), &o->listed,
			      &o->listed_capacity, &count);
	if (walk != JIT_WALK_CHANGED) {
		take_list(o, watch, count);
		verify(o);
		watch->last = descriptor;
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
		(int)o->process->pid, listed->address, listed->size, why);
	o->warned = true;
}

static bool
read_code(void *context, uint64_t address, void *to, size_t size)
{
	struct jit_objects *o = context;

	return jit_read(&o->reader, address, to, size);
}

/* The mappings of a file's code. */
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
		/* Addresses are their own offsets: the same with an image and without. */
		mapping->offset = mapping->start;
		if (!elf->has_tables)
			continue; /* then it is like other code without a file: frame pointers */
		mapping->image = image;
		mapping->low = image->low;
		mapping->high = image->high;
	}
}

/* Makes a module of the copy. CONTENT_NONE, with a warning, when it is of no use. */
static uint32_t
make_content(struct jit_objects *o, uint64_t size)
{
	const struct memory memory = { read_code, o };
	const struct jit_listed listed = o->copied;
	uint8_t *bytes = o->copy;
	struct jit_elf elf;
	uint32_t module;

	o->copy = NULL;
	if (!jit_elf_open(&elf, bytes, size, &memory)) {
		objects_warn(o, &listed, elf.why);
		return CONTENT_NONE;
	}
	module = elf.range_count <= PIECES_MAX - o->pieces ?
			 modules_add_object(o->modules, elf.image) :
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

/* The copy is whole: what is it? */
static void
settle(struct jit_objects *o, struct object *object)
{
	uint64_t size = object->listed.size, hash;
	struct jit_ends ends = jit_ends_of(size);
	uint32_t content;

	object->copied = true;
	object->print = jit_fingerprint_of(o->copy, o->copy + size - ends.tail, ends);
	if (object->listed.start != 0)
		o->copy = jit_unwind_wrap(o->copy, &object->listed, &size);
	hash = jit_hash_bytes(2, o->copy, size);
	/* Code that is made again, as databases do for each query, is the same module. */
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

static const char *
why_refused(const struct jit_objects *o, const struct jit_listed *listed)
{
	/* Code is added to what is tables alone. */
	const uint64_t size = listed->size + (listed->end - listed->start);

	if (listed->size > JIT_OBJECT_MAX_SIZE)
		return "it is too large";
	if (o->content_count >= JIT_OBJECTS_MAX || o->total_size > JIT_OBJECTS_MAX_SIZE ||
	    size > JIT_OBJECTS_MAX_SIZE - o->total_size)
		return "there is too much of such code";
	return NULL;
}

/* Goes on with the copy of a NEW object's file. */
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
		if (jit_read(&o->reader, listed->address + o->copy_done, o->copy + o->copy_done,
			     part))
			o->copy_done += part;
		else
			why = "its memory could not be read";
	}
	if (why != NULL) {
		objects_warn(o, listed, why);
		object->state = OBJECT_BAD;
		object->copied = false;
	} else if (o->copy_done == listed->size) {
		settle(o, object);
	}
}

/* The object of the copy in progress; NULL when there is none (any more). */
static struct object *
object_of_copy(const struct jit_objects *o)
{
	for (size_t i = 0; i < o->count && o->copy != NULL; i++)
		if (o->object[i].state == OBJECT_NEW &&
		    memcmp(&o->object[i].listed, &o->copied, sizeof(o->copied)) == 0)
			return &o->object[i];
	return NULL;
}

static void
copy_some(struct jit_objects *o)
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

struct telling {
	struct mapping *all;
	size_t capacity, count;
};

/* Adds the mappings of each content once, for its first entry in the list. `bare`: only contents
 * that have nothing but unwind tables. */
static void
add_told(struct jit_objects *o, struct telling *to, bool bare)
{
	for (size_t i = 0; i < o->count; i++) {
		const struct object *object = &o->object[i];
		struct content *content;

		if (object->state != OBJECT_READY || (object->listed.start != 0) != bare)
			continue;
		content = &o->content[object->content];
		if (content->told)
			continue;
		content->told = true;
		to->all = xgrow(to->all, &to->capacity, to->count + content->mapping_count,
				sizeof(*to->all));
		memcpy(to->all + to->count, content->mapping,
		       content->mapping_count * sizeof(*to->all));
		to->count += content->mapping_count;
	}
}

/* Of two that overlap the first stays: files that have more than tables come first. */
static void
tell_maps(struct jit_objects *o)
{
	struct telling to = { .all = NULL };

	for (size_t i = 0; i < o->content_count; i++)
		o->content[i].told = false;
	add_told(o, &to, false);
	add_told(o, &to, true);
	maps_set_objects(o->maps, to.all, to.count);
	free(to.all);
	o->changed = false;
}

void
jit_objects_tick(struct jit_objects *o, uint64_t now_ns)
{
	if (jit_watches_update(&o->watches, &o->reader, now_ns))
		forget_unwatched(o);
	for (size_t i = 0; i < o->watches.count; i++)
		look_at(o, &o->watches.watch[i], now_ns);
	if (o->count > 0)
		copy_some(o);
	if (o->changed)
		tell_maps(o);
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
