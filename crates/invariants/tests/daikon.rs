//! Daikon's files: written as its manual has them, read back as they were, and no file makes the reader fall over.

use proptest::prelude::*;
use std::collections::BTreeMap;
use threadbare_invariants::daikon::{ReadError, Reader, TraceWriter, write_decls};
use threadbare_invariants::{
    Element, Inference, Points, ProgramPoint, Region, Sample, Side, Type, Value, Variable,
};

/// Values and entry values of a sample.
type Both = (Vec<Value>, Vec<Value>);

fn write(points: &Points, samples: &[Sample]) -> String {
    let mut writer = TraceWriter::new(Vec::new(), points);
    for sample in samples {
        writer.sample(sample, 0).expect("memory takes all");
    }
    write_decls(points) + &String::from_utf8(writer.into_inner()).expect("text")
}

fn read(text: &[u8]) -> Result<(Reader, Vec<Sample>), ReadError> {
    let (mut reader, mut samples) = (Reader::new(), Vec::new());
    reader.read(text, |_, sample| samples.push(sample.clone()))?;
    Ok((reader, samples))
}

/// A bank's `withdraw`, and a block of the paper's figure 7.
#[test]
fn a_file_as_daikon_wants_it() {
    let mut points = Points::default();
    let variables = vec![
        Variable::shared("::p", Type::Pointer),
        Variable { enclosing: Some("::p".to_owned()), ..Variable::shared("::p->x", Type::I32) },
        Variable::new("list", Type::Sequence(Element::Int)),
    ];
    let region = Region::Block { file: "main.c".to_owned(), first: 3, last: 9 };
    let mut add = |side| {
        points.add(ProgramPoint { region: region.clone(), side, variables: variables.clone() }).expect("new")
    };
    let (enter, exit) = (add(Side::Enter), add(Side::Exit));
    let values = vec![Value::Int(4096), Value::Int(-3), Value::Ints([1, 2].into())];
    let after = vec![Value::Int(0), Value::Missing, Value::Missing];
    let sample = |point, event, values: &Vec<Value>, entry: &Vec<Value>| Sample {
        point,
        run: 7,
        strand: 2,
        event,
        values: values.clone(),
        entry: entry.clone(),
    };
    let text = write(&points, &[sample(enter, 11, &values, &vec![]), sample(exit, 19, &after, &values)]);
    let expected = "\
// Written by Threadbare.
decl-version 2.0
var-comparability implicit

ppt ..main.c_3_9():::ENTER
ppt-type enter
variable ::p
  var-kind variable
  rep-type hashcode
  dec-type ptr
  lang-flags volatile
  comparability 5
variable ::p->x
  var-kind field x
  enclosing-var ::p
  rep-type int
  dec-type i32
  lang-flags volatile
  comparability 1
variable list
  var-kind variable
  rep-type hashcode
  dec-type ptr
  flags synthetic
  comparability 10
variable list[..]
  var-kind array
  enclosing-var list
  array 1
  rep-type int[]
  dec-type int[]
  comparability 8[9]

ppt ..main.c_3_9():::EXIT0
ppt-type subexit
";
    assert!(text.starts_with(expected), "{text}");
    let records = "\
// run 7 strand 2 event 11
..main.c_3_9():::ENTER
this_invocation_nonce
1
::p
4096
1
::p->x
-3
1
list
1
1
list[..]
[1 2]
1

// run 7 strand 2 event 19
..main.c_3_9():::EXIT0
this_invocation_nonce
1
::p
0
1
::p->x
nonsensical
2
list
nonsensical
2
list[..]
nonsensical
2

";
    assert!(text.ends_with(records), "{text}");
}

/// Part of a file as Daikon's own front end for C writes it.
#[test]
fn a_file_of_another_front_end() {
    let text = "\
input-language C/C++
decl-version 2.0
var-comparability implicit

ppt ..tick():::ENTER
  ppt-type enter
  variable ::count
    var-kind variable
    rep-type int
    dec-type int
    comparability 1

ppt ..tick():::EXIT12
  ppt-type subexit
  variable ::count
    var-kind variable
    rep-type int
    dec-type int
    comparability 1
  variable return
    var-kind return
    rep-type java.lang.String
    dec-type char*
    comparability 2

# strands interleave
..tick():::ENTER
this_invocation_nonce
5
::count
1
1

..tick():::ENTER
this_invocation_nonce
6
::count
2
1

..tick():::EXIT12
this_invocation_nonce
5
::count
2
1
return
\"one\\\"\"
1

..tick():::EXIT12
this_invocation_nonce
6
::count
3
0
return
nonsensical
2
";
    let (reader, samples) = read(text.as_bytes()).expect("a good file");
    assert_eq!(reader.dropped, 0);
    let region = Region::Function("tick".to_owned());
    assert_eq!(reader.points.by_name("..tick():::EXIT"), reader.points.find(&region, Side::Exit));
    let exits: Vec<Both> =
        samples[2..].iter().map(|sample| (sample.values.clone(), sample.entry.clone())).collect();
    assert_eq!(exits[0], (vec![Value::Int(2), Value::text("one\"")], vec![Value::Int(1)]));
    assert_eq!(exits[1], (vec![Value::Int(3), Value::Missing], vec![Value::Int(2)]));
    let mut inference = Inference::new();
    for _ in 0..20 {
        samples.iter().for_each(|sample| inference.take(&reader.points, sample));
    }
    let told = inference.tell_point(&region, Side::Exit).expect("a point");
    assert!(told.told.iter().any(|told| told.statement.to_string() == "::count == orig(::count) + 1"));
}

fn class() -> impl Strategy<Value = Type> {
    prop_oneof![
        (1_u8..=128, any::<bool>()).prop_map(|(bits, signed)| Type::Int { bits, signed }),
        Just(Type::Bool),
        prop::collection::vec((any::<i64>().prop_map(i128::from), "[A-Z,}= ]{1,4}"), 0..3)
            .prop_map(|names| Type::Enum { names }),
        Just(Type::Float),
        Just(Type::Pointer),
        Just(Type::Text),
        Just(Type::Opaque),
        prop::sample::select(vec![Element::Int, Element::Float, Element::Other]).prop_map(Type::Sequence),
    ]
}

fn value(class: &Type) -> BoxedStrategy<Value> {
    let int =
        || prop_oneof![-5_i128..5, any::<i64>().prop_map(i128::from), any::<u64>().prop_map(i128::from)];
    let real =
        || prop_oneof![any::<f64>(), Just(f64::INFINITY)].prop_filter("comparable", |value| !value.is_nan());
    let present = match class {
        Type::Float => real().prop_map(Value::Float).boxed(),
        Type::Text | Type::Opaque => "\\PC{0,5}[\"\\\\ \n]{0,2}".prop_map(|text| Value::text(&text)).boxed(),
        Type::Sequence(Element::Float) => {
            prop::collection::vec(real(), 0..4).prop_map(|list| Value::Floats(list.into())).boxed()
        }
        Type::Sequence(_) => {
            prop::collection::vec(int(), 0..4).prop_map(|list| Value::Ints(list.into())).boxed()
        }
        _ => int().prop_map(Value::Int).boxed(),
    };
    let class = class.clone();
    prop_oneof![6 => present, 1 => Just(Value::Missing)]
        .prop_map(move |value| if value.fits(&class) { value } else { Value::Missing })
        .boxed()
}

fn program() -> impl Strategy<Value = (Points, Vec<Sample>)> {
    let name = prop_oneof!["(::)?[a-z]{1,3}(->[a-z]{1,3})?", "[a-z \\\\*]{1,5}x"];
    let variable = (name, class(), any::<bool>(), 0_u32..3);
    let variables = prop::collection::vec(variable, 1..5).prop_map(|list| {
        let unique: BTreeMap<String, Variable> = list
            .into_iter()
            .map(|(name, class, shared, group)| {
                (name.clone(), Variable { shared, group, ..Variable::new(name, class) })
            })
            .collect();
        unique.into_values().collect::<Vec<_>>()
    });
    variables.prop_flat_map(|variables| {
        let row = || variables.iter().map(|variable| value(&variable.class)).collect::<Vec<_>>();
        let rows = prop::collection::vec((row(), row(), 0_u64..4, 0_u32..3, any::<bool>()), 0..6);
        (Just(variables.clone()), rows, "[a-z<> ,]{1,6}").prop_map(|(variables, rows, name)| {
            let mut points = Points::default();
            let region = Region::Function(name);
            let mut add = |side| {
                points
                    .add(ProgramPoint { region: region.clone(), side, variables: variables.clone() })
                    .expect("new")
            };
            let (enter, exit) = (add(Side::Enter), add(Side::Exit));
            let here = points
                .add(ProgramPoint {
                    region: Region::Place("spot".to_owned()),
                    side: Side::Here,
                    variables: variables.clone(),
                })
                .expect("new");
            let mut samples = Vec::new();
            for (event, (entry, now, run, strand, alone)) in rows.into_iter().enumerate() {
                let event = event as u64;
                let sample = |point, values: &Vec<Value>, entry: &Vec<Value>| Sample {
                    point,
                    run,
                    strand,
                    event,
                    values: values.clone(),
                    entry: entry.clone(),
                };
                if alone {
                    samples.push(sample(here, &now, &vec![]));
                } else {
                    samples.push(sample(enter, &entry, &vec![]));
                    samples.push(sample(exit, &now, &entry));
                }
            }
            (points, samples)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_is_written_is_read_as_it_was((points, samples) in program()) {
        let text = write(&points, &samples);
        let (reader, again) = read(text.as_bytes()).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        let list = |points: &Points| points.iter().map(|(_, point)| point.clone()).collect::<Vec<_>>();
        prop_assert_eq!(list(&reader.points), list(&points), "{}", text);
        // Sums beyond 64 bits are not written.
        let narrow = |value: &Value| match value {
            Value::Int(value) if !(i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(value) => Value::Missing,
            other => other.clone(),
        };
        let expected: Vec<Sample> = samples.iter().map(|sample| Sample {
            values: sample.values.iter().map(narrow).collect(),
            entry: sample.entry.iter().map(narrow).collect(),
            ..sample.clone()
        }).collect();
        prop_assert_eq!(again, expected, "{}", text);
        prop_assert_eq!(reader.dropped, 0);
    }

    /// Lines taken out, doubled, cut or changed: an error with a line, or samples, never a panic.
    #[test]
    fn damaged_files_are_told((points, samples) in program(), damage in prop::collection::vec((any::<u16>(), any::<u8>(), any::<u8>()), 1..6)) {
        let mut bytes = write(&points, &samples).into_bytes();
        for (at, how, byte) in damage {
            let at = usize::from(at) % bytes.len().max(1);
            match how % 4 {
                0 => bytes.truncate(at),
                1 => { bytes.get_mut(at).into_iter().for_each(|old| *old = byte); }
                2 => { let line = bytes[..at].iter().rposition(|&next| next == b'\n').unwrap_or(0); bytes.drain(line..at); }
                _ => { let copy = bytes[at..bytes.len().min(at + 40)].to_vec(); bytes.splice(at..at, copy); }
            }
        }
        if let Ok((reader, samples)) = read(&bytes) {
            let mut inference = Inference::new();
            samples.iter().for_each(|sample| inference.take(&reader.points, sample));
            inference.tell();
        }
    }

    #[test]
    fn damaged_facts_are_told((points, samples) in program(), at in any::<u16>(), byte in any::<u8>(), cut in any::<bool>()) {
        let mut inference = Inference::new();
        samples.iter().for_each(|sample| inference.take(&points, sample));
        let mut bytes = inference.save();
        let at = usize::from(at) % bytes.len();
        if cut { bytes.truncate(at) } else { bytes[at] = byte }
        if let Ok(mut loaded) = Inference::load(&bytes) {
            loaded.tell();
            samples.iter().for_each(|sample| loaded.take(&points, sample));
            loaded.merge(&inference);
            loaded.tell();
        }
    }
}

#[test]
fn a_record_that_is_cut_off_is_dropped() {
    let (reader, samples) = read(b"decl-version 2.0\n\nppt f:::POINT\nvariable x\n rep-type int\n dec-type int\n\nf:::POINT\nx\n4\n1\n\nf:::POINT\nx\n").expect("the rest is good");
    assert_eq!((samples.len(), reader.dropped), (1, 1));
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let wrong = |text: &str, expected: &str| {
        let error = read(text.as_bytes()).expect_err(text).to_string();
        assert_eq!(error, expected);
    };
    wrong("decl-version 1.0\n", "line 1: declarations of version 1.0, not 2.0");
    wrong("ppt f:::POINT\n", "line 1: decl-version 2.0 is expected before the first point");
    let start = "decl-version 2.0\n\nppt f:::POINT\nvariable x\nrep-type int\n\n";
    wrong(&format!("{start}g:::POINT\n"), "line 7: the point g:::POINT is not declared");
    wrong(&format!("{start}f:::POINT\ny\n1\n1\n"), "line 8: x is expected here");
    wrong(&format!("{start}f:::POINT\nx\nabc\n1\n"), "line 10: x cannot have the value abc");
    wrong(&format!("{start}f:::POINT\nx\n1\n7\n"), "line 10: 0, 1 or 2 is expected after a value");
}
