# SPDX-License-Identifier: MIT
# The Python package: a component of its own, which `make deb` makes the package python3-collwire of, and
# `make wheel` a wheel with all that it needs. `cmake --install` leaves it out, since Python finds packages
# of its own folders only.
#
# The build has it in python/collwire: links to the sources, and three modules that are made from the schema of scenarios, from
# docs/metrics.md and from the colours of policies.
set(COLLWIRE_PYTHON_DIR lib/python3/dist-packages CACHE STRING "Folder of the Python package, below the prefix")
set(python_package ${PROJECT_BINARY_DIR}/python/collwire)
file(MAKE_DIRECTORY ${python_package})
file(GLOB python_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/collwire/*.py ${PROJECT_SOURCE_DIR}/python/collwire/py.typed)
foreach(file IN LISTS python_sources)
  cmake_path(GET file FILENAME name)
  file(CREATE_LINK ${file} ${python_package}/${name} SYMBOLIC)
endforeach()
if(NOT PYTHON3_PROGRAM)
  message(STATUS "python3 is not installed: the Python package is not made")
  return()
endif()
set(python_made ${python_package}/scenarios.py ${python_package}/_styles.py ${python_package}/metrics.py)
add_custom_command(
  OUTPUT ${python_made}
  COMMAND ${PYTHON3_PROGRAM} -B ${PROJECT_SOURCE_DIR}/python/generate_scenarios.py ${PROJECT_SOURCE_DIR} ${python_package}
  COMMAND ${PYTHON3_PROGRAM} -B ${PROJECT_SOURCE_DIR}/python/generate_metrics.py ${PROJECT_SOURCE_DIR} ${python_package}
  DEPENDS python/generate_scenarios.py python/generate_metrics.py scenarios/schema.json docs/metrics.md
          report/web/src/policy-styles.json
  COMMENT "Making the modules scenarios and metrics of the Python package"
  VERBATIM)
add_custom_target(collwire_python ALL DEPENDS ${python_made})
install(FILES ${python_sources} ${python_made} DESTINATION ${COLLWIRE_PYTHON_DIR}/collwire COMPONENT python EXCLUDE_FROM_ALL)
