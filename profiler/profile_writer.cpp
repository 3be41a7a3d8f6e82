// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "profiler/profile_writer.h"

#include <fmt/format.h>
#include <unistd.h>

#include "core/error.h"
#include "profiler/writer_state.h"

namespace warpmeter {

ProfileWriter::ProfileWriter(const std::filesystem::path& file, const ProfileHeader& header)
    : state_(std::make_unique<State>(file)) {
  try {
    state_->connection = sqlite::Connection(state_->file.partial(), sqlite::Mode::read_write);
    state_->create(header);
    state_->prepare();
  } catch (const sqlite::Error& error) {
    discard();
    throw InputError(fmt::format("cannot write {}: {}; free space or write elsewhere",
                                 file.string(), error.what()));
  }
}

ProfileWriter::~ProfileWriter() {
  // In a forked child, closing would roll the parent's transaction back: the copy is leaked.
  if (state_ && ::getpid() != state_->owner) (void)state_.release();
}

void ProfileWriter::discard() {
  const std::string name = state_->file.partial().string();
  state_.reset();
  ::unlink(name.c_str());
  ::unlink((name + "-journal").c_str());
}

void ProfileWriter::set_provenance(const Json& provenance) {
  State& state = *state_;
  if (!state.failure.empty()) return;
  try {
    state.put_meta("provenance", provenance);
  } catch (const sqlite::Error& error) {
    state.break_off(error);
  }
}

void ProfileWriter::flush() {
  State& state = *state_;
  if (!state.failure.empty()) return;
  try {
    state.connection.execute("COMMIT; BEGIN;");
    state.unflushed.fill(0);
    state.unflushed_ends = 0;
  } catch (const sqlite::Error& error) {
    state.break_off(error);
  }
}

void ProfileWriter::finish() {
  State& state = *state_;
  if (state.finished) throw std::logic_error("a profile is finished once");
  flush();
  try {
    if (state.failure.empty()) {
      state.put_meta("complete", true);
      state.connection.execute("DROP TABLE reserve;" + create_indexes_sql() + "COMMIT;");
    }
  } catch (const sqlite::Error& error) {
    state.break_off(error);
  }
  try {
    if (!state.failure.empty()) {
      state.write_losses();
      state.connection.execute("COMMIT");
    }
    state.close();
  } catch (const sqlite::Error& error) {
    throw InputError(fmt::format("cannot complete {}: {}; what was flushed is in {}",
                                 state.file.target().string(), error.what(),
                                 state.file.partial().string()));
  }
  state.finished = true;
  state.file.commit();
}

const std::string& ProfileWriter::failure() const { return state_->failure; }

const std::map<std::string, std::int64_t, std::less<>>& ProfileWriter::lost() const {
  return state_->lost;
}

sqlite::Connection& ProfileWriter::connection() { return state_->connection; }

}  // namespace warpmeter
