// A host's codes and passes in a file, without the host.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <memory>
#include <string>

#include "parlor/host/access_store.h"
#include "parlor/host/sqlite_access_store.h"

int main() {
  std::string folder =
      (std::filesystem::temp_directory_path() / "parlor-test-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return 1;
  auto store = parlor::host::SqliteAccessStore::Open(folder + "/access.db");
  if (!store.ok()) return 1;
  auto answer = std::make_shared<std::promise<parlor::host::PassAnswer>>();
  (*store)->UsePass({.pass = 1, .expires_s = 4'000'000'000},
                    [answer](auto value) { answer->set_value(value); });
  if (answer->get_future().get() == parlor::host::PassAnswer::kLetIn) {
    std::puts("a device is let in");
  }
  store->reset();
  std::filesystem::remove_all(folder);
  return 0;
}
