# libbntt: all modules in one shared library, so that users link one thing and need none of our dependencies' headers.
include(CMakePackageConfigHelpers)

set(modules base kernels layers model data train)
list(TRANSFORM modules REPLACE "(.+)" "$<TARGET_OBJECTS:bntt_\\1>" OUTPUT_VARIABLE objects)
add_library(bntt SHARED ${objects})
add_library(bntt::bntt ALIAS bntt)
target_include_directories(bntt INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                          $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(bntt INTERFACE cxx_std_20)
target_link_libraries(bntt PRIVATE fmt::fmt OpenMP::OpenMP_CXX ZLIB::ZLIB PNG::PNG hwy::hwy bntt_dnnl bntt_turbojpeg)
set_target_properties(bntt PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})

install(TARGETS bntt EXPORT bntt-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/bntt DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT bntt-targets NAMESPACE bntt:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/bntt
        FILE bntt-config.cmake)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/bntt-config-version.cmake
                                 COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/bntt-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/bntt)
