// SQLite, and what Swift cannot import of it: variadic functions and casts in macros. No logic.
#ifndef PARLEY_CSQLITE_H
#define PARLEY_CSQLITE_H
#include <sqlite3.h>

static inline int parley_sqlite3_db_switch(sqlite3 *db, int option, int value) {
    return sqlite3_db_config(db, option, value, (int *)0);
}

static inline int parley_sqlite3_bind_text_copy(sqlite3_stmt *statement, int index, const void *text, int count) {
    return sqlite3_bind_text(statement, index, (const char *)text, count, SQLITE_TRANSIENT);
}

// The text must stay where it is until the statement has run.
static inline int parley_sqlite3_bind_text_in_place(sqlite3_stmt *statement, int index, const void *text, int count) {
    return sqlite3_bind_text(statement, index, (const char *)text, count, SQLITE_STATIC);
}

// Counting what is allocated takes a lock for every allocation. Before the first connection.
static inline int parley_sqlite3_count_no_memory(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

static inline void parley_sqlite3_bind_empty_text(sqlite3_stmt *statement, int index) {
    sqlite3_bind_text(statement, index, "", 0, SQLITE_STATIC);
}
#endif
