# SPDX-License-Identifier: MIT
# The rooms, in the one line that they stand in: the sources of a folder include their own room, the rooms before it, and
# collwire/. The compiler enforces it: a room is compiled with an include tree, inc/ROOM in the build directory, that has links to
# these folders alone. docs/architecture.md says why, and cmake/check_rooms.py checks the rest: the order of the folders inside
# a room, and the libraries of each room, which its README.md names.
set(COLLWIRE_ROOMS engine net cc collective switch transport workload sim report config library cli)
set(libraries_engine ev random123 PkgConfig::jansson PkgConfig::yaml-0.1 PkgConfig::sqlite3)
set(libraries_net PkgConfig::libisal PkgConfig::libpcap PkgConfig::zlib)
set(libraries_cc PkgConfig::nettle)
set(libraries_collective PkgConfig::expat)
set(libraries_transport PkgConfig::libisal)
set(libraries_workload PkgConfig::jansson PkgConfig::zlib chakra_schema)
set(libraries_report ev PkgConfig::jansson PkgConfig::nettle PkgConfig::smartcols PkgConfig::sqlite3 PkgConfig::zlib)
set(libraries_config PkgConfig::jansson)
set(libraries_library PkgConfig::jansson)
set(libraries_cli metis PkgConfig::nlopt PkgConfig::duktape PkgConfig::jansson PkgConfig::nettle PkgConfig::libpcap PkgConfig::zlib PkgConfig::sqlite3 ${CMAKE_DL_LIBS})

set(trees ${PROJECT_BINARY_DIR}/inc)
set(COLLWIRE_LIBRARIES "") # the archives of the rooms, in their order
set(before "")
file(REMOVE_RECURSE ${trees}) # links only: one that was taken out must not linger
foreach(room IN LISTS COLLWIRE_ROOMS)
  set(tree ${trees}/${room})
  file(MAKE_DIRECTORY ${tree})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/collwire ${tree}/collwire SYMBOLIC)
  foreach(folder IN LISTS before ITEMS ${room})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${tree}/${folder} SYMBOLIC)
  endforeach()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${room}/*.c)
  list(FILTER sources EXCLUDE REGEX "/engine/processes/") # a module of its own: Processes.cmake
  add_library(collwire_${room} STATIC ${sources})
  target_include_directories(collwire_${room} PRIVATE ${tree})
  list(TRANSFORM before PREPEND collwire_ OUTPUT_VARIABLE needs)
  list(REVERSE needs)
  target_link_libraries(collwire_${room} PRIVATE ${libraries_${room}} m PUBLIC ${needs})
  list(APPEND COLLWIRE_LIBRARIES collwire_${room})
  list(APPEND before ${room})
endforeach()

file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/*/README.md)
set(stamp ${PROJECT_BINARY_DIR}/rooms.stamp)
find_program(PYTHON3_PROGRAM python3)
mark_as_advanced(PYTHON3_PROGRAM)
if(PYTHON3_PROGRAM)
  add_custom_command(
    OUTPUT ${stamp}
    COMMAND ${PYTHON3_PROGRAM} -B ${PROJECT_SOURCE_DIR}/cmake/check_rooms.py ${PROJECT_SOURCE_DIR}
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS ${COLLWIRE_LIBRARIES} cmake/check_rooms.py ${pages}
    COMMENT "Checking the order of the rooms"
    VERBATIM)
  add_custom_target(collwire_rooms ALL DEPENDS ${stamp})
endif()
