# SPDX-License-Identifier: MIT
# COLLWIRE_FUZZ: tests/fuzz/fuzz_READER.c is a libFuzzer target of that name (clang only): of a
# reader, or of a transport over a hostile network. The libraries
# are instrumented by the options in CMakeLists.txt.
if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "COLLWIRE_FUZZ needs clang: -DCMAKE_C_COMPILER=clang")
endif()
file(GLOB targets RELATIVE ${PROJECT_SOURCE_DIR}/tests/fuzz CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
foreach(target IN LISTS targets)
  cmake_path(GET target STEM target)
  add_executable(${target} tests/fuzz/${target}.c tests/fuzz/support.c tests/fuzz/hostile.c)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${target} PRIVATE ${COLLWIRE_LIBRARIES} PkgConfig::jansson)
  target_link_options(${target} PRIVATE -fsanitize=fuzzer)
endforeach()
