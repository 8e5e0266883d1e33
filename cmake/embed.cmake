# bntt_embed(OUTPUT FUNCTION FILES...): writes the C++ source OUTPUT, in which bntt::FUNCTION() returns name (without
# extension) and text of every file. Changing a file runs CMake again.
function(bntt_embed output function)
  set(entries "")
  foreach(path IN LISTS ARGN)
    cmake_path(GET path STEM LAST_ONLY name)
    file(READ ${path} text)
    string(APPEND entries "      {\"${name}\", R\"embedded(${text})embedded\"},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  endforeach()
  file(WRITE ${output}.new
    "#include <string_view>\n#include <utility>\n#include <vector>\n\n"
    "namespace bntt {\n\n"
    "std::vector<std::pair<std::string_view, std::string_view>> ${function}();\n\n"
    "std::vector<std::pair<std::string_view, std::string_view>> ${function}() {\n"
    "  return {\n${entries}  };\n}\n\n"
    "}  // namespace bntt\n")
  configure_file(${output}.new ${output} COPYONLY)
endfunction()
