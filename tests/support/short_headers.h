// A codec's two ways to begin a message, one beside the other.
#ifndef PARLOR_TESTS_SUPPORT_SHORT_HEADERS_H_
#define PARLOR_TESTS_SUPPORT_SHORT_HEADERS_H_

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <span>

#include "parlor/byte_io.h"
#include "parlor/lane.h"
#include "stream/codec.h"
#include "support/hex.h"

namespace parlor::test {

// Of a codec that has short headers: each is what WriteHeader writes.
inline void ExpectShortHeadersAsWritten(stream::Codec& codec) {
  const stream::ShortHeaders& headers = codec.short_headers();
  EXPECT_FALSE(codec.masks());
  EXPECT_GT(headers.size_end, 64);
  for (std::size_t size = 0; size < headers.size_end; ++size) {
    for (const MessageKind kind : {MessageKind::kText, MessageKind::kBinary}) {
      std::array<std::byte, sizeof(stream::ShortHeaders::Word)> word;
      StoreU32(word.data(), headers.WordOf(kind, size));
      std::array<std::byte, stream::kHeaderMax> written;
      const std::size_t written_size = codec.WriteHeader(
          kind == MessageKind::kText ? stream::FrameType::kText
                                     : stream::FrameType::kBinary,
          Lane::kReliable, size, written);
      EXPECT_EQ(Hex(std::span(word).first(headers.bytes)),
                Hex(std::span(written).first(written_size)))
          << "size " << size;
    }
  }
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_SHORT_HEADERS_H_
