/* SPDX-License-Identifier: MIT */
/*
 * progress_place_internal.h - where in a target the things are that progress points name.
 */
#ifndef WALLSAMPLE_CAUSAL_PROGRESS_PLACE_INTERNAL_H
#define WALLSAMPLE_CAUSAL_PROGRESS_PLACE_INTERNAL_H

#include "causal/progress_words_internal.h"
#include "wallsample/process/maps.h"
#include "wallsample/process/process.h"
#include "wallsample/symbol/symbol.h"

/* An image in the target: its code, and its data. */
struct progress_image {
	const struct module *module;
	uint64_t bias;
	bool own;             /* it is the program itself */
};

struct progress_images {
	struct progress_image *image; /* the program's own first */
	size_t count, capacity;
};

/* All files that are mapped as code. */
void progress_images_init(struct progress_images *images, const struct maps *maps);
void progress_images_release(struct progress_images *images);

struct progress_place {
	uint64_t address;
	unsigned size;       /* of a variable; else 0 */
	const char *module;  /* base name; "" if an address was given; borrowed from the modules */
	char *note;          /* for people: what there is to be known about the choice; or NULL */
};

/*
 * Finds a VAR, FUNC or LINE. An error says what was looked for, and what there is that is similar.
 * note is to be freed.
 */
int progress_place_find(const struct progress_images *images, struct symbols *symbols,
			const struct progress_source *source, struct progress_place *out,
			struct error *err);

/* The same for a LINE: progress_line.c. */
int progress_line_find(const struct progress_images *images, struct symbols *symbols,
		       const struct progress_source *source, struct progress_place *out,
		       struct error *err);

/* Is the module called so? "libssl" will do for libssl.so.3. */
bool progress_module_is(const struct module *module, const char *name);

#endif
