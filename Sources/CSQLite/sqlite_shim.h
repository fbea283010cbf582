#ifndef PARLEY_CSQLITE_H
#define PARLEY_CSQLITE_H
#include <sqlite3.h>
#endif
