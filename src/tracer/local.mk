libwallsample_a_SOURCES += \
	src/tracer/away.c src/tracer/away.h \
	src/tracer/breakpoint.h src/tracer/counting.c src/tracer/counting.h \
	src/tracer/core_thread.c \
	src/tracer/own_delay.c src/tracer/own_delay.h \
	src/tracer/process_memory.c src/tracer/regs_arch.h src/tracer/resident.c \
	src/tracer/seized.c src/tracer/seized.h \
	src/tracer/sleeper.c \
	src/tracer/stack_copy.c src/tracer/stack_copy.h \
	src/tracer/stop.c \
	src/tracer/stop.h \
	src/tracer/snapshot.c \
	src/tracer/tracer.c \
	src/tracer/tracees.c src/tracer/tracees.h \
	src/tracer/tracer_count.c \
	src/tracer/tracer_hold.c \
	src/tracer/tracer_parts.h \
	src/tracer/tracer_wait.c \
	src/tracer/watchdog.c src/tracer/watchdog.h
if ARCH_X86_64
libwallsample_a_SOURCES += src/tracer/breakpoint_x86_64.c src/tracer/regs_x86_64.c
endif
if ARCH_AARCH64
libwallsample_a_SOURCES += src/tracer/breakpoint_aarch64.c src/tracer/regs_aarch64.c
endif
