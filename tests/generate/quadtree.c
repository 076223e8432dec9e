// The paper's quad tree: points are put into a tree by several threads, each quarter of the plane with a lock of its own, while others count and search.
// With an argument the count of the tree is kept under its lock; without, it is not.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct point {
    int x, y;
};

struct box {
    int left, top, size;
};

struct node {
    struct box box;
    struct point points[2];
    int used;
    struct node *quarters[4];
};

static struct node *roots[4];
static pthread_mutex_t locks[4] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                   PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
static int careful;

static int half(int size) { return size / 2; }
static int right_of(const struct box *box, int x) { return x >= box->left + half(box->size); }
static int below(const struct box *box, int y) { return y >= box->top + half(box->size); }
static int quarter_of(const struct box *box, const struct point *point) {
    return right_of(box, point->x) + 2 * below(box, point->y);
}
static int point_equal(const struct point *a, const struct point *b) { return a->x == b->x && a->y == b->y; }
static void box_set(struct box *box, int left, int top, int size) {
    box->left = left;
    box->top = top;
    box->size = size;
}
static void box_quarter(const struct box *box, int number, struct box *out) {
    int size = half(box->size);
    box_set(out, box->left + (number & 1) * size, box->top + (number >> 1) * size, size);
}
static struct node *node_new(const struct box *box) {
    struct node *node = calloc(1, sizeof *node);
    node->box = *box;
    return node;
}
static int node_full(const struct node *node) { return node->used == 2; }
static void node_add(struct node *node, const struct point *point) { node->points[node->used++] = *point; }
static struct node *node_child(struct node *node, int number) {
    if (!node->quarters[number]) {
        struct box box;
        box_quarter(&node->box, number, &box);
        node->quarters[number] = node_new(&box);
    }
    return node->quarters[number];
}
static void node_insert(struct node *node, const struct point *point) {
    if (!node_full(node) || node->box.size <= 1) {
        if (!node_full(node)) node_add(node, point);
        return;
    }
    node_insert(node_child(node, quarter_of(&node->box, point)), point);
}
static int node_has(const struct node *node, const struct point *point) {
    for (int i = 0; i < node->used; i++)
        if (point_equal(&node->points[i], point)) return 1;
    const struct node *child = node->quarters[quarter_of(&node->box, point)];
    return child && node_has(child, point);
}
static int node_count(const struct node *node) {
    int count = node->used;
    for (int i = 0; i < 4; i++)
        if (node->quarters[i]) count += node_count(node->quarters[i]);
    return count;
}
static void node_free(struct node *node) {
    for (int i = 0; i < 4; i++)
        if (node->quarters[i]) node_free(node->quarters[i]);
    free(node);
}
static int root_of(const struct point *point) { return (point->x >= 50) + 2 * (point->y >= 50); }
static void count_more(void) {
    if (careful) pthread_mutex_lock(&count_lock);
    total++; //~ more
    if (careful) pthread_mutex_unlock(&count_lock);
}
static int count_all(void) {
    if (careful) pthread_mutex_lock(&count_lock);
    int all = total; //~ all
    if (careful) pthread_mutex_unlock(&count_lock);
    return all;
}
static void tree_insert(const struct point *point) {
    int root = root_of(point);
    pthread_mutex_lock(&locks[root]);
    node_insert(roots[root], point);
    pthread_mutex_unlock(&locks[root]);
    count_more();
}
static int tree_has(const struct point *point) {
    int root = root_of(point);
    pthread_mutex_lock(&locks[root]);
    int has = node_has(roots[root], point);
    pthread_mutex_unlock(&locks[root]);
    return has;
}
static int tree_count(int root) {
    pthread_mutex_lock(&locks[root]);
    int count = node_count(roots[root]);
    pthread_mutex_unlock(&locks[root]);
    return count;
}
static void point_of(int number, struct point *out) {
    out->x = number * 37 % 100;
    out->y = number * 61 % 100;
}
static void *inserter(void *first) {
    for (int i = 0; i < 4; i++) {
        struct point point;
        point_of((int)(long)first + i, &point);
        tree_insert(&point);
    }
    return 0;
}
static void *searcher(void *first) {
    int found = 0;
    for (int i = 0; i < 3; i++) {
        struct point point;
        point_of((int)(long)first + i, &point);
        found += tree_has(&point);
    }
    return (void *)(long)found;
}
static void *counter(void *unused) {
    (void)unused;
    int sum = 0;
    for (int i = 0; i < 4; i++) sum += tree_count(i);
    return (void *)(long)(sum + count_all());
}
static void tree_make(void) {
    for (int i = 0; i < 4; i++) {
        struct box box;
        box_set(&box, (i & 1) * 50, (i >> 1) * 50, 50);
        roots[i] = node_new(&box);
    }
}
static void tree_free(void) {
    for (int i = 0; i < 4; i++) node_free(roots[i]);
}
int main(int argc, char **argv) {
    (void)argv;
    careful = argc > 1;
    tree_make();
    pthread_t threads[4];
    pthread_create(&threads[0], 0, inserter, (void *)0);
    pthread_create(&threads[1], 0, inserter, (void *)4);
    pthread_create(&threads[2], 0, searcher, (void *)2);
    pthread_create(&threads[3], 0, counter, 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    printf("%d\n", total);
    tree_free();
    return 0;
}
