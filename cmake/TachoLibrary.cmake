# tacho_library(NAME SOURCES ... DEPENDS ... TESTS ... TEST_DEPENDS ...)
# One static library per folder of src/, and one test program from the *_test.cpp files beside its sources.
# DEPENDS names other tacho folders or imported targets: together these lines are the dependency diagram.
function(tacho_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;TESTS;TEST_DEPENDS" ${ARGN})
  set(target tacho_${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  tacho_compile_options(${target})
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  tacho_link(${target} PUBLIC ${ARG_DEPENDS})
  if(ARG_TESTS)
    add_executable(${target}_test ${ARG_TESTS})
    tacho_compile_options(${target}_test)
    tacho_link(${target}_test PRIVATE ${name} ${ARG_TEST_DEPENDS} GTest::gtest_main)
    gtest_discover_tests(${target}_test TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60)
  endif()
endfunction()

# Links folders of src/ by their short name and imported targets by their full one.
function(tacho_link target visibility)
  foreach(dependency ${ARGN})
    if(dependency MATCHES "::")
      target_link_libraries(${target} ${visibility} ${dependency})
    else()
      target_link_libraries(${target} ${visibility} tacho_${dependency})
    endif()
  endforeach()
endfunction()

function(tacho_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
                                           $<$<BOOL:${TACHO_WERROR}>:-Werror>)
endfunction()
