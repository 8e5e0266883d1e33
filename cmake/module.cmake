# bntt_module(NAME SOURCES ... LINKS ...): one folder of src/ as the library bntt_NAME. Headers are reached as
# "NAME/file.h" through a directory of their own, so that only modules that link NAME can include them:
# an upward include does not build.
function(bntt_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  set(view ${PROJECT_BINARY_DIR}/include/${name})
  file(MAKE_DIRECTORY ${view})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${view}/${name} SYMBOLIC)

  add_library(bntt_${name} STATIC ${ARG_SOURCES})
  target_include_directories(bntt_${name} PUBLIC $<BUILD_INTERFACE:${view}>
                                                 $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
  target_link_libraries(bntt_${name} PUBLIC ${ARG_LINKS} bntt_options)
  set_target_properties(bntt_${name} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  set_property(GLOBAL APPEND PROPERTY BNTT_MODULES bntt_${name})
endfunction()

# Options are structs with defaults: a designated initialiser may name only some fields (-Wno-missing-field-initializers).
# GCC 12 sees overlaps in string concatenation that are not there (-Wno-restrict, GCC bug 105651), and
# uninitialised strings in aggregates that are moved into a list (-Wno-maybe-uninitialized); sanitizers look for real ones.
# Rounding is contract (a last bit can flip a spike): no fast maths, no contraction into fused multiply-adds.
add_library(bntt_options INTERFACE)
target_compile_options(bntt_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers -ffp-contract=off
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-maybe-uninitialized>
  $<$<BOOL:${BNTT_WERROR}>:-Werror>)
