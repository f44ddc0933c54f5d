#include "secret_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <string_view>
#include <vector>

#include "support/temp_folder.h"

namespace parlor::solo {
namespace {

TEST(SecretFile, IsOneLineWithoutTheSpacesAroundIt) {
  const test::TempFolder files;
  for (const char* text : {"SUMMER-EVENING", "SUMMER-EVENING\n",
                           " SUMMER-EVENING\t\r\n", "\n\nSUMMER-EVENING\n\n"}) {
    SCOPED_TRACE(text);
    const auto secret = ReadSecretFile(files.Write("code", text));
    ASSERT_TRUE(secret.ok()) << secret.status();
    EXPECT_EQ(*secret, "SUMMER-EVENING");
  }
}

TEST(SecretFile, HasItsLimit) {
  const test::TempFolder files;
  const std::string most(kSecretMax, 'a');
  EXPECT_EQ(ReadSecretFile(files.Write("most", most)).value_or(""), most);
  const auto more = ReadSecretFile(files.Write("more", most + "\n"));
  EXPECT_TRUE(absl::IsInvalidArgument(more.status())) << more.status();
}

TEST(SecretFile, AFileThatIsNoneIsToldWithoutWhatItHolds) {
  const test::TempFolder files;
  ASSERT_EQ(mkfifo(files.At("fifo").c_str(), 0600), 0);
  const std::vector<std::string> paths = {
      files.Write("empty", ""), files.Write("spaces", " \r\n"),
      files.Write("two", "HUNTER2\nHUNTER3"), files.At("fifo"), files.At("")};
  for (const std::string& path : paths) {
    SCOPED_TRACE(path);
    const absl::Status status = ReadSecretFile(path).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_NE(status.message().find(path), absl::string_view::npos);
    EXPECT_EQ(status.message().find("HUNTER"), absl::string_view::npos);
  }
  EXPECT_TRUE(absl::IsNotFound(ReadSecretFile(files.At("missing")).status()));
}

}  // namespace
}  // namespace parlor::solo
