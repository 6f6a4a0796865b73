# SPDX-License-Identifier: MIT
# The charts of reports: the template of pages and the program that draws one chart, which the build copies from
# report/web/built beside the program.
# `cmake --build DIR --target report-assets` bundles report/web anew and writes it there, to be
# committed. It needs node and npm, and a network the first time; no other target needs it.
set(report_web ${PROJECT_SOURCE_DIR}/report/web)
set(report_work ${PROJECT_BINARY_DIR}/report-assets)
set(report_built ${report_web}/built)
set(report_share ${PROJECT_BINARY_DIR}/share/collwire)
find_program(NODE_PROGRAM NAMES node nodejs)
find_program(NPM_PROGRAM npm)
mark_as_advanced(NODE_PROGRAM NPM_PROGRAM)

set(report_copies)
foreach(name IN ITEMS report-template.html report-plot.js LICENCES.txt)
  set(copy ${report_share}/${name})
  if(name STREQUAL LICENCES.txt)
    set(copy ${report_share}/report-LICENCES.txt)
  endif()
  add_custom_command(
    OUTPUT ${copy}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${report_share}
    COMMAND ${CMAKE_COMMAND} -E copy ${report_built}/${name} ${copy}
    DEPENDS ${report_built}/${name}
    COMMENT "Copying ${name} of reports"
    VERBATIM)
  list(APPEND report_copies ${copy})
endforeach()
add_custom_target(report-template ALL DEPENDS ${report_copies})
if(TARGET collwire)
  add_dependencies(collwire report-template)
endif()

if(NODE_PROGRAM AND NPM_PROGRAM)
  # The packages of package-lock.json, in the build folder; scripts of packages do not run.
  add_custom_command(
    OUTPUT ${report_work}/installed
    COMMAND ${CMAKE_COMMAND} -E make_directory ${report_work}
    COMMAND ${CMAKE_COMMAND} -E copy ${report_web}/package.json ${report_web}/package-lock.json ${report_work}
    COMMAND ${NPM_PROGRAM} ci --ignore-scripts --no-audit --no-fund --prefix ${report_work}
    COMMAND ${CMAKE_COMMAND} -E touch ${report_work}/installed
    DEPENDS ${report_web}/package.json ${report_web}/package-lock.json
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
    COMMENT "Installing the packages of report/web/package-lock.json"
    VERBATIM)
  file(GLOB report_sources CONFIGURE_DEPENDS ${report_web}/src/*.js ${report_web}/src/*.json ${report_web}/src/plot/*.js
       ${report_web}/*.css ${report_web}/*.html)
  set(report_files ${report_work}/report-template.html ${report_work}/report-plot.js ${report_work}/LICENCES.txt)
  add_custom_command(
    OUTPUT ${report_files}
    COMMAND ${NODE_PROGRAM} ${report_web}/build.mjs ${report_work}/node_modules ${report_work}
    DEPENDS ${report_work}/installed ${report_web}/build.mjs ${report_sources}
    COMMENT "Bundling the charts of reports"
    VERBATIM)
  # What npm's packages make, without a change of the sources: tests/report/check_template.py compares it.
  add_custom_target(report-bundle DEPENDS ${report_files})
  add_custom_target(report-assets
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${report_files} ${report_built}
    COMMAND ${CMAKE_COMMAND} -E copy ${report_built}/report-template.html ${report_built}/report-plot.js ${report_share}
    COMMAND ${CMAKE_COMMAND} -E copy ${report_built}/LICENCES.txt ${report_share}/report-LICENCES.txt
    VERBATIM)
  add_dependencies(report-assets report-bundle report-template)
else()
  foreach(target IN ITEMS report-bundle report-assets)
    add_custom_target(${target}
      COMMAND ${CMAKE_COMMAND} -E echo
              "${target}: node and npm are not installed: sh cmake/setup.sh --report installs them, then configure again"
      COMMAND ${CMAKE_COMMAND} -E false
      VERBATIM)
  endforeach()
endif()

include(GNUInstallDirs)
install(FILES ${report_copies} DESTINATION ${CMAKE_INSTALL_DATADIR}/collwire)
