//! What is written is read as the same, and what is no statement is told with its column.

use crate::operand::{Operand, Part};
use crate::statement::{Cmp, Constant, Real, Statement};
use proptest::prelude::*;

pub(crate) fn name() -> BoxedStrategy<String> {
    prop_oneof![
        4 => "(::)?[a-z_][a-z0-9_$]{0,4}((\\.|->|::)[a-z][a-z0-9]{0,3}){0,2}(\\[[0-9]{1,2}\\])?",
        1 => Just("one".to_owned()),
        1 => Just("NULL".to_owned()),
        1 => Just("orig".to_owned()),
        1 => Just("sorted".to_owned()),
        1 => Just("size".to_owned()),
        1 => "object\\((::)?[a-z]{1,3}\\)?",
        2 => "\\PC{1,8}",
        1 => Just("*p `q`\\\n#".to_owned()),
    ]
    .boxed()
}

fn operand() -> BoxedStrategy<Operand> {
    let part = prop_oneof![
        5 => Just(Part::Whole),
        1 => Just(Part::Size),
        1 => Just(Part::Min),
        1 => Just(Part::Max),
        1 => Just(Part::Sum)
    ];
    (any::<bool>(), name(), part).prop_map(|(orig, name, part)| Operand { orig, name, part }).boxed()
}

fn cmp() -> BoxedStrategy<Cmp> {
    prop::sample::select(vec![Cmp::Eq, Cmp::Ne, Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge]).boxed()
}

fn int() -> BoxedStrategy<i128> {
    prop_oneof![
        -9_i128..10,
        any::<i64>().prop_map(i128::from),
        any::<u64>().prop_map(i128::from),
        Just(i128::MIN),
        Just(i128::MAX)
    ]
    .boxed()
}

fn real() -> BoxedStrategy<Real> {
    prop_oneof![any::<f64>(), Just(f64::INFINITY), Just(0.5), Just(-0.0)]
        .prop_map(|value| Real(if value.is_nan() { f64::NAN } else { value }))
        .boxed()
}

fn constant() -> BoxedStrategy<Constant> {
    prop_oneof![
        int().prop_map(Constant::Int),
        any::<bool>().prop_map(Constant::Bool),
        Just(Constant::Null),
        real().prop_map(Constant::Real),
        "\\PC{0,6}".prop_map(Constant::Text),
        Just(Constant::Text("\u{1}\"\\\n\t#`".to_owned())),
        name().prop_map(Constant::Name),
    ]
    .boxed()
}

fn simple() -> BoxedStrategy<Statement<Operand>> {
    let pair = || (operand(), operand()).prop_filter("one order", |(x, y)| x < y);
    let linear = (prop::collection::vec((-9_i128..10, operand()), 1..4), cmp(), int());
    prop_oneof![
        (operand(), cmp(), constant()).prop_map(|(x, cmp, with)| Statement::Value { x, cmp, with }),
        (operand(), prop::collection::btree_set(constant(), 1..4))
            .prop_map(|(x, values)| Statement::OneOf { x, values: values.into_iter().collect() }),
        (pair(), cmp()).prop_map(|((x, y), cmp)| Statement::Compare { x, cmp, y }),
        linear.prop_filter_map("a statement", |(terms, cmp, with)| Statement::linear(terms, cmp, with)?.ok()),
        (pair(), real().prop_filter("finite", |by| by.0.is_finite() && by.0 != 0.0))
            .prop_map(|((x, y), by)| Statement::Offset { x, y, by }),
        (operand(), 1_i128..99, 0_i128..99).prop_map(|(x, modulus, rest)| Statement::Modulus {
            x,
            modulus,
            rest: rest % modulus
        }),
        (operand(), any::<i64>(), any::<i64>()).prop_map(|(x, mask, bits)| Statement::Bits {
            x,
            mask: mask.into(),
            bits: (bits & mask).into()
        }),
        (operand(), cmp())
            .prop_filter("sorted", |(_, cmp)| *cmp != Cmp::Ne)
            .prop_map(|(x, cmp)| Statement::Sorted { x: x.part(Part::Order), cmp }),
    ]
    .boxed()
}

pub(crate) fn statement() -> BoxedStrategy<Statement<Operand>> {
    let condition = (operand(), any::<bool>(), simple()).prop_map(|(flag, is, then)| Statement::When {
        flag,
        is,
        then: Box::new(then),
    });
    prop_oneof![4 => simple(), 1 => condition].boxed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn what_is_written_is_read_as_the_same(statement in statement()) {
        let text = statement.to_string();
        prop_assert!(!text.contains('\n'), "{text}");
        let read: Statement<Operand> = text.parse().map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
        prop_assert_eq!(&read, &statement, "{}", text);
        prop_assert_eq!(read.to_string(), text);
    }

    #[test]
    fn any_text_is_read_or_told(text in "\\PC{0,40}", words in prop::collection::vec(
        prop::sample::select(vec!["x", "orig(", ")", "==", "==>", "!", "5", "*", "-", "one", "of", "{", "}", "size(", "sorted(", ",", "<", "0x", "\"", "%", "&", "1.5", "."]), 0..9)
    ) {
        for text in [text, words.join(" ")] {
            match text.parse::<Statement<Operand>>() {
                Ok(statement) => {
                    let again = statement.to_string().parse::<Statement<Operand>>();
                    prop_assert_eq!(again.as_ref(), Ok(&statement), "{}", text);
                }
                Err(error) => prop_assert!(error.column <= text.chars().count() + 1),
            }
        }
    }
}

#[test]
fn forms_that_a_person_writes() {
    let same = |text: &str, form: &str| {
        let read: Statement<Operand> = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(read.to_string(), form);
    };
    same("5 <= x", "x >= 5");
    same("orig(b) - 100 == b", "b == orig(b) - 100");
    same("2*x == 4*y + 6", "x == 2*y + 3");
    same("x + y + z == 0", "x == -y - z");
    same("size(orig(a)) == n", "n == orig(size(a))");
    same("x - y <= 3", "x <= y + 3");
    same("state one of {.B, .A, .B}", "state one of {.A, .B}");
    same("x != 0x10", "x != 16");
    same("3*x == 2*y + 1", "3*x - 2*y == 1");
    same("f == g + 0.5", "f == g + 0.5");
}

#[test]
fn mistakes_are_told_with_their_column() {
    let wrong = |text: &str, column: usize, part: &str| {
        let error = text.parse::<Statement<Operand>>().expect_err(text);
        assert_eq!(error.column, column, "{text}: {error}");
        assert!(error.message.contains(part), "{text}: {error}");
    };
    wrong("x = 5", 3, "no `=`");
    wrong("x ==", 5, "a variable is expected");
    wrong("x 5", 3, "a comparison is expected");
    wrong("x == 5 6", 8, "should end here");
    wrong("!x == 5", 1, "before a flag");
    wrong("x one {1}", 7, "`of`");
    wrong("x % 3 == 3", 1, "a rest");
    wrong("orig(orig(x)) == 1", 6, "makes no sense");
    wrong("x == \"abc", 6, "does not end");
    wrong("x - x == 0", 1, "no variable is left");
    wrong("null == x + 1", 1, "only a variable alone");
}
