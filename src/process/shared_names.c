/* SPDX-License-Identifier: MIT */
/* shared_names.c - names of objects in shared memory, equal in all processes of a run. */
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "process/process_internal.h"
#include "wallsample/base/table.h"
#include "wallsample/process/shared_memory.h"

#define OBJECTS_MOST 4096

/*
 * glibc stores the semaphore of sem_open("/NAME") at the beginning of the file /dev/shm/sem.NAME
 * (sysdeps/pthread/sem_open.c). The process that creates it maps a temporary file, which is then
 * linked to this name, and unlinked: in that process the path is "/dev/shm/sem.Xyz123 (deleted)".
 */
#define SEMAPHORE_FOLDER "/dev/shm"
#define SEMAPHORE_FILE "sem."
#define SEMAPHORE_PREFIX SEMAPHORE_FOLDER "/" SEMAPHORE_FILE

/* Most files of SEMAPHORE_FOLDER that are searched for a semaphore. */
#define FILES_MOST 4096

struct shared_names {
	/* (hash of the object, its inode) -> number in `texts`. Objects of which both are equal,
	 * with a chance of 2^-64, have one name. */
	struct table objects;
	struct strings *texts;
};

struct shared_names *
shared_names_create(void)
{
	struct shared_names *names = xcalloc(1, sizeof(*names));

	names->texts = strings_create();
	return names;
}

void
shared_names_free(struct shared_names *names)
{
	if (names == NULL)
		return;
	table_release(&names->objects);
	strings_free(names->texts);
	free(names);
}

static bool
begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Adds the path of a semaphore that was created with a temporary name. Returns false if wallsample
 * does not find it in its own SEMAPHORE_FOLDER. */
static bool
add_created_semaphore(const struct shared_object *object, struct strbuf *out)
{
	DIR *dir = opendir(SEMAPHORE_FOLDER);
	const struct dirent *entry;
	bool found = false;
	struct stat st;

	if (dir == NULL)
		return false;
	if (fstat(dirfd(dir), &st) == 0 && st.st_dev == object->dev)
		for (int i = 0; i < FILES_MOST && !found && (entry = readdir(dir)) != NULL; i++)
			found = entry->d_ino == object->inode &&
				begins(entry->d_name, SEMAPHORE_FILE);
	if (found)
		strbuf_add_format(out, SEMAPHORE_FOLDER "/%s", entry->d_name);
	closedir(dir);
	return found;
}

/* Adds the name that the kind and path give. */
static void
add_plain(const struct shared_place *place, struct strbuf *out)
{
	const size_t length = strlen(place->path), around = strlen("/memfd:" MODULE_DELETED);

	switch (place->object.kind) {
	case SHARED_SYSTEM_V:
		strbuf_add_format(out, "shared memory %" PRIu64 " (System V)", place->object.inode);
		break;
	case SHARED_MEMFD:
		strbuf_add_text(out, length > around ? "memfd " : "memfd");
		strbuf_add(out, place->path + strlen("/memfd:"), length - around);
		break;
	case SHARED_ANONYMOUS:
		strbuf_add_text(out, "anonymous shared memory");
		break;
	case SHARED_FILE:
		if (begins(place->path, SEMAPHORE_PREFIX) && module_path_is_deleted(place->path) &&
		    add_created_semaphore(&place->object, out))
			break;
		strbuf_add_text(out, length > 0 ? place->path : "a file without a path");
		break;
	}
}

/* Adds what distinguishes the object from others with the same plain name. */
static void
add_number(const struct shared_object *object, struct strbuf *out)
{
	if (object->kind == SHARED_SYSTEM_V)
		strbuf_add_format(out, " (of IPC namespace %" PRIu64 ")", object->ipc);
	else
		strbuf_add_format(out, " (inode %" PRIu64 " of device %u:%u)", object->inode,
				  major(object->dev), minor(object->dev));
}

/* Adds the name of the object to `out`, after storing it if it is new. */
static void
add_name(struct shared_names *names, const struct shared_place *place, struct strbuf *out)
{
	const struct shared_object *object = &place->object;
	const uint64_t key[] = { (uint64_t)object->kind, object->dev, object->inode, object->ipc };
	const uint64_t hash = hash_bytes(key, sizeof(key));
	const size_t before = strings_count(names->texts);
	struct strbuf name = STRBUF_INIT;
	uint32_t id;

	if (table_find(&names->objects, hash, object->inode, &id)) {
		strbuf_add_text(out, strings_text(names->texts, id));
		return;
	}
	add_plain(place, &name);
	if (names->objects.count < OBJECTS_MOST) {
		id = strings_intern(names->texts, name.data);
		if (id < before) {
			add_number(object, &name);
			id = strings_intern(names->texts, name.data);
		}
		table_insert(&names->objects, hash, object->inode, id, NULL);
	}
	strbuf_add_text(out, name.data);
	strbuf_release(&name);
}

void
shared_names_add(struct shared_names *names, const struct shared_place *place, struct strbuf *out)
{
	struct strbuf name = STRBUF_INIT;

	add_name(names, place, &name);
	if (place->object.kind == SHARED_FILE && place->offset == 0 &&
	    begins(name.data, SEMAPHORE_PREFIX) && !module_path_is_deleted(name.data))
		strbuf_add_format(out, "/%s", name.data + strlen(SEMAPHORE_PREFIX));
	else
		strbuf_add_format(out, "0x%" PRIx64 " in %s", place->offset, name.data);
	strbuf_release(&name);
}

void
shared_names_add_object(struct shared_names *names, const struct shared_object *object,
			const char *path, struct strbuf *out)
{
	add_name(names, &(struct shared_place){ .object = *object, .path = path }, out);
}
