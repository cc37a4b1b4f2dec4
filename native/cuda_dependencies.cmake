# The NVIDIA side, which a machine may lack: the CUDA toolkit and TensorRT's headers.
#   LATTICE_CUDA        AUTO takes what is there, ON requires them, OFF does not look
#   TensorRT::headers   NvInfer.h and NvOnnxParser.h; the libraries are opened at run time and never linked
# Sets LATTICE_HAS_CUDA; where it is ON, language CUDA is enabled and CUDA::cudart_static exists.

set(LATTICE_CUDA AUTO CACHE STRING "Build the TensorRT engine: AUTO (where CUDA and TensorRT are found), ON or OFF")
set_property(CACHE LATTICE_CUDA PROPERTY STRINGS AUTO ON OFF)
if(NOT LATTICE_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "LATTICE_CUDA is '${LATTICE_CUDA}'; it may be AUTO, ON or OFF.")
endif()

# Kept, so that a build which configures itself again finds the same.
set(TENSORRT_ROOT "" CACHE PATH "Where TensorRT lies, when not where NVIDIA's packages put it")
if(NOT TENSORRT_ROOT AND DEFINED ENV{TENSORRT_ROOT})
  set_property(CACHE TENSORRT_ROOT PROPERTY VALUE "$ENV{TENSORRT_ROOT}")
endif()

set(LATTICE_HAS_CUDA OFF)
set(lattice_cuda_missing "")

# A tree of NVIDIA's PyPI wheels is a toolkit too: CUDAToolkit_ROOT or CMAKE_CUDA_COMPILER points at it.
macro(lattice_find_cuda)
  if(CMAKE_CUDA_COMPILER AND NOT CUDAToolkit_ROOT AND NOT DEFINED ENV{CUDAToolkit_ROOT})
    get_filename_component(CUDAToolkit_ROOT "${CMAKE_CUDA_COMPILER}/../.." ABSOLUTE)
  elseif(DEFINED ENV{CUDACXX} AND NOT CUDAToolkit_ROOT AND NOT DEFINED ENV{CUDAToolkit_ROOT})
    get_filename_component(CUDAToolkit_ROOT "$ENV{CUDACXX}/../.." ABSOLUTE)
  endif()
  find_package(CUDAToolkit 12.0 QUIET)
  if(CUDAToolkit_FOUND AND TARGET CUDA::cudart_static)
    if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
      set(ENV{CUDACXX} "${CUDAToolkit_NVCC_EXECUTABLE}")
    endif()
    include(CheckLanguage)
    check_language(CUDA)
  endif()
  if(NOT CUDAToolkit_FOUND OR NOT TARGET CUDA::cudart_static)
    set(lattice_cuda_missing
      "no CUDA toolkit from 12.0 on (install NVIDIA's cuda-toolkit, or set CUDAToolkit_ROOT to one)")
  elseif(NOT CMAKE_CUDA_COMPILER)
    set(lattice_cuda_missing
      "nvcc at ${CUDAToolkit_BIN_DIR} does not work (install NVIDIA's cuda-nvcc and a C++ compiler that it supports)")
  endif()
endmacro()

# TENSORRT_ROOT wins over the places where NVIDIA's packages and archives put the headers.
function(lattice_find_tensorrt)
  file(GLOB unpacked /usr/local/tensorrt*/include /usr/local/TensorRT*/include)
  unset(lattice_tensorrt_include CACHE)
  if(TENSORRT_ROOT)
    find_path(lattice_tensorrt_include NvInfer.h NO_DEFAULT_PATH
      PATHS ${TENSORRT_ROOT}/include ${TENSORRT_ROOT}
        ${TENSORRT_ROOT}/include/${CMAKE_SYSTEM_PROCESSOR}-linux-gnu)
  else()
    find_path(lattice_tensorrt_include NvInfer.h NO_DEFAULT_PATH
      PATHS /usr/include/${CMAKE_SYSTEM_PROCESSOR}-linux-gnu /usr/include ${unpacked}
        /opt/tensorrt/include)
  endif()
  mark_as_advanced(lattice_tensorrt_include)
  set(get "install NVIDIA's libnvinfer-headers-dev and libnvonnxparsers-dev, or set TENSORRT_ROOT")
  if(NOT lattice_tensorrt_include)
    if(TENSORRT_ROOT)
      string(PREPEND get "TENSORRT_ROOT is ${TENSORRT_ROOT}; ")
    endif()
    set(lattice_cuda_missing "no TensorRT headers (${get})" PARENT_SCOPE)
    return()
  elseif(NOT EXISTS ${lattice_tensorrt_include}/NvOnnxParser.h)
    set(lattice_cuda_missing "no NvOnnxParser.h beside ${lattice_tensorrt_include}/NvInfer.h (${get})" PARENT_SCOPE)
    return()
  endif()
  # From 10.7 on NV_TENSORRT_MAJOR is spelt as another macro, which then holds the number.
  file(READ ${lattice_tensorrt_include}/NvInferVersion.h text)
  set(version "")
  foreach(part MAJOR MINOR)
    if(text MATCHES "define (NV_TENSORRT_${part}|TRT_${part}_ENTERPRISE) ([0-9]+)")
      list(APPEND version ${CMAKE_MATCH_2})
    else()
      list(APPEND version 0)
    endif()
  endforeach()
  list(JOIN version . version)
  if(version VERSION_LESS 10.6 OR NOT version VERSION_LESS 12)
    set(lattice_cuda_missing
      "TensorRT ${version} at ${lattice_tensorrt_include} is neither 10 (from 10.6 on) nor 11 (${get})" PARENT_SCOPE)
    return()
  endif()
  add_library(TensorRT::headers INTERFACE IMPORTED GLOBAL)
  set_target_properties(TensorRT::headers PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES ${lattice_tensorrt_include}
    INTERFACE_LINK_LIBRARIES CUDA::toolkit)
  set(LATTICE_TENSORRT_VERSION ${version} PARENT_SCOPE)
endfunction()

# Machine code for every generation that this toolkit knows and TensorRT serves. 9.0 and the newest also as PTX, which
# the driver compiles for what lies between and comes after.
function(lattice_default_architectures out)
  set(list 75-real 80-real 86-real 89-real 90)
  if(NOT CUDAToolkit_VERSION VERSION_LESS 12.8)
    list(APPEND list 100-real 120)
  endif()
  set(${out} ${list} PARENT_SCOPE)
endfunction()

if(LATTICE_CUDA STREQUAL "OFF")
  message(STATUS "CUDA: left out: LATTICE_CUDA is OFF")
else()
  lattice_find_cuda()
  if(NOT lattice_cuda_missing)
    lattice_find_tensorrt()
  endif()
  if(NOT lattice_cuda_missing)
    if(NOT CMAKE_CUDA_ARCHITECTURES)
      lattice_default_architectures(CMAKE_CUDA_ARCHITECTURES)
    endif()
    if(NOT CMAKE_CUDA_HOST_COMPILER)
      set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
    endif()
    enable_language(CUDA)
    # CMake before 3.26 does not know that nvcc has C++20.
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    endif()
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    set(CMAKE_CUDA_EXTENSIONS OFF)
    set(CMAKE_CUDA_FLAGS_RELEASE "-O3 -DNDEBUG")
    set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
    set(LATTICE_HAS_CUDA ON)
    message(STATUS "CUDA: ${CUDAToolkit_VERSION} with the headers of TensorRT ${LATTICE_TENSORRT_VERSION}")
  elseif(LATTICE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "CUDA: left out: ${lattice_cuda_missing}")
  else()
    message(STATUS "CUDA: left out: ${lattice_cuda_missing}")
  endif()
endif()
