/* A stack of pointers. */
#ifndef STACK_H
#define STACK_H

typedef struct stack stack;

stack *stack_new(void);
void stack_free(stack *stack);
int stack_push(stack *stack, void *value);
void *stack_pop(stack *stack);

#endif
