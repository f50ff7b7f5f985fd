# The doors of arnar. `make` alone lists them. Plain GNU make 3.81; recipes are POSIX sh.

VENV := .venv
BIN := $(VENV)/bin
NEED_GB := 3
NEED_CUDA_GB := 8
INPUTS := constraints.txt pyproject.toml
# Written last, and named by what was installed: a half-made or outdated environment has no such file.
STAMP := $(VENV)/complete-$(shell cat $(INPUTS) | cksum | tr -cd 0-9)

# What a person types reaches the shell through the environment, never as program text, so that quotes, spaces and
# dollars are only themselves. A DEVICE or OUT that merely lies in the environment must not change what is measured.
TYPED := SUITE STRATEGIES LENGTHS DEVICE TASK BUDGET REPEATS OUT RUN MODEL CORPUS BASE LOAD BLOCKS FILE
verbatim = $(eval override $(1) := $$(value $(1)))$(eval export $(1))
$(foreach v,$(TYPED) PYTHON TORCH,$(if $(filter command,$(origin $(v))),$(call verbatim,$(v))))
$(foreach v,$(TYPED),$(if $(filter environment,$(origin $(v))),$(eval unexport $(v))))
FLAGS = $${STRATEGIES:+"--strategies=$$STRATEGIES"} $${LENGTHS:+"--lengths=$$LENGTHS"} $${DEVICE:+"--device=$$DEVICE"} \
	$${TASK:+"--task=$$TASK"} $${BUDGET:+"--budget=$$BUDGET"} $${REPEATS:+"--repeats=$$REPEATS"}

GATE_FLAGS = $${STRATEGIES:+"--strategies=$$STRATEGIES"} $${DEVICE:+"--device=$$DEVICE"} \
	$${BUDGET:+"--budget=$$BUDGET"} $${OUT:+"--out=$$OUT"}

# A switch is on when a person types 1, nothing else.
switch = $(if $(filter command,$(origin $(1))),$(if $(filter 1,$(value $(1))),$(2)))
AGAIN := $(call switch,RESUME,--resume) $(call switch,FORCE,--force)

PYTHONS := python3.13 python3.12 python3.11 python3 python
SUPPORTED := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
FIND_CHROMIUM := command -v chromium || command -v chromium-browser || command -v google-chrome || \
	ls "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" 2>/dev/null
# sets $python to the first candidate that really runs and passes: a version manager's shim may exist and still fail
find_python = set -- $(PYTHONS); [ -z "$$PYTHON" ] || set -- "$$PYTHON"; candidates="$$*"; \
	for python; do "$$python" -c '$(1)' >/dev/null 2>&1 && break; python=; done

.PHONY: help setup bench test lint suite report gate gate-exact gate-ratio baseline gate-study train microbench selfcheck open clean doctor always

help: ## this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "make %-11s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo "bench and suite also take STRATEGIES=ar,ctc LENGTHS=8,32 DEVICE=cuda TASK=verse BUDGET=3m REPEATS=5 OUT=folder"
	@echo "and, for a run that is there already, RESUME=1 (go on with it) or FORCE=1 (replace it)"

setup: $(STAMP) ## make .venv, if it is missing or half made [TORCH=cpu: the small torch] [PYTHON=python3.12]
	@echo "$(VENV) is ready"

bench: $(STAMP) ## the race: the quick suite on the shipped models, then its HTML report
	@set -e; run=$${OUT:-runs/quick-$$(date +%Y%m%d-%H%M%S)}; \
	[ -n "$$OUT" ] || [ -z "$(strip $(AGAIN))" ] || { echo "say which run: make bench RESUME=1 OUT=runs/quick-..." >&2; exit 2; }; \
	$(BIN)/python -m suites run quick $(FLAGS) $(AGAIN) "--out=$$run"; \
	$(BIN)/python -m reports html "$$run"; \
	echo "report: $$(cd -- "$$run" && pwd)/report.html"

test: $(STAMP) ## every test, a process a core
	@{ $(FIND_CHROMIUM); } >/dev/null || echo "no Chromium found: the browser tests will be skipped" >&2
	@$(BIN)/python -m pytest -n auto --dist loadfile

lint: $(STAMP) ## ruff and mypy --strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

suite: $(STAMP) ## one suite: SUITE=latency; `make suite` alone lists them
	@if [ -z "$$SUITE" ]; then $(BIN)/python -m suites list; \
	else $(BIN)/python -m suites run "$$SUITE" $(FLAGS) $(AGAIN) $${OUT:+"--out=$$OUT"}; fi

report: $(STAMP) ## the HTML report of a run: RUN=runs/latency (default: the latest); of several: RUN="runs/a runs/b"
	@run=$${RUN:-runs/latest}; if [ -e "$$run" ]; then set -- "$$run"; else set -- $$run; fi; \
	$(BIN)/python -m reports html "$$@"

gate: $(STAMP) ## did the working tree make a strategy slower? BASE=origin/main (default) [STRATEGIES=ar,ctc] [BUDGET=5m]
	@$(BIN)/python -m reports gate "--base=$${BASE:-origin/main}" $(GATE_FLAGS)

gate-exact: $(STAMP) ## only the gate's counters, no clock: do all strategies compute what the committed file says?
	@$(BIN)/python -m reports gate --exact $(GATE_FLAGS)

gate-ratio: $(STAMP) ## do the committed claims of one strategy's speed over another hold here?
	@$(BIN)/python -m reports gate --ratio $(GATE_FLAGS)

baseline: $(STAMP) ## write the gate's counters anew, after a change that was meant to change them
	@$(BIN)/python -m reports gate --write-baseline

gate-study: $(STAMP) ## the gate's own evidence, a block at a time [LOAD=bursty] [BLOCKS=10] [FILE=study.jsonl]; goes on
	@$(BIN)/python -m reports gate-study collect $${LOAD:+"--load=$$LOAD"} $${BLOCKS:+"--blocks=$$BLOCKS"} $${FILE:+"--file=$$FILE"}
	@$(BIN)/python -m reports gate-study render $${FILE:+"--file=$$FILE"}

train: $(STAMP) ## train a model: MODEL=ar [CORPUS=folder] [DEVICE=cuda]
	@[ -n "$$MODEL" ] || { echo "say which model to train: make train MODEL=ar" >&2; exit 2; }
	@$(BIN)/python -m generators.training $${CORPUS:+"--corpus=$$CORPUS"} $${DEVICE:+"--device=$$DEVICE"} "$$MODEL"

microbench: $(STAMP) ## time a decode step and a parallel pass, then the parallel strategies against their bare passes
	@$(BIN)/python -m pytest tests/benchmarks --benchmark-enable --benchmark-only
	@$(BIN)/python tests/benchmarks/floors.py

selfcheck: $(STAMP) ## race contestants of known cost: does what is true come out?
	@$(BIN)/python -m suites selfcheck

open: ## show the newest report in a browser
	@newest=$$(ls -t runs/*/report.html 2>/dev/null | head -n 1); \
	[ -n "$$newest" ] || { echo "no report yet: make bench" >&2; exit 2; }; \
	echo "$$newest"; \
	for opener in wslview xdg-open open; do ! command -v $$opener >/dev/null || exec $$opener "$$newest"; done; \
	echo "nothing here opens a browser; open that file yourself" >&2

clean: ## remove .venv and caches; runs and checkpoints stay
	rm -rf $(VENV) *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .benchmarks
	find generators metrics suites reports tests -name __pycache__ -prune -exec rm -rf {} +

doctor: ## what this machine has, and what it lacks
	@say() { printf '%-12s %s\n' "$$1" "$$2"; }; $(call find_python,$(SUPPORTED)); \
	if [ -n "$$python" ]; then say python "$$(command -v "$$python"), $$("$$python" --version)"; \
	else say python "MISSING: 3.11 to 3.13 (tried $$candidates)"; fi; \
	say disk "$$(df -Pk . | awk 'NR == 2 {printf "%d GB free", $$4 / 1048576}') (set-up needs $(NEED_GB), where pip brings CUDA $(NEED_CUDA_GB))"; \
	say cores "$$(getconf _NPROCESSORS_ONLN)"; \
	say chromium "$$({ $(FIND_CHROMIUM); } || echo 'MISSING: browser tests will be skipped')"; \
	if [ ! -e $(STAMP) ]; then say $(VENV) "MISSING or half made: make setup"; exit; fi; say $(VENV) ready; \
	say torch "$$($(BIN)/python -c 'import torch; print(torch.__version__, "on", torch.get_num_threads(), "threads, CUDA:", torch.cuda.is_available())')"; \
	say ctranslate2 "$$($(BIN)/python -c 'import ctranslate2; print(ctranslate2.__version__)' 2>/dev/null || echo 'MISSING: the race runs without that engine')"; \
	say onnxruntime "$$($(BIN)/python -c 'import onnx, onnxruntime; print(onnxruntime.__version__)' 2>/dev/null || echo 'MISSING: engine=onnx takes no part')"

$(STAMP): $(if $(wildcard $(BIN)/python),,always)
	@set -e; die() { echo "setup: $$1" >&2; exit 2; }; \
	case "$$TORCH" in ''|cpu) ;; *) die "unknown TORCH '$$TORCH'; choose from: cpu, or leave it out";; esac; \
	$(call find_python,$(SUPPORTED)); \
	[ -n "$$python" ] || die "Python 3.11 to 3.13 is missing (tried $$candidates); install it or name it: make setup PYTHON=/path/to/python3"; \
	"$$python" -c 'import venv, ensurepip' 2>/dev/null || \
		die "python3-venv is missing for $$python; install it (Debian, Ubuntu: apt install python3-venv) or name another: PYTHON=..."; \
	free_kb=$$(df -Pk . | awk 'NR == 2 {print $$4}'); \
	[ "$$free_kb" -ge $$(($(NEED_GB) * 1048576)) ] || \
		die "disk space is missing: $$((free_kb / 1024)) MB free here, $(NEED_GB) GB needed ($(NEED_CUDA_GB) GB where pip brings CUDA); make some room"; \
	[ "$$TORCH" = cpu ] || [ "$$(uname)" != Linux ] || [ "$$free_kb" -ge $$(($(NEED_CUDA_GB) * 1048576)) ] || \
		echo "setup: WARNING: $$((free_kb / 1024)) MB free here; where pip brings CUDA, $(NEED_CUDA_GB) GB are needed: TORCH=cpu avoids it" >&2; \
	echo "setup: making $(VENV) with $$("$$python" --version); some minutes, 2 GB (where pip brings CUDA, $(NEED_CUDA_GB) GB: TORCH=cpu avoids it)"; \
	rm -rf $(VENV); "$$python" -m venv $(VENV); \
	pip() { $(BIN)/python -m pip install $$([ -t 1 ] || echo -qq) -c constraints.txt "$$@"; }; \
	[ "$$TORCH" != cpu ] || pip --no-deps --index-url https://download.pytorch.org/whl/cpu torch; \
	pip -e '.[dev]'; \
	pip --only-binary=:all: ctranslate2 || echo "setup: WARNING: no CTranslate2 here; the race runs without that engine" >&2; \
	pip --only-binary=:all: onnx onnxruntime || echo "setup: WARNING: no ONNX Runtime here; engine=onnx takes no part" >&2; \
	touch $(STAMP)
