/* SPDX-License-Identifier: MIT */
/* mapping_place.c - finds the segment of a mapping, and from it the position of the image. */
#include "wallsample/process/maps.h"

/*
 * Returns the segment of the image to which a mapping with this file offset belongs, or NULL.
 * Segments are mapped in whole pages, so the mapping's offset may be up to a page before the
 * segment's, and the page at the border of two segments belongs to both. An executable segment is
 * preferred, then one that begins in the page at the offset.
 */
static const struct image_segment *
segment_of(const struct image *image, uint64_t offset, uint64_t page_size)
{
	const struct image_segment *best = NULL;
	unsigned best_score = 0;

	for (size_t i = 0; i < image->segment_count; i++) {
		const struct image_segment *segment = &image->segment[i];
		uint64_t first = segment->offset & ~(page_size - 1);
		unsigned score = 1 + (segment->executable ? 2 : 0) + (first == offset ? 1 : 0);

		if (offset < first || offset >= segment->offset + segment->file_size)
			continue;
		if (score > best_score) {
			best = segment;
			best_score = score;
		}
	}
	return best;
}

/*
 * Sets image, bias, low and high; does nothing if the mapping belongs to no segment of the image.
 */
static void
place_image(struct mapping *mapping, const struct image *image, uint64_t page_size)
{
	const struct image_segment *segment = NULL;

	if (image)
		segment = segment_of(image, mapping->offset, page_size);
	if (!segment)
		return;
	mapping->image = image;
	mapping->bias = mapping->start - (segment->vaddr - segment->offset + mapping->offset);
	mapping->low = (image->low & ~(page_size - 1)) + mapping->bias;
	mapping->high = image->high + mapping->bias;
	if (mapping->low > mapping->start || mapping->high <= mapping->start) {
		/* The image must contain the mapping. If it does not, its headers are wrong, and
		 * the range of the image is set to that of the mapping. */
		mapping->low = mapping->start;
		mapping->high = mapping->end;
	}
}

void
mapping_place(struct mapping *mapping, const struct module *module, uint64_t page_size)
{
	if (module->kind == MODULE_VDSO)
		mapping->offset =
			0; /* the kernel's value is not an offset in the image of the vdso */
	if (module->kind != MODULE_ANONYMOUS)
		mapping->bias = mapping->start - mapping->offset;
	place_image(mapping, module->image, page_size);
}

bool
mapping_is_of_code(const struct image *image, const struct mapping *mapping, uint64_t page_size)
{
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct image_segment *segment = &image->segment[i];
		const uint64_t first = segment->offset & ~(page_size - 1);
		const uint64_t size = segment->offset + segment->file_size - first;
		const uint64_t mapped = mapping->end - mapping->start;

		/* The offset alone is not enough: the page at the border of two segments is mapped
		 * for both, at one offset but with different sizes. */
		if (segment->executable && first == mapping->offset && size > 0 &&
		    (size - 1) / page_size == (mapped - 1) / page_size)
			return true;
	}
	return false;
}
