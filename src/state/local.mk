libwallsample_a_SOURCES += \
	src/state/run_state.c \
	src/state/sched.c \
	src/state/syscall_info.c \
	src/state/syscalls.c src/state/syscall_table.h src/state/watch.c
if ARCH_X86_64
libwallsample_a_SOURCES += src/state/syscalls_x86_64.c
endif
if ARCH_AARCH64
libwallsample_a_SOURCES += src/state/syscalls_aarch64.c
endif
