# libbntt: all modules in one shared library, so that users link one thing and need none of our dependencies' headers.
# bntt::bntt is the core; bntt::data stands for what reads files of data sets, pictures and recordings, in the same library.
include(CMakePackageConfigHelpers)

set(modules base input kernels layers model learn)
set(dependencies fmt::fmt OpenMP::OpenMP_CXX hwy::hwy bntt_dnnl)
set(components "")
if(NOT BNTT_LIBRARY_ONLY)
  list(APPEND modules toml data train)
  list(APPEND dependencies ZLIB::ZLIB PNG::PNG bntt_turbojpeg)
  list(APPEND components data)
endif()

list(TRANSFORM modules REPLACE "(.+)" "$<TARGET_OBJECTS:bntt_\\1>" OUTPUT_VARIABLE objects)
add_library(bntt SHARED ${objects})
add_library(bntt::bntt ALIAS bntt)
target_include_directories(bntt INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                          $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(bntt INTERFACE cxx_std_20)
target_link_libraries(bntt PRIVATE ${dependencies})
set_target_properties(bntt PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
install(TARGETS bntt EXPORT bntt-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)

foreach(component IN LISTS components)
  add_library(bntt_component_${component} INTERFACE)
  target_link_libraries(bntt_component_${component} INTERFACE bntt)
  set_target_properties(bntt_component_${component} PROPERTIES EXPORT_NAME ${component})
  install(TARGETS bntt_component_${component} EXPORT bntt-targets COMPONENT development)
endforeach()

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/bntt)
install(DIRECTORY include/bntt DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development PATTERN data EXCLUDE)
if("data" IN_LIST components)
  install(DIRECTORY include/bntt/data DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/bntt COMPONENT development)
endif()
install(EXPORT bntt-targets NAMESPACE bntt:: DESTINATION ${package} COMPONENT development)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/bntt-config.cmake.in ${PROJECT_BINARY_DIR}/bntt-config.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/bntt-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/bntt-config.cmake ${PROJECT_BINARY_DIR}/bntt-config-version.cmake
        DESTINATION ${package} COMPONENT development)
