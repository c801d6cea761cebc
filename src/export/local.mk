libwallsample_a_SOURCES += \
	src/export/columns.c \
	src/export/columns.h \
	src/export/display.c \
	src/export/display.h \
	src/export/export.c \
	src/export/exporters.h \
	src/export/folded.c \
	src/export/quantity.c \
	src/export/quantity.h \
	src/export/text.c \
	src/export/text.h \
	src/export/text_cost.c \
	src/export/text_parallelism.c \
	src/export/text_tree.c
