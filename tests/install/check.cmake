function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "exit code ${code} from: ${command}\n${out}")
  endif()
  set(output "${out}" PARENT_SCOPE)
endfunction()

# The last line of an example's output must match.
function(expect pattern)
  run(${ARGN})
  if(NOT output MATCHES "${pattern}\n$")
    message(FATAL_ERROR "expected '${pattern}', found: ${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# ./demo may run in a build directory where ./test or the user switched options on: it leaves them as they are.
file(STRINGS ${SOURCE_DIR}/demo options REGEX "-DBNTT_")
if(options)
  message(FATAL_ERROR "demo changes options of the build: ${options}")
endif()

set(work ${BINARY_DIR}/install-check)
file(REMOVE_RECURSE ${work})
run(${CMAKE_COMMAND} --install ${BINARY_DIR} --prefix ${work}/prefix)
foreach(example classify classify_c stream train train_settings own_norm)
  run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE_DIR}/examples/${example} -B ${work}/${example}
      -DCMAKE_PREFIX_PATH=${work}/prefix -DCMAKE_BUILD_TYPE=Release)
  run(${CMAKE_COMMAND} --build ${work}/${example})
endforeach()

run(${PROGRAM} train --preset demo-fashion-mnist --epochs 2 --limit-train 6000 --limit-test 10 --out ${work}/clothes)
expect("^ankle boot, [0-9.]+ %" ${work}/classify/classify ${work}/clothes ${SOURCE_DIR}/examples/classify/boot.png)
expect("^ankle boot" ${work}/classify_c/classify_c ${work}/clothes ${SOURCE_DIR}/examples/classify/boot.png)
expect("boot.png: ankle boot [0-9.]+ %, .* steps, [0-9]+ spikes, [0-9.]+ ms"
  ${PROGRAM} predict ${work}/clothes ${SOURCE_DIR}/examples/classify/boot.png)
# README's lines, as they are there: in a directory with the same paths, with nothing but the installed files.
file(READ ${SOURCE_DIR}/README.md readme)
file(MAKE_DIRECTORY ${work}/readme/runs)
file(CREATE_LINK ${work}/clothes ${work}/readme/runs/demo SYMBOLIC)
file(CREATE_LINK ${SOURCE_DIR}/examples ${work}/readme/examples SYMBOLIC)
function(snippet language)
  if(NOT readme MATCHES "```${language}\n([^`]*)```")
    message(FATAL_ERROR "README.md has no lines of ${language}")
  endif()
  set(lines "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()
file(GLOB library_directory ${work}/prefix/lib*/libbntt_c.so ${work}/prefix/lib/*/libbntt_c.so)
cmake_path(GET library_directory PARENT_PATH library_directory)
function(expect_boot)
  expect("^ankle boot" ${CMAKE_COMMAND} -E chdir ${work}/readme ${CMAKE_COMMAND} -E env
    LD_LIBRARY_PATH=${library_directory} PYTHONPATH=${work}/prefix/${PYTHON_DIRECTORY} ${ARGN})
endfunction()
set(installed -I${work}/prefix/include -L${library_directory})
snippet(c)
file(WRITE ${work}/readme/main.c "#include <bntt/bntt.h>\n#include <stdio.h>\nint main(void) {\n${lines}}\n")
run(${C_COMPILER} -std=c99 ${installed} ${work}/readme/main.c -lbntt_c -o ${work}/readme/c)
expect_boot(./c)
snippet(cpp)
file(WRITE ${work}/readme/main.cpp
  "#include <bntt/data/picture.h>\n#include <bntt/bntt.hpp>\n#include <cstdio>\nint main() {\n${lines}}\n")
run(${CXX_COMPILER} -std=c++20 ${installed} ${work}/readme/main.cpp -lbntt -o ${work}/readme/cpp)
expect_boot(./cpp)
if(PYTHON)
  snippet(python)
  file(WRITE ${work}/readme/main.py "${lines}")
  expect_boot(${PYTHON} main.py)
endif()

run(${MAKE_RECORDINGS} ${work}/recordings)
run(${PROGRAM} train --preset nmnist --data ${work}/recordings --epochs 10 --set train.batch=6 --out ${work}/digits)
expect("7 after [0-9]+ of 10 steps" ${work}/stream/stream ${work}/digits ${work}/recordings/Test/7/7.bin)

# The settings of that run, trained by a program outside the tree.
expect("(1[89]|20) of 20 test samples are right"
  ${work}/train_settings/train_settings ${work}/digits/run.toml ${work}/recordings ${work}/digits.safetensors)
expect("7.bin: 7 [0-9.]+ %, .* steps, [0-9]+ spikes, [0-9.]+ ms"
  ${PROGRAM} predict ${work}/digits.safetensors ${work}/recordings/Test/7/7.bin)

expect("(29[0-9]|300) of 300 new bars are right" ${work}/train/train ${work}/bars.safetensors)
run(${PROGRAM} inspect ${work}/bars.safetensors)
if(NOT output MATCHES "conv1" OR NOT output MATCHES "diagonal")
  message(FATAL_ERROR "bntt inspect shows neither stages nor class names: ${output}")
endif()

expect("(19[0-9]|200) of 200 images are right" ${work}/own_norm/own_norm ${work}/fading.safetensors)
if(NOT output MATCHES "conv1.norm.decay [0-9.]+\nfc1.norm.decay [0-9.]+" OR output MATCHES "decay 0.900")
  message(FATAL_ERROR "the norm's own parameter was not trained: ${output}")
endif()
# A program that does not know the norm refuses the file.
execute_process(COMMAND ${PROGRAM} inspect ${work}/fading.safetensors RESULT_VARIABLE code ERROR_VARIABLE error OUTPUT_QUIET)
if(NOT code EQUAL 2 OR NOT error MATCHES "fading")
  message(FATAL_ERROR "expected a refusal of the norm 'fading', found: ${error}")
endif()

# The core alone: the same example, with the library that holds nothing else, gives the same bytes.
run(${CMAKE_COMMAND} -E env LD_PRELOAD=${CORE_ALONE} ${work}/train/train ${work}/core.safetensors)
run(${CMAKE_COMMAND} -E compare_files ${work}/bars.safetensors ${work}/core.safetensors)
run(readelf -d ${CORE_ALONE})
string(REGEX MATCHALL "NEEDED[^\n]*" needed "${output}")
foreach(line IN LISTS needed)
  if(NOT line MATCHES "lib(fmt|hwy|dnnl|gomp|stdc[+][+]|m|gcc_s|c|pthread)[.]so|ld-linux")
    message(FATAL_ERROR "the core alone needs ${line}")
  endif()
endforeach()

# It is configured without looking for anything else.
run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE_DIR} -B ${work}/core -DBNTT_LIBRARY_ONLY=ON
    -DCMAKE_DISABLE_FIND_PACKAGE_PNG=ON -DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON
    -DCMAKE_DISABLE_FIND_PACKAGE_benchmark=ON -DCMAKE_DISABLE_FIND_PACKAGE_CURL=ON)
file(STRINGS ${work}/core/CMakeCache.txt looked_for
  REGEX "^(TURBOJPEG|HTTPLIB|CAIRO|CHART|TOMLPLUSPLUS|CLI11|PNG_|ZLIB_|CURL|ARCHIVE|OPENSSL|TORCH|GTest)")
if(looked_for)
  message(FATAL_ERROR "with BNTT_LIBRARY_ONLY, CMake looked for: ${looked_for}")
endif()
