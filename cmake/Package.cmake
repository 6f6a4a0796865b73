# SPDX-License-Identifier: MIT
# `cpack` in the build directory, or `make deb`: a package for Debian with the program, the library and
# its headers, whose dependencies dpkg-shlibdeps finds out.
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
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "wireshark, tshark, python3-pandas")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS OFF)
include(CPack)
