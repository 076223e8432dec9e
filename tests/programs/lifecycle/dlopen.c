//@ expect: pass
//@ flags: -ldl
// Strands that load a library, call it and close it, while others do the same.
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>

static void *compute(void *arg) {
    void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
    assert(library);
    double (*root)(double) = (double (*)(double))dlsym(library, "sqrt");
    assert(root);
    long result = (long)root((double)(long)arg);
    assert(!dlsym(library, "no_such_function") && dlerror());
    assert(dlclose(library) == 0);
    return (void *)result;
}

int main(void) {
    pthread_t strands[3];
    for (long i = 0; i < 3; i++)
        assert(pthread_create(&strands[i], 0, compute, (void *)(i * i)) == 0);
    for (long i = 0; i < 3; i++) {
        void *result;
        assert(pthread_join(strands[i], &result) == 0 && (long)result == i);
    }
    assert(!dlopen("/nowhere/lib.so", RTLD_NOW));
    return 0;
}
