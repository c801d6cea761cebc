/* SPDX-License-Identifier: MIT */
/* debug_file_delegate.c - lets another process open debug files, and opens them for it. */
#include <errno.h>

#include "dwarf/debug_file_internal.h"

/* Returns directory number `number`, or NULL if there is none: first those with the layout of
 * /usr/lib/debug, then those with the target's files, then the cache. */
static struct debug_place *
place_at(struct debug_files *files, uint64_t number)
{
	if (number < DEBUG_PLACES_MAX)
		return number < files->place_count ? &files->place[number] : NULL;
	number -= DEBUG_PLACES_MAX;
	if (number < ARRAY_SIZE(files->root))
		return number < files->root_count ? &files->root[number] : NULL;
	return number == ARRAY_SIZE(files->root) && files->cache.path != NULL ? &files->cache :
										NULL;
}

void
debug_files_delegate(struct debug_files *files, const struct debug_opener *opener,
		     const struct log *log)
{
	files->config.log = log;
	files->opener = opener;
	for (unsigned i = 0; i <= DEBUG_PLACES_MAX + ARRAY_SIZE(files->root); i++) {
		struct debug_place *place = place_at(files, i);

		if (place == NULL)
			continue;
		place->opener = opener;
		place->number = i;
	}
}

int
debug_files_open_below(struct debug_files *files, uint64_t place, const char *below,
		       struct strbuf *path)
{
	const struct debug_place *at = place_at(files, place);

	if (at != NULL)
		return debug_place_open(at, below, path);
	errno = EINVAL;
	return -1;
}
