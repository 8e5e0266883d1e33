# What the core of the library is built on.
find_package(OpenMP REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(hwy REQUIRED)
find_path(RANDOM123_INCLUDE_DIR Random123/philox.h REQUIRED)

# Debian's dnnl package configuration asks for OpenCL; the library alone is all we need.
find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.hpp REQUIRED)
find_library(DNNL_LIBRARY dnnl REQUIRED)
add_library(bntt_dnnl INTERFACE)
target_include_directories(bntt_dnnl SYSTEM INTERFACE $<BUILD_INTERFACE:${DNNL_INCLUDE_DIR}>)
target_link_libraries(bntt_dnnl INTERFACE $<BUILD_INTERFACE:${DNNL_LIBRARY}>)

if(BNTT_LIBRARY_ONLY)
  return()
endif()

# Files of others, settings, the program.
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)
find_package(benchmark REQUIRED)
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)
find_path(CLI11_INCLUDE_DIR CLI/CLI.hpp REQUIRED)

# libjpeg-turbo's own interface reports errors by return value, where libjpeg's jumps.
find_path(TURBOJPEG_INCLUDE_DIR turbojpeg.h REQUIRED)
find_library(TURBOJPEG_LIBRARY turbojpeg REQUIRED)
add_library(bntt_turbojpeg INTERFACE)
target_include_directories(bntt_turbojpeg SYSTEM INTERFACE $<BUILD_INTERFACE:${TURBOJPEG_INCLUDE_DIR}>)
target_link_libraries(bntt_turbojpeg INTERFACE $<BUILD_INTERFACE:${TURBOJPEG_LIBRARY}>)

# Debian builds cpp-httplib as a library with these features; its header must be read with the same ones.
find_path(HTTPLIB_INCLUDE_DIR httplib.h REQUIRED)
find_library(HTTPLIB_LIBRARY cpp-httplib REQUIRED)
add_library(bntt_httplib INTERFACE)
target_include_directories(bntt_httplib SYSTEM INTERFACE ${HTTPLIB_INCLUDE_DIR})
target_compile_definitions(bntt_httplib INTERFACE
  CPPHTTPLIB_OPENSSL_SUPPORT CPPHTTPLIB_ZLIB_SUPPORT CPPHTTPLIB_BROTLI_SUPPORT)
target_link_libraries(bntt_httplib INTERFACE ${HTTPLIB_LIBRARY} Threads::Threads)

# Linear classifiers of the classical event methods.
find_path(LIBLINEAR_INCLUDE_DIR linear.h REQUIRED)
find_library(LIBLINEAR_LIBRARY linear REQUIRED)
add_library(bntt_liblinear INTERFACE)
target_include_directories(bntt_liblinear SYSTEM INTERFACE ${LIBLINEAR_INCLUDE_DIR})
target_link_libraries(bntt_liblinear INTERFACE ${LIBLINEAR_LIBRARY})

find_path(CAIRO_INCLUDE_DIR cairo.h PATH_SUFFIXES cairo REQUIRED)
find_library(CAIRO_LIBRARY cairo REQUIRED)
add_library(bntt_cairo INTERFACE)
target_include_directories(bntt_cairo SYSTEM INTERFACE ${CAIRO_INCLUDE_DIR})
target_link_libraries(bntt_cairo INTERFACE ${CAIRO_LIBRARY})

# NIR files are HDF5. The C interface alone: Debian keeps the serial build in a directory of its own.
if(BNTT_NIR)
  find_path(HDF5_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial REQUIRED)
  find_library(HDF5_LIBRARY NAMES hdf5_serial hdf5 PATH_SUFFIXES hdf5/serial REQUIRED)
  add_library(bntt_hdf5 INTERFACE)
  target_include_directories(bntt_hdf5 SYSTEM INTERFACE ${HDF5_INCLUDE_DIR})
  target_link_libraries(bntt_hdf5 INTERFACE ${HDF5_LIBRARY})
endif()
