libwallsample_a_SOURCES += \
	include/wallsample/dwarf/debug_file.h \
	include/wallsample/dwarf/distribution.h \
	include/wallsample/dwarf/dwarf_entries.h \
	include/wallsample/dwarf/dwarf_lines.h \
	include/wallsample/dwarf/dwarf_structures.h \
	src/dwarf/debug_dwarf_internal.h \
	src/dwarf/debug_file.c \
	src/dwarf/debug_file_check.c \
	src/dwarf/debug_file_delegate.c \
	src/dwarf/debug_file_dwarf.c \
	src/dwarf/debug_file_dwo.c \
	src/dwarf/debug_file_find.c \
	src/dwarf/distribution.c \
	src/dwarf/debug_file_internal.h \
	src/dwarf/debug_file_package.c \
	src/dwarf/debug_file_split.c \
	src/dwarf/dwarf_entries.c \
	src/dwarf/dwarf_lines.c \
	src/dwarf/dwarf_spans.c \
	src/dwarf/dwarf_structures.c \
	src/dwarf/dwarf_unit.c \
	src/dwarf/dwarf_unit_internal.h \
	src/dwarf/dwarf_walk.c \
	src/dwarf/dwp_internal.h \
	src/dwarf/dwp.c
if HAVE_DEBUGINFOD
libwallsample_a_SOURCES += src/dwarf/debuginfod.c
else
libwallsample_a_SOURCES += src/dwarf/debuginfod_absent.c
endif
EXTRA_DIST += src/dwarf/debuginfod.c src/dwarf/debuginfod_absent.c
