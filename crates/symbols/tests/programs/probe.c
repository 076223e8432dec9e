// Tells the test where things are in the running program.
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <unistd.h>

static int module(struct dl_phdr_info *info, size_t size, void *first) {
    (void)size;
    char path[4096];
    const char *name = info->dlpi_name;
    if (*(int *)first) {
        ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
        path[n < 0 ? 0 : n] = 0;
        name = path;
        *(int *)first = 0;
    }
    unsigned long end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_LOAD) continue;
        if (header->p_vaddr + header->p_memsz > end) end = header->p_vaddr + header->p_memsz;
    }
    printf("module %#lx %#lx %s\n", (unsigned long)info->dlpi_addr, end, name);
    return 0;
}

__attribute__((constructor)) static void modules(void) {
    int first = 1;
    dl_iterate_phdr(module, &first);
}

void mark(const char *label) {
    printf("pc %s %p\n", label, __builtin_return_address(0));
    fflush(stdout);
}

void show(const char *label, const void *address) {
    printf("data %s %p\n", label, address);
    fflush(stdout);
}

void heap(const char *label, const void *block, unsigned long size, const volatile void *part) {
    printf("heap %s %p %lx %lx\n", label, __builtin_return_address(0), size,
           (unsigned long)((const char *)part - (const char *)block));
    fflush(stdout);
}
