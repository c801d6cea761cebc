/* SPDX-License-Identifier: MIT */
/*
 * finder_internal.h - finds the instances of a language runtime in a process.
 *
 * finder.c searches the modules (mapped files) of the process for a runtime. By the version it
 * chooses the layout of the runtime's structures (the offsets of their members), and checks that
 * layout against memory. instances.c keeps, until the end of the run, each runtime that was found.
 * struct finder_kind and struct instances_kind have the functions that differ between languages.
 */
#ifndef WALLSAMPLE_RUNTIME_FINDER_INTERNAL_H
#define WALLSAMPLE_RUNTIME_FINDER_INTERNAL_H

#include <elfutils/libdw.h>

#include "runtime/runtime_kind_internal.h"

/* --- finder.c: modules, layouts, checks -------------------------------------------------- */

/* Most modules with a runtime; others are ignored. A process has one; plugins may bring more. */
#define FINDER_CANDIDATES_MOST 16
/* Most bytes of files and memory that one call of finder_look searches: 2 ms if they are cached. */
#define FINDER_BUDGET (UINT64_C(4) << 20)
/* A runtime that is not initialised is checked at this number of calls of finder_look; afterwards
 * only when the mappings have changed. Initialisation takes 10 ms or so from exec, but a program
 * may load a runtime and begin to use it at any time. */
#define FINDER_LOOKS_MOST 2000
#define FINDER_VERSION_TEXT 48 /* size of the buffer for the text of a version */

/* Result of a check of a layout against memory. */
enum finder_fit {
	FINDER_FIT_NOT_YET, /* memory has no initialised runtime */
	FINDER_FIT_MISFIT,  /* the layout is wrong, or the runtime is changing at this moment */
	FINDER_FIT_GOOD,
};

/* A module with a runtime. Each language has its own struct, whose first member this is. */
struct finder_candidate {
	uint32_t module;
	uint64_t bias;    /* bias of the module's mappings */
	const char *name; /* the runtime's name in messages of refusals; NULL: finder_kind.name */
	/* address of the runtime's data; module and address identify an instance */
	uint64_t address;
	/* number of the version, in an encoding of the language; set by choose_layout */
	uint32_t version;
	bool mapped; /* the process has mapped the module */
	enum finder_state {
		FINDER_NEW,     /* the layout is not known yet */
		FINDER_WAITING, /* the layout is known; no check of it has fitted memory yet */
		FINDER_READY,   /* the layout fits memory */
		FINDER_REFUSED, /* finder_refuse was called: the runtime cannot be read */
		FINDER_PART,    /* a part of another candidate's runtime; set by choose_layout */
	} state;
	unsigned looks; /* number of checks while the state was FINDER_NEW or FINDER_WAITING */
	unsigned misfit_checks; /* number of consecutive checks that did not fit */
	unsigned misfits;       /* how many of these prove that the layout is wrong: see finder.c */
	uint64_t misfit_cpu_ns; /* CPU time of the process at the latest misfit */
	bool dwarf_tried;       /* finder_try_dwarf has called kind->read_dwarf */
	bool dwarf_waits;       /* the last finder_try_dwarf was not permitted to read files */
	unsigned delays;        /* number of calls of finder_may_read() (finder.c) */
};

struct finder {
	const struct finder_kind *kind;
	const struct runtime_tools *tools;
	uint64_t budget; /* bytes that the current call of finder_look may still read */
	size_t searched; /* number of modules that have been searched */
	bool searching;  /* the search of module number `searched` has begun */
	void *search;    /* state of that search, kind->search_size bytes */
	struct finder_candidate *candidate[FINDER_CANDIDATES_MOST];
	size_t count;
	char why[512];    /* message of the latest refusal, with its reason */
	bool why_pending; /* finder_why has not returned that message yet */
};

/* What a language implements for its finder. */
struct finder_kind {
	const char *name;      /* the runtime's name in messages of refusals */
	size_t search_size;    /* size of the state of a search */
	size_t candidate_size; /* size of the struct that begins with a finder_candidate */
	size_t place_offset;   /* offset in that struct of the member that finder_place returns */
	/* Begins the search of a module of kind MODULE_FILE. Returns false when the module cannot
	 * have this runtime. */
	bool (*search_begin)(void *search, const struct module *module);
	/* Continues the search until it is finished or *budget bytes have been read. Reduces
	 * *budget by the number of bytes that were read. Returns true when finished. */
	bool (*search_step)(void *search, uint64_t *budget);
	/* Copies the result of a finished search into the candidate, and may set candidate->name.
	 * Returns false when the module has no runtime. */
	bool (*take)(struct finder_candidate *candidate, const void *search);
	/* Called for a candidate in the state FINDER_NEW. Returns true when it has set the layout
	 * and candidate->version; false when the module is not readable yet, or it has set the
	 * state FINDER_PART, or FINDER_REFUSED by finder_refuse. */
	bool (*choose_layout)(struct finder *finder, struct finder_candidate *candidate);
	/* Reads the layout from DWARF. Returns false when DWARF lacks a part of it. */
	bool (*read_dwarf)(struct finder *finder, struct finder_candidate *candidate, Dwarf *dwarf);
	/* Checks the layout against memory. May call finder_refuse. candidate->address is set, here
	 * or by choose_layout, when the result is FINDER_FIT_GOOD. */
	enum finder_fit (*check)(struct finder *finder, struct finder_candidate *candidate);
	/* Writes candidate->version, such as "3.11.7". */
	void (*version_text)(const struct finder_candidate *candidate,
			     char text[FINDER_VERSION_TEXT]);
};

/* Makes a finder, which the caller frees. Never fails. `kind` and `tools` are borrowed. */
struct finder *finder_create(const struct finder_kind *kind, const struct runtime_tools *tools);
void finder_free(struct finder *finder);

/* Searches modules that appeared since the last call, within FINDER_BUDGET, and checks each mapped
 * candidate once. Must be called when maps_generation has changed. Returns true when it must also
 * be called at the next tick: modules are left to search, a runtime is not initialised yet, or a
 * check did not fit. May read the layout of a candidate from DWARF, once, for example if no other
 * source has it; the search for structures in DWARF is given up after two seconds at most. */
bool finder_look(struct finder *finder);
/* Returns the next candidate that is ready and mapped, or NULL; *at is 0 before the first call. */
const struct finder_candidate *finder_next(const struct finder *finder, size_t *at);
/* Returns the address of the candidate's member at kind->place_offset, which has what the language
 * knows of the runtime. Its contents are valid until the next finder_look. */
const void *finder_place(const struct finder *finder, const struct finder_candidate *candidate);
/* Returns the message of the latest refusal, valid until the next finder_look; NULL: there was no
 * refusal since the last call of finder_why. */
const char *finder_why(struct finder *finder);

/* For the implementations of struct finder_kind: returns the candidate's module. */
const struct module *finder_module(const struct finder *finder,
				   const struct finder_candidate *candidate);
/* Sets the state FINDER_REFUSED, which lasts until the module is mapped at another address. `fmt`:
 * format of the reason in the message that finder_why returns. */
void finder_refuse(struct finder *finder, struct finder_candidate *candidate, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Calls kind->read_dwarf, once for a candidate. Returns true when that has read the layout. While
 * files may not be read, returns false, and the candidate keeps its state, even if refused. */
bool finder_try_dwarf(struct finder *finder, struct finder_candidate *candidate);

/* --- instances.c: the runtimes of one language ------------------------------------------- */

/* A runtime that was found. Each language has its own struct, whose first member this is. */
struct instance {
	const struct runtime_tools *tools;
	uint32_t module;
	uint64_t address;     /* address of the runtime, as in struct finder_candidate */
	char description[64]; /* name and version, such as "NAME 3.11.7" */
	bool seen;            /* the current search has found it */
	bool gone;            /* no longer found, as after exec; captures may still refer to it */
	pid_t *new_thread;    /* array of threads that instances_next_new has not returned yet */
	size_t new_count, new_capacity;
	struct cpu_budget list_budget; /* for readings of the lists of threads */
	uint64_t list_again_ns; /* time from which the list is read even if it looks unchanged */
	uint64_t heads;         /* hash of the first elements (heads) of all lists of threads */
	bool stale;             /* the list of threads is known to be incomplete or outdated */
};

struct instances_kind {
	const struct finder_kind *finder;
	size_t size;           /* size of the struct that begins with an instance */
	const char *not_shown; /* beginning of messages: "NAME functions are not shown" */
	/* Writes the description of an instance. `place`: see finder_place. */
	void (*describe)(const void *place, char *text, size_t size);
	/* Initialises the members of a new instance that the language has added to struct instance;
	 * they are zero before the call. */
	void (*init)(struct instance *instance, const void *place);
	/* Called after each search that has found the instance. `remapped`: mappings have changed.
	 * May be NULL. */
	void (*found)(struct instance *instance, const void *place, bool remapped);
	/* Called once a tick for each instance that is not gone. Reads its lists of threads if they
	 * may have changed, and calls instance_add_new for new threads. */
	void (*list)(struct instance *instance, uint64_t now_ns);
	/* Called once, when the instance is gone or the run ends: frees the members of the
	 * language's struct that captures do not use. */
	void (*lost)(struct instance *instance);
	/* Called at the end of the run, after `lost`: frees all other members. May be NULL. */
	void (*release)(struct instance *instance);
};

struct instances;

/* For the struct runtime_kind of a language, whose `create` calls instances_create. The others are
 * its members of the same names (`tick` is instances_tick); `state` is a struct instances. */
struct instances *instances_create(const struct instances_kind *kind,
				   const struct runtime_tools *tools);
void instances_free(void *state);
void instances_tick(void *state, uint64_t now_ns);
pid_t instances_next_new(void *state);
bool instances_any(const void *state);
const char *instances_describe(const void *state, size_t index);
const char *instances_unread(const void *state, size_t index);

/* Returns the next instance that is not gone, in order of discovery, or NULL; *at is 0 before the
 * first call. */
struct instance *instances_next(const struct instances *instances, size_t *at);

/* Adds a thread that instances_next_new will return; drops it if 65,536 threads wait for that. */
void instance_add_new(struct instance *instance, pid_t tid);

/* LIST_LONGER: there are new threads; LIST_OUTDATED: the whole lists must be read. */
enum list_change { LIST_UNCHANGED, LIST_LONGER, LIST_OUTDATED };
/* Finds out from a hash of the heads of the lists of threads what must be read, when list_budget
 * permits a reading. `now_ns`: the current time (CLOCK_MONOTONIC). */
enum list_change instance_list_compare(struct instance *instance, uint64_t heads, uint64_t now_ns);

#endif
