# The engine torch, where libtorch is installed: TACHO_TORCH_FOUND says whether it is. Without it every other engine works
# as ever.
option(TACHO_TORCH "The engine torch, where libtorch is installed" ON)
set(TACHO_TORCH_DIR "" CACHE PATH "Folder of a libtorch that is not in the system's places")
set(TACHO_TORCH_FOUND OFF)
if(TACHO_TORCH)
  if(TACHO_TORCH_DIR)
    unset(TACHO_TORCH_NCCL CACHE)
    unset(Torch_DIR CACHE)  # of an earlier configuration, which would win
    find_package(Torch QUIET PATHS ${TACHO_TORCH_DIR} NO_DEFAULT_PATH)
    if(NOT Torch_FOUND)
      message(FATAL_ERROR "TACHO_TORCH_DIR: ${TACHO_TORCH_DIR} has no TorchConfig.cmake: name the folder that has it")
    endif()
  else()
    find_package(Torch QUIET)
  endif()
  set(TACHO_TORCH_FOUND ${Torch_FOUND})
endif()

# Whether GPUs can exchange gradients by its NCCL. What that needs beyond libtorch, such as a driver, may be missing where
# tacho is built.
if(TARGET torch_cuda)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_INCLUDES ${TORCH_INCLUDE_DIRS})
  set(CMAKE_REQUIRED_LIBRARIES ${TORCH_LIBRARIES})
  set(CMAKE_REQUIRED_LINK_OPTIONS -Wl,--allow-shlib-undefined)
  check_cxx_source_compiles("#include <torch/csrc/cuda/nccl.h>
    int main() { return torch::cuda::nccl::version() == 0; }" TACHO_TORCH_NCCL)
  unset(CMAKE_REQUIRED_INCLUDES)
  unset(CMAKE_REQUIRED_LIBRARIES)
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
endif()

# The module's functions of tacho itself come from the program that loads it, which must show them.
function(tacho_torch_module)
  add_library(tacho_torch MODULE ${ARGN})
  tacho_compile_options(tacho_torch)
  tacho_compile_together(tacho_torch)
  target_compile_options(tacho_torch PRIVATE -fvisibility-inlines-hidden)
  target_include_directories(tacho_torch PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_include_directories(tacho_torch SYSTEM PRIVATE ${TORCH_INCLUDE_DIRS})
  target_link_libraries(tacho_torch PRIVATE ${TORCH_LIBRARIES} fmt::fmt)
  set_target_properties(tacho_torch PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  add_dependencies(tacho_engine tacho_torch)
  target_link_options(tacho_engine INTERFACE -Wl,--dynamic-list=${CMAKE_SOURCE_DIR}/cmake/module_symbols.txt)
  install(TARGETS tacho_torch LIBRARY DESTINATION lib/tacho COMPONENT torch)
endfunction()
