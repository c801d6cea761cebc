libwallsample_a_SOURCES += \
	include/wallsample/causal/bursts.h \
	include/wallsample/causal/causal.h \
	include/wallsample/causal/causal_curve.h \
	include/wallsample/causal/causal_run.h \
	include/wallsample/causal/progress.h \
	include/wallsample/causal/progress_coz.h \
	src/causal/bursts.c \
	src/causal/causal_internal.h \
	src/causal/causal_result.c \
	src/causal/causal_run.c \
	src/causal/curve.c \
	src/causal/curve_fit.c \
	src/causal/curve_fit_internal.h \
	src/causal/in_progress.c \
	src/causal/match.c \
	src/causal/plan.c \
	src/causal/progress_coz.c \
	src/causal/progress_coz_file.c \
	src/causal/progress_internal.h \
	src/causal/progress_line.c \
	src/causal/progress_open.c \
	src/causal/progress_place.c \
	src/causal/progress_read.c \
	src/causal/progress_words.c

# What is preloaded into programs that were built with coz.h: see progress_preload.c. It is linked
# with nothing, whatever else LIBS has, and without what compilers and sanitizers add.
libwallsample_a_CPPFLAGS += -DWALLSAMPLE_PKGLIBDIR=\"$(pkglibdir)\"
wallsamplelibdir = $(pkglibdir)
wallsamplelib_PROGRAMS = libwallsample-progress.so
libwallsample_progress_so_SOURCES = src/causal/progress_preload.c \
	include/wallsample/causal/progress_coz.h
libwallsample_progress_so_CFLAGS = -std=gnu11 $(WARN_CFLAGS) -fPIC -fvisibility=hidden \
	-fno-stack-protector -ffreestanding
libwallsample_progress_so_LDFLAGS = -shared -nostartfiles -Wl,--as-needed \
	-Wl,-soname,libwallsample-progress.so
libwallsample_progress_so_LDADD =
if ARCH_AARCH64
# Else it asks the C library which instructions the machine has.
libwallsample_progress_so_CFLAGS += -mno-outline-atomics
endif
