libwallsample_a_SOURCES += \
	include/wallsample/unwind/chain.h \
	include/wallsample/unwind/unwind.h \
	src/unwind/by_epilogue.c \
	src/unwind/by_guess.c \
	src/unwind/by_interpreter.c \
	src/unwind/by_libdw.c \
	src/unwind/by_libunwind.c \
	src/unwind/by_pclntab.c \
	src/unwind/by_pointer.c \
	src/unwind/by_rule.c \
	src/unwind/by_signal.c \
	src/unwind/cfi.c \
	src/unwind/cfi_expression.c \
	src/unwind/cfi_internal.h \
	src/unwind/chain.c \
	src/unwind/guess_internal.h \
	src/unwind/rule.c \
	src/unwind/rule_internal.h \
	src/unwind/unwind_method_internal.h \
	src/unwind/unwinder.c \
	src/unwind/walk.c \
	src/unwind/walk_end.c \
	src/unwind/walk_end_internal.h
if ARCH_X86_64
libwallsample_a_SOURCES += \
	src/unwind/arch_x86_64.c
endif
if ARCH_AARCH64
libwallsample_a_SOURCES += \
	src/unwind/arch_aarch64.c
endif
