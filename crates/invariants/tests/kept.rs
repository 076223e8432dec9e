//! Kept invariants: what is told is kept as text, read as it was, and a stream is held against it.

mod streams;

use streams::{Program, function, int, ints, pointer};
use threadbare_invariants::{Fate, Kept, Type, Variable};

fn program() -> Program {
    let mut program = Program::default();
    let step = program.region(
        &function("step"),
        &[
            int("::n"),
            pointer("::p"),
            Variable::shared("::on", Type::Bool),
            Variable::shared("::f", Type::Float),
        ],
        &[],
    );
    for number in 0..50 {
        let mut run = program.begin();
        let (n, on) = (number % 11, number % 2);
        let entry = ints(&[n, 4096 + n * 16, on]);
        run.through(1, step, &entry, &ints(&[n + 1, 4096 + n * 16, on]));
        program.end(&run, false);
    }
    program
}

#[test]
fn what_is_told_is_kept_and_holds() {
    let program = program();
    let kept = Kept::of(&program.parts.passing.tell());
    let text = kept.to_string();
    assert!(text.starts_with("# threadbare invariants 1\n\n..step():::ENTER\n    "), "{text}");
    assert!(text.contains("\n..step():::EXIT\n    ::on == orig(::on)\n"), "{text}");
    assert!(text.contains("\n    ::n == orig(::n) + 1\n"), "{text}");
    let again = Kept::parse(&text).expect("what was written");
    assert_eq!(again, kept);
    assert_eq!(again.to_string(), text);
}

const BY_HAND: &str = "\
# What a person knows.
..step():::EXIT
    ::n == orig(::n) + 1   # a step
    ::n <= 40
    ::p != NULL
    ::on ==> ::n < 9
    ::f < 3
    ::n == orig(::m)
    ::p < 5
..stop():::EXIT
    ::n == 1
";

#[test]
fn a_stream_is_held_against_lines_by_hand() {
    let mut program = program();
    let kept = Kept::parse(BY_HAND).expect("a good file");
    let mut check = kept.check(&program.points);
    let step = (
        program.points.by_name("..step():::ENTER").expect("a point"),
        program.points.by_name("..step():::EXIT").expect("a point"),
    );
    for (n, more) in [(3, 1), (39, 2), (44, 1)] {
        let mut run = program.begin();
        run.through(4, step, &ints(&[n, 4096, 1]), &ints(&[n + more, 4096, 1]));
        run.samples.iter().for_each(|sample| check.take(sample));
    }
    let fates: Vec<(usize, Fate)> = check.fates().map(|(line, fate)| (line.line, fate)).collect();
    let Fate::Broken { first, runs } = &fates[0].1 else { panic!("{fates:?}") };
    assert_eq!((fates[0].0, first.run, first.strand, *runs), (3, 52, 4, 1));
    let values: Vec<String> = first.values.iter().map(|(name, value)| format!("{name} {value}")).collect();
    assert_eq!(values, ["::n 41", "orig(::n) 39"]);
    assert!(matches!(&fates[1], (4, Fate::Broken { runs: 2, .. })), "{fates:?}");
    assert!(matches!(&fates[2], (5, Fate::Holds { samples: 3 })), "{fates:?}");
    assert!(matches!(&fates[3], (6, Fate::Broken { .. })), "{fates:?}");
    assert!(matches!(&fates[4], (7, Fate::NotReached)), "{fates:?}");
    let told = |at: usize| match &fates[at].1 {
        Fate::Unknown(error) => error.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(told(5), "there is no orig(::m) here");
    assert_eq!(told(6), "::p has no order");
    assert_eq!(told(7), "the program has no point ..stop():::EXIT");
}

#[test]
fn mistakes_are_told_with_line_and_column() {
    let text = "    x == 1\nwithdraw\n..f():::EXIT\n    x = 5\n    y == 2 # good\n";
    let errors = Kept::parse(text).expect_err("mistakes");
    let told: Vec<(usize, usize)> = errors.iter().map(|error| (error.line, error.column)).collect();
    assert_eq!(told, [(1, 5), (2, 1), (4, 7)]);
    assert_eq!(
        errors[2].to_string(),
        "line 4, column 7: a statement has no `=`; equality is `==`\n      x = 5\n        ^"
    );
}

/// Any statement, at a point of any name.
mod round_trip {
    use proptest::prelude::*;
    use threadbare_invariants::{Cmp, Constant, Kept, Operand, Statement};

    proptest! {
        #[test]
        fn a_file_is_read_as_it_was_written(list in prop::collection::vec(("\\PC{0,8}", "\\PC{1,6}", -9_i128..9, "\\PC{0,5}"), 0..6)) {
            let statements = list.into_iter().flat_map(|(point, name, value, text)| {
                let x = || Operand::now(name.clone());
                let point = format!("..{point}():::EXIT");
                let texts = Statement::Value { x: x(), cmp: Cmp::Eq, with: Constant::Text(text) };
                [(point.clone(), Statement::Value { x: x(), cmp: Cmp::Le, with: Constant::Int(value) }), (point, texts)]
            });
            let kept = Kept::new(statements);
            let text = kept.to_string();
            let again = Kept::parse(&text).map_err(|errors| TestCaseError::fail(format!("{errors:?}\n{text}")))?;
            prop_assert_eq!(&again, &kept, "{}", text);
            prop_assert_eq!(again.to_string(), text);
        }
    }
}
