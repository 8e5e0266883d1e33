function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "exit code ${code} from: ${command}\n${out}")
  endif()
  set(output "${out}" PARENT_SCOPE)
endfunction()

set(work ${BINARY_DIR}/install-check)
file(REMOVE_RECURSE ${work})
run(${CMAKE_COMMAND} --install ${BINARY_DIR} --prefix ${work}/prefix)
run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE_DIR}/examples/streaming -B ${work}/example
    -DCMAKE_PREFIX_PATH=${work}/prefix -DCMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build ${work}/example)

# A network of no training at all is enough to stream through.
run(${PROGRAM} train --preset demo-fashion-mnist --epochs 0 --limit-train 200 --limit-test 10
    --out ${work}/run)
run(${work}/example/streaming ${work}/run/checkpoint.safetensors)
if(NOT output MATCHES "class [0-9] after [0-9]+ steps")
  message(FATAL_ERROR "unexpected output of the example: ${output}")
endif()
