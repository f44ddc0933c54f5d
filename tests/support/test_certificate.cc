#include "support/test_certificate.h"

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "parlor/check.h"
#include "parlor/transports/tls.h"

namespace parlor::test {
namespace {

constexpr long kDaySeconds = 24 * 60 * 60;

int Write(BIO* bio, X509* certificate) {
  return PEM_write_bio_X509(bio, certificate);
}
int Write(BIO* bio, EVP_PKEY* key) {
  return PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr,
                                  nullptr);
}

template <typename T>
std::string PemOf(T* object) {
  BIO* const bio = BIO_new(BIO_s_mem());
  PARLOR_CHECK(Write(bio, object) == 1);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  std::string text(bytes, static_cast<std::size_t>(size));
  BIO_free(bio);
  return text;
}

void AddExtension(X509* certificate, X509* issuer, int kind,
                  const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension =
      X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  PARLOR_CHECK(extension != nullptr);
  PARLOR_CHECK(X509_add_ext(certificate, extension, -1) == 1);
  X509_EXTENSION_free(extension);
}

}  // namespace

TestAuthority::TestAuthority(std::string_view name, TestAuthority* parent)
    : key_(NewKey()) {
  const TestAuthority& signer = parent == nullptr ? *this : *parent;
  certificate_ = Make({.common_name = std::string(name)}, key_.get(),
                      signer.certificate_.get(), signer.key_.get(), true);
  const std::string pem = PemOf(certificate_.get());
  folder_.Write("authority.pem", pem);
  if (parent != nullptr) chain_ = pem + parent->chain_;
}

TestAuthority::~TestAuthority() = default;

TestAuthority::Key TestAuthority::NewKey() {
  Key key(EVP_EC_gen("P-256"));
  PARLOR_CHECK(key != nullptr);
  return key;
}

TlsServerFiles TestAuthority::Issue(const TestCertificate& what) {
  const Key key = NewKey();
  const Certificate certificate =
      what.self_signed
          ? Make(what, key.get(), nullptr, key.get(), false)
          : Make(what, key.get(), certificate_.get(), key_.get(), false);
  const std::string name = std::to_string(serial_);
  return {folder_.Write(name + ".pem", PemOf(certificate.get()) + chain_),
          folder_.Write(name + ".key", PemOf(key.get()))};
}

TestAuthority::Certificate TestAuthority::Make(const TestCertificate& what,
                                               EVP_PKEY* subject, X509* issuer,
                                               EVP_PKEY* signer,
                                               bool authority) {
  Certificate made(X509_new());
  X509* const raw = made.get();
  if (issuer == nullptr) issuer = raw;
  PARLOR_CHECK(X509_set_version(raw, X509_VERSION_3) == 1);
  ASN1_INTEGER_set(X509_get_serialNumber(raw), ++serial_);
  // A day into the past, in case a clock is wrong.
  X509_gmtime_adj(X509_getm_notBefore(raw), -2 * kDaySeconds);
  X509_gmtime_adj(X509_getm_notAfter(raw),
                  what.expired ? -kDaySeconds : kDaySeconds);
  PARLOR_CHECK(
      X509_NAME_add_entry_by_txt(
          X509_get_subject_name(raw), "CN", MBSTRING_UTF8,
          reinterpret_cast<const unsigned char*>(what.common_name.c_str()), -1,
          -1, 0) == 1);
  X509_set_issuer_name(raw, X509_get_subject_name(issuer));
  X509_set_pubkey(raw, subject);
  AddExtension(raw, issuer, NID_basic_constraints,
               authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
  if (!what.alternative_names.empty()) {
    AddExtension(raw, issuer, NID_subject_alt_name, what.alternative_names);
  }
  PARLOR_CHECK(X509_sign(raw, signer, EVP_sha256()) > 0);
  return made;
}

}  // namespace parlor::test
