#pragma once

#include <filesystem>
#include <string>

namespace tacho {

// Holds the path of a CallerSocket in the ranks that its process starts.
inline constexpr const char* kCallerVariable = "TACHO_CALLER";

// Where rank 0 finds the process that started the ranks: a socket in a folder of its own.
class CallerSocket {
 public:
  CallerSocket();
  ~CallerSocket();
  CallerSocket(const CallerSocket&) = delete;
  CallerSocket& operator=(const CallerSocket&) = delete;

  std::string path() const { return (folder_ / "caller").string(); }
  int descriptor() const { return socket_; }
  bool was_fetched() const { return connection_ >= 0; }
  // Gives this process's terminal to the rank 0 that asks for it.
  void hand_over();
  // What rank 0 left.
  std::string last_word() const;

 private:
  void end();

  std::filesystem::path folder_;
  int socket_ = -1, connection_ = -1;
};

// What rank 0 has of the process with the CallerSocket: its terminal, and a way to tell it something even
// while the launcher ends all ranks. Elsewhere nothing.
class Caller {
 public:
  // Standard input, output and error are the caller's from now on.
  Caller();
  ~Caller();
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  bool is_there() const { return connection_ >= 0; }
  // The line that the caller prints when all ranks have ended.
  void leave_word(const std::string& line) const;

 private:
  int connection_ = -1;
};

}  // namespace tacho
