# SPDX-License-Identifier: MIT
# The module that joins processes over MPI (engine/processes/module.h). It stands in the build tree where an
# installation has it: in collwire/ below the folder of libraries. The program loads it, and MPI with it,
# only where a launcher has started several processes.
if(COLLWIRE_MPI STREQUAL OFF)
  return()
endif()
find_package(MPI 3.0 QUIET COMPONENTS C)
if(NOT MPI_C_FOUND)
  if(COLLWIRE_MPI STREQUAL ON)
    message(FATAL_ERROR "COLLWIRE_MPI is ON, but there is no MPI of version 3 (libopenmpi-dev, or MPI_HOME)")
  endif()
  message(STATUS "MPI is not installed: a run has one process (COLLWIRE_MPI)")
  return()
endif()
if(NOT EV_ARCHIVE MATCHES "\\.a$")
  message(STATUS "libev.a is not installed: Open MPI may fail in several processes of a run")
endif()
find_package(Threads REQUIRED)
file(GLOB processes_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/engine/processes/*.c)
add_library(processes_mpi MODULE ${processes_sources})
target_include_directories(processes_mpi PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(processes_mpi PRIVATE COLLWIRE_VERSION="${PROJECT_VERSION}")
target_link_libraries(processes_mpi PRIVATE MPI::MPI_C Threads::Threads)
set_target_properties(processes_mpi PROPERTIES
  PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/collwire)
install(TARGETS processes_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/collwire COMPONENT mpi)
