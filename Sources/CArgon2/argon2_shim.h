#ifndef PARLEY_CARGON2_H
#define PARLEY_CARGON2_H
#include <argon2.h>
#endif
