# SPDX-License-Identifier: MIT
# The target `fuzz`, in a build by clang with sanitizers: tests/fuzz/fuzz_READER.c is a libFuzzer target of that name, of a
# reader or of a transport over a hostile network. The options in CMakeLists.txt instrument the libraries.
add_custom_target(fuzz)
file(GLOB targets RELATIVE ${PROJECT_SOURCE_DIR}/tests/fuzz CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
foreach(target IN LISTS targets)
  cmake_path(GET target STEM target)
  add_executable(${target} EXCLUDE_FROM_ALL tests/fuzz/${target}.c tests/fuzz/support.c tests/fuzz/hostile.c)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${target} PRIVATE ${COLLWIRE_LIBRARIES} PkgConfig::jansson)
  target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzz ${target})
endforeach()
