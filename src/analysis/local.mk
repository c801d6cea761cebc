libwallsample_a_SOURCES += \
	src/analysis/result.c \
	src/analysis/view.c
