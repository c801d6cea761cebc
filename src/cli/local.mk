libwallsample_a_SOURCES += \
	include/wallsample/command.h \
	src/cli/cli.h \
	src/cli/causal_candidates.c src/cli/causal_candidates.h \
	src/cli/causal_command.h \
	src/cli/causal_phases.c \
	src/cli/causal_check.c \
	src/cli/command.c \
	src/cli/command_causal.c \
	src/cli/command_diff.c \
	src/cli/command_dump.c \
	src/cli/command_info.c \
	src/cli/command_report.c \
	src/cli/command_sample.c \
	src/cli/guard.c \
	src/cli/help.c \
	src/cli/loaded.c \
	src/cli/loaded.h \
	src/cli/option_convert.c \
	src/cli/option_convert.h \
	src/cli/option_parse.c \
	src/cli/option_table.c \
	src/cli/output.c \
	src/cli/output_folder.c \
	src/cli/output_name.c \
	src/cli/status_line.c src/cli/status_line.h \
	src/cli/sample_exit.c \
	src/cli/sample_part.c \
	src/cli/sample_record.c \
	src/cli/sample_report.c \
	src/cli/sample_run.h \
	src/cli/say.c src/cli/say_deadlock.c \
	src/cli/signals.c \
	src/cli/target_choice.c
