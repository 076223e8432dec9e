/* Treiber's stack. With FAULT a node is freed by who takes it, while others may still read it. */
#include "stack.h"
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    struct node *next;
    void *value;
};

struct stack {
    _Atomic(struct node *) top;
    _Atomic(struct node *) retired;
};

stack *stack_new(void) {
    return calloc(1, sizeof(struct stack));
}

int stack_push(stack *stack, void *value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    struct node *top = atomic_load(&stack->top);
    do
        node->next = top;
    while (!atomic_compare_exchange_weak(&stack->top, &top, node));
    return 0;
}

void *stack_pop(stack *stack) {
    struct node *top = atomic_load(&stack->top);
    do {
        if (!top)
            return NULL;
    } while (!atomic_compare_exchange_weak(&stack->top, &top, top->next));
    void *value = top->value;
#ifdef FAULT
    free(top);
#endif
    /* The right one keeps nodes: whoever was late may still look at them. */
    return value;
}

void stack_free(stack *stack) {
    free(stack);
}
