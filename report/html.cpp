// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "report/html.h"

#include <fmt/format.h>

namespace warpmeter {

std::string escape_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string json_in_script(const Json& document) {
  const std::string text = document.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      out += "\\u003c";  // "<" occurs only inside JSON strings, where the escape means the same
    } else {
      out += c;
    }
  }
  return out;
}

std::string code(std::string_view text) {
  std::string out = "<code>";
  for (const char c : text) {
    out += escape_html(std::string_view(&c, 1));
    if (c == '.' || c == ',' || c == '/') out += "<wbr>";
  }
  return out + "</code>";
}

std::string badge(std::string_view kind, std::string_view text) {
  return fmt::format("<span class=\"badge {}\">{}</span>", kind, escape_html(text));
}

std::string paragraph(std::string_view css_class, std::string_view html) {
  return fmt::format("<p class=\"{}\">{}</p>\n", css_class, html);
}

std::string html_table(const std::vector<std::string>& header,
                       const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::string_view> css_class;
  std::string out = "<div class=\"scroll\"><table>\n<thead><tr>";
  for (std::string_view title : header) {
    const bool numeric = title.ends_with('>');
    if (numeric) title.remove_suffix(1);
    css_class.push_back(numeric ? " class=\"num\"" : "");
    out += fmt::format("<th scope=\"col\"{}>{}</th>", css_class.back(), title);
  }
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : rows) {
    if (row.size() == 1) {
      out += fmt::format("<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"{}\">{}</th></tr>\n",
                         header.size(), row.front());
      continue;
    }
    out += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += fmt::format("<td{}>{}</td>", i < css_class.size() ? css_class[i] : "", row[i]);
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

}  // namespace warpmeter
