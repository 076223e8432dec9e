//! Numbers at the ends of their types, variables that come and go, points with too many variables, and streams without end.

use proptest::prelude::*;
use threadbare_invariants::{
    Element, Inference, Kept, MAX_SLOTS, PointId, Points, ProgramPoint, Region, Sample, Side, Type, Value,
    Variable,
};

fn region() -> Region {
    Region::Function("f".to_owned())
}

fn points(variables: &[Variable]) -> (Points, PointId) {
    let mut points = Points::default();
    let mut add = |side| {
        points
            .add(ProgramPoint { region: region(), side, variables: variables.to_vec() })
            .expect("declared once")
    };
    add(Side::Enter);
    let exit = add(Side::Exit);
    (points, exit)
}

fn sample(point: PointId, values: Vec<Value>, entry: Vec<Value>) -> Sample {
    Sample { point, run: 1, strand: 0, event: 0, values, entry }
}

fn wide(bits: u8, signed: bool) -> Variable {
    Variable::shared(format!("{}{bits}", if signed { 'i' } else { 'u' }), Type::Int { bits, signed })
}

fn extreme() -> impl Strategy<Value = Value> {
    let ends: [i128; 14] = [
        0,
        1,
        -1,
        i128::MAX,
        i128::MIN,
        i128::MAX - 1,
        i64::MAX.into(),
        i64::MIN.into(),
        u64::MAX.into(),
        1 << 63,
        i32::MAX.into(),
        i32::MIN.into(),
        255,
        1 << 100,
    ];
    let reals =
        [0.0, -0.0, 1.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE, 1e300];
    prop_oneof![
        8 => prop::sample::select(ends.to_vec()).prop_map(Value::Int),
        3 => prop::sample::select(reals.to_vec()).prop_map(Value::Float),
        1 => Just(Value::Missing),
        1 => prop::collection::vec(prop::sample::select(ends.to_vec()), 0..4).prop_map(|list| Value::Ints(list.into())),
        1 => prop::collection::vec(prop::sample::select(reals.to_vec()), 0..4).prop_map(|list| Value::Floats(list.into())),
        1 => Just(Value::text("")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, max_shrink_iters: 200, ..ProptestConfig::default() })]

    /// Nothing overflows, values of the wrong type are missing, and what is told can be kept and holds.
    #[test]
    fn the_ends_of_types(rows in prop::collection::vec((prop::collection::vec(extreme(), 10), prop::collection::vec(extreme(), 10)), 1..10)) {
        let variables = [
            wide(128, true), wide(128, false), wide(64, false), wide(64, true), wide(8, false),
            Variable::shared("f", Type::Float), Variable::shared("g", Type::Float), Variable::shared("p", Type::Pointer),
            Variable::shared("a", Type::Sequence(Element::Int)), Variable::shared("b", Type::Sequence(Element::Float)),
        ];
        let (points, exit) = points(&variables);
        let samples: Vec<Sample> = rows.into_iter().map(|(values, entry)| sample(exit, values, entry)).collect();
        let mut inference = Inference::new();
        for _ in 0..12 {
            samples.iter().for_each(|sample| inference.take(&points, sample));
        }
        let (first, second) = samples.split_at(samples.len() / 2);
        let mut merged = Inference::new();
        for part in [first, second].repeat(12) {
            let mut other = Inference::new();
            part.iter().for_each(|sample| other.take(&points, sample));
            merged.merge(&other);
        }
        prop_assert!(merged == inference);
        let kept = Kept::of(&inference.tell());
        let text = kept.to_string();
        let kept = Kept::parse(&text).map_err(|errors| TestCaseError::fail(format!("{errors:?}\n{text}")))?;
        let mut check = kept.check(&points);
        samples.iter().for_each(|sample| check.take(sample));
        for (line, fate) in check.fates() {
            prop_assert!(!matches!(fate, threadbare_invariants::Fate::Broken { .. } | threadbare_invariants::Fate::Unknown(_)),
                "{}: {:?}", line.statement, fate);
        }
    }

    /// So many variables come and go that they are no longer told apart: the order and the cut still make no difference.
    #[test]
    fn variables_that_come_and_go(seed in any::<u64>(), cut in 0_usize..200) {
        let variables: Vec<Variable> = (0..6).map(|at| Variable::shared(format!("v{at}"), Type::I32)).collect();
        let (points, exit) = points(&variables);
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as i128
        };
        let mut samples: Vec<Sample> = (0..200).map(|_| {
            let (base, gone) = (next() % 50, next());
            let value = |at: i128| if at > 1 && gone >> at & 3 == 3 { Value::Missing } else { Value::Int(base * (at + 1) + at) };
            sample(exit, (0..6).map(value).collect(), (0..6).map(value).collect())
        }).collect();
        let infer = |samples: &[Sample]| {
            let mut inference = Inference::new();
            samples.iter().for_each(|sample| inference.take(&points, sample));
            inference
        };
        let whole = infer(&samples);
        let mut merged = infer(&samples[..cut]);
        merged.merge(&infer(&samples[cut..]));
        prop_assert!(merged == whole);
        samples.reverse();
        prop_assert!(infer(&samples) == whole);
        let told = whole.tell_point(&region(), Side::Exit).expect("samples");
        let told: Vec<String> = told.told.iter().map(|told| told.statement.to_string()).collect();
        prop_assert!(told.contains(&"v1 == 2*v0 + 1".to_owned()), "{told:?}");
    }
}

#[test]
fn what_is_kept_does_not_grow_with_samples() {
    let variables: Vec<Variable> = (0..20).map(|at| Variable::shared(format!("v{at}"), Type::I64)).collect();
    let (points, exit) = points(&variables);
    let mut inference = Inference::new();
    let mut sizes = Vec::new();
    for number in 0..40_000_i128 {
        let value = |at: i128| Value::Int(number * number % (7 + at) * 1_000_003 + number * at);
        inference.take(&points, &sample(exit, (0..20).map(value).collect(), (1..21).map(value).collect()));
        if number % 10_000 == 9_999 {
            sizes.push(inference.save().len());
        }
    }
    let (least, greatest) = (sizes.iter().min().expect("sizes"), sizes.iter().max().expect("sizes"));
    assert!(greatest - least < least / 10, "{sizes:?}");
}

#[test]
fn too_many_variables_are_counted() {
    let mut variables: Vec<Variable> =
        (0..200).map(|at| Variable::new(format!("local{at}"), Type::I32)).collect();
    variables.push(Variable::shared("::zebra", Type::I32));
    let (points, exit) = points(&variables);
    let mut inference = Inference::new();
    for number in 0..30 {
        let values: Vec<Value> = (0..201).map(|at| Value::Int(number * (at + 1))).collect();
        inference.take(&points, &sample(exit, values.clone(), values));
    }
    assert_eq!(inference.left_out(), 402 - MAX_SLOTS as u64);
    let told = inference.tell_point(&region(), Side::Exit).expect("samples");
    assert!(told.told.iter().any(|told| told.statement.to_string() == "::zebra == orig(::zebra)"));
}

#[test]
fn facts_of_another_build_are_dropped() {
    let old = [Variable::shared("x", Type::I32)];
    let (table, exit) = points(&old);
    let mut inference = Inference::new();
    (0..20).for_each(|_| inference.take(&table, &sample(exit, vec![Value::Int(5)], vec![Value::Int(5)])));
    let kept = inference.save();
    let (table, exit) = points(&[Variable::shared("x", Type::I64), Variable::shared("y", Type::I32)]);
    let mut newer = Inference::new();
    let fresh = sample(exit, vec![Value::Int(6), Value::Int(1)], vec![Value::Int(6), Value::Int(1)]);
    newer.take(&table, &fresh);
    let older = Inference::load(&kept).expect("what was saved");
    assert_eq!(newer.merge(&older), ["..f():::EXIT"]);
    assert_eq!(newer.samples(), 1);
    let mut loaded = older;
    loaded.take(&table, &fresh);
    assert_eq!(loaded.samples(), 1);
}
