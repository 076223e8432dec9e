int twice(int *value) { *value *= 2; return *value; }
