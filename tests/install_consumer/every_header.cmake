# every_header(consumer prefix): a source of the target that includes each
# header installed below the prefix, so that none needs what was not installed.
function(every_header target prefix)
  file(GLOB_RECURSE headers RELATIVE ${prefix}/include ${prefix}/include/*.h)
  if(NOT headers)
    message(FATAL_ERROR "no header was installed below ${prefix}/include")
  endif()
  list(TRANSFORM headers REPLACE "(.+)" "#include \"\\1\"\n")
  list(JOIN headers "" text)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/every_header.cc "${text}")
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/every_header.cc)
endfunction()
