# The few commands of this project. Everything missing on a Debian machine is installed on the way.

PREFIX     ?= /usr/local
SYSCONFDIR ?= $(PREFIX)/etc
SWIFT      ?= swift
# Arguments for the server: make run ARGS="--config my.toml"
ARGS       ?=
# Arguments for the tests: make test TESTS="--filter DoorLines"
TESTS      ?=
ROUNDS     ?= 200
MESSAGES   ?= 200000
DIRECTORY  ?= /tmp
# For each target of: make fuzz
SECONDS    ?= 60
# Where the public conformance suite irctest is cloned from; a git directory on this machine does too.
IRCTEST_MIRROR ?= https://github.com/progval/irctest.git

RELEASE := $(SWIFT) build -c release --static-swift-stdlib --product parley
BINARY  := .build/release/parley

.PHONY: build run test crash scale fuzz conformance lint bench bench-build bench-check \
    bench-budgets bench-chat bench-images bench-logins install clean

build:
	@.ci/packages build
	@$(RELEASE)

# Starts the server; without arguments it needs no configuration.
run: build
	@exec $(BINARY) serve $(ARGS)

# All of them, the crash rounds ten times, in about eight minutes on two cores. The tests at the door use the release
# binary.
test: build
	@.ci/packages test
	PARLEY_BIN=$(CURDIR)/$(BINARY) $(SWIFT) test $(TESTS)

# kill -9 under load, ROUNDS times, then a disk that fills up, and what was seen is in history once and in order; kill -9
# while pictures come in, as often, and each has its row and its file or neither.
crash: build
	@.ci/packages test
	PARLEY_BIN=$(CURDIR)/$(BINARY) PARLEY_CRASH_ROUNDS=$(ROUNDS) $(SWIFT) test --filter 'Door(Image)?Crash'

# A million stored messages, 10,000 connections, a channel of 1,000; `test` has them as well.
scale: build
	@.ci/packages test
	PARLEY_BIN=$(CURDIR)/$(BINARY) $(SWIFT) test --filter DoorScale

# Each parser and the core with hostile bytes, SECONDS each, two at once for each processor.
fuzz:
	@.ci/packages build
	@SWIFT="$(SWIFT)" Tests/Fuzz/run all $(SECONDS)

# The public conformance suite irctest against the release binary; SELECT=ergo adds the Ergo-specific tests.
conformance: build
	Tests/Conformance/run.sh --binary $(BINARY) --mirror $(IRCTEST_MIRROR) $(if $(SELECT),--select $(SELECT))

# Micro-benchmarks of the grammar, the core and the store; compare ratios within one run. MESSAGES are stored (10000000
# takes some minutes and 5 GB) in DIRECTORY.
bench: bench-build
	@$(SWIFT) build -c release --static-swift-stdlib --product bench-storage
	@.build/release/bench
	@.build/release/bench-storage $(MESSAGES) $(DIRECTORY)

bench-build:
	@.ci/packages bench
	@$(SWIFT) build -c release --static-swift-stdlib --product bench

# Allocations and instructions of each operation against Benchmarks/budgets; a difference fails. CHECK=--allocations
# compares these alone.
bench-check: bench-build
	@Benchmarks/check $(CHECK)

# The budgets anew, when a difference is meant.
bench-budgets: bench-build
	@Benchmarks/check --write

# Clients over sockets: make bench-chat CHAT="--clients 1000 --channels 1 --rate 100"
bench-chat: build
	@$(SWIFT) build -c release --static-swift-stdlib --product parley-bench
	@.build/release/parley-bench chat $(CHAT)

# Pictures against the release binary: speed in and out, memory, chat while a hundred are sent at once.
bench-images: build
	@$(SWIFT) build -c release --static-swift-stdlib --product parley-bench
	@.build/release/parley-bench images

# How long a line of chat takes while a thousand wrong passwords a second come in.
bench-logins: build
	@Benchmarks/logins.py $(BINARY)

lint:
	@$(SWIFT) format lint --strict --parallel --recursive Package.swift Sources Tests Benchmarks
	@$(SWIFT) test --filter TidyTests

install: build
	install -D -s -m 755 $(BINARY) $(DESTDIR)$(PREFIX)/bin/parley
	install -D -m 644 Config/parley.toml $(DESTDIR)$(PREFIX)/share/parley/parley.toml
	for file in motd/*; do install -D -m 644 $$file $(DESTDIR)$(PREFIX)/share/parley/$$file; done
	# A configuration that is already there is the operator's.
	test -e $(DESTDIR)$(SYSCONFDIR)/parley/parley.toml || \
	    install -D -m 640 Config/parley.toml $(DESTDIR)$(SYSCONFDIR)/parley/parley.toml

clean:
	$(SWIFT) package clean
