# Libraries made by others, as imported targets; imported targets' headers count as system headers.
#   Vips::vips          libvips as sharp's npm packages ship it
#   openvino::runtime   a system OpenVINO when CMake finds one, else the one scripts/openvino.mjs fetched
#   TensorRT::headers   and LATTICE_HAS_CUDA, where CUDA and TensorRT are found: see cuda_dependencies.cmake
# LATTICE_RUNTIME_DIRS lists the folders that the addon must find at run time.

if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(lattice_npm_platform linux-arm64)
else()
  set(lattice_npm_platform linux-x64)
endif()

set(lattice_img ${CMAKE_SOURCE_DIR}/node_modules/@img)
set(lattice_vips_headers ${lattice_img}/sharp-libvips-dev/include)
set(lattice_vips_libs ${lattice_img}/sharp-libvips-${lattice_npm_platform}/lib)
file(GLOB lattice_vips_library ${lattice_vips_libs}/libvips-cpp.so.*)
if(NOT lattice_vips_library OR NOT EXISTS ${lattice_vips_headers}/vips/vips.h)
  message(FATAL_ERROR "libvips is missing from node_modules/@img. Run `npm ci` first.")
endif()
add_library(Vips::vips SHARED IMPORTED GLOBAL)
set_target_properties(Vips::vips PROPERTIES
  IMPORTED_LOCATION ${lattice_vips_library}
  INTERFACE_INCLUDE_DIRECTORIES
    "${lattice_vips_headers};${lattice_vips_headers}/glib-2.0;${lattice_vips_libs}/glib-2.0/include")
set(LATTICE_RUNTIME_DIRS ${lattice_vips_libs})

find_package(OpenVINO QUIET COMPONENTS Runtime ONNX)
if(OpenVINO_FOUND)
  message(STATUS "OpenVINO ${OpenVINO_VERSION} of the system: ${OpenVINO_DIR}")
else()
  # The wheel's own CMake files require every library of the wheel, and most of them are left out here.
  set(lattice_openvino ${CMAKE_SOURCE_DIR}/.deps/openvino)
  file(GLOB lattice_openvino_library ${lattice_openvino}/libs/libopenvino.so.*)
  if(NOT lattice_openvino_library)
    message(FATAL_ERROR "OpenVINO is missing. Run `npm run setup` (it fetches OpenVINO into .deps).")
  endif()
  add_library(openvino::runtime SHARED IMPORTED GLOBAL)
  set_target_properties(openvino::runtime PROPERTIES
    IMPORTED_LOCATION ${lattice_openvino_library}
    INTERFACE_INCLUDE_DIRECTORIES ${lattice_openvino}/include
    INTERFACE_COMPILE_DEFINITIONS _GLIBCXX_USE_CXX11_ABI=1)
  list(APPEND LATTICE_RUNTIME_DIRS ${lattice_openvino}/libs)
endif()

include(${CMAKE_CURRENT_LIST_DIR}/cuda_dependencies.cmake)
