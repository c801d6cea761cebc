libwallsample_a_SOURCES += \
	include/wallsample/dwarf/debug_file.h \
	include/wallsample/dwarf/debug_info.h \
	include/wallsample/dwarf/dwarf_each.h \
	include/wallsample/dwarf/dwarf_lines.h \
	include/wallsample/dwarf/dwarf_name.h \
	include/wallsample/dwarf/dwarf_paths.h \
	include/wallsample/dwarf/dwarf_split.h \
	include/wallsample/dwarf/dwarf_structures.h \
	include/wallsample/dwarf/dwarf_time.h \
	include/wallsample/dwarf/dwarf_walk.h \
	src/dwarf/debug_file.c \
	src/dwarf/debug_file_check.c \
	src/dwarf/debug_file_dwarf.c \
	src/dwarf/debug_file_dwo.c \
	src/dwarf/debug_file_find.c \
	src/dwarf/debug_file_internal.h \
	src/dwarf/debug_file_mini.c \
	src/dwarf/debug_file_package.c \
	src/dwarf/debug_file_package_internal.h \
	src/dwarf/debug_file_place.c \
	src/dwarf/debug_file_split.c \
	src/dwarf/debug_info.c \
	src/dwarf/debuginfod_internal.h \
	src/dwarf/dwarf_each.c \
	src/dwarf/dwarf_form.c \
	src/dwarf/dwarf_form_internal.h \
	src/dwarf/dwarf_lines.c \
	src/dwarf/dwarf_name.c \
	src/dwarf/dwarf_paths.c \
	src/dwarf/dwarf_spans.c \
	src/dwarf/dwarf_spans_internal.h \
	src/dwarf/dwarf_split.c \
	src/dwarf/dwarf_structures.c \
	src/dwarf/dwarf_time.c \
	src/dwarf/dwarf_unit.c \
	src/dwarf/dwarf_unit_internal.h \
	src/dwarf/dwarf_units.c \
	src/dwarf/dwarf_units_internal.h \
	src/dwarf/dwarf_walk.c \
	src/dwarf/dwp_image.c \
	src/dwarf/dwp_image_internal.h \
	src/dwarf/dwp_index.c \
	src/dwarf/dwp_index_internal.h
if HAVE_DEBUGINFOD
libwallsample_a_SOURCES += src/dwarf/debuginfod.c
else
libwallsample_a_SOURCES += src/dwarf/debuginfod_absent.c
endif
EXTRA_DIST += src/dwarf/debuginfod.c src/dwarf/debuginfod_absent.c
