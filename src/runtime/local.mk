libwallsample_a_SOURCES += \
	src/runtime/gil.c \
	src/runtime/python_code.c \
	src/runtime/python_code.h \
	src/runtime/python_find.h \
	src/runtime/python_layout.h \
	src/runtime/python_lines.c \
	src/runtime/python_text.c \
	src/runtime/python_text.h
