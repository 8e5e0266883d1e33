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
endfunction()

set(work ${BINARY_DIR}/install-check)
file(REMOVE_RECURSE ${work})
run(${CMAKE_COMMAND} --install ${BINARY_DIR} --prefix ${work}/prefix)
foreach(example classify stream)
  run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE_DIR}/examples/${example} -B ${work}/${example}
      -DCMAKE_PREFIX_PATH=${work}/prefix -DCMAKE_BUILD_TYPE=Release)
  run(${CMAKE_COMMAND} --build ${work}/${example})
endforeach()

run(${PROGRAM} train --preset demo-fashion-mnist --epochs 2 --limit-train 6000 --limit-test 10 --out ${work}/clothes)
expect("^ankle boot, [0-9.]+ %" ${work}/classify/classify ${work}/clothes ${SOURCE_DIR}/examples/classify/boot.png)

run(${MAKE_RECORDINGS} ${work}/recordings)
run(${PROGRAM} train --preset nmnist --data ${work}/recordings --epochs 10 --set train.batch=6 --out ${work}/digits)
expect("7 after [0-9]+ of 10 steps" ${work}/stream/stream ${work}/digits ${work}/recordings/Test/7/7.bin)
