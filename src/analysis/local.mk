libwallsample_a_SOURCES += \
	src/analysis/filter.c \
	src/analysis/result.c \
	src/analysis/view.c
