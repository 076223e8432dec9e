//! What is read from a C header, and the tests that are made of it.

use threadbare_api::c::{self, CTy, Limits};
use threadbare_api::{Drawn, Recipes, Test};

const HEADER: &str = r#"# 1 "/usr/include/other.h" 1
typedef unsigned long size_t;
extern int other_call(struct queue *q) __attribute__((nothrow));
# 1 "queue.h"
typedef struct queue queue_t;
typedef enum { QUEUE_OK, QUEUE_FULL = 3 } queue_result;
typedef void (*queue_hook)(void *);
struct item { struct item *next; int key; };
queue_t *queue_new(size_t capacity);
void queue_free(queue_t *q);
queue_result queue_push(queue_t *q, void *value);
_Bool queue_try_pop(queue_t *restrict q, void **value);
static inline int queue_length(const queue_t *q) { return q ? 1 : 0; }
void queue_on_push(queue_t *q, queue_hook hook);
struct item *queue_first(struct queue *q), *queue_last(struct queue *q);
"#;

fn api() -> c::Api {
    c::read(HEADER, &|file| file == "queue.h")
}

fn generate(single: &[&str]) -> (Vec<Test>, Vec<threadbare_api::LeftOut>) {
    let single = single.iter().map(|&part| part.to_owned()).collect();
    c::generate(
        &api(),
        &Recipes::default(),
        &Limits { max: 40, single, ..Limits::default() },
        &mut Drawn::default(),
    )
}

#[test]
fn declarations_are_read() {
    let api = api();
    let names: Vec<&str> = api.functions.iter().map(|function| function.name.as_str()).collect();
    let wanted = [
        "queue_new",
        "queue_free",
        "queue_push",
        "queue_try_pop",
        "queue_length",
        "queue_on_push",
        "queue_first",
        "queue_last",
    ];
    assert_eq!(names, wanted);
    assert!(api.complete.contains("item") && !api.complete.contains("queue"));
    let push = &api.functions[2];
    assert_eq!(push.gives, CTy::Enum(vec!["QUEUE_OK".to_owned(), "QUEUE_FULL".to_owned()]));
    assert_eq!(push.params[0].1.object().map(|(name, _)| name), Some("queue"));
    assert_eq!(push.params[1].1, CTy::Pointer(Box::new(CTy::Void)));
    assert_eq!(api.functions[0].params[0].1, CTy::Int("size_t".to_owned()));
}

#[test]
fn objects_are_made_and_unmade_and_the_rest_is_told() {
    let (tests, left_out) = generate(&[]);
    assert!(tests.len() > 20);
    for test in &tests {
        assert_eq!(test.maker, "queue_new");
        assert!(test.make[0].starts_with("queue_t *queue = queue_new(2)"), "{:?}", test.make);
        assert_eq!(test.unmake, ["queue_free(queue);"]);
        assert!(!test.calls().contains("queue_free") && !test.calls().contains("queue_on_push"));
    }
    let hook = left_out.iter().find(|left| left.what == "queue_on_push").expect("the hook has no value");
    assert!(hook.why.contains("function pointer"), "{hook:?}");
}

#[test]
fn single_functions_are_called_by_one_strand() {
    let (tests, _) = generate(&["try_pop"]);
    let pops = |test: &Test| {
        test.strands.iter().filter(|steps| steps.iter().any(|step| step.name == "queue_try_pop")).count()
    };
    assert!(tests.iter().any(|test| pops(test) == 1));
    assert!(tests.iter().all(|test| pops(test) <= 1));
}
