# SPDX-License-Identifier: MIT
# `cpack` in the build directory, or `make deb`: packages for Debian. collwire has the program, the
# library and its headers, and dpkg-shlibdeps finds out what it depends on; python3-collwire has the
# Python package, which needs collwire; collwire-mpi has the module for runs of several processes, where the
# build has MPI, since few need it and MPI brings some fifty packages.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME collwire)
set(CPACK_PACKAGE_VENDOR collwire)
set(CPACK_PACKAGE_CONTACT "collwire <collwire@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "transports and congestion control under distributed training")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_RECOMMENDS "librsvg2-2, fonts-liberation") # loaded by plot for PDF
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "collwire-mpi, wireshark, tshark, python3-pandas")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS OFF)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL Unspecified python)
if(TARGET processes_mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
endif()
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_NAME collwire)
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-collwire)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.9), collwire (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-pandas, python3-xarray")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
  ${PROJECT_SOURCE_DIR}/cmake/python3-collwire/postinst ${PROJECT_SOURCE_DIR}/cmake/python3-collwire/prerm)
set(CPACK_DEBIAN_MPI_PACKAGE_NAME collwire-mpi)
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "collwire (= ${PROJECT_VERSION})")
if(MPI_C_LIBRARIES MATCHES openmpi)
  # mpirun, and libmpi.so.40: Open MPI 4 and 5 have the same interface, in packages of other names.
  set(CPACK_DEBIAN_MPI_PACKAGE_SHLIBDEPS OFF)
  set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "${CPACK_DEBIAN_MPI_PACKAGE_DEPENDS}, openmpi-bin, libopenmpi3 | libopenmpi40")
endif()
set(CPACK_COMPONENT_MPI_DESCRIPTION "several processes for one run of collwire, over Open MPI")
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "transports and congestion control under distributed training, from Python")
include(CPack)
