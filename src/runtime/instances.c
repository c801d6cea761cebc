/* SPDX-License-Identifier: MIT */
/* instances.c - keeps the runtimes of one language in a process, including those that ended. */
#include <stdlib.h>
#include <string.h>

#include "runtime/finder_internal.h"

/* Most instances: a process has one or a few for each program that it execs. */
#define INSTANCES_MOST 1024
/*
 * An instance's lists of threads are read again after this time even if the first element of each
 * is unchanged: threads further back may have ended or got other ids by a fork, and interpreter
 * locks may have been enabled or disabled.
 */
#define LIST_AGAIN_NS NS_PER_SEC
/* Most new threads of one instance that wait for a call of instances_next_new; further ones are
 * dropped. */
#define NEW_MOST 65536

struct instances {
	const struct instances_kind *kind;
	const struct runtime_tools *tools;
	struct finder *finder;
	uint64_t generation; /* maps_generation at the latest search */
	bool busy;           /* finder_look must be called again */
	/* instances that were found; freed at the end of the run, because captures may refer to
	 * them */
	struct instance **instance;
	size_t count, capacity;
	size_t first; /* all instances before this index are gone */
	/* messages about runtimes that cannot be read, for instances_unread */
	struct unread_list unread;
};

struct instances *
instances_create(const struct instances_kind *kind, const struct runtime_tools *tools)
{
	struct instances *instances = xcalloc(1, sizeof(*instances));

	instances->kind = kind;
	instances->tools = tools;
	instances->finder = finder_create(kind->finder, tools);
	instances->busy = true;
	return instances;
}

static void
instance_lose(const struct instances *instances, struct instance *instance)
{
	instance->gone = true;
	instances->kind->lost(instance);
	free(instance->new_thread);
	instance->new_thread = NULL;
	instance->new_count = instance->new_capacity = 0;
}

void
instances_free(void *state)
{
	struct instances *instances = state;

	for (size_t i = 0; i < instances->count; i++) {
		if (!instances->instance[i]->gone)
			instance_lose(instances, instances->instance[i]);
		if (instances->kind->release != NULL)
			instances->kind->release(instances->instance[i]);
		free(instances->instance[i]);
	}
	finder_free(instances->finder);
	unread_release(&instances->unread);
	free(instances->instance);
	free(instances);
}

struct instance *
instances_next(const struct instances *instances, size_t *at)
{
	if (*at < instances->first)
		*at = instances->first;
	while (*at < instances->count) {
		struct instance *instance = instances->instance[(*at)++];

		if (!instance->gone)
			return instance;
	}
	return NULL;
}

/* --- search ------------------------------------------------------------------------------ */

static struct instance *
instances_add(struct instances *instances, const struct finder_candidate *candidate,
	      const void *place)
{
	const struct log *log = instances->tools->config->log;
	struct instance *instance;

	if (instances->count == INSTANCES_MOST)
		return NULL;
	instance = xcalloc(1, instances->kind->size);
	instance->tools = instances->tools;
	instance->module = candidate->module;
	instance->address = candidate->address;
	instances->kind->describe(place, instance->description, sizeof(instance->description));
	instances->kind->init(instance, place);
	instances->instance = xgrow(instances->instance, &instances->capacity, instances->count + 1,
				    sizeof(*instances->instance));
	instances->instance[instances->count++] = instance;
	if (instances->count == INSTANCES_MOST)
		log_say(log, LOG_NORMAL,
			"%s for programs that begin from now on: the limit of %d "
			"is reached",
			instances->kind->not_shown, INSTANCES_MOST);
	log_say(log, LOG_VERBOSE, "found %s", instance->description);
	return instance;
}

static struct instance *
instances_find(const struct instances *instances, const struct finder_candidate *candidate)
{
	struct instance *instance;
	size_t at = 0;

	while ((instance = instances_next(instances, &at)) != NULL)
		if (instance->module == candidate->module &&
		    instance->address == candidate->address)
			break;
	return instance;
}

static void
instances_take(struct instances *instances, const struct finder_candidate *candidate, bool remapped)
{
	const void *place = finder_place(instances->finder, candidate);
	struct instance *instance = instances_find(instances, candidate);

	if (instance == NULL)
		instance = instances_add(instances, candidate, place);
	if (instance == NULL)
		return;
	instance->seen = true;
	if (instances->kind->found != NULL)
		instances->kind->found(instance, place, remapped);
}

static void
instances_search(struct instances *instances)
{
	const uint64_t generation = maps_generation(instances->tools->config->maps);
	const bool remapped = generation != instances->generation;
	const struct finder_candidate *candidate;
	struct instance *instance;
	const char *why;
	size_t at;

	instances->generation = generation;
	instances->busy = finder_look(instances->finder);
	for (at = 0; (instance = instances_next(instances, &at)) != NULL;)
		instance->seen = false;
	for (at = 0; (candidate = finder_next(instances->finder, &at)) != NULL;)
		instances_take(instances, candidate, remapped);
	for (at = 0; (instance = instances_next(instances, &at)) != NULL;)
		if (!instance->seen)
			instance_lose(instances, instance);
	while (instances->first < instances->count && instances->instance[instances->first]->gone)
		instances->first++;
	why = finder_why(instances->finder);
	if (why != NULL)
		unread_add(&instances->unread, instances->tools->config->log, "%s: %s",
			   instances->kind->not_shown, why);
}

void
instances_tick(void *state, uint64_t now_ns)
{
	struct instances *instances = state;
	const struct runtimes_config *config = instances->tools->config;
	struct instance *instance;

	if (instances->busy || instances->generation != maps_generation(config->maps)) {
		if (config->leave != NULL)
			config->leave(config->context);
		instances_search(instances);
		if (config->back != NULL)
			config->back(config->context);
	}
	for (size_t at = 0; (instance = instances_next(instances, &at)) != NULL;)
		instances->kind->list(instance, now_ns);
}

/* --- descriptions ------------------------------------------------------------------------ */

bool
instances_any(const void *state)
{
	size_t at = 0;

	return instances_next(state, &at) != NULL;
}

/* Returns true when an earlier instance has the same description, as after an exec of the same
 * program: runtimes_describe returns each description once. */
static bool
instances_is_repeated(const struct instances *instances, size_t index)
{
	const char *text = instances->instance[index]->description;

	for (size_t i = 0; i < index; i++)
		if (strcmp(instances->instance[i]->description, text) == 0)
			return true;
	return false;
}

const char *
instances_describe(const void *state, size_t index)
{
	const struct instances *instances = state;

	for (size_t i = 0; i < instances->count; i++)
		if (!instances_is_repeated(instances, i) && index-- == 0)
			return instances->instance[i]->description;
	return NULL;
}

const char *
instances_unread(const void *state, size_t index)
{
	const struct instances *instances = state;

	return unread_text(&instances->unread, index);
}

/* --- threads ----------------------------------------------------------------------------- */

pid_t
instances_next_new(void *state)
{
	struct instance *instance;

	for (size_t at = 0; (instance = instances_next(state, &at)) != NULL;)
		if (instance->new_count > 0)
			return instance->new_thread[--instance->new_count];
	return 0;
}

void
instance_add_new(struct instance *instance, pid_t tid)
{
	if (instance->new_count == NEW_MOST)
		return;
	instance->new_thread = xgrow(instance->new_thread, &instance->new_capacity,
				     instance->new_count + 1, sizeof(*instance->new_thread));
	instance->new_thread[instance->new_count++] = tid;
}

enum list_change
instance_list_compare(struct instance *instance, uint64_t heads, uint64_t now_ns)
{
	const bool outdated = instance->stale || now_ns >= instance->list_again_ns;
	const bool longer = heads != instance->heads;

	instance->heads = heads;
	if (!outdated)
		return longer ? LIST_LONGER : LIST_UNCHANGED;
	instance->list_again_ns = now_ns + LIST_AGAIN_NS;
	instance->stale = false;
	return LIST_OUTDATED;
}
