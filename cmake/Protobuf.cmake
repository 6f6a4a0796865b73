# SPDX-License-Identifier: MIT
# chakra/schema.proto as C: chakra/schema.pb-c.h and an object library, made by protoc-c.
find_program(PROTOC_C protoc-c REQUIRED)
set(schema ${PROJECT_BINARY_DIR}/schema)
add_custom_command(
  OUTPUT ${schema}/chakra/schema.pb-c.c ${schema}/chakra/schema.pb-c.h
  COMMAND ${CMAKE_COMMAND} -E make_directory ${schema}/chakra
  COMMAND ${PROTOC_C} --proto_path=${PROJECT_SOURCE_DIR} --c_out=${schema} chakra/schema.proto
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  DEPENDS chakra/schema.proto
  VERBATIM)
add_library(chakra_schema STATIC ${schema}/chakra/schema.pb-c.c)
target_include_directories(chakra_schema SYSTEM PUBLIC ${schema})
target_link_libraries(chakra_schema PUBLIC PkgConfig::libprotobuf-c)
target_compile_options(chakra_schema PRIVATE -w)
