libwallsample_a_SOURCES += \
	src/symbol/symbol.c \
	src/symbol/symbol_names.c \
	src/symbol/symbol_names.h \
	src/symbol/symbol_table.c \
	src/symbol/symbol_table.h
