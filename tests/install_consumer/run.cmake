# See CMakeLists.txt. A failing command prints its output and fails the test.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result
                  OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}\nfailed: ${result}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(configure source build)
  run(${CMAKE_COMMAND} -S ${source} -B ${build} -G ${GENERATOR}
      -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_BUILD_TYPE=None
      "-DCMAKE_CXX_FLAGS=${FLAGS}" ${ARGN})
endfunction()

function(expect_output program expected)
  run(${program})
  if(NOT output STREQUAL expected)
    message(FATAL_ERROR "${program} printed:\n${output}")
  endif()
endfunction()

set(greeting "received hello\nclosed 1000\nclosed 1000\n")

# What is linked: the system's own and Abseil. Sanitizers bring more of the
# system's.
function(expect_system_and_abseil_only program)
  run(ldd ${program})
  string(REGEX MATCHALL "[^ \t\n/]+\\.so[^ \t\n]*" libraries "${output}")
  foreach(library ${libraries})
    if(NOT library MATCHES "^(linux-vdso|ld-linux-x86-64|ld-linux-aarch64|libc|libm|libdl|librt|libresolv|libpthread|libgcc_s|libstdc\\+\\+|libabsl_[a-z_0-9]+)\\.so")
      message(FATAL_ERROR "${program} links ${library}")
    endif()
  endforeach()
endfunction()

file(REMOVE_RECURSE ${WORK})
if(CCACHE)
  set(ENV{CMAKE_CXX_COMPILER_LAUNCHER} ${CCACHE})
  set(ENV{CCACHE_BASEDIR} ${SOURCE})
  set(ENV{CCACHE_NOHASHDIR} 1)
endif()

# Installed: the libraries without sockets and SQLite, as where OpenSSL, Asio and
# SQLite are missing, moved after that, since nothing in it may name the place it
# was installed to.
configure(${SOURCE} ${WORK}/library
  -DPARLOR_BUILD_SOCKETS=OFF -DPARLOR_BUILD_SQLITE=OFF
  -DPARLOR_BUILD_AUTHORITY=${AUTHORITY}
  -DPARLOR_BUILD_SOLO=OFF -DPARLOR_BUILD_TESTS=OFF -DPARLOR_BUILD_BENCH=OFF
  -DCMAKE_INSTALL_PREFIX=${WORK}/first)
run(${CMAKE_COMMAND} --build ${WORK}/library)
run(${CMAKE_COMMAND} --install ${WORK}/library)
file(RENAME ${WORK}/first ${WORK}/prefix)

# What is not built has no header there.
function(expect_headers folder)
  file(GLOB headers RELATIVE ${folder} ${folder}/*)
  if(NOT headers STREQUAL "${ARGN}")
    message(FATAL_ERROR "installed in ${folder}: ${headers}")
  endif()
endfunction()
set(logic_headers access_store.h address.h local_connector.h
  memory_room_store.h os_entropy.h play_room.h room_records.h room_store.h
  shard.h)
expect_headers(${WORK}/prefix/include/parlor/transports memory_pipe.h
  stream_options.h)
expect_headers(${WORK}/prefix/include/parlor/host ${logic_headers})
expect_headers(${WORK}/prefix/include/parlor/sim network.h)

file(GLOB_RECURSE exports ${WORK}/prefix/*/parlor-targets*.cmake)
if(NOT exports)
  message(FATAL_ERROR "no CMake package was installed")
endif()
foreach(export ${exports})
  file(STRINGS ${export} lines REGEX "INTERFACE_LINK_LIBRARIES")
  string(REGEX REPLACE "INTERFACE_LINK_LIBRARIES|[\" ]" ";" links "${lines}")
  string(REGEX REPLACE "\\$<LINK_ONLY:([^>]*)>" "\\1" links "${links}")
  foreach(link ${links})
    if(NOT link MATCHES "^(absl|parlor|Threads)::")
      message(FATAL_ERROR "the package needs ${link}")
    endif()
  endforeach()
endforeach()

configure(${CMAKE_CURRENT_LIST_DIR}/installed ${WORK}/installed
  -DCMAKE_PREFIX_PATH=${WORK}/prefix -DAUTHORITY=${AUTHORITY}
  -DGAME=${SOURCE}/tests/readme/coins_example.cc)
run(${CMAKE_COMMAND} --build ${WORK}/installed)
expect_output(${WORK}/installed/consumer "${greeting}")
expect_system_and_abseil_only(${WORK}/installed/consumer)
expect_output(${WORK}/installed/sim_consumer "${greeting}")
expect_system_and_abseil_only(${WORK}/installed/sim_consumer)
if(AUTHORITY)
  expect_output(${WORK}/installed/authority_consumer "3 coins\n")
  expect_system_and_abseil_only(${WORK}/installed/authority_consumer)
endif()

# Embedded: a part of the consumer's own build.
configure(${CMAKE_CURRENT_LIST_DIR}/embedded ${WORK}/embedded
  -DPARLOR=${SOURCE})
run(${CMAKE_COMMAND} --build ${WORK}/embedded --target consumer)
expect_output(${WORK}/embedded/consumer "${greeting}")

function(install_network_library sqlite)
  configure(${SOURCE} ${WORK}/network_library
    -DPARLOR_BUILD_SQLITE=${sqlite} -DPARLOR_BUILD_AUTHORITY=${AUTHORITY}
    -DPARLOR_BUILD_HOST_PROGRAM=OFF -DPARLOR_BUILD_SOLO=OFF
    -DPARLOR_BUILD_TESTS=OFF -DPARLOR_BUILD_BENCH=OFF
    -DCMAKE_INSTALL_PREFIX=${WORK}/network_prefix)
  run(${CMAKE_COMMAND} --build ${WORK}/network_library)
  run(${CMAKE_COMMAND} --install ${WORK}/network_library)
endfunction()

# Installed with the libraries that are by default, for a program on the network;
# first as where SQLite is missing.
if(NETWORK)
  install_network_library(OFF)
  set(headers ${logic_headers} gate_options.h memory_access_store.h server.h)
  list(SORT headers)
  expect_headers(${WORK}/network_prefix/include/parlor/host ${headers})
  set(headers network.h testing.h world.h)
  if(AUTHORITY)
    list(APPEND headers player.h)
  endif()
  list(SORT headers)
  expect_headers(${WORK}/network_prefix/include/parlor/sim ${headers})
  if(SQLITE)
    install_network_library(ON)
  endif()
  configure(${CMAKE_CURRENT_LIST_DIR}/network ${WORK}/network
    -DCMAKE_PREFIX_PATH=${WORK}/network_prefix
    -DPROGRAM=${SOURCE}/tests/readme/network_example.cc
    -DGAME_TEST=${SOURCE}/tests/readme/sim_example.cc)
  run(${CMAKE_COMMAND} --build ${WORK}/network)
  expect_output(${WORK}/network/consumer "seated over a socket\nclosed 1000\n")
  expect_output(${WORK}/network/host_consumer
    "two seats\nclosed 1001\nclosed 1001\n")
  run(${WORK}/network/game_test)
  if(SQLITE)
    expect_output(${WORK}/network/sqlite_consumer "a device is let in\n")
  endif()
endif()
