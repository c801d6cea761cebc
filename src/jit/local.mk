libwallsample_a_SOURCES += \
	include/wallsample/jit/jit.h \
	include/wallsample/jit/jit_objects.h \
	include/wallsample/jit/jit_advice.h \
	src/jit/jit.c \
	src/jit/jit_advice.c \
	src/jit/jit_book.c \
	src/jit/jit_epochs.c \
	src/jit/jit_file.c \
	src/jit/jit_source_internal.h \
	src/jit/jitdump.c \
	src/jit/objects/jit_elf.c \
	src/jit/objects/jit_elf_internal.h \
	src/jit/objects/jit_objects.c \
	src/jit/objects/jit_tree.c \
	src/jit/objects/jit_unwind.c \
	src/jit/objects/jit_watch.c \
	src/jit/objects/jit_watch_internal.h \
	src/jit/perf_map.c \
	src/jit/v8.c
