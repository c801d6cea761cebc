libwallsample_a_SOURCES += \
	include/wallsample/core/core.h \
	include/wallsample/core/core_sample.h \
	src/core/core.c \
	src/core/core_internal.h \
	src/core/core_maps.c \
	src/core/core_memory.c \
	src/core/core_notes.c \
	src/core/core_sample.c \
	src/core/core_waits.c
