# tacho_embed(TARGET FUNCTION FILE...)
# Gives TARGET the function `std::span<const EmbeddedFile> tacho::FUNCTION()` (base/embedded_file.h) with the contents
# of the files, in this order, so that the program needs none of them when it runs.
function(tacho_embed target function)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp)
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} "-DSOURCE=${source}" "-DFUNCTION=${function}" "-DFILES=${ARGN}"
            -P ${CMAKE_SOURCE_DIR}/cmake/WriteEmbedded.cmake
    DEPENDS ${ARGN} ${CMAKE_SOURCE_DIR}/cmake/WriteEmbedded.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${source})
endfunction()
