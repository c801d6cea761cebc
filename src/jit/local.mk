libwallsample_a_SOURCES += \
	src/jit/jit.c \
	src/jit/jit_book.c \
	src/jit/jit_file.c \
	src/jit/jit_source_internal.h \
	src/jit/jitdump.c \
	src/jit/perf_map.c \
	src/jit/v8.c \
	src/jit/v8_internal.h
