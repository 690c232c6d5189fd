# A thin front door to CMake. Each target installs what it lacks (scripts/setup) and then does its job.
.PHONY: all demo golden pictures test lint bench fuzz scorecard install wheel deb tarball packages format po clean
BUILD := build/release
FUZZ_SECONDS ?= 60

all: build/jeoul

build/jeoul: FORCE
	@scripts/setup build
	@mkdir -p build
	@test -f $(BUILD)/build.ninja || cmake --preset release -DJEOUL_TESTS=OFF >build/cmake.log 2>&1 || { cat build/cmake.log; exit 1; }
	@scripts/build release
	@ln -sf release/jeoul build/jeoul
FORCE:

demo: build/jeoul
	@scripts/demo

# The golden reports of the seeds, written anew; look at them with git diff.
golden: build/jeoul
	@cmake --build --preset release --target jeoul-frozen -- --quiet
	@scripts/golden

# The pictures of README.md and docs/LOOK.md, of the program as it is now.
pictures: build/jeoul
	@scripts/pictures

# Release, then everything again under the sanitizers; JOBS=N: tests beside each other.
test:
	@scripts/setup test
	@scripts/test

lint:
	@scripts/setup lint
	@scripts/lint

bench: build/jeoul
	@scripts/setup bench
	@for b in bench/*/run; do echo "== $$b"; $$b || exit 1; done

# Each target for FUZZ_SECONDS; new inputs are kept under build/, crashes stop it.
fuzz:
	@scripts/setup fuzz
	@cmake --preset fuzz
	@scripts/build fuzz
	@scripts/fuzz $(FUZZ_SECONDS)

# How wrong the program is, on published measurements: docs/SCORECARD.md. Takes some minutes.
scorecard: build/jeoul
	@scripts/scorecard

install: build/jeoul
	@cmake --install $(BUILD)

# What people install, in dist/: a wheel (no network needed), packages for Debian and Ubuntu, an archive that runs where it is unpacked.
wheel: build/jeoul
	@scripts/setup package
	@python3 python/backend.py wheel dist $(BUILD)

deb:
	@scripts/setup package
	@scripts/deb

tarball: build/jeoul
	@scripts/setup package
	@scripts/tarball

packages: wheel deb tarball

format:
	@git ls-files 'src/*.[ch]' 'include/*.h' 'tests/*.[ch]' 'examples/*.c' 'bench/*.c' | xargs clang-format -i

# What the code says now, into every po/*.po; then translate what is empty or fuzzy. A new language: copy po/ko.po, empty its msgstr lines.
po:
	@scripts/setup lint
	@scripts/po

clean:
	rm -rf build dist
