# SPDX-License-Identifier: MIT
# The charts of reports: `cmake --build DIR --target report-assets` bundles report/web into one
# template. It needs node and npm, and a network the first time; no other target needs it.
set(report_web ${PROJECT_SOURCE_DIR}/report/web)
set(report_work ${PROJECT_BINARY_DIR}/report-assets)
set(report_template ${PROJECT_BINARY_DIR}/share/collwire/report-template.html)
find_program(NODE_PROGRAM NAMES node nodejs)
find_program(NPM_PROGRAM npm)
mark_as_advanced(NODE_PROGRAM NPM_PROGRAM)

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
  file(GLOB report_sources CONFIGURE_DEPENDS ${report_web}/src/*.js ${report_web}/*.css ${report_web}/*.html)
  add_custom_command(
    OUTPUT ${report_template}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/share/collwire
    COMMAND ${NODE_PROGRAM} ${report_web}/build.mjs ${report_work}/node_modules ${report_template}
    DEPENDS ${report_work}/installed ${report_web}/build.mjs ${report_sources}
    COMMENT "Bundling the charts of reports"
    VERBATIM)
  add_custom_target(report-assets DEPENDS ${report_template})
else()
  add_custom_target(report-assets
    COMMAND ${CMAKE_COMMAND} -E echo
            "report-assets: node and npm are not installed: sh cmake/setup.sh --report installs them, then configure again"
    COMMAND ${CMAKE_COMMAND} -E false
    VERBATIM)
endif()

include(GNUInstallDirs)
install(FILES ${report_template} DESTINATION ${CMAKE_INSTALL_DATADIR}/collwire OPTIONAL)
