// What 'parlor-host invite' and 'parlor-host pass' do, once their words are
// read: they change and show the file that --access names, which a running host
// looks at every second.
//
// A code or a pass that is made is all of stdout, a line each; what there is to
// say about it is on stderr, so that stdout may be piped. Nothing shows it
// again: the file has hashes of codes, and passes are signed, not kept.
#ifndef PARLOR_HOST_PROGRAM_ACCESS_COMMANDS_H_
#define PARLOR_HOST_PROGRAM_ACCESS_COMMANDS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "parlor/entropy.h"
#include "program/merger.h"
#include "program/options.h"
#include "program/settings.h"

namespace parlor::host_program {

struct Call {
  // The command's own flags that were given, by their names without dashes:
  // "for", "count", "days", "devices".
  std::map<std::string_view, std::string> own;
  std::string operand;  // ID or FILE, of those that take one
  Settings settings;    // of the rows that the command takes, and of --config
  Places places;
  std::int64_t now_s = 0;  // since 1970
};

// Each ends with kExitOk; kExitRefused: a flag, a file or a label will not do;
// kExitFailed: no such id, the disk, another process that keeps the file
// locked. Nothing has changed then, except by NewInvites, whose output is what
// was made before that.
Exit NewInvites(const Call& call, Entropy& entropy);
Exit ListInvites(const Call& call, Entropy& entropy);
Exit RevokeInvite(const Call& call, Entropy& entropy);
Exit NewPass(const Call& call, Entropy& entropy);
Exit ListPasses(const Call& call, Entropy& entropy);
Exit RevokePass(const Call& call, Entropy& entropy);
Exit NewPassSecret(const Call& call, Entropy& entropy);

}  // namespace parlor::host_program

#endif  // PARLOR_HOST_PROGRAM_ACCESS_COMMANDS_H_
