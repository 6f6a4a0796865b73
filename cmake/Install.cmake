# SPDX-License-Identifier: MIT
# The manual page and the completions of shells, which the program prints from its tables, and the rules
# of `cmake --install`.
set(share ${PROJECT_BINARY_DIR}/share)
set(generated "")

# collwire_generate(KIND FILE): what `collwire generate KIND` prints, installed as share/FILE.
function(collwire_generate kind file)
  cmake_path(GET file PARENT_PATH folder)
  file(MAKE_DIRECTORY ${share}/${folder})
  add_custom_command(
    OUTPUT ${share}/${file}
    COMMAND collwire generate ${kind} > ${share}/${file}.new
    COMMAND ${CMAKE_COMMAND} -E rename ${share}/${file}.new ${share}/${file}
    DEPENDS collwire
    COMMENT "Generating ${file}"
    VERBATIM)
  install(FILES ${share}/${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder})
  set(generated ${generated} ${share}/${file} PARENT_SCOPE)
endfunction()

collwire_generate(man man/man1/collwire.1)
collwire_generate(bash bash-completion/completions/collwire)
collwire_generate(zsh zsh/site-functions/_collwire)
collwire_generate(fish fish/vendor_completions.d/collwire.fish)
add_custom_target(collwire_pages ALL DEPENDS ${generated})
install(TARGETS collwire RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/collwire DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET collwire_shared)
  install(TARGETS collwire_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES ${PROJECT_BINARY_DIR}/library/libcollwire.a DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES ${PROJECT_BINARY_DIR}/library/collwire.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/collwire)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/net/capture/wireshark DESTINATION ${CMAKE_INSTALL_DATADIR}/collwire)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/scenarios DESTINATION ${CMAKE_INSTALL_DATADIR}/collwire) # with their schema
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN site EXCLUDE) # README.md of each in its folder
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/CITATION.cff
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
# In the build tree they stand where an installation has them.
file(MAKE_DIRECTORY ${share}/collwire)
foreach(folder IN ITEMS net/capture/wireshark scenarios)
  cmake_path(GET folder FILENAME name)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${share}/collwire/${name} SYMBOLIC)
endforeach()
