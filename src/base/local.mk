libwallsample_a_SOURCES += \
	include/wallsample/base/banned.h \
	include/wallsample/base/base.h \
	include/wallsample/base/bytes.h \
	include/wallsample/base/capability.h \
	include/wallsample/base/cgroup.h \
	include/wallsample/base/error.h \
	include/wallsample/base/file_proxy.h \
	include/wallsample/base/helper.h \
	include/wallsample/base/histogram.h \
	include/wallsample/base/memory.h \
	include/wallsample/base/pass.h \
	include/wallsample/base/proc_memory.h \
	include/wallsample/base/sandbox.h \
	include/wallsample/base/search.h \
	include/wallsample/base/table.h \
	include/wallsample/base/thread.h \
	include/wallsample/base/utf8.h \
	src/base/alloc.c \
	src/base/bytes.c \
	src/base/capability.c \
	src/base/cgroup.c \
	src/base/clock.c \
	src/base/error.c \
	src/base/file.c \
	src/base/file_proxy.c \
	src/base/helper.c \
	src/base/histogram.c \
	src/base/log.c \
	src/base/memory.c \
	src/base/parse.c \
	src/base/pass.c \
	src/base/proc_memory.c \
	src/base/rng.c \
	src/base/sandbox.c \
	src/base/sandbox_internal.h \
	src/base/strbuf.c \
	src/base/table.c \
	src/base/thread.c \
	src/base/utf8.c
if ARCH_X86_64
libwallsample_a_SOURCES += src/base/sandbox_x86_64.c
endif
if ARCH_AARCH64
libwallsample_a_SOURCES += src/base/sandbox_aarch64.c
endif

# log(3) of the random numbers
WALLSAMPLE_LIBS += -lm
