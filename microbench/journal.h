// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "microbench/campaign.h"

namespace warpmeter {

// What is finished of a run, on disk after every campaign, so that a killed run loses one campaign
// at the most and --resume goes on. One JSON document a line; the first line describes the job. A
// cut last line is the campaign that was being written.
class Journal {
 public:
  // Whether to go on with a journal that is there, to discard it, or to refuse.
  enum class Existing { refuse, resume, discard };

  // `job` must be equal for a journal to be continued: device, effort, campaigns, program version.
  // Throws InputError if the file cannot be written, belongs to another job, or exists and
  // `existing` says refuse.
  Journal(std::filesystem::path file, const Json& job, Existing existing);

  // Campaigns of a point that an earlier run finished.
  const std::vector<Campaign>& finished(const std::string& id) const;

  void append(const std::string& id,
              const Campaign& campaign);  // Throws InputError if the disk is full.
  void remove();                          // when the document is written

 private:
  void load(const Json& job);

  std::filesystem::path file_;
  std::map<std::string, std::vector<Campaign>> finished_;
};

}  // namespace warpmeter
