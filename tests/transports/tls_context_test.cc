// What is wrong with the files of certificates and keys is said by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "parlor/transports/tls.h"
#include "support/files.h"
#include "support/status_matchers.h"
#include "support/test_certificate.h"

namespace parlor::test {
namespace {

using absl::StatusCode;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// `key` as PEM in a file, with a passphrase or without.
std::string WriteKey(const TempFolder& folder, EVP_PKEY* key,
                     const EVP_CIPHER* cipher) {
  std::string path = folder.Write("other.key", "");
  BIO* const file = BIO_new_file(path.c_str(), "w");
  char passphrase[] = "secret";
  EXPECT_EQ(PEM_write_bio_PrivateKey(file, key, cipher, nullptr, 0, nullptr,
                                     passphrase),
            1);
  BIO_free(file);
  EVP_PKEY_free(key);
  return path;
}

class TlsFiles : public testing::Test {
 protected:
  // Expects that `files` are refused with `path` and `what`, and no more.
  static void Refused(const TlsServerFiles& files, const std::string& path,
                      std::string_view what) {
    SCOPED_TRACE(what);
    Expect(TlsServer::FromFiles(files), path, what);
  }
  static void CaRefused(const std::string& path, std::string_view what) {
    SCOPED_TRACE(what);
    Expect(TlsClient::Create({.ca_path = path}), path, what);
    // A wrong path is one also where nothing is verified.
    Expect(TlsClient::Create({.ca_path = path, .verify = false}), path, what);
  }

  TestAuthority authority_;
  const TempFolder& folder_ = authority_.folder();
  TlsServerFiles good_ = authority_.IssueLocal();
  const std::string missing_ = folder_.At("missing.pem");
  const std::string text_ = folder_.Write("text.pem", "no PEM at all\n");
  const std::string empty_ = folder_.Write("empty.pem", "");

 private:
  template <typename Result>
  static void Expect(const Result& result, const std::string& path,
                     std::string_view what) {
    EXPECT_THAT(result,
                StatusIs(StatusCode::kInvalidArgument,
                         AllOf(StartsWith(path + ": " + std::string(what)),
                               Not(HasSubstr("\n")), Not(HasSubstr("BEGIN")))));
    EXPECT_EQ(ERR_peek_error(), 0u);
  }
};

TEST_F(TlsFiles, GoodOnesAreTaken) {
  EXPECT_THAT(TlsServer::FromFiles(good_), IsOk());
  EXPECT_THAT(TlsClient::Create({.ca_path = authority_.path()}), IsOk());
  EXPECT_THAT(TlsClient::Create({}), IsOk());
  EXPECT_EQ(ERR_peek_error(), 0u);
}

TEST_F(TlsFiles, WrongCertificates) {
  const auto refused = [&](const std::string& path, std::string_view what) {
    Refused({path, good_.key_path}, path, what);
    CaRefused(path, what);
  };
  refused(missing_, "cannot be read: No such file or directory");
  refused(text_, "holds no certificate in PEM form");
  refused(empty_, "holds no certificate in PEM form");
  refused(good_.key_path, "holds no certificate in PEM form");
  refused(std::filesystem::path(missing_).parent_path().string(),
          "is a directory");
  const std::string good = ReadFile(good_.certificate_path);
  refused(folder_.Write("cut.pem", good.substr(0, good.size() / 2)),
          "certificate 1 in it is damaged: ");
  refused(folder_.Write("second.pem", good + good.substr(0, 100)),
          "certificate 2 in it is damaged: ");
  std::string changed = good;
  changed.replace(changed.find('\n') + 1, 8, "AAAAAAAA");
  refused(folder_.Write("changed.pem", changed),
          "certificate 1 in it is damaged: ");
}

TEST_F(TlsFiles, WrongKeys) {
  const auto refused = [&](const std::string& path, std::string_view what) {
    Refused({good_.certificate_path, path}, path, what);
  };
  const std::string none = "holds no private key in PEM form, or a damaged one";
  refused(missing_, "cannot be read: No such file or directory");
  refused(text_, none);
  refused(good_.certificate_path, none);
  const std::string good = ReadFile(good_.key_path);
  refused(folder_.Write("cut.key", good.substr(0, good.size() / 2)), none);
  const std::string fit = "does not fit the certificate in ";
  refused(authority_.IssueLocal().key_path, fit + good_.certificate_path);
  refused(WriteKey(folder_, EVP_RSA_gen(2048), nullptr),
          fit + good_.certificate_path);
  refused(WriteKey(folder_, EVP_EC_gen("P-256"), EVP_aes_128_cbc()),
          "is encrypted; a key without passphrase is needed");
}

}  // namespace
}  // namespace parlor::test
