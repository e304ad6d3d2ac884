# SPDX-License-Identifier: Apache-2.0
# A thin front of meson; `make help` lists what there is. The work is done by scripts/.
BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
# DEPS=: leaves the installed packages alone.
DEPS ?= scripts/deps
CMD ?=
# As it was typed: make does not look for its own $ in it.
export SANDGLASS_DEMO_CMD := $(value CMD)

.PHONY: help all run test test-long lint bench fuzz coverage sanitize valgrind install uninstall

all: ## build $(BUILD)/sandglass and its static supervisor (the default)
	@$(DEPS) build
	@scripts/build $(BUILD)

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22

run: all ## a demo, run twice and compared; CMD='python3 script.py' for your own
	@scripts/demo $(BUILD)

test: ## the tests
	@$(DEPS) build test
	@scripts/build $(BUILD)
	@scripts/test $(BUILD) --no-suite lint --no-suite long

test-long: ## the tests that take minutes; NO_SOAK=1 leaves out the suite soak, as CI does
	@$(DEPS) build test runtimes kernels
	@scripts/build $(BUILD)
	@scripts/kernels $(BUILD)/kernels
	@scripts/test $(BUILD) --suite long $(if $(NO_SOAK),--no-suite soak)

lint: ## layers, style, static analysis, manual pages, the other compilers
	@$(DEPS) build test lint
	@scripts/build $(BUILD)
	@scripts/test $(BUILD) --suite lint

bench: ## speed against native, as a table; WRITE=1 puts it into docs/bench.md
	@$(DEPS) build bench
	@scripts/build $(BUILD)
	@scripts/bench $(if $(WRITE),--write) $(BUILD)

fuzz: ## every parser of outside bytes for SECONDS=60 each
	@$(DEPS) build test lint
	@scripts/fuzz build-fuzz $(or $(SECONDS),60)

coverage: ## the tests' line coverage of src, in build-coverage/coverage
	@$(DEPS) build test lint
	@scripts/coverage build-coverage

sanitize: ## the unit tests under AddressSanitizer and UBSan
	@$(DEPS) build test lint
	@scripts/build build-sanitize -Db_sanitize=address,undefined -Db_lundef=false
	@scripts/test build-sanitize --suite unit

# Debian 12's valgrind knows neither openat2 nor landlock nor seccomp, which these tests need; the
# children of some die on purpose with what they hold, which is no leak. Deriving a key from a
# passphrase takes it minutes, and code that `places` makes it does not run.
NO_VALGRIND = path|tree|one|launch.*|cas.*|snapshot|session|git|db|ledger_faults|trial.*|audit|envelope|key|places

valgrind: ## the unit tests under valgrind, but for those that it cannot run
	@$(DEPS) build test lint
	@scripts/build $(BUILD)
	@scripts/test $(BUILD) --wrapper 'valgrind -q --error-exitcode=99 --leak-check=full' --suite unit \
		$$(meson test -C $(BUILD) --list --suite unit 2>/dev/null | sed 's|.* / ||' | grep -vxE '$(NO_VALGRIND)')

install: all ## into DESTDIR and PREFIX (/usr/local)
	@scripts/build $(BUILD) -Dprefix=$(PREFIX)
	@DESTDIR='$(DESTDIR)' meson install -C $(BUILD) --no-rebuild --quiet

uninstall: ## what `make install` with the same DESTDIR and PREFIX put there
	@scripts/uninstall '$(DESTDIR)' '$(PREFIX)'
