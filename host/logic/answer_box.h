// AnswerBox: brings what an access store says, on whatever thread, to the loop
// of whoever asked, for as long as there is one. Outlives both.
#ifndef PARLOR_HOST_LOGIC_ANSWER_BOX_H_
#define PARLOR_HOST_LOGIC_ANSWER_BOX_H_

#include <functional>
#include <mutex>
#include <utility>

namespace parlor::host {

class AnswerBox {
 public:
  // Runs a task in a later turn of the loop; called from any thread.
  using Post = std::function<void(std::function<void()> task)>;

  explicit AnswerBox(Post post) : post_(std::move(post)) {}

  void Put(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    if (post_) post_(std::move(task));
  }
  // Before the loop ends.
  void Shut() {
    const std::lock_guard lock(mutex_);
    post_ = nullptr;
  }

 private:
  std::mutex mutex_;
  Post post_;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_LOGIC_ANSWER_BOX_H_
