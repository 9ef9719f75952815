# What CI runs, by short names. Another Python: make check PYTHON=python3.12
PYTHON ?= .venv/bin/python

.PHONY: check test lint types imports matrix run bench screens

check: test lint types imports

test:
	$(PYTHON) -m pytest --cov

lint:
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .

types:
	$(PYTHON) -m mypy

# import-linter has no `python -m`; this is its command, with this folder on the path.
imports:
	$(PYTHON) -c "from importlinter.cli import lint_imports_command as main; main()"

# The suite on each Python of VERSIONS, in an environment of its own.
matrix:
	.ci/matrix

run:
	$(PYTHON) -m streamlit run app.py

bench:
	$(PYTHON) -m benchmarks

screens:
	$(PYTHON) docs/screens.py
