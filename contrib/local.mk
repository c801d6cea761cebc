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
