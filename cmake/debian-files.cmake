# cpack runs this on the files of each package before it packs them: Debian wants manual pages compressed, and a licence
# and a change log beside every package.
file(GLOB packages LIST_DIRECTORIES true ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*)
foreach(package IN LISTS packages)
  cmake_path(GET package FILENAME component)
  string(TOUPPER ${component} component)
  set(docs ${package}/usr/share/doc/${CPACK_DEBIAN_${component}_PACKAGE_NAME})
  file(MAKE_DIRECTORY ${docs})
  file(COPY_FILE ${CPACK_RESOURCE_FILE_LICENSE} ${docs}/copyright)
  file(COPY_FILE ${CPACK_BNTT_CHANGES} ${docs}/CHANGELOG.md)
  file(GLOB pages ${package}/usr/share/man/man1/*.1)
  execute_process(COMMAND gzip -9nf ${docs}/CHANGELOG.md ${pages} COMMAND_ERROR_IS_FATAL ANY)
  file(CHMOD_RECURSE ${docs} ${package}/usr/share PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ
    DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endforeach()
