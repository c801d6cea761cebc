libwallsample_a_SOURCES += \
	include/wallsample/elf/code_bytes.h \
	include/wallsample/elf/code_ranges.h \
	include/wallsample/elf/elf_open.h \
	include/wallsample/elf/frame_entry.h \
	include/wallsample/elf/frame_table.h \
	include/wallsample/elf/image.h \
	include/wallsample/elf/pclntab.h \
	include/wallsample/elf/relocate.h \
	include/wallsample/elf/symbol_names.h \
	include/wallsample/elf/symbol_search.h \
	src/elf/symbol_names_internal.h \
	src/elf/code_bytes.c \
	src/elf/code_ranges.c \
	src/elf/d_name_size.c \
	src/elf/elf_open.c \
	src/elf/frame_entry.c \
	src/elf/frame_table.c \
	src/elf/image.c \
	src/elf/image_cache.c \
	src/elf/image_headers.c \
	src/elf/image_internal.h \
	src/elf/image_open.c \
	src/elf/pclntab.c \
	src/elf/pclntab_internal.h \
	src/elf/pclntab_module.c \
	src/elf/pclntab_values.c \
	src/elf/symbol_names.c \
	src/elf/symbol_search.c
if ARCH_X86_64
libwallsample_a_SOURCES += \
	src/elf/relocate_x86_64.c
endif
if ARCH_AARCH64
libwallsample_a_SOURCES += \
	src/elf/relocate_aarch64.c
endif
