#ifndef PARLOR_TESTS_SUPPORT_PRECOMPILED_H_
#define PARLOR_TESTS_SUPPORT_PRECOMPILED_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#endif  // PARLOR_TESTS_SUPPORT_PRECOMPILED_H_
