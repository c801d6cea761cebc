/* SPDX-License-Identifier: MIT */
/*
 * test_image.c - ELF files whole, cut off at every length, and damaged at random.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wallsample/base/base.h"
#include "wallsample/elf/image.h"

#define HEAD_SIZE 4096

static struct image *
open_self(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return image_open_fd(fd, NULL);
}

/* A file in memory with these bytes, open for reading. */
static int
file_of(const void *bytes, size_t size)
{
	int fd = memfd_create("image", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), (ssize_t)size);
	return fd;
}

/* Reads all over an image that was accepted: nothing may crash or hang. */
static void
poke(const struct image *image)
{
	static const uint64_t offsets[] = { 0, 1, 63, 64, 4095, 4096, 65535, 65536, INT64_MAX,
					    UINT64_MAX - 1, UINT64_MAX };
	static char big[200000];
	uint64_t vaddr;

	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		image_read_offset(image, offsets[i], big, 1);
		image_read_offset(image, offsets[i], big, 8);
		image_read_offset(image, offsets[i], big, sizeof(big));
		image_read_vaddr(image, offsets[i], big, 8);
		image_read_vaddr(image, image->low + offsets[i], big, 8);
		image_read_vaddr(image, image->high - offsets[i], big, 100000);
		image_offset_to_vaddr(image, offsets[i], &vaddr);
	}
	for (size_t i = 0; i < image->segment_count; i++)
		image_read_vaddr(image, image->segment[i].vaddr + image->segment[i].file_size - 8,
				 big, 16);
}

static void
test_self(void **state)
{
	struct image *image = open_self();
	bool executable = false;
	Elf64_Ehdr eh;
	uint8_t byte;

	(void)state;
	assert_non_null(image);
	assert_true(image_read_offset(image, 0, &eh, sizeof(eh)));
	assert_memory_equal(eh.e_ident, ELFMAG, SELFMAG);
	assert_int_equal(image->machine, eh.e_machine);
	assert_int_equal(image->fixed_address, eh.e_type == ET_EXEC);
	assert_true(image->low < image->high);
	assert_true(image->eh_frame_hdr > image->low && image->eh_frame_hdr < image->high);
	assert_null(image_memory(image));
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct image_segment *segment = &image->segment[i];
		uint64_t vaddr;

		executable |= segment->executable;
		if (segment->file_size == 0)
			continue;
		assert_int_equal(image_read_vaddr(image, segment->vaddr, &byte, 1),
				 !segment->writable);
		assert_true(image_offset_to_vaddr(image, segment->offset, &vaddr));
	}
	assert_true(executable);
	image_free(image);
}

/* The program's own memory, where nothing is relocated, is what the file says. */
static void
test_vaddr_is_memory(void **state)
{
	extern const char __ehdr_start;
	extern const char __executable_start;
	uintptr_t base = (uintptr_t)&__executable_start;
	struct image *image = open_self();
	char bytes[32];
	uint64_t bias;

	(void)state;
	assert_non_null(image);
	bias = (uintptr_t)&__ehdr_start - (image->low & ~UINT64_C(4095));
	assert_int_equal(base, (uintptr_t)&__ehdr_start);
	assert_true(image_read_vaddr(image, (uintptr_t)&test_vaddr_is_memory - bias, bytes,
				     sizeof(bytes)));
	assert_memory_equal(bytes, (const void *)(uintptr_t)&test_vaddr_is_memory, sizeof(bytes));
	image_free(image);
}

/* Reads of every size at every kind of place give what pread gives. */
static void
test_reads_equal_file(void **state)
{
	size_t size = 3 * 65536 + 123;
	char *bytes = malloc(size), *copy = malloc(size), *head;
	struct rng rng;
	struct image *image;

	(void)state;
	assert_non_null(bytes);
	assert_non_null(copy);
	rng_seed(&rng, 7);
	for (size_t i = 0; i < size; i++)
		bytes[i] = (char)rng_next(&rng);
	head = file_read_text(AT_FDCWD, "/proc/self/exe", HEAD_SIZE, &(size_t){ 0 });
	assert_non_null(head);
	memcpy(bytes, head, HEAD_SIZE);
	free(head);
	image = image_open_fd(file_of(bytes, size), NULL);
	assert_non_null(image);
	for (int i = 0; i < 2000; i++) {
		size_t offset = rng_next(&rng) % size;
		size_t most = size - offset;
		size_t usual = most < 20 ? most : 20;
		size_t part = rng_next(&rng) % ((i % 10 == 0 ? most : usual) + 1);

		assert_true(image_read_offset(image, offset, copy, part));
		assert_memory_equal(copy, bytes + offset, part);
		assert_false(image_read_offset(image, offset, copy, most + 1));
	}
	image_free(image);
	free(bytes);
	free(copy);
}

static void
test_cut_off(void **state)
{
	size_t length = 0;
	char *head = file_read_text(AT_FDCWD, "/proc/self/exe", HEAD_SIZE, &length);

	(void)state;
	assert_non_null(head);
	assert_int_equal(length, HEAD_SIZE);
	for (size_t size = 0; size <= length; size++) {
		/* Exactly as much memory, so that a sanitizer sees one byte too many. */
		char *part = malloc(size ? size : 1);
		struct image *from_memory, *from_file;

		assert_non_null(part);
		memcpy(part, head, size);
		from_memory = image_open_memory(part, size);
		from_file = image_open_fd(file_of(part, size), NULL);
		free(part);
		assert_int_equal(from_memory == NULL, from_file == NULL);
		if (from_memory) {
			poke(from_memory);
			poke(from_file);
		}
		image_free(from_memory);
		image_free(from_file);
	}
	free(head);
}

static void
test_flipped_bits(void **state)
{
	size_t length = 0, accepted = 0;
	char *head = file_read_text(AT_FDCWD, "/proc/self/exe", HEAD_SIZE, &length);
	char *copy = malloc(HEAD_SIZE);
	struct rng rng;

	(void)state;
	assert_non_null(head);
	assert_non_null(copy);
	rng_seed(&rng, 20240501);
	for (int round = 0; round < 4000; round++) {
		struct image *image;

		memcpy(copy, head, HEAD_SIZE);
		for (int flips = 0; flips <= round % 6; flips++) {
			/* Three in four hit the headers, where it matters. */
			size_t at = rng_next(&rng) % (rng_next(&rng) % 4 ? 1024 : HEAD_SIZE);

			copy[at] = (char)(rng_next(&rng) % 3 ? rng_next(&rng) : 0xff);
		}
		image = round % 2 ? image_open_memory(copy, HEAD_SIZE)
				  : image_open_fd(file_of(copy, HEAD_SIZE), NULL);
		if (!image)
			continue;
		accepted++;
		assert_true(image->segment_count > 0);
		assert_true(image->segment_count <= IMAGE_MAX_SEGMENTS);
		assert_true(image->build_id_size <= IMAGE_BUILD_ID_MAX);
		assert_true(image->low <= image->high);
		poke(image);
		image_free(image);
	}
	assert_true(accepted > 0);
	free(head);
	free(copy);
}

/* A small ELF file made by hand: one segment, one build-id. */
struct tiny {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[3];
	Elf64_Nhdr nh;
	char name[4];
	uint8_t id[20];
};

static struct tiny
make_tiny(void)
{
	struct tiny tiny = {
		.eh = { .e_type = ET_EXEC, .e_machine = EM_S390, .e_version = EV_CURRENT,
			.e_phoff = offsetof(struct tiny, ph), .e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 3 },
		.ph = { { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = 0x400000,
			  .p_filesz = sizeof(struct tiny), .p_memsz = sizeof(struct tiny) },
			{ .p_type = PT_NOTE, .p_offset = offsetof(struct tiny, nh),
			  .p_filesz = sizeof(struct tiny) - offsetof(struct tiny, nh) },
			{ .p_type = PT_NULL } },
		.nh = { .n_namesz = 4, .n_descsz = 20, .n_type = NT_GNU_BUILD_ID },
		.name = "GNU",
	};

	memcpy(tiny.eh.e_ident, ELFMAG, SELFMAG);
	tiny.eh.e_ident[EI_CLASS] = ELFCLASS64;
	tiny.eh.e_ident[EI_DATA] = ELFDATA2LSB;
	tiny.eh.e_ident[EI_VERSION] = EV_CURRENT;
	for (size_t i = 0; i < sizeof(tiny.id); i++)
		tiny.id[i] = (uint8_t)(i + 1);
	return tiny;
}

static void
test_tiny(void **state)
{
	struct tiny tiny = make_tiny();
	struct image *image = image_open_memory(&tiny, sizeof(tiny));
	uint64_t vaddr;
	char name[4];

	(void)state;
	assert_non_null(image);
	assert_int_equal(image->machine, EM_S390);
	assert_true(image->fixed_address);
	assert_int_equal(image->low, 0x400000);
	assert_int_equal(image->high, 0x400000 + sizeof(tiny));
	assert_int_equal(image->build_id_size, 20);
	assert_memory_equal(image->build_id, tiny.id, 20);
	assert_memory_equal(image_memory(image), &tiny, sizeof(tiny));
	assert_true(image_offset_to_vaddr(image, 8, &vaddr));
	assert_int_equal(vaddr, 0x400008);
	assert_false(image_offset_to_vaddr(image, sizeof(tiny), &vaddr));
	assert_true(image_read_vaddr(image, 0x400000 + offsetof(struct tiny, name), name, 4));
	assert_string_equal(name, "GNU");
	assert_false(image_read_vaddr(image, 0x3fffff, name, 4));
	assert_false(image_read_vaddr(image, image->high - 3, name, 4));
	image_free(image);
}

/* Each of these is a reason not to believe the file. */
static void
test_refused(void **state)
{
	const struct tiny good = make_tiny();
	struct tiny bad;

#define REFUSED(change)                                                                            \
	do {                                                                                       \
		bad = good;                                                                        \
		change;                                                                            \
		assert_null(image_open_memory(&bad, sizeof(bad)));                                 \
		assert_null(image_open_fd(file_of(&bad, sizeof(bad)), NULL));                      \
	} while (0)

	(void)state;
	REFUSED(bad.eh.e_ident[0] = 0);
	REFUSED(bad.eh.e_ident[EI_CLASS] = ELFCLASS32);
	REFUSED(bad.eh.e_ident[EI_DATA] = ELFDATA2MSB);
	REFUSED(bad.eh.e_type = ET_REL);
	REFUSED(bad.eh.e_type = ET_CORE);
	REFUSED(bad.eh.e_phentsize = 1);
	REFUSED(bad.eh.e_phnum = 0);
	REFUSED(bad.eh.e_phnum = 0xffff);
	REFUSED(bad.eh.e_phoff = UINT64_MAX - 8);
	REFUSED(bad.ph[0].p_type = PT_NULL);
	REFUSED(bad.ph[0].p_filesz = bad.ph[0].p_memsz + 1);
	REFUSED(bad.ph[0].p_vaddr = UINT64_MAX - 8);
	REFUSED(bad.ph[0].p_offset = UINT64_MAX - 8);
	assert_null(image_open_fd(-1, NULL));
	assert_null(image_open_fd(open("/", O_RDONLY | O_CLOEXEC), NULL));
	assert_null(image_open_fd(open("/dev/null", O_RDONLY | O_CLOEXEC), NULL));
}

static void
test_notes(void **state)
{
	struct tiny tiny = make_tiny();
	struct image *image;

	(void)state;
	tiny.nh.n_descsz = IMAGE_BUILD_ID_MAX + 1;
	image = image_open_memory(&tiny, sizeof(tiny));
	assert_non_null(image);
	assert_int_equal(image->build_id_size, 0);
	image_free(image);

	tiny = make_tiny();
	tiny.nh.n_namesz = UINT32_MAX;
	image = image_open_memory(&tiny, sizeof(tiny));
	assert_non_null(image);
	assert_int_equal(image->build_id_size, 0);
	image_free(image);

	tiny = make_tiny();
	tiny.ph[1].p_offset = UINT64_MAX - 4;
	image = image_open_memory(&tiny, sizeof(tiny));
	assert_non_null(image);
	assert_int_equal(image->build_id_size, 0);
	image_free(image);
}

/* A file that shrinks under us gives failed reads, not SIGBUS. */
static void
test_shrinks(void **state)
{
	struct tiny tiny = make_tiny();
	int fd = file_of(&tiny, sizeof(tiny)), kept;
	struct image *image;
	char byte;

	(void)state;
	assert_int_equal(ftruncate(fd, 300000), 0);
	kept = dup(fd);
	assert_true(kept >= 0);
	image = image_open_fd(fd, NULL);
	assert_non_null(image);
	assert_int_equal(ftruncate(kept, 70000), 0);
	assert_true(image_read_offset(image, 69999, &byte, 1));
	assert_false(image_read_offset(image, 70000, &byte, 1));
	assert_false(image_read_offset(image, 200000, &byte, 1));
	assert_false(image_read_offset(image, 200000, &byte, 1));
	image_free(image);
	close(kept);
}

#define BLOCK ((off_t)65536) /* image.h: the bytes that one read keeps */

/* Opens an image of three blocks, of which the last two have this byte. */
static struct image *
open_blocks(struct image_cache *cache, uint8_t byte, int *kept)
{
	struct tiny tiny = make_tiny();
	const int fd = file_of(&tiny, sizeof(tiny));
	struct image *image;

	assert_int_equal(ftruncate(fd, 3 * BLOCK), 0);
	*kept = dup(fd);
	assert_true(*kept >= 0);
	assert_int_equal(pwrite(fd, &byte, 1, BLOCK), 1);
	assert_int_equal(pwrite(fd, &byte, 1, 2 * BLOCK), 1);
	image = image_open_fd(fd, cache);
	assert_non_null(image);
	return image;
}

static unsigned
byte_of_block(const struct image *image, int index)
{
	uint8_t byte = 0;

	assert_true(image_read_offset(image, (uint64_t)(index * BLOCK), &byte, 1));
	return byte;
}

/* A cache with room for two blocks: of a file that has changed, a block that is still kept has the
 * old byte, and one that is read again has the new byte. */
static void
test_cache(void **state)
{
	struct image_cache *cache = image_cache_create(2 * BLOCK + 1024);
	int one_kept, two_kept;
	struct image *one = open_blocks(cache, 1, &one_kept);
	struct image *two = open_blocks(cache, 2, &two_kept);
	const uint8_t news = 9;

	(void)state;
	assert_int_equal(byte_of_block(one, 1), 1);
	assert_int_equal(byte_of_block(two, 1), 2);
	assert_int_equal(pwrite(one_kept, &news, 1, BLOCK), 1);
	assert_int_equal(pwrite(two_kept, &news, 1, BLOCK), 1);
	assert_int_equal(byte_of_block(one, 1), 1);
	assert_int_equal(byte_of_block(two, 2), 2);
	/* The block of `two` was used longest ago. */
	assert_int_equal(byte_of_block(one, 1), 1);
	assert_int_equal(byte_of_block(two, 1), news);
	assert_int_equal(byte_of_block(one, 2), 1);
	image_free(one);
	assert_int_equal(byte_of_block(two, 2), 2);
	image_free(two);
	image_cache_free(cache);
	close(one_kept);
	close(two_kept);
}

/* A block that is larger than the cache is kept until the next one is read. */
static void
test_small_cache(void **state)
{
	struct image_cache *cache = image_cache_create(0);
	int kept;
	struct image *image = open_blocks(cache, 1, &kept);
	uint8_t piece[16];

	(void)state;
	for (int i = 0; i < 6; i++)
		assert_int_equal(byte_of_block(image, 1 + i % 2), 1);
	assert_true(image_read_offset(image, 2 * BLOCK - 8, piece, sizeof(piece)));
	assert_int_equal(piece[8], 1);
	image_free(image);
	image_cache_free(cache);
	close(kept);
}

static void
test_vdso(void **state)
{
	unsigned long address = getauxval(AT_SYSINFO_EHDR);
	struct image *image;

	(void)state;
	if (address == 0)
		skip();
	image = image_open_memory((const void *)address, 4096);
	assert_non_null(image);
	assert_true(image->segment_count > 0);
	assert_true(image->eh_frame_hdr > 0);
	image_free(image);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_self),
		cmocka_unit_test(test_vaddr_is_memory),
		cmocka_unit_test(test_reads_equal_file),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_flipped_bits),
		cmocka_unit_test(test_tiny),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_shrinks),
		cmocka_unit_test(test_cache),
		cmocka_unit_test(test_small_cache),
		cmocka_unit_test(test_vdso),
	};

	return cmocka_run_group_tests_name("image", tests, NULL, NULL);
}
