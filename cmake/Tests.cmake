# SPDX-License-Identifier: MIT
# tests/FOLDER/test_STEM.c or tests/FOLDER/ROOM/test_STEM.c, with the sources of tests/FOLDER/STEM if
# there are any, is the CTest test FOLDER_STEM. It runs in the source root, so it writes to temporary files only.
# Scripts are listed below; they run in the build tree.
# Labels: the folder's name for theory, props, golden and generated; wire for tshark; page for Chromium; long
# for what only `make test-long` runs (ctest -C Long); unit for all the rest. smoke, besides, for what `make check` runs: unit tests
# in C, golden runs, and the scripts listed at the end.
pkg_check_modules(cmocka IMPORTED_TARGET cmocka)
if(NOT cmocka_FOUND)
  message(STATUS "cmocka is not installed: no tests (cmake/setup.sh --tests installs it)")
  return()
endif()
enable_testing()

# No test reads outside the repository: what another simulator measured is in tests/data. A test that
# cannot run exits 77 and CTest shows "Skipped": scripts that need a program which is not installed.
# (cmocka's skip() ends in "Passed", so no C test has a reason to skip.)
set(environment COLLWIRE=${PROJECT_BINARY_DIR}/collwire
                COLLWIRE_SHARE=${PROJECT_BINARY_DIR}/no-charts
                COLLWIRE_SCENARIOS=${PROJECT_SOURCE_DIR}/scenarios
                COLLWIRE_DATA=${PROJECT_SOURCE_DIR}/tests/data
                COLLWIRE_SANITIZED=${COLLWIRE_SANITIZE})

# A test may take five minutes on a machine that adds 20 million numbers in 0.4 s, and in proportion on slower or busier ones, so that
# none fails by load alone.
set(slowness 1)
if(PYTHON3_PROGRAM)
  execute_process(COMMAND ${PYTHON3_PROGRAM} -c
    "import time; begin = time.perf_counter(); sum(range(20000000)); print(max(1, round((time.perf_counter() - begin) / 0.4)))"
    OUTPUT_VARIABLE slowness OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
math(EXPR timeout "300 * ${slowness}")

# collwire_test(NAME LABEL COMMAND...)
function(collwire_test name label)
  if(label STREQUAL long)
    add_test(NAME ${name} CONFIGURATIONS Long COMMAND ${ARGN}) # ctest -C Long
  else()
    add_test(NAME ${name} COMMAND ${ARGN})
  endif()
  string(REGEX MATCH "^[a-z]+" room ${name})
  foreach(word IN LISTS ARGN) # a script stands in the folder of its room
    if(word MATCHES "/tests/([a-z]+)/[^;]*\\.(py|sh)$")
      set(room ${CMAKE_MATCH_1})
    endif()
  endforeach()
  set_tests_properties(${name} PROPERTIES
    LABELS "${label};${room}" TIMEOUT ${timeout} SKIP_RETURN_CODE 77 ENVIRONMENT "${environment}")
endfunction()

file(GLOB support CONFIGURE_DEPENDS tests/support/*.c) # what several tests share
if(support)
  add_library(test_support STATIC ${support})
  target_include_directories(test_support PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(test_support PRIVATE ${COLLWIRE_LIBRARIES} PkgConfig::cmocka m)
endif()

# The tests in C of a folder of tests/ are one program, tests/FOLDER/run: `run NAME` runs one, and CTest runs each in a process of
# its own. cmake/test_runner.c.in has the list.
file(GLOB tests RELATIVE ${PROJECT_SOURCE_DIR}/tests CONFIGURE_DEPENDS
     tests/*/test_*.c tests/*/*/test_*.c)
set(runners "")
foreach(test IN LISTS tests)
  string(REGEX MATCH "^([a-z0-9_]+)/(([a-z0-9_]+)/)?test_(.*)\\.c$" _ ${test})
  set(folder ${CMAKE_MATCH_1})
  set(stem ${CMAKE_MATCH_4})
  set(label unit)
  if(folder MATCHES "^(theory|props|golden|generated|wire)$")
    set(label ${folder})
  endif()
  if(label STREQUAL theory AND COLLWIRE_SANITIZE)
    continue() # figures, which the other build checks; the code is that of whole runs
  endif()
  file(GLOB more CONFIGURE_DEPENDS tests/${folder}/${stem}/*.c)
  list(FILTER more EXCLUDE REGEX "/test_[^/]*$")
  list(APPEND runners ${folder})
  list(APPEND sources_${folder} tests/${test} ${more})
  string(APPEND list_${folder} "TEST(${stem})\n")
  set_source_files_properties(tests/${test} PROPERTIES COMPILE_DEFINITIONS main=test_${stem}_main)
  collwire_test(${folder}_${stem} ${label} ${PROJECT_BINARY_DIR}/tests/${folder}/run ${stem})
  set_tests_properties(${folder}_${stem} PROPERTIES WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  list(APPEND programs_in_c ${folder}_${stem})
endforeach()
list(REMOVE_DUPLICATES runners)
foreach(folder IN LISTS runners)
  set(TEST_LIST "${list_${folder}}")
  configure_file(cmake/test_runner.c.in ${PROJECT_BINARY_DIR}/tests/${folder}/run.c @ONLY)
  add_executable(test_${folder} ${PROJECT_BINARY_DIR}/tests/${folder}/run.c ${sources_${folder}})
  target_include_directories(test_${folder} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(test_${folder} PRIVATE
    $<TARGET_NAME_IF_EXISTS:test_support> ${COLLWIRE_LIBRARIES} PkgConfig::cmocka m)
  set_target_properties(test_${folder} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/${folder} OUTPUT_NAME run)
endforeach()

# Threads that meet after each window wait for each other where other tests take their cores.
set_tests_properties(props_threads props_processes PROPERTIES RUN_SERIAL TRUE)

# collwire_script_test(NAME LABEL NEEDS SCRIPT ARGUMENT...): a line of sh with its $1, $2 ...; skipped
# where one of the programs NEEDS is not installed. (A semicolon in SCRIPT would split it.)
function(collwire_script_test name label needs script)
  list(TRANSFORM needs REPLACE "(.+)" "command -v \\1 || exit 77")
  list(JOIN needs "\n" needs)
  collwire_test(${name} ${label} sh -c "${needs}\n${script}" ${name} ${ARGN})
endfunction()

# Golden runs: a test per folder of tests/golden. REGEN=1 records them anew (`make regen`).
file(GLOB cases CONFIGURE_DEPENDS tests/golden/*/commands)
foreach(case IN LISTS cases)
  cmake_path(GET case PARENT_PATH case)
  cmake_path(GET case FILENAME case)
  collwire_script_test(golden_${case} golden python3 [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/golden/check_golden.py ${case})
endforeach()

collwire_script_test(golden_coverage golden python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/golden/check_coverage.py ${PROJECT_SOURCE_DIR})

# Captures under tshark's eyes, by snaplen and bytes of INT that a data packet carries.
if(TARGET test_net)
  foreach(case IN ITEMS "128 0" "80 0" "65535 0" "65535 42")
    separate_arguments(case UNIX_COMMAND ${case})
    list(JOIN case _int name)
    collwire_script_test(trace_sample_${name} wire "tshark;python3"
      [[file=sample_$3_$4.pcap && "$1" capture $file $3 $4 && python3 "$2" $file --expect-data 12000 \
        --expect-ack 4000 --expect-nak 40 --expect-ce 1200 --expect-cnp 400 --expect-pfc 800 \
        --expect-total 17200]]
      $<TARGET_FILE:test_net> ${PROJECT_SOURCE_DIR}/tests/net/capture/check_capture.py ${case})
  endforeach()
endif()

file(GLOB script CONFIGURE_DEPENDS tests/config/check_schema.py)
if(script)
  collwire_script_test(config_check_schema unit python3
    "python3 -c 'import jsonschema' || exit 77
python3 \"$@\"" ${script} ${PROJECT_SOURCE_DIR})
endif()

# Captures of a real run: counts equal the metrics.
foreach(snaplen IN ITEMS 128B 65535B)
  collwire_script_test(trace_incast_${snaplen} wire "tshark;python3" [[python3 "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/net/capture/check_incast.py ${PROJECT_SOURCE_DIR}/scenarios/incast.json
    ${snaplen})
endforeach()

# Captures of every port of random scenarios and of those of the golden runs, as pcap and pcapng: three
# other programs read them, and their counts are those of metrics.json.
set(captured)
foreach(name IN ITEMS classes deadlock direct faults flows incast jobs lossy mixed paths policies switches tcp uec)
  list(APPEND captured ${PROJECT_SOURCE_DIR}/tests/golden/${name}/scenario.json)
endforeach()
collwire_script_test(trace_captures wire "tshark;python3" [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/net/capture/check_captures.py 3 131 ${captured})
collwire_script_test(trace_captures_all long "tshark;python3" [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/net/capture/check_captures.py 40 1 ${captured})

collwire_script_test(trace_live wire python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/net/capture/check_live.py ${PROJECT_SOURCE_DIR}/tests/bench/a2a16.json 1000000)

collwire_script_test(trace_triggers wire python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/net/capture/check_triggers.py)

collwire_script_test(trace_int wire "tshark;python3" [[python3 "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/net/capture/check_int.py ${PROJECT_SOURCE_DIR})

collwire_script_test(trace_wireshark wire "tshark;python3" [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/net/capture/check_wireshark.py ${PROJECT_SOURCE_DIR})

collwire_script_test(trace_tcp wire "tshark;python3" [[python3 "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/net/capture/check_tcp.py)

# Random lossy runs of TCP: tshark's analysis, its own rules applied again, and the metrics agree.
collwire_script_test(trace_tcp_wireshark wire "tshark;python3" [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/net/capture/check_tcp_wireshark.py 1-50)

collwire_script_test(trace_uec wire "tshark;python3" [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/net/capture/check_uec.py ${PROJECT_SOURCE_DIR})

collwire_script_test(trace_classes wire "tshark;python3" [[python3 "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/net/capture/check_classes.py
  ${PROJECT_SOURCE_DIR}/scenarios/congestion/storage-beside-rdma.json)

collwire_script_test(cli_check unit python3 [[python3 "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/check_cli.py ${PROJECT_SOURCE_DIR}/scenarios)

collwire_script_test(cli_wrong_inputs unit python3 [[python3 -B "$@"]] ${PROJECT_SOURCE_DIR}/tests/cli/check_wrong_inputs.py)

if(NOT COLLWIRE_SANITIZE) # whose times are others
  collwire_script_test(cli_estimates unit python3 [[python3 -B "$@"]] ${PROJECT_SOURCE_DIR}/tests/cli/check_estimates.py
    ${PROJECT_SOURCE_DIR}/scenarios)
  set_tests_properties(cli_estimates PROPERTIES RUN_SERIAL TRUE)
endif()
# Settings from measured values, against twelve drawn truths: 6 s; it alone proves `fit`.
collwire_script_test(cli_fit unit python3 [[python3 -B "$@"]] ${PROJECT_SOURCE_DIR}/tests/cli/check_fit.py 0-11)
# The words and counters of `diagnose`: 6 s; tables, sizes, captures, ranks, paths and lost packets: 28 s; two hidden clusters, one with a fault: 12 s.
# They alone prove these. All hidden clusters: an hour and a half.
collwire_script_test(cli_diagnose unit python3 [[python3 -B "$@"]] ${PROJECT_SOURCE_DIR}/tests/cli/check_diagnose.py words)
collwire_script_test(cli_diagnose_files unit python3 [[python3 -B "$@"]] ${PROJECT_SOURCE_DIR}/tests/cli/check_diagnose.py files)
collwire_script_test(cli_diagnose_hidden unit python3 [[python3 -B "$@"]] ${PROJECT_SOURCE_DIR}/tests/cli/check_diagnose.py 2-2 10-10 sizes 8)
# Two public threads with their findings: 5 s; it alone proves causes on figures that were not simulated. All eight: 8 min.
collwire_script_test(cli_diagnose_cases unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/check_diagnose_cases.py 212 106)
collwire_script_test(cli_diagnose_cases_all long python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/check_diagnose_cases.py)
collwire_script_test(cli_diagnose_all long python3 [[python3 -B "$@"]] ${PROJECT_SOURCE_DIR}/tests/cli/check_diagnose.py 0-99 congested servers)
# Two of six exhaustive grids, and the words of the command: 9 s; it alone proves `tune`. All six: 30 s.
collwire_script_test(cli_tune unit python3 [[python3 -B "$@"]] ${PROJECT_SOURCE_DIR}/tests/cli/check_tune.py words incast
  choices)
collwire_script_test(cli_tune_all long python3 [[python3 -B "$@"]] ${PROJECT_SOURCE_DIR}/tests/cli/check_tune.py)
# Ranks with several links of a graph, 15 of 50 drawn graphs: 4 s; it alone proves stripes over ports. All: 12 s.
collwire_script_test(theory_ports theory python3 [[python3 -B "$@"]] ${PROJECT_SOURCE_DIR}/tests/theory/check_ports.py 15)
collwire_script_test(theory_ports_all long python3 [[python3 -B "$@"]] ${PROJECT_SOURCE_DIR}/tests/theory/check_ports.py 50)
# Tables of nccl-tests and OSU beside sweeps of sizes: 1 s.
collwire_script_test(cli_measured unit python3 [[python3 -B "$@"]] ${PROJECT_SOURCE_DIR}/tests/cli/check_measured.py)
# Recordings beside runs, sweeps and libraries: 3 s; it alone proves their times by rank.
collwire_script_test(cli_beside unit python3 [[python3 -B "$@"]] ${PROJECT_SOURCE_DIR}/tests/cli/check_beside.py)
# Networks and flows in files of htsim, ns-3 and SimAI: 1 s.
collwire_script_test(cli_networks unit python3 [[python3 -B "$@"]] ${PROJECT_SOURCE_DIR}/tests/cli/check_networks.py)
collwire_script_test(cli_defaults unit python3 [[python3 -B "$@"]] ${PROJECT_SOURCE_DIR}/tests/cli/check_defaults.py)
collwire_script_test(cli_first_steps unit python3 [[python3 -B "$@"]] ${PROJECT_SOURCE_DIR}/tests/cli/check_first_steps.py
  ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})

collwire_script_test(cli_help unit "python3;bash" [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/check_help.py ${PROJECT_BINARY_DIR})

collwire_script_test(cli_extcap wire "python3;tshark" [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/check_extcap.py ${PROJECT_SOURCE_DIR})

collwire_script_test(cli_findings unit python3 [[python3 "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/check_findings.py ${PROJECT_SOURCE_DIR}/tests/data/findings)
collwire_script_test(cli_inputs unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/check_inputs.py ${PROJECT_SOURCE_DIR}/tests/cli/import)

collwire_script_test(cli_results unit python3 [[python3 "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/check_results.py ${PROJECT_SOURCE_DIR}/scenarios
  ${PROJECT_SOURCE_DIR}/tests/data/findings)

collwire_script_test(cli_compare unit python3 [[python3 "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/check_compare.py ${PROJECT_SOURCE_DIR}/scenarios)

collwire_script_test(cli_draws unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/check_draws.py ${PROJECT_SOURCE_DIR}/scenarios)

collwire_script_test(cli_training unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/check_training.py ${PROJECT_SOURCE_DIR}/scenarios)
collwire_script_test(cli_try unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/check_try.py ${PROJECT_SOURCE_DIR}/scenarios)
collwire_script_test(cli_validate unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/check_validate.py ${PROJECT_SOURCE_DIR}/scenarios)

collwire_script_test(cli_plan unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/check_plan.py)
collwire_script_test(cli_gpcnet unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/check_gpcnet.py ${PROJECT_BINARY_DIR}/tests/cli_gpcnet)
collwire_script_test(cli_partition unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/check_partition.py)
collwire_script_test(cli_synth unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/check_synth.py ${PROJECT_SOURCE_DIR}/scenarios)
collwire_script_test(synth_fidelity unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/synth/fidelity.py ${PROJECT_SOURCE_DIR}/scenarios --seeds 1 --quick)
collwire_script_test(synth_fidelity_long long python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/synth/fidelity.py ${PROJECT_SOURCE_DIR}/scenarios --seeds 5)
set_tests_properties(synth_fidelity_long PROPERTIES TIMEOUT 3600)
collwire_script_test(cli_library unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/check_library.py ${PROJECT_SOURCE_DIR}/tests/data/nccl)

collwire_script_test(cli_threads unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/check_threads.py ${PROJECT_SOURCE_DIR}/tests/bench)
# The same bytes in every way of running: a part that the commit draws, 20 s of one core, and all of it.
collwire_script_test(cli_same_bytes unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/check_same_bytes.py ${PROJECT_SOURCE_DIR})
collwire_script_test(cli_same_bytes_all long python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/check_same_bytes.py --all ${PROJECT_SOURCE_DIR})
set_tests_properties(cli_same_bytes_all PROPERTIES TIMEOUT 7200)

# Several processes: as threads of one program, and under mpirun.
add_executable(same_results tests/engine/processes/same_results.c)
target_include_directories(same_results PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(same_results PRIVATE test_support ${COLLWIRE_LIBRARIES} m)
set_target_properties(same_results PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/processes)
collwire_script_test(processes_same_results unit "" [[
  "$1" 1 1 "$2" > same_results.one && "$1" 3 1 "$2" > same_results.three && cmp same_results.one same_results.three]]
  ${PROJECT_BINARY_DIR}/tests/processes/same_results ${PROJECT_SOURCE_DIR}/scenarios/incast.json)
if(NOT COLLWIRE_SANITIZE) # what an MPI does not free is its own
  collwire_script_test(cli_processes unit "python3;mpirun.openmpi" [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/cli/check_processes.py ${PROJECT_SOURCE_DIR}/scenarios ${PROJECT_BINARY_DIR})
  set_tests_properties(cli_processes PROPERTIES RUN_SERIAL TRUE)
endif()
# The module compiles with another MPI too.
collwire_script_test(processes_mpich unit mpicc.mpich [[
  cd "$1" && mpicc.mpich -std=c11 -D_DEFAULT_SOURCE -DCOLLWIRE_VERSION='"0"' -Wall -Wextra -Wpedantic -Wconversion -Wshadow \
    -Werror -fPIC -shared -I. -Iinclude engine/processes/*.c -o /dev/null]] ${PROJECT_SOURCE_DIR})

collwire_script_test(cli_bench unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/check_bench.py ${PROJECT_SOURCE_DIR}/tests/bench)

collwire_script_test(cli_sweep unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/check_sweep.py ${PROJECT_SOURCE_DIR}/scenarios 6)
collwire_script_test(cli_sweep_killed long python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/check_sweep.py ${PROJECT_SOURCE_DIR}/scenarios 20)

collwire_script_test(report_stream unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/report/check_stream.py)

# The recipes of docs/sweeps.md, as they are written there.
collwire_script_test(sweeps_parallel unit "python3;parallel" [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/docs/check_sweeps.py ${PROJECT_SOURCE_DIR} parallel)
collwire_script_test(sweeps_slurm long "python3;slurmctld;slurmd;sbatch;srun" [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/docs/check_sweeps.py ${PROJECT_SOURCE_DIR} slurm)

# Captures made byte by byte, and captures of runs, as lists of flows.
collwire_script_test(replay_made unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/replay/check_replay.py)
collwire_script_test(replay_runs unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/replay/check_runs.py)

collwire_script_test(mutate_list_is_current unit python3 [[python3 -B "$1" "$2" - --check]]
  ${PROJECT_SOURCE_DIR}/tests/mutate/mutate.py ${PROJECT_SOURCE_DIR})

# Plugins and the library as installed, from outside of the tree.
if(TARGET collwire_shared)
  collwire_script_test(plugin_plugins unit "python3;make;pkg-config" [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/cc/plugin/check_plugins.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  collwire_script_test(library_installed unit "python3;pkg-config" [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/library/check_library.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  set_tests_properties(cli_help library_installed plugin_plugins PROPERTIES RESOURCE_LOCK install_manifest)
  collwire_script_test(library_threads long "clang;ninja;cmake" [[
    cmake -S "$1" -B "$2" -G Ninja -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug -DCOLLWIRE_TSAN=ON &&
    cmake --build "$2" --target test_library && cd "$1" && "$2/tests/library/run" library]]
    ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/tsan)
  collwire_script_test(props_threads_race long "clang;ninja;cmake" [[
    cmake -S "$1" -B "$2" -G Ninja -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug -DCOLLWIRE_TSAN=ON &&
    cmake --build "$2" --target test_props test_engine &&
    "$2/tests/engine/run" shards && COLLWIRE_RANDOM=120 "$2/tests/props/run" threads &&
    COLLWIRE_RANDOM=40 "$2/tests/props/run" processes]]
    ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/tsan)
  set_tests_properties(library_threads props_threads_race PROPERTIES RESOURCE_LOCK tsan_build TIMEOUT 3600)
  # A release, and what an earlier version has left behind.
  collwire_script_test(release_version unit python3 [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/release/check_version.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  collwire_script_test(release_setup unit "python3;cmake;ninja;pkg-config" [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/release/check_setup.py ${PROJECT_SOURCE_DIR})
  # The gate has what is refused, in a second, and library_installed; what a release is made of, twice, takes a minute.
  collwire_script_test(release_refusals unit "python3;git" [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/release/check_release.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} refusals)
  collwire_script_test(release_files long "python3;git;cpack;dpkg-shlibdeps;patchelf;objdump" [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/release/check_release.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  set_tests_properties(release_files PROPERTIES RESOURCE_LOCK install_manifest TIMEOUT 900)
  collwire_script_test(library_package long "debootstrap;dpkg-deb;dpkg-shlibdeps" [[sh "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/library/check_package.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
endif()

# The modules of the Python package that follow from the schema and from docs/metrics.md, which their own tests may have
# written anew.
# The Python package, by the first Python that has pandas. With sanitizers their runtime is loaded first,
# into Python alone; what Python itself leaks is not looked at. The wheel has the same code as the Release
# build, and no runtime of sanitizers.
if(TARGET collwire_shared OR TARGET collwire_sanitized)
  set(python_tests scenarios runs handles tables studies policies types notebooks docs)
  set(python_environment COLLWIRE_LIBRARY=${PROJECT_BINARY_DIR}/library/libcollwire.so PYTHONPATH=${PROJECT_BINARY_DIR}/python COLLWIRE_PYTHON=${PROJECT_BINARY_DIR}/python)
  if(COLLWIRE_SANITIZE)
    set(runtime libasan.so)
    if(CMAKE_C_COMPILER_ID MATCHES Clang)
      set(runtime libclang_rt.asan-${CMAKE_SYSTEM_PROCESSOR}.so)
    endif()
    execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=${runtime}
      OUTPUT_VARIABLE runtime OUTPUT_STRIP_TRAILING_WHITESPACE)
    set(python_program ${PROJECT_BINARY_DIR}/tests/python/collwire) # which has the runtime already
    file(WRITE ${python_program} "#!/bin/sh\nunset LD_PRELOAD ASAN_OPTIONS LSAN_OPTIONS\nexec ${PROJECT_BINARY_DIR}/collwire \"$@\"\n")
    file(CHMOD ${python_program} FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
    set(python_start env LD_PRELOAD=${runtime} COLLWIRE=${python_program})
  else()
    list(APPEND python_tests wheel)
    set(python_start env)
  endif()
  foreach(test IN LISTS python_tests)
    collwire_script_test(python_${test} unit python3 [[sh "$@"]] ${PROJECT_SOURCE_DIR}/tests/python/run.sh
      ${PROJECT_SOURCE_DIR}/tests/python/test_${test}.py ${PROJECT_BINARY_DIR} ${python_start})
    set_tests_properties(python_${test} PROPERTIES ENVIRONMENT "${environment};${python_environment}")
  endforeach()
  if(NOT COLLWIRE_SANITIZE)
    collwire_script_test(python_notebooks_all long python3 [[sh "$@"]] ${PROJECT_SOURCE_DIR}/tests/python/run.sh
      ${PROJECT_SOURCE_DIR}/tests/python/test_notebooks.py ${PROJECT_BINARY_DIR} ${python_start} NOTEBOOKS_ALL=1)
    set_tests_properties(python_notebooks_all PROPERTIES ENVIRONMENT "${environment};${python_environment}")
  endif()
  # Every argument in every state, some minutes; its twin in the gate has every argument in one state.
  collwire_script_test(python_handles_all long python3 [[sh "$@"]] ${PROJECT_SOURCE_DIR}/tests/python/run.sh
    ${PROJECT_SOURCE_DIR}/tests/python/test_handles.py ${PROJECT_BINARY_DIR} ${python_start} HANDLES_LONG=1)
  set_tests_properties(python_handles_all PROPERTIES ENVIRONMENT "${environment};${python_environment}")
  if(COLLWIRE_SANITIZE) # a forked child whose allocator was locked at the fork says nothing for 30 s, up to four times a case
    set_tests_properties(python_handles PROPERTIES TIMEOUT 1200)
  endif()
  set_tests_properties(python_runs python_studies PROPERTIES RUN_SERIAL TRUE) # which measure seconds
endif()

# Toys of tests/extend: the places that they touch, and that they compile there, in 5 s; the whole builds the tree a second time.
collwire_script_test(extend_places extend "python3;cc" [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/extend/check_extend.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/tests/extend/places quick)
collwire_script_test(extend_toys long "python3;ninja;nm" [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/extend/check_extend.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/tests/extend/copy)

collwire_script_test(theory_papers theory python3 [[python3 "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/theory/check_papers.py ${PROJECT_SOURCE_DIR})

# Training loops over the analytical network against a restatement of the rules, and against ASTRA-sim.
foreach(part IN ITEMS small random rows columns samples)
  collwire_script_test(theory_astra_${part} theory python3 [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/theory/check_astra.py ${part})
endforeach()

collwire_script_test(report_training unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/report/check_training.py)

collwire_script_test(report_jobs unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/report/check_jobs.py)

# The symbol graph: its rooms, circles and arrows. Sanitizers and coverage add symbols of their own.
if(NOT COLLWIRE_SANITIZE)
  collwire_script_test(structure_rooms unit "python3;nm" [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/cmake/check_rooms.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
endif()

# One opener for all files that are read, and a fuzz target for each reader.
collwire_script_test(structure_readers unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/structure/check_readers.py ${PROJECT_SOURCE_DIR})

# Pages whose files, commands and outputs are tried in order; their code is that of other tests of the command line.
if(NOT COLLWIRE_SANITIZE)
  set(pages fifteen-minutes cookbook formats)
  set(labels generated long long)
  foreach(page label IN ZIP_LISTS pages labels)
    string(REPLACE "-" "_" name ${page})
    collwire_script_test(docs_${name} ${label} "python3;tshark" [[python3 -B "$@"]]
      ${PROJECT_SOURCE_DIR}/tests/docs/check_pages.py ${PROJECT_SOURCE_DIR} docs/${page}.md)
  endforeach()
  collwire_script_test(docs_pages generated python3 [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/docs/check_pages.py ${PROJECT_SOURCE_DIR} README.md docs/README.md docs/operators.md)
  collwire_script_test(docs_pages_all long python3 [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/docs/check_pages.py ${PROJECT_SOURCE_DIR} docs/install.md docs/results.md
    docs/compared.md docs/scenarios.md docs/from/nccl-tests.md docs/from/astra-sim.md docs/from/ns-3-hpcc.md docs/from/htsim.md
    docs/from/simai.md docs/from/pytorch.md docs/what-people-ask.md)
endif()

# Alone proves that scenarios on pages whose commands are not run are valid: a second.
collwire_script_test(docs_scenarios unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/docs/check_scenarios.py ${PROJECT_SOURCE_DIR})

# Files and folders that pages name exist: half a second.
collwire_script_test(docs_names unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/docs/check_names.py ${PROJECT_SOURCE_DIR})

collwire_script_test(cli_readme generated python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/check_readme.py ${PROJECT_SOURCE_DIR})
if(NOT COLLWIRE_SANITIZE)
  set_tests_properties(cli_readme docs_pages PROPERTIES RESOURCE_LOCK readme) # which REGEN=1 lets both write
endif()

# Savings that explanations state, against runs without the cause. Sanitizers see a few: 40 repeat the same code.
set(drawn_explanations 40)
if(COLLWIRE_SANITIZE)
  set(drawn_explanations 6)
else()
  collwire_script_test(explain_cases unit python3 [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/explain/check_cases.py ${PROJECT_SOURCE_DIR})
endif()
collwire_script_test(explain_drawn unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/explain/check_drawn.py 0 ${drawn_explanations})
collwire_script_test(explain_drawn_all long python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/explain/check_drawn.py 0 1000)
# The hybrid network against packets over drawn jobs: 18 s; it alone proves the error that docs/hybrid.md states.
collwire_script_test(hybrid_error theory python3 [[cd "$(dirname "$1")" && python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/hybrid/check_error.py 0 24 --seeds 2 --most 64)
# The page and the results have the same figures: a tenth of a second.
collwire_script_test(hybrid_figures unit python3 [[cd "$(dirname "$1")" && python3 -B "$1" - "$2" --check]]
  ${PROJECT_SOURCE_DIR}/tests/hybrid/write_error.py ${PROJECT_SOURCE_DIR})
collwire_script_test(hybrid_error_all long python3 [[cd "$(dirname "$1")" && python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/hybrid/check_error.py 0 300 --seeds 5)
collwire_script_test(theory_tiers theory python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/theory/check_tiers.py)
collwire_script_test(explain_jobs unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/explain/check_jobs.py)
collwire_script_test(report_command unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/report/check_report.py ${PROJECT_SOURCE_DIR}/scenarios)

# Alone proves what is left out of series that would be too large, and that it is said: seven seconds, for 2 million
# values three times.
collwire_script_test(report_thinned unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/report/check_thinned.py ${PROJECT_SOURCE_DIR})

# The template of reports is that of its sources; and, where npm has bundled them, has the same bytes.
collwire_script_test(report_template unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/report/check_template.py ${PROJECT_SOURCE_DIR} sources)
collwire_script_test(report_template_bundle page python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/report/check_template.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/report-assets)

collwire_script_test(report_plot unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/report/check_plot.py ${PROJECT_SOURCE_DIR}/scenarios)

# Reports in a browser: where Chromium is there.
if(NOT COLLWIRE_SANITIZE)
  collwire_script_test(report_plot_page page python3 [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/report/check_plot.py ${PROJECT_SOURCE_DIR}/scenarios page)
  collwire_script_test(report_browser page python3 [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/report/check_page.py ${PROJECT_SOURCE_DIR}/scenarios
    ${PROJECT_BINARY_DIR}/share/collwire/report-template.html quick) # the page of a comparison; all pages: a minute
  collwire_script_test(report_browser_all long python3 [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/report/check_page.py ${PROJECT_SOURCE_DIR}/scenarios
    ${PROJECT_BINARY_DIR}/share/collwire/report-template.html)
  # Alone proves that a page on paper is legible, with no heading or half a table left over: 5 seconds of one core.
  collwire_script_test(report_print long python3 [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/report/check_print.py ${PROJECT_SOURCE_DIR}/scenarios)
endif()

collwire_script_test(release_stores unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/release/check_stores.py ${PROJECT_SOURCE_DIR}/tests/data/release-0.2.0)

# The site (make site): its bytes, links and references; and its pages in a browser.
if(NOT COLLWIRE_SANITIZE)
  collwire_script_test(site_static unit "python3;nm;mkdocs" [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/docs/site/check_site.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/tests/site quick)
  collwire_script_test(site_static_all long "python3;nm;mkdocs" [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/docs/site/check_site.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/tests/site-all static)
  collwire_script_test(site_browser long "python3;mkdocs" [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/docs/site/check_site.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/tests/site-browser browser)
endif()

collwire_script_test(explain_series unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/explain/check_series.py ${PROJECT_SOURCE_DIR})

collwire_script_test(explain_series_all long python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/explain/check_series.py ${PROJECT_SOURCE_DIR} all)

# Studies: the claims of each and its page against its data; and (long) the claims on a part of its runs.
foreach(study allreduce dlrm figures)
  collwire_script_test(study_${study} theory python3 [[python3 -B "$1/studies/$2/run.py" --check]]
    ${PROJECT_SOURCE_DIR} ${study})
  collwire_script_test(study_${study}_runs long python3
    [[out=$(mktemp -d)
      trap 'rm -rf "$out"' EXIT
      python3 -B "$1/studies/$2/run.py" --reduced --jobs 2 --out "$out"]]
    ${PROJECT_SOURCE_DIR} ${study})
endforeach()
collwire_script_test(study_tutorials theory python3
  [[python3 -B "$1/studies/tutorials/run.py" --check && python3 -B "$1/studies/tutorials/run.py" --runs-check --quick]]
  ${PROJECT_SOURCE_DIR})
collwire_script_test(study_tutorials_runs long python3 [[python3 -B "$1/studies/tutorials/run.py" --runs-check]]
  ${PROJECT_SOURCE_DIR})
set_tests_properties(study_tutorials_runs PROPERTIES TIMEOUT 3600)
# The range of two claims that README prints, run again on two drawn points of each (6 s); of DLRM's, whose points take half a
# minute each, four variants of one.
collwire_script_test(study_claims theory python3
  [[python3 -B "$1/studies/claims/run.py" --collwire "$2" --check 2 rail victim &&
    python3 -B "$1/studies/claims/run.py" --collwire "$2" --check 1 --variants "no latency,closed form,dcqcn scaled" dlrm]]
  ${PROJECT_SOURCE_DIR} $<TARGET_FILE:collwire>)
collwire_script_test(study_karma theory python3 [[python3 -B "$1/studies/karma/run.py" --check]] ${PROJECT_SOURCE_DIR})
collwire_script_test(study_validation theory python3 [[python3 -B "$1/studies/validation/run.py" --check]] ${PROJECT_SOURCE_DIR})

collwire_script_test(theory_models theory python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/theory/check_models.py ${PROJECT_SOURCE_DIR})

collwire_script_test(theory_dlrm theory python3 [[python3 "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/theory/check_dlrm.py ${PROJECT_SOURCE_DIR})

collwire_script_test(random_memories props python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/random/check_memories.py 1 30)
collwire_script_test(random_memories_all long python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/random/check_memories.py 1 400)
collwire_script_test(theory_memories theory python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/theory/check_memories.py)
collwire_script_test(theory_input theory python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/theory/check_input.py)
collwire_script_test(random_programs props python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/random/check_programs.py 1 60)
collwire_script_test(random_programs_all long python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/random/check_programs.py 1 1000)
collwire_script_test(theory_llm theory python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/theory/check_llm.py ${PROJECT_SOURCE_DIR}/scenarios/llm/priorities.json)
collwire_script_test(theory_iterations theory python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/theory/check_iterations.py 22B 22B-full)
collwire_script_test(theory_iterations_all long python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/theory/check_iterations.py all)
collwire_script_test(theory_cnn theory python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/theory/check_cnn.py)
collwire_script_test(theory_out_of_core theory python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/theory/check_out_of_core.py)
collwire_script_test(theory_plan_drawn theory python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/theory/check_plan_drawn.py 1-2 6)
collwire_script_test(theory_plan_drawn_all long python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/theory/check_plan_drawn.py 1-20 20)
set_tests_properties(theory_plan_drawn_all PROPERTIES TIMEOUT 7200)
# Shares of equal senders at full queues: 8 s; it alone proves that ties are drawn fairly.
collwire_script_test(theory_ties theory python3 [[python3 -B "$@"]] ${PROJECT_SOURCE_DIR}/tests/theory/check_ties.py)
collwire_script_test(theory_incasts theory python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/theory/check_incasts.py ${PROJECT_SOURCE_DIR} short)
collwire_script_test(theory_incasts_all long python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/theory/check_incasts.py ${PROJECT_SOURCE_DIR} long)
# Measurements of NICs and switches under congestion: the shares of a 400G switch with lossless and lossy classes, two ConnectX-5 into one
# port, TCP by offload and hashing (4 s). No other test holds DWRR beside PFC and tail drop, or the reaction of a NIC to loss, against hardware.
# The whole (190 s) has the latencies of frames, the policer, the quota, GPCNeT and the scores of docs/congestion.md.
collwire_script_test(theory_congestion theory python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/theory/check_congestion.py ${PROJECT_SOURCE_DIR} short)
collwire_script_test(theory_congestion_all long python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/theory/check_congestion.py ${PROJECT_SOURCE_DIR} long)
collwire_script_test(theory_uec theory python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/theory/check_uec.py short)
collwire_script_test(theory_uec_all long python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/theory/check_uec.py long)

collwire_script_test(theory_uec_timeouts theory python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/theory/check_uec_timeouts.py)

collwire_script_test(theory_tcp theory python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/theory/check_tcp.py)

collwire_script_test(theory_tcp_ends theory python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/theory/check_tcp_ends.py)
collwire_script_test(theory_noise theory python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/theory/check_noise.py)
collwire_script_test(theory_library theory python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/theory/check_library.py)
collwire_script_test(theory_rccl theory python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/theory/check_rccl.py)
# Six machines and three sizes in the gate; ten sizes take a minute.
foreach(length IN ITEMS short long)
  set(label theory)
  if(length STREQUAL long)
    set(label long)
  endif()
  collwire_script_test(theory_regret_${length} ${label} python3 [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/theory/check_regret.py ${PROJECT_SOURCE_DIR}/docs/nccl.md ${length})
endforeach()
collwire_script_test(theory_xml theory python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/theory/check_xml.py ${PROJECT_SOURCE_DIR}/tests/data/xml)
collwire_script_test(theory_trace_collectives theory python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/theory/check_trace_collectives.py)
collwire_script_test(theory_tcp_incast theory python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/theory/check_tcp_incast.py ${PROJECT_SOURCE_DIR}/scenarios/tcp/incast.json)

collwire_script_test(props_tcp_runs props python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/props/check_tcp.py 1-40)

collwire_script_test(props_tally_runs props python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/props/check_tally.py 1-100)
collwire_script_test(props_tally_runs_all long python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/props/check_tally.py 1-1000)
collwire_script_test(theory_training_policy theory python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/theory/check_training_policy.py ${PROJECT_SOURCE_DIR})

# Random scenarios over all keys, and what holds for every run of them.
set(random_some 1-80)
set(random_all 1001-11000)
if(COLLWIRE_SANITIZE)
  set(random_some 1-40)
  set(random_all 1001-2000)
endif()
collwire_script_test(random_hybrid props python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/random/check.py --hybrid 1-30 285 448 3448 3545 4855)
collwire_script_test(random_hybrid_all long python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/random/check.py --hybrid 1001-2000)
collwire_script_test(random_some props python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/random/check.py ${random_some})
collwire_script_test(random_mended theory python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/random/check.py ${PROJECT_SOURCE_DIR}/tests/data/mended/64105
  ${PROJECT_SOURCE_DIR}/tests/data/mended/64941 ${PROJECT_SOURCE_DIR}/tests/data/mended/71391
  ${PROJECT_SOURCE_DIR}/tests/data/mended/2058 ${PROJECT_SOURCE_DIR}/tests/data/mended/5187
  ${PROJECT_SOURCE_DIR}/tests/data/mended/8311 ${PROJECT_SOURCE_DIR}/tests/data/mended/4469
  ${PROJECT_SOURCE_DIR}/tests/data/mended/24016)
collwire_script_test(random_aimed props python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/random/check.py --aimed ${random_some})
collwire_script_test(random_aimed_all long python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/random/check.py --aimed ${random_all})
set_tests_properties(random_aimed_all PROPERTIES TIMEOUT 14400)
collwire_script_test(random_keys unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/random/check_keys.py 1500)
# Libraries, shapes of networks, sizes and kinds of jobs, which other generators draw apart.
collwire_script_test(random_features props python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/random/check.py --features ${random_some})
collwire_script_test(random_features_all long python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/random/check.py --features ${random_all})
set_tests_properties(random_features_all PROPERTIES TIMEOUT 14400)
collwire_script_test(random_all long python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/random/check.py ${random_all})
set_tests_properties(random_all PROPERTIES TIMEOUT 14400)

collwire_script_test(props_threads_all long "" [[COLLWIRE_RANDOM=3000 "$1" threads]]
  ${PROJECT_BINARY_DIR}/tests/props/run)
collwire_script_test(props_processes_all long "" [[COLLWIRE_RANDOM=500 "$1" processes]]
  ${PROJECT_BINARY_DIR}/tests/props/run)
set_tests_properties(props_threads_all props_processes_all PROPERTIES TIMEOUT 3600 RUN_SERIAL TRUE)

# Fuzz targets of every reader, in a build of their own.
if(NOT COLLWIRE_SANITIZE)
  collwire_script_test(fuzz_all long "clang;ninja;python3" [[sh "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/fuzz/run.sh ${PROJECT_BINARY_DIR}/fuzz 100000)
  set_tests_properties(fuzz_all PROPERTIES TIMEOUT 7200)
endif()

# Measured runs of Linux TCP: some of them, and all.
if(NOT COLLWIRE_SANITIZE)
  collwire_script_test(linux_tcp theory python3 [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/linux/check_linux.py a b f.1.reno.q42)
  collwire_script_test(linux_collectives theory python3 [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/linux/check_collectives.py)
  collwire_script_test(linux_mpi theory python3 [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/linux/check_mpi.py)
  collwire_script_test(theory_host theory python3 [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/theory/check_host.py)
  collwire_script_test(linux_tcp_all long python3 [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/linux/check_linux.py)
  collwire_script_test(linux_mpi_all long python3 [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/linux/check_mpi.py --table --seeds 101)
endif()

# Every call of a kind fails once (tests/faults); a preloaded library and a sanitizer exclude each other.
if(NOT COLLWIRE_SANITIZE)
  add_library(fail_nth MODULE tests/faults/fail_nth.c)
  target_link_libraries(fail_nth PRIVATE ${CMAKE_DL_LIBS})
  set_target_properties(fail_nth PROPERTIES C_VISIBILITY_PRESET default) # to take the place of libc's functions
  collwire_script_test(faults_some unit python3 [[python3 "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/faults/check_faults.py $<TARGET_FILE:fail_nth> 100)
  collwire_script_test(faults_all long python3 [[python3 "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/faults/check_faults.py $<TARGET_FILE:fail_nth> 1)
  # Every command of the program, and signals in its mid work.
  collwire_script_test(faults_commands unit python3 [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/faults/check_commands.py $<TARGET_FILE:fail_nth> 2)
  collwire_script_test(faults_commands_all long python3 [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/faults/check_commands.py $<TARGET_FILE:fail_nth> 0)
  add_library(spin MODULE tests/faults/spin.c)
  target_compile_options(spin PRIVATE -fno-builtin)
  collwire_script_test(faults_spin unit python3 [[python3 "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/faults/check_spin.py $<TARGET_FILE:spin> ${PROJECT_SOURCE_DIR}/tests/faults/data)
  collwire_script_test(faults_spin_watchdog long python3 [[python3 "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/faults/check_spin.py $<TARGET_FILE:spin> ${PROJECT_SOURCE_DIR}/tests/faults/data --long)
endif()

# Mutations take minutes: `make test-long`.
collwire_script_test(mutate long "python3;ninja" [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/mutate/mutate.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/mutate)
set_tests_properties(mutate PROPERTIES TIMEOUT 7200)

# Execution traces: runs of ASTRA-sim 2, and errors in traces.
collwire_script_test(chakra_astra2 theory python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/workload/chakra/check_astra2.py ${PROJECT_SOURCE_DIR}/tests/data/chakra/astra2.json)
collwire_script_test(chakra_options theory python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/workload/chakra/check_options.py)
collwire_script_test(chakra_ideals unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/workload/chakra/check_ideals.py)
collwire_script_test(chakra_traces unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/workload/chakra/check_traces.py)
# Traces in JSON: 1 s.
collwire_script_test(chakra_json unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/workload/chakra/check_json.py)
collwire_script_test(chakra_export unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/workload/chakra/check_export.py ${PROJECT_SOURCE_DIR}/tests/golden
  ${PROJECT_SOURCE_DIR}/tests/data/chakra/astra2.json)
collwire_script_test(chakra_large unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/workload/chakra/check_large.py 32 3000 60)
collwire_script_test(chakra_large_all long python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/workload/chakra/check_large.py 1024 100000 1000)
set_tests_properties(chakra_large_all PROPERTIES TIMEOUT 7200)

collwire_script_test(profile_import unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/import/check_import.py)
collwire_script_test(profile_mistakes unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/import/check_mistakes.py ${PROJECT_SOURCE_DIR}/tests/data/profile)
# Traces before PyTorch 2.4, ranks that were not recorded, and the machine that traces name: 1 s.
collwire_script_test(profile_before24 unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/import/check_before24.py)
# Graphs of ExecutionTraceObserver without traces beside them: 1 s.
collwire_script_test(import_observer unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/import/check_observer.py)
# Files by their content: 1 s.
collwire_script_test(import_kinds unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/cli/import/check_kinds.py)
if(NOT COLLWIRE_SANITIZE) # whose shadow memory counts too
  collwire_script_test(profile_memory unit python3 [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/cli/import/check_memory.py 60 30)
  collwire_script_test(profile_memory_all long python3 [[python3 -B "$@"]]
    ${PROJECT_SOURCE_DIR}/tests/cli/import/check_memory.py 1000 500)
endif()
collwire_script_test(goal_programs unit python3 [[python3 -B "$@"]]
  ${PROJECT_SOURCE_DIR}/tests/workload/goal/check_goal.py)

# The seconds of the longest tests: CTest starts them first, so that both cores are busy to the end.
set(longest docs_fifteen_minutes 25 random_some 25 linux_tcp 20 plugin_plugins 24 linux_collectives 20 props_plain 13
    trace_wireshark 20 trace_captures 18 trace_tcp_wireshark 17 cli_results 15 cli_sweep 15
    theory_papers 14 theory_ns3 14 theory_ns3_hoti128 12 cli_findings 12 cli_extcap 11 theory_dlrm 10)
while(longest)
  list(POP_FRONT longest name seconds)
  if(TEST ${name})
    set_tests_properties(${name} PROPERTIES COST ${seconds})
  endif()
endwhile()

# ---- `make check` ----

get_property(all DIRECTORY PROPERTY TESTS)
set(smoke_scripts cli_readme cli_wrong_inputs report_template theory_astra_rows theory_astra_columns chakra_astra2)
foreach(test IN LISTS all)
  get_test_property(${test} LABELS labels)
  if((unit IN_LIST labels AND test IN_LIST programs_in_c) OR golden IN_LIST labels OR test IN_LIST smoke_scripts)
    set_tests_properties(${test} PROPERTIES LABELS "${labels};smoke")
  endif()
endforeach()
