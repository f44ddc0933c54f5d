#include "coins.h"
#include "parlor/host/program.h"

int main(int argc, char** argv) {
  return parlor::host::RunProgram(
      argc, argv,
      {authority::MakeHostedGame("coins", kCoinsOptions, MakeCoins)});
}
