// TOML 1.0 text as a flat list of nodes, by toml++. No C++ exception leaves these functions.
#ifndef CTOML_H
#define CTOML_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  CTOML_TABLE,
  CTOML_ARRAY,
  CTOML_STRING,
  CTOML_INTEGER,
  CTOML_FLOAT,
  CTOML_BOOLEAN,
  CTOML_DATE,
} ctoml_kind;

// Lines and columns count from 1, columns in code points. Pointers live as long as the document.
typedef struct {
  ctoml_kind kind;
  // Direct children of a table or array; they follow it, each with its own children behind it.
  size_t children;
  // NULL for an array's element and the root.
  const char *key;
  size_t key_length;
  uint32_t key_line, key_column;
  uint32_t line, column;
  // CTOML_STRING.
  const char *text;
  size_t text_length;
  int64_t integer;
  double number;
  bool boolean;
} ctoml_node;

typedef struct {
  const char *message;
  uint32_t line, column;
} ctoml_error;

typedef struct ctoml_document ctoml_document;

// NULL only when memory is out. To be freed with ctoml_free.
ctoml_document *ctoml_parse(const char *text, size_t length);
void ctoml_free(ctoml_document *document);
// NULL when the text is well-formed. Keys that are set twice are an error.
const ctoml_error *ctoml_document_error(const ctoml_document *document);
// The root table first; none after an error.
size_t ctoml_document_count(const ctoml_document *document);
const ctoml_node *ctoml_document_nodes(const ctoml_document *document);

#ifdef __cplusplus
}
#endif
#endif
