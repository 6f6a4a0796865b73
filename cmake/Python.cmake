# SPDX-License-Identifier: MIT
# The Python package: a component of its own, which `make deb` makes the package python3-collwire of, and
# `make wheel` a wheel with all that it needs. `cmake --install` leaves it out, since Python finds packages
# of its own folders only.
set(COLLWIRE_PYTHON_DIR lib/python3/dist-packages CACHE STRING "Folder of the Python package, below the prefix")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/collwire DESTINATION ${COLLWIRE_PYTHON_DIR}
  COMPONENT python EXCLUDE_FROM_ALL PATTERN __pycache__ EXCLUDE PATTERN _native EXCLUDE)
