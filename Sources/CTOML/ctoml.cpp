#include "ctoml.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// toml++ 3.3 meets some malformed text (a table header that does not begin with a key) with an assertion, which would
// abort in debug builds and be undefined behaviour with NDEBUG. Here it is one more syntax error.
struct malformed : std::logic_error {
  malformed() : std::logic_error("expected a key") {}
};
[[noreturn]] static void refuse() { throw malformed(); }
#undef NDEBUG
#define TOML_ASSERT(condition) ((condition) ? void() : refuse())
#define TOML_EXCEPTIONS 1
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

struct ctoml_document {
  toml::table root;
  std::vector<ctoml_node> nodes;
  std::string message;
  ctoml_error error{};
};

namespace {

void place(ctoml_node &node, const toml::node &value) {
  node.line = value.source().begin.line;
  node.column = value.source().begin.column;
}

void append(ctoml_document &document, const toml::node &value, const toml::key *key);

void append_children(ctoml_document &document, const toml::node &value) {
  if (const auto *table = value.as_table()) {
    for (auto &&[key, child] : *table) append(document, child, &key);
  } else if (const auto *array = value.as_array()) {
    for (auto &&child : *array) append(document, child, nullptr);
  }
}

void append(ctoml_document &document, const toml::node &value, const toml::key *key) {
  ctoml_node node{};
  place(node, value);
  if (key) {
    node.key = key->str().data();
    node.key_length = key->str().size();
    node.key_line = key->source().begin.line;
    node.key_column = key->source().begin.column;
  }
  if (const auto *table = value.as_table()) {
    node.kind = CTOML_TABLE;
    node.children = table->size();
  } else if (const auto *array = value.as_array()) {
    node.kind = CTOML_ARRAY;
    node.children = array->size();
  } else if (const auto *text = value.as_string()) {
    node.kind = CTOML_STRING;
    node.text = text->get().data();
    node.text_length = text->get().size();
  } else if (const auto *integer = value.as_integer()) {
    node.kind = CTOML_INTEGER;
    node.integer = integer->get();
  } else if (const auto *number = value.as_floating_point()) {
    node.kind = CTOML_FLOAT;
    node.number = number->get();
  } else if (const auto *boolean = value.as_boolean()) {
    node.kind = CTOML_BOOLEAN;
    node.boolean = boolean->get();
  } else {
    node.kind = CTOML_DATE;
  }
  document.nodes.push_back(node);
  append_children(document, value);
}

// The assertion knows no place, but the text up to it fails in the same way: the first line that does is the one.
uint32_t malformed_line(std::string_view text) {
  std::vector<size_t> ends;
  for (size_t at = 0; at < text.size(); ++at)
    if (text[at] == '\n') ends.push_back(at);
  const auto fails = [&](size_t end) {
    try {
      (void)toml::parse(text.substr(0, end));
    } catch (const malformed &) {
      return true;
    } catch (const toml::parse_error &) {
    }
    return false;
  };
  const auto first = std::partition_point(ends.begin(), ends.end(), [&](size_t end) { return !fails(end); });
  return static_cast<uint32_t>(first - ends.begin()) + 1;
}

void fail(ctoml_document &document, std::string_view message, uint32_t line, uint32_t column) {
  document.message = message;
  document.error = {document.message.c_str(), line, column};
}

void parse(ctoml_document &document, std::string_view text) {
  try {
    document.root = toml::parse(text);
  } catch (const toml::parse_error &error) {
    return fail(document, error.description(), error.source().begin.line, error.source().begin.column);
  } catch (const malformed &error) {
    return fail(document, error.what(), malformed_line(text), 1);
  }
  append(document, document.root, nullptr);
}

}  // namespace

ctoml_document *ctoml_parse(const char *text, size_t length) {
  ctoml_document *document = nullptr;
  try {
    document = new ctoml_document;
    parse(*document, std::string_view(text, length));
    return document;
  } catch (...) {
    delete document;
    return nullptr;
  }
}

void ctoml_free(ctoml_document *document) { delete document; }

const ctoml_error *ctoml_document_error(const ctoml_document *document) {
  return document->error.message ? &document->error : nullptr;
}

size_t ctoml_document_count(const ctoml_document *document) { return document->nodes.size(); }

const ctoml_node *ctoml_document_nodes(const ctoml_document *document) { return document->nodes.data(); }
