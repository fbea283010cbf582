// Counts what a program takes from the heap, and marks what callgrind is to look at. For benchmarks alone.
#ifndef PARLEY_ALLOCATIONS_H
#define PARLEY_ALLOCATIONS_H

// Of this thread; a block that grows counts as one more.
long allocations_count(void);

// Between the two callgrind counts instructions; the second writes them to its file for `name`. Without it: nothing.
void instructions_start(void);
void instructions_stop(const char *name);

#endif
