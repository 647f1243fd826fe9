# Hdf5::Hdf5, the serial C library with the interface of 1.10, which later ones have too. CMake's own module asks for a C
# compiler.
find_path(Hdf5_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial)
find_library(Hdf5_LIBRARY NAMES hdf5_serial hdf5)
mark_as_advanced(Hdf5_INCLUDE_DIR Hdf5_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Hdf5 REQUIRED_VARS Hdf5_LIBRARY Hdf5_INCLUDE_DIR)

if(Hdf5_FOUND AND NOT TARGET Hdf5::Hdf5)
  add_library(Hdf5::Hdf5 UNKNOWN IMPORTED)
  set_target_properties(Hdf5::Hdf5 PROPERTIES IMPORTED_LOCATION ${Hdf5_LIBRARY}
                                              INTERFACE_INCLUDE_DIRECTORIES ${Hdf5_INCLUDE_DIR}
                                              INTERFACE_COMPILE_DEFINITIONS H5_USE_110_API)
endif()
