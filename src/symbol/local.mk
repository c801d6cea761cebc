libwallsample_a_SOURCES += \
	include/wallsample/symbol/symbol.h \
	include/wallsample/symbol/symbol_lookup.h \
	src/symbol/file_names.c \
	src/symbol/file_names_internal.h \
	src/symbol/namer.c \
	src/symbol/namer_answers.c \
	src/symbol/namer_internal.h \
	src/symbol/namer_message.c \
	src/symbol/namer_process.c \
	src/symbol/namer_serve.c \
	src/symbol/plt_internal.h \
	src/symbol/symbol_internal.h \
	src/symbol/dwarf_lookup.c \
	src/symbol/module_tables.c \
	src/symbol/pclntab_names.c \
	src/symbol/plt_names.c \
	src/symbol/symbol.c \
	src/symbol/symbol_lookup.c \
	src/symbol/symbol_place.c \
	src/symbol/symbol_table.c \
	src/symbol/symbol_walk.c \
	src/symbol/plt_arch_aarch64.c \
	src/symbol/plt_arch_x86_64.c
