# A picture of the HTML page, for README.
EXTRA_DIST += contrib/page.png

# What is installed by other means than make install: the Python package, by pip.
EXTRA_DIST += \
	contrib/python/README.md contrib/python/pyproject.toml \
	contrib/python/tests/support.py contrib/python/tests/test_notebook.py \
	contrib/python/tests/test_report.py contrib/python/tests/test_sampler.py \
	contrib/python/tests/test_words.py \
	contrib/python/wallsample/__init__.py contrib/python/wallsample/errors.py \
	contrib/python/wallsample/magic.py contrib/python/wallsample/py.typed \
	contrib/python/wallsample/report.py contrib/python/wallsample/sampler.py \
	contrib/python/wallsample/tracer.py contrib/python/wallsample/words.py

# Scripts with which shells complete commands and options. The program writes them, so that there
# are none when it is built for another machine.
if !CROSS
bash_completiondir = $(datadir)/bash-completion/completions
zsh_completiondir = $(datadir)/zsh/site-functions
fish_completiondir = $(datadir)/fish/vendor_completions.d
nodist_bash_completion_DATA = completion/wallsample
nodist_zsh_completion_DATA = completion/_wallsample
nodist_fish_completion_DATA = completion/wallsample.fish
CLEANFILES += $(nodist_bash_completion_DATA) $(nodist_zsh_completion_DATA) \
	$(nodist_fish_completion_DATA)

completion/wallsample: wallsample$(EXEEXT)
	@$(MKDIR_P) completion
	$(AM_V_GEN)./wallsample$(EXEEXT) completion bash >$@
completion/_wallsample: wallsample$(EXEEXT)
	@$(MKDIR_P) completion
	$(AM_V_GEN)./wallsample$(EXEEXT) completion zsh >$@
completion/wallsample.fish: wallsample$(EXEEXT)
	@$(MKDIR_P) completion
	$(AM_V_GEN)./wallsample$(EXEEXT) completion fish >$@
endif
