# SPDX-License-Identifier: MIT
# Short names for common errands; CMake does the work.
BUILD ?= build
PREFIX ?= /usr/local
PYTHON ?= python3

.PHONY: site release build program report-assets install uninstall deb wheel demo check test test-long regen bench study-allreduce study-dlrm study-figures study-validation study-training-policy format lint coverage clean

build:
	@sh cmake/setup.sh
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=ON
	@cmake --build $(BUILD)

program: # what is installed, without the tests
	@sh cmake/setup.sh
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF
	@cmake --build $(BUILD)

report-assets: build # after a change of report/web: its charts anew, from npm, to be committed
	@sh cmake/setup.sh --report
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release
	@cmake --build $(BUILD) --target report-assets

install: program # PREFIX=/usr/local; DESTDIR is put before it
	@cmake --install $(BUILD) --prefix $(PREFIX)
	@cp $(BUILD)/install_manifest.txt $(BUILD)/installed_files.txt

uninstall: # what the last `make install` of this build directory has installed
	@sh cmake/uninstall.sh $(BUILD)

deb: program # packages for Debian, collwire and python3-collwire, in the build directory
	@sh cmake/setup.sh --package
	@cd $(BUILD) && cpack
	@ls $(BUILD)/*.deb

wheel: program # the Python package with all that it needs, in the build directory; no network
	@sh cmake/setup.sh --package
	@$(PYTHON) python/make_wheel.py . $(BUILD) $(BUILD)

site: build # the documentation as pages that need no network: build/site/index.html
	@sh cmake/setup.sh --site
	@$(MAKE) --no-print-directory build
	@$(PYTHON) -B docs/site/build.py . $(BUILD) $(BUILD)/site

release: build # all that users download, in build/release; refuses a tree with changes and a commit without its tag
	@sh cmake/setup.sh --package
	@$(PYTHON) -B cmake/release/make_release.py . $(BUILD) $(BUILD)/release

demo: # builds the program, but no tests
	@sh cmake/setup.sh
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release
	@cmake --build $(BUILD) --target collwire
	@sh cmake/demo.sh $(BUILD)/collwire

test:
	@sh cmake/setup.sh --tests
	@$(MAKE) --no-print-directory build
	ctest --test-dir $(BUILD) -j2 --output-on-failure

check: # a part of the tests: about a minute
	@sh cmake/setup.sh --tests
	@$(MAKE) --no-print-directory build
	ctest --test-dir $(BUILD) -j2 -L '^smoke$$' --output-on-failure

test-long: # mutations of the sources: each must fail a test
	@sh cmake/setup.sh --tests
	@$(MAKE) --no-print-directory build
	ctest --test-dir $(BUILD) -C Long -L '^long$$' --verbose

regen: # all generated files: schema, pages of docs/, golden runs
	@sh cmake/setup.sh --tests
	@$(MAKE) --no-print-directory build
	REGEN=1 ctest --test-dir $(BUILD) -L '^(generated|golden)$$' --output-on-failure

bench: build
	@COLLWIRE=$(BUILD)/collwire sh tests/bench/run.sh $(BENCH_FLAGS)
	@COLLWIRE=$(BUILD)/collwire sh tests/bench/htsim.sh "$(BENCH_HTSIM)"

# Runs of a study that have finished are kept in out/; STUDY_FLAGS=--reduced checks its claims in minutes.
study-allreduce study-dlrm study-figures study-validation: study-%: build
	@sh cmake/setup.sh --studies
	$(PYTHON) studies/$*/run.py --collwire $(BUILD)/collwire $(STUDY_FLAGS)

study-training-policy: build
	$(PYTHON) studies/training-policy/run.py --collwire $(BUILD)/collwire $(STUDY_FLAGS)

format:
	@find . -name 'build*' -prune -o -name '*.[ch]' -print0 | xargs -0 clang-format -i

coverage: # lines and branches that the tests run; a build of its own
	@sh cmake/setup.sh --tests --coverage
	@sh cmake/coverage.sh $(BUILD)-coverage

lint: build
	@sh cmake/setup.sh --ci
	@sh cmake/lint.sh $(BUILD)

clean:
	rm -rf $(BUILD)
