libwallsample_a_SOURCES += \
	include/wallsample/thread/own.h \
	include/wallsample/thread/sleep_clock.h \
	include/wallsample/thread/state.h \
	include/wallsample/thread/stolen.h \
	src/thread/own.c \
	src/thread/run_state.c \
	src/thread/sleep_clock.c \
	src/thread/stolen.c \
	src/thread/syscall_names_aarch64.def \
	src/thread/syscall_names_x86_64.def \
	src/thread/syscall_table_internal.h \
	src/thread/syscalls.c \
	src/thread/watch.c
if ARCH_X86_64
libwallsample_a_SOURCES += \
	src/thread/syscalls_x86_64.c
endif
if ARCH_AARCH64
libwallsample_a_SOURCES += \
	src/thread/syscalls_aarch64.c
endif
