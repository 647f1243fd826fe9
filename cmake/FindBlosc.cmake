# Blosc::Blosc, which has no CMake files of its own in Debian.
find_path(Blosc_INCLUDE_DIR blosc.h)
find_library(Blosc_LIBRARY blosc)
mark_as_advanced(Blosc_INCLUDE_DIR Blosc_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Blosc REQUIRED_VARS Blosc_LIBRARY Blosc_INCLUDE_DIR)

if(Blosc_FOUND AND NOT TARGET Blosc::Blosc)
  add_library(Blosc::Blosc UNKNOWN IMPORTED)
  set_target_properties(Blosc::Blosc PROPERTIES IMPORTED_LOCATION ${Blosc_LIBRARY}
                                            INTERFACE_INCLUDE_DIRECTORIES ${Blosc_INCLUDE_DIR})
endif()
