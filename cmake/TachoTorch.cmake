# The engine torch, where libtorch is installed: TACHO_TORCH_FOUND says whether it is. Without it every other engine works
# as ever.
option(TACHO_TORCH "The engine torch, where libtorch is installed" ON)
set(TACHO_TORCH_DIR "" CACHE PATH "Folder of a libtorch that is not in the system's places")
set(TACHO_TORCH_FOUND OFF)
if(TACHO_TORCH)
  find_package(Torch QUIET HINTS ${TACHO_TORCH_DIR})
  set(TACHO_TORCH_FOUND ${Torch_FOUND})
endif()

# The module's functions of tacho itself come from the program that loads it, which must show them.
function(tacho_torch_module)
  add_library(tacho_torch MODULE ${ARGN})
  tacho_compile_options(tacho_torch)
  target_compile_options(tacho_torch PRIVATE -fvisibility-inlines-hidden)
  target_include_directories(tacho_torch PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_include_directories(tacho_torch SYSTEM PRIVATE ${TORCH_INCLUDE_DIRS})
  target_link_libraries(tacho_torch PRIVATE ${TORCH_LIBRARIES} fmt::fmt)
  set_target_properties(tacho_torch PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  add_dependencies(tacho_engine tacho_torch)
  target_link_options(tacho_engine INTERFACE -Wl,--dynamic-list=${CMAKE_SOURCE_DIR}/cmake/module_symbols.txt)
  install(TARGETS tacho_torch LIBRARY DESTINATION lib/tacho COMPONENT torch)
endfunction()
