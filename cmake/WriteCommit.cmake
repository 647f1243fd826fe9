# cmake -DSOURCE=... -DHEADER=... -P WriteCommit.cmake: the commit that is being built, empty outside a checkout.
# Runs with every build, and touches the header only when the commit is another one.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --exclude=*
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE no_commit)
if(no_commit)
  set(commit "")
endif()
file(CONFIGURE OUTPUT ${HEADER} @ONLY CONTENT [[#pragma once

namespace tacho {

inline constexpr const char* kCommit = "@commit@";

}  // namespace tacho
]])
