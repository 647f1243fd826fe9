# tacho_library(NAME SOURCES ... DEPENDS ... TESTS ... TEST_DEPENDS ...)
# One static library per folder of src/, and one test program from the *_test.cpp files beside its sources.
# DEPENDS names other tacho folders or imported targets: together these lines are the dependency diagram.
# QUICK_TO_BUILD is for folders that no measured pass runs through; tests are built like them.
function(tacho_library name)
  cmake_parse_arguments(ARG "QUICK_TO_BUILD" "" "SOURCES;DEPENDS;TESTS;TEST_DEPENDS" ${ARGN})
  set(target tacho_${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  tacho_compile_options(${target})
  tacho_precompile(${target} tacho_base ${tacho_precompiled})
  tacho_compile_together(${target})
  if(ARG_QUICK_TO_BUILD)
    tacho_quick_to_build(${target})
  endif()
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  tacho_link(${target} PUBLIC ${ARG_DEPENDS})
  if(ARG_TESTS)
    add_executable(${target}_test ${ARG_TESTS})
    tacho_compile_options(${target}_test)
    tacho_test_options(${target}_test)
    tacho_compile_together(${target}_test)
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
                                           $<$<BOOL:${TACHO_WERROR}>:-Werror> ${tacho_ccache_options})
endfunction()

# In a release, at -O1 after CMake's own -O3. There GCC 12 takes empty optionals for uninitialised ones.
# Since GCC 13 a precompiled header serves only who has the same settings of these, which -O3 switches on.
set(tacho_quick_options -O1 -Wno-maybe-uninitialized)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13
   AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  list(APPEND tacho_quick_options -munroll-only-small-loops -mvzeroupper)
endif()
set(tacho_quick_options "$<$<CONFIG:Release>:${tacho_quick_options}>")
function(tacho_quick_to_build target)
  target_compile_options(${target} PRIVATE "${tacho_quick_options}")
endfunction()

# The same for single files of a folder.
function(tacho_quick_sources)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "${tacho_quick_options}")
endfunction()

# Several files of a folder in one run of the compiler, which then reads their headers once: a third less time for all,
# against a few seconds more after a change to one file. Files with options of their own are compiled alone.
option(TACHO_COMPILE_TOGETHER "Compile eight files of a folder at a time" ON)
function(tacho_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${TACHO_COMPILE_TOGETHER} UNITY_BUILD_BATCH_SIZE 8)
  # There GCC takes every file for a header, whose types must not hold what is one file's own.
  target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
endfunction()

# What most files include. Files include what they need nevertheless: the debug preset compiles without this.
# JSON is not among them: it costs each file more than it saves those that read it.
set(tacho_precompiled
  <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <map> <memory> <optional> <ranges> <set> <span>
  <string> <string_view> <utility> <variant> <vector> <fmt/format.h>)

# Compiled once for the first target, which the others take it from.
function(tacho_precompile target owner)
  if(target STREQUAL owner)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()

function(tacho_test_options target)
  tacho_quick_to_build(${target})
  tacho_precompile(${target} tacho_base_test ${tacho_precompiled} <gtest/gtest.h> <gmock/gmock.h>)
endfunction()
