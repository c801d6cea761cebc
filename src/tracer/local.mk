libwallsample_a_SOURCES += \
	include/wallsample/tracer/process_memory.h \
	include/wallsample/tracer/regs_arch.h \
	include/wallsample/tracer/resident.h \
	include/wallsample/tracer/sleeper.h \
	include/wallsample/tracer/snapshot.h \
	include/wallsample/tracer/target_memory.h \
	include/wallsample/tracer/tracer.h \
	include/wallsample/tracer/tracer_count.h \
	include/wallsample/tracer/tracer_load.h \
	src/tracer/count/counting.c \
	src/tracer/count/counting_internal.h \
	src/tracer/count/tracer_count.c \
	src/tracer/process_memory.c \
	src/tracer/release_handler.c \
	src/tracer/resident.c \
	src/tracer/seized.c \
	src/tracer/sleeper.c \
	src/tracer/slow_reader.c \
	src/tracer/slow_reader_internal.h \
	src/tracer/snapshot.c \
	src/tracer/stack_copy.c \
	src/tracer/stop.c \
	src/tracer/stop_internal.h \
	src/tracer/target_memory.c \
	src/tracer/tracer.c \
	src/tracer/tracer_internal.h \
	src/tracer/tracer_wait.c \
	src/tracer/watchdog.c
if ARCH_X86_64
libwallsample_a_SOURCES += \
	src/tracer/count/breakpoint_x86_64.c \
	src/tracer/regs_x86_64.c
endif
if ARCH_AARCH64
libwallsample_a_SOURCES += \
	src/tracer/count/breakpoint_aarch64.c \
	src/tracer/regs_aarch64.c
endif
