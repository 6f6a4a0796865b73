# SPDX-License-Identifier: MIT
# workload/trace/schema.proto as C: workload/trace/schema.pb-c.h and an object library, made by protoc-c.
find_program(PROTOC_C protoc-c REQUIRED)
set(schema ${PROJECT_BINARY_DIR}/schema)
add_custom_command(
  OUTPUT ${schema}/workload/trace/schema.pb-c.c ${schema}/workload/trace/schema.pb-c.h
  COMMAND ${CMAKE_COMMAND} -E make_directory ${schema}/workload/trace
  COMMAND ${PROTOC_C} --proto_path=${PROJECT_SOURCE_DIR} --c_out=${schema} workload/trace/schema.proto
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  DEPENDS workload/trace/schema.proto
  VERBATIM)
add_library(chakra_schema STATIC ${schema}/workload/trace/schema.pb-c.c)
target_include_directories(chakra_schema SYSTEM PUBLIC ${schema})
target_link_libraries(chakra_schema PUBLIC PkgConfig::libprotobuf-c)
target_compile_options(chakra_schema PRIVATE -w)
