# `cpack -G DEB` makes a Debian package of what `cmake --install` installs; scripts/package does both steps.
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE RENAME copyright DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tacho)

set(CPACK_GENERATOR DEB)
# Not the torch engine, which would bring libtorch to whoever installs tacho.
set(CPACK_INSTALL_CMAKE_PROJECTS ${CMAKE_BINARY_DIR} ${PROJECT_NAME} tacho /)
set(CPACK_PACKAGE_NAME tacho)
set(CPACK_PACKAGE_CONTACT "tacho maintainers <maintainers@tacho.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "benchmark of deep learning on this machine")
set(CPACK_PACKAGE_DESCRIPTION
"Trains and runs the networks people use to judge hardware (SqueezeNet, VGG,
ResNet, DenseNet, Inception v3, 3D U-Net) on the CPU and tells how fast, how
it scales with batch size and threads, how much of the machine's peak it
reaches and how much memory it takes. Published results to compare with are
part of the program.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS openmpi-bin)  # which starts several devices
include(CPack)
