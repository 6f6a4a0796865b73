# SPDX-License-Identifier: MIT
# libcollwire, shared and static: the room library and what it needs of the rooms before it. Only the functions of
# collwire/collwire.h can be seen from outside: all other symbols are hidden, and in the static library
# local.
set(library_map ${PROJECT_SOURCE_DIR}/library/symbols.map)
set(library_objects $<TARGET_OBJECTS:collwire_library>)
set(library_rooms ${COLLWIRE_LIBRARIES})
list(REMOVE_ITEM library_rooms collwire_cli collwire_library)

# collwire_shared_library(TARGET): libcollwire.so in the folder library/ of the build.
function(collwire_shared_library target)
  add_library(${target} SHARED ${library_objects})
  set_target_properties(${target} PROPERTIES
    LINKER_LANGUAGE C OUTPUT_NAME collwire VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/library LINK_DEPENDS ${library_map})
  target_link_libraries(${target} PRIVATE collwire_library)
  target_link_options(${target} PRIVATE -Wl,--version-script=${library_map} -Wl,--as-needed)
endfunction()

if(COLLWIRE_SANITIZE)
  # For the tests of the Python package alone, into which the sanitizers' runtime is loaded first.
  collwire_shared_library(collwire_sanitized)
endif()
if(COLLWIRE_SANITIZE OR COLLWIRE_TSAN)
  return() # a program that uses the library would have to be built in the same way
endif()

collwire_shared_library(collwire_shared)
target_link_options(collwire_shared PRIVATE -Wl,--no-undefined)

set(static_library ${PROJECT_BINARY_DIR}/library/libcollwire.a)
list(TRANSFORM library_rooms REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE library_archives)
add_custom_command(
  OUTPUT ${static_library}
  COMMAND ${CMAKE_LINKER} -r -o collwire.o ${library_objects} --start-group ${library_archives} $<TARGET_FILE:chakra_schema> --end-group
  COMMAND ${CMAKE_OBJCOPY} --localize-hidden collwire.o
  COMMAND ${CMAKE_COMMAND} -E rm -f libcollwire.a
  COMMAND ${CMAKE_AR} rcs libcollwire.a collwire.o
  DEPENDS collwire_library ${library_rooms} chakra_schema
  WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/library
  COMMENT "Joining libcollwire.a"
  COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(collwire_static ALL DEPENDS ${static_library})

file(RELATIVE_PATH PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" PC_TO_PREFIX "${PC_TO_PREFIX}")
configure_file(${PROJECT_SOURCE_DIR}/library/collwire.pc.in ${PROJECT_BINARY_DIR}/library/collwire.pc @ONLY)
