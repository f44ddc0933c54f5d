# One function a kind of target. Flags belong to our targets, never to the
# embedder's.

# Warnings and language rules every target of ours is built with.
function(parlor_compile_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  # Contracted floating point differs between compilers, and rooms must not.
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
    -Wold-style-cast -Wimplicit-fallthrough -ffp-contract=off
    $<$<BOOL:${PARLOR_WERROR}>:-Werror>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # They see overlaps and overflows in std::string that are not there (GCC bugs
    # 105329 and 105651).
    target_compile_options(${target} PRIVATE
      -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds)
  endif()
endfunction()

# parlor_library(core SOURCES a.cc ... [HEADERS parlor/a.h ...]
#                [WITHOUT parlor/b ...] [LINKS lib ...])
# makes parlor_core, alias parlor::core, installed as parlor::core. HEADERS,
# below include/: those that are installed with it, where the folder holds
# another library's as well, which may not be built; all of them by default,
# but what is below the folders WITHOUT.
function(parlor_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;HEADERS;WITHOUT;LINKS" ${ARGN})
  set(target parlor_${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  add_library(parlor::${name} ALIAS ${target})
  parlor_compile_options(${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${target} PUBLIC ${ARG_LINKS})
  if(PARLOR_INSTALL)
    install(TARGETS ${target} EXPORT parlor-targets
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    if(NOT ARG_HEADERS)
      set(without "")
      foreach(folder ${ARG_WITHOUT})
        list(APPEND without REGEX "/include/${folder}$" EXCLUDE)
      endforeach()
      install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
              ${without})
    endif()
    foreach(header ${ARG_HEADERS})
      cmake_path(GET header PARENT_PATH folder)
      install(FILES include/${header}
              DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
    endforeach()
  endif()
endfunction()

# parlor_executable(parlor-solo SOURCES main.cc ... LINKS lib ... [INSTALL])
function(parlor_executable name)
  cmake_parse_arguments(ARG "INSTALL" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  parlor_compile_options(${name})
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS})
  if(ARG_INSTALL AND PARLOR_INSTALL)
    install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endfunction()

# What applies when parlor is the project being built, not a part of another.
macro(parlor_own_build)
  if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
  endif()
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  find_program(PARLOR_CCACHE ccache)
  if(PARLOR_CCACHE)
    # Paths below the base directory are hashed relative, so a second clone
    # finds what the first one compiled.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
        CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
        CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
        ${PARLOR_CCACHE})
  endif()
endmacro()

# The package: find_package(parlor) gives the targets that were installed.
function(parlor_install_package)
  if(NOT PARLOR_INSTALL)
    return()
  endif()
  include(CMakePackageConfigHelpers)
  set(destination ${CMAKE_INSTALL_LIBDIR}/cmake/parlor)
  install(EXPORT parlor-targets NAMESPACE parlor:: DESTINATION ${destination})
  configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/core/cmake/parlor-config.cmake.in
    ${PROJECT_BINARY_DIR}/parlor-config.cmake
    INSTALL_DESTINATION ${destination})
  write_basic_package_version_file(
    ${PROJECT_BINARY_DIR}/parlor-config-version.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/parlor-config.cmake
                ${PROJECT_BINARY_DIR}/parlor-config-version.cmake
          DESTINATION ${destination})
endfunction()
