//! The incremental inference against the slow one, on random streams.

use crate::oracle::Oracle;
use crate::{
    Element, Inference, Points, ProgramPoint, Region, Sample, Side, Statement, Type, Value, Variable,
};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A stream of an exit's samples, its table of points, and a few words on the variables.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    pub(crate) classes: Vec<Type>,
    pub(crate) samples: Vec<(Vec<Value>, Vec<Value>)>,
}

fn region() -> Region {
    Region::Function("f".to_owned())
}

impl Stream {
    /// The table of points, with the variables in some order, and the samples.
    fn build(&self, order: &[usize]) -> (Points, Vec<Sample>) {
        let mut points = Points::default();
        let variables: Vec<Variable> =
            order.iter().map(|&at| Variable::shared(format!("v{at}"), self.classes[at].clone())).collect();
        let mut add = |side| {
            let point = ProgramPoint { region: region(), side, variables: variables.clone() };
            points.add(point).expect("a new point")
        };
        add(Side::Enter);
        let point = add(Side::Exit);
        let turn = |values: &Vec<Value>| order.iter().map(|&at| values[at].clone()).collect();
        let sample = |(number, (values, entry)): (usize, &(Vec<Value>, Vec<Value>))| Sample {
            point,
            run: 1,
            strand: 0,
            event: number as u64,
            values: turn(values),
            entry: turn(entry),
        };
        (points.clone(), self.samples.iter().enumerate().map(sample).collect())
    }

    /// The same samples many times, so that chance is no cause.
    fn repeated(&self, times: usize) -> Self {
        let samples = (0..times).flat_map(|_| self.samples.iter().cloned()).collect();
        Self { classes: self.classes.clone(), samples }
    }

    fn straight(&self) -> (Points, Vec<Sample>) {
        self.build(&(0..self.classes.len()).collect::<Vec<_>>())
    }
}

fn infer(points: &Points, samples: &[Sample]) -> Inference {
    let mut inference = Inference::new();
    samples.iter().for_each(|sample| inference.take(points, sample));
    inference
}

fn class() -> impl Strategy<Value = Type> {
    prop_oneof![
        6 => Just(Type::I32),
        2 => Just(Type::Int { bits: 8, signed: false }),
        2 => Just(Type::Bool),
        1 => Just(Type::Enum { names: vec![(0, "OFF".into()), (1, "ON".into()), (2, "LOST".into())] }),
        1 => Just(Type::Pointer),
        1 => Just(Type::Float),
        1 => Just(Type::Text),
        1 => Just(Type::Sequence(Element::Int)),
        1 => Just(Type::Sequence(Element::Float)),
    ]
}

/// A value of a type, from a few, so that coincidences are frequent.
fn value(class: &Type, wide: i128) -> BoxedStrategy<Value> {
    match class {
        Type::Int { signed: true, .. } => {
            prop_oneof![3 => (-2..=wide).prop_map(Value::Int), 1 => (-1_i128..2).prop_map(|x| Value::Int(x * 6))].boxed()
        }
        Type::Int { .. } => (0..=wide.abs() + 1).prop_map(Value::Int).boxed(),
        Type::Bool => any::<bool>().prop_map(Value::bool).boxed(),
        Type::Enum { .. } => (0..3_i128).prop_map(Value::Int).boxed(),
        Type::Pointer => prop_oneof![Just(Value::Int(0)), Just(Value::Int(4096)), Just(Value::Int(8192))].boxed(),
        Type::Float => prop_oneof![
            8 => (-2_i32..3).prop_map(|x| Value::Float(f64::from(x) / 2.0)),
            1 => Just(Value::Float(f64::NAN)),
            1 => Just(Value::Float(f64::INFINITY))
        ]
        .boxed(),
        Type::Text => prop_oneof![Just(Value::text("a")), Just(Value::text("b"))].boxed(),
        Type::Sequence(Element::Float) => prop::collection::vec(-1_i32..2, 0..3)
            .prop_map(|list| Value::Floats(list.into_iter().map(f64::from).collect()))
            .boxed(),
        _ => prop::collection::vec(-1_i128..3, 0..4).prop_map(|list| Value::Ints(list.into())).boxed(),
    }
}

pub(crate) fn stream(missing: u32, variables: usize, samples: usize) -> impl Strategy<Value = Stream> {
    let shape = (prop::collection::vec(class(), 1..=variables), 0_i128..5, 0_usize..4);
    shape.prop_flat_map(move |(classes, wide, habit)| {
        let row = |classes: &[Type]| {
            let cell = |class: &Type| {
                prop_oneof![20 - missing => value(class, wide), missing => Just(Value::Missing)].boxed()
            };
            classes.iter().map(cell).collect::<Vec<_>>()
        };
        let rows = prop::collection::vec((row(&classes), row(&classes)), 1..samples);
        (Just(classes), rows).prop_map(move |(classes, mut samples)| {
            samples.iter_mut().for_each(|sample| follow(habit, sample));
            Stream { classes, samples }
        })
    })
}

/// Makes values depend on each other, since unrelated ones have few invariants.
fn follow(habit: usize, (values, entry): &mut (Vec<Value>, Vec<Value>)) {
    if habit == 0 {
        return;
    }
    let numbers: Vec<usize> = (0..values.len()).filter(|&at| matches!(values[at], Value::Int(_))).collect();
    for (place, &at) in numbers.iter().enumerate() {
        if let Value::Int(was) = entry[at]
            && habit != 3
        {
            values[at] = Value::Int(if habit == 1 { was } else { was + i128::from(place != 0) });
        }
    }
    if habit == 3
        && let [x, y, z, ..] = numbers[..]
        && let (Value::Int(a), Value::Int(b)) = (&values[x], &values[y])
    {
        values[z] = Value::Int(2 * a - b + 3);
    }
}

fn holding(inference: &Inference, oracle: &Oracle) -> BTreeSet<(Statement<usize>, u64)> {
    let names = oracle.operands();
    let slot = |operand: &crate::Operand| names.iter().position(|name| name == operand);
    let all = inference.holding(&region(), Side::Exit);
    all.into_iter()
        .map(|(statement, evidence)| (statement.map(&mut |x| slot(x)).unwrap(), evidence.samples))
        .collect()
}

fn check(stream: &Stream) -> Result<(), TestCaseError> {
    let (points, samples) = stream.straight();
    let oracle = Oracle::new(&points, &samples);
    let (slow, fast) = (oracle.holding(), holding(&infer(&points, &samples), &oracle));
    let missed: Vec<_> = slow.difference(&fast).collect();
    let wrong: Vec<_> = fast.difference(&slow).collect();
    prop_assert!(
        missed.is_empty() && wrong.is_empty(),
        "missed {missed:?}\nwrong {wrong:?}\nof {:?}",
        oracle.operands()
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, max_shrink_iters: 300, ..ProptestConfig::default() })]

    #[test]
    fn what_holds_is_found_and_nothing_else(stream in stream(0, 4, 14)) {
        check(&stream)?;
    }

    #[test]
    fn also_with_values_missing(stream in stream(4, 3, 14)) {
        check(&stream)?;
    }

    #[test]
    fn merged_is_as_if_taken_together(stream in stream(3, 4, 24), cut in 0_usize..24, order in any::<u64>()) {
        let (points, mut samples) = stream.straight();
        let whole = infer(&points, &samples);
        // Any order.
        let turn = order as usize % samples.len();
        samples.rotate_left(turn);
        if order % 2 == 0 {
            samples.reverse();
        }
        prop_assert!(infer(&points, &samples) == whole, "the order of samples makes a difference");
        let (first, second) = samples.split_at(cut.min(samples.len()));
        let mut merged = infer(&points, first);
        prop_assert!(merged.merge(&infer(&points, second)).is_empty());
        prop_assert!(merged == whole, "merging is not taking all");
        // Merging with nothing, either way.
        let mut nothing = Inference::new();
        nothing.merge(&whole);
        prop_assert!(nothing == whole);
        let kept = Inference::load(&whole.save()).expect("what was saved");
        prop_assert!(kept == whole, "a file changes what is known");
        // And it goes on the same.
        let (mut a, mut b) = (kept, whole);
        samples.iter().take(5).for_each(|sample| { a.take(&points, sample); b.take(&points, sample) });
        prop_assert!(a == b);
        prop_assert_eq!(a.tell(), b.tell());
    }

    /// What is left out must follow: no sample satisfies all that is told and breaks what is not. Samples are looked for near the stream's own.
    #[test]
    fn what_is_left_out_follows(
        (stream, changes) in stream(2, 4, 8).prop_flat_map(|stream| {
            let change = |class: &Type| value(class, 5);
            let rows = stream.classes.iter().map(change).collect::<Vec<_>>();
            let changes = prop::collection::vec((any::<u16>(), rows, any::<u32>()), 150);
            (Just(stream), changes)
        }),
    ) {
        let (points, samples) = stream.repeated(12).straight();
        let inference = infer(&points, &samples);
        let state = inference.in_order().next().expect("a point");
        let justified: Vec<Statement<usize>> =
            state.justified().into_iter().map(|holding| holding.statement).collect();
        let told: Vec<Statement<usize>> = crate::reduce::reduce(state, state.justified(), crate::reduce::Taste::Plain)
            .into_iter().map(|holding| holding.statement).collect();
        let masks: BTreeSet<_> = Oracle::new(&points, &samples).rows.iter().map(|row| row.present).collect();
        for (at, cells, which) in changes {
            let mut sample = samples[usize::from(at) % samples.len()].clone();
            for (place, cell) in cells.into_iter().enumerate() {
                if which >> place & 1 == 1 && which >> (place + 8) & 1 == 1 {
                    sample.values[place] = cell.clone();
                }
                if which >> (place + 16) & 1 == 1 && which >> (place + 24) & 1 == 1 {
                    sample.entry[place] = cell;
                }
            }
            let row = &Oracle::new(&points, &[sample]).rows[0];
            let breaks = |statement: &&Statement<usize>| statement.holds(row, &state.layout) == Some(false);
            if masks.contains(&row.present) && !told.iter().any(|statement| breaks(&statement)) {
                let broken: Vec<_> = justified.iter().filter(breaks).map(|s| state.named(s).to_string()).collect();
                let told: Vec<_> = told.iter().map(|s| state.named(s).to_string()).collect();
                prop_assert!(broken.is_empty(), "told {told:?}\nbut not {broken:?}");
            }
        }
    }

    /// Nothing is told that one other told statement implies.
    #[test]
    fn nothing_is_told_twice(stream in stream(1, 5, 12)) {
        let (points, samples) = stream.repeated(12).straight();
        let inference = infer(&points, &samples);
        let state = inference.in_order().next().expect("a point");
        let told = crate::reduce::reduce(state, state.justified(), crate::reduce::Taste::Plain);
        for (at, one) in told.iter().enumerate() {
            let mut known = crate::known::Known::new(&state.layout);
            known.add(&one.statement);
            let slots: Vec<usize> = one.statement.operands().into_iter().copied().collect();
            for (_, other) in told.iter().enumerate().filter(|other| other.0 != at) {
                // It says nothing of samples without its variables.
                let about: Vec<usize> = other.statement.operands().into_iter().copied().collect();
                if !state.all.along(&about).has_all(&slots) {
                    continue;
                }
                prop_assert!(!known.implies(&other.statement), "{} implies {}",
                    state.named(&one.statement), state.named(&other.statement));
            }
        }
    }

    #[test]
    fn the_order_of_variables_makes_no_difference(stream in stream(2, 5, 16), turn in 0_usize..5) {
        let repeated = stream.repeated(12);
        let mut order: Vec<usize> = (0..repeated.classes.len()).collect();
        let (points, samples) = repeated.build(&order);
        let straight = infer(&points, &samples).tell();
        let turn = turn % order.len();
        order.rotate_left(turn);
        order.reverse();
        let (points, samples) = repeated.build(&order);
        let told = |all: Vec<crate::PointTold>| all.into_iter().map(|point| point.told).collect::<Vec<_>>();
        prop_assert_eq!(told(straight), told(infer(&points, &samples).tell()));
    }
}
