find_package(OpenMP REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(hwy REQUIRED)

# Debian's dnnl package configuration asks for OpenCL; the library alone is all we need.
find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.hpp REQUIRED)
find_library(DNNL_LIBRARY dnnl REQUIRED)
add_library(bntt_dnnl INTERFACE)
target_include_directories(bntt_dnnl SYSTEM INTERFACE $<BUILD_INTERFACE:${DNNL_INCLUDE_DIR}>)
target_link_libraries(bntt_dnnl INTERFACE $<BUILD_INTERFACE:${DNNL_LIBRARY}>)

find_package(PNG REQUIRED)
# libjpeg-turbo's own interface reports errors by return value, where libjpeg's jumps.
find_path(TURBOJPEG_INCLUDE_DIR turbojpeg.h REQUIRED)
find_library(TURBOJPEG_LIBRARY turbojpeg REQUIRED)
add_library(bntt_turbojpeg INTERFACE)
target_include_directories(bntt_turbojpeg SYSTEM INTERFACE $<BUILD_INTERFACE:${TURBOJPEG_INCLUDE_DIR}>)
target_link_libraries(bntt_turbojpeg INTERFACE $<BUILD_INTERFACE:${TURBOJPEG_LIBRARY}>)

find_path(RANDOM123_INCLUDE_DIR Random123/philox.h REQUIRED)
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)
find_path(CLI11_INCLUDE_DIR CLI/CLI.hpp REQUIRED)
