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
    void *thread_pointer;
    __asm__("mov %%fs:0, %0" : "=r"(thread_pointer));
    printf("strand %p\n", thread_pointer);
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

// Saves the registers that a callee keeps, as they are in the caller, and waits for the test.
__asm__(".text\n"
        ".globl stop\n"
        ".type stop, @function\n"
        "stop:\n"
        "  sub $72, %rsp\n"
        "  mov %rbx, 0(%rsp)\n"
        "  mov %rbp, 8(%rsp)\n"
        "  mov %r12, 16(%rsp)\n"
        "  mov %r13, 24(%rsp)\n"
        "  mov %r14, 32(%rsp)\n"
        "  mov %r15, 40(%rsp)\n"
        "  lea 80(%rsp), %rax\n"
        "  mov %rax, 48(%rsp)\n"
        "  mov 72(%rsp), %rax\n"
        "  mov %rsp, %rsi\n"
        "  mov %rax, %rdx\n"
        "  call stopped\n"
        "  add $72, %rsp\n"
        "  ret\n"
        ".size stop, .-stop\n");

__attribute__((used)) void stopped(const char *label, const unsigned long *registers, unsigned long pc) {
    printf("stop %s %#lx", label, pc);
    for (int i = 0; i < 7; i++) printf(" %#lx", registers[i]);
    printf("\n");
    fflush(stdout);
    getchar();
}
