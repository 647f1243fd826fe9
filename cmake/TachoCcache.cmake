# Where ccache is installed, every file is compiled through it. A precompiled header needs the sloppiness, which says
# that the macros and times it was made with do not matter, and GCC's option for the preprocessed text.
find_program(TACHO_CCACHE ccache)
if(TACHO_CCACHE AND (NOT CMAKE_CXX_COMPILER_LAUNCHER OR CMAKE_CXX_COMPILER_LAUNCHER STREQUAL "ccache"))
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${TACHO_CCACHE})
  set(tacho_ccache_options -fpch-preprocess)
endif()
