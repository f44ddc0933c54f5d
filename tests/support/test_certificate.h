// Certificates that a test makes for itself: an authority, and what it signs.
// ECDSA on P-256, PEM files in a folder of their own that goes with the object.
#ifndef PARLOR_TESTS_SUPPORT_TEST_CERTIFICATE_H_
#define PARLOR_TESTS_SUPPORT_TEST_CERTIFICATE_H_

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>

#include "parlor/transports/tls.h"
#include "support/temp_folder.h"

namespace parlor::test {

struct TestCertificate {
  // As OpenSSL writes them: "DNS:localhost,IP:127.0.0.1". Empty: none.
  std::string alternative_names{};
  // The subject's, which nobody is to look at when a host is verified.
  std::string common_name = "parlor test";
  bool expired = false;
  bool self_signed = false;
};

class TestAuthority {
 public:
  // With `parent` an intermediate one: what it issues brings its certificate
  // along.
  explicit TestAuthority(std::string_view name = "parlor test authority",
                         TestAuthority* parent = nullptr);
  ~TestAuthority();

  // Its certificate: what a client has to trust.
  std::string path() const { return folder_.At("authority.pem"); }
  const TempFolder& folder() const { return folder_; }

  // Files of their own for each call.
  TlsServerFiles Issue(const TestCertificate& what);
  // For the hosts that tests connect to.
  TlsServerFiles IssueLocal() {
    return Issue({.alternative_names = "DNS:localhost,IP:127.0.0.1,IP:::1"});
  }

 private:
  struct Free {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    void operator()(X509* certificate) const { X509_free(certificate); }
  };
  using Key = std::unique_ptr<EVP_PKEY, Free>;
  using Certificate = std::unique_ptr<X509, Free>;

  static Key NewKey();
  // Signed by `signer`, which is `subject` itself for one's own.
  Certificate Make(const TestCertificate& what, EVP_PKEY* subject, X509* issuer,
                   EVP_PKEY* signer, bool authority);

  TempFolder folder_;
  long serial_ = 0;
  Key key_;
  Certificate certificate_;
  std::string chain_;  // behind a leaf, PEM
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_TEST_CERTIFICATE_H_
