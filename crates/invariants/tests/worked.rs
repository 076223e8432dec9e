//! Small streams whose statements were checked by hand: exactly these are told, in this order.
//!
//! A stream is written as its variables, then one sample a line: values, and after a bar those at the entry. `-` is a value that is missing. All lines together
//! come so many times. What is told goes by the models of `chance.rs`: `n` counts all samples, so with 30 rounds orders, constants and
//! offsets are no chance, and bounds of r values need n > 4.6 (r + 1).

use threadbare_invariants::{
    Element, Inference, Points, ProgramPoint, Region, Sample, Side, Type, Value, Variable,
};

fn class(word: &str) -> Type {
    match word {
        "int" => Type::I32,
        "u8" => Type::Int { bits: 8, signed: false },
        "u64" => Type::U64,
        "bool" => Type::Bool,
        "enum" => Type::Enum {
            names: [(0, "OFF"), (1, "ON"), (2, "DIM")].map(|(at, name)| (at, name.to_owned())).into(),
        },
        "float" => Type::Float,
        "ptr" => Type::Pointer,
        "str" => Type::Text,
        "ints" => Type::Sequence(Element::Int),
        other => panic!("{other}"),
    }
}

fn value(class: &Type, word: &str) -> Value {
    match class {
        _ if word == "-" => Value::Missing,
        Type::Float => Value::Float(word.parse().expect("a number")),
        Type::Text => Value::text(word),
        Type::Sequence(_) => {
            let list = word.trim_matches(['[', ']']).split(',').filter(|item| !item.is_empty());
            Value::Ints(list.map(|item| item.parse().expect("a number")).collect())
        }
        _ => Value::Int(word.parse().expect("a number")),
    }
}

/// What is told of a stream.
fn told(variables: &str, rows: &str, rounds: usize) -> Vec<String> {
    let variables: Vec<Variable> = variables
        .split_whitespace()
        .map(|word| word.split_once(':').expect("name:type"))
        .map(|(name, word)| Variable::shared(name, class(word)))
        .collect();
    let mut points = Points::default();
    let region = Region::Function("f".to_owned());
    let mut add = |side| {
        points.add(ProgramPoint { region: region.clone(), side, variables: variables.clone() }).expect("new")
    };
    let (enter, exit) = (add(Side::Enter), add(Side::Exit));
    let values = |text: &str| -> Vec<Value> {
        variables
            .iter()
            .zip(text.split_whitespace())
            .map(|(variable, word)| value(&variable.class, word))
            .collect()
    };
    let mut inference = Inference::new();
    let mut side = Side::Enter;
    for round in 0..rounds {
        for row in rows.lines().map(str::trim).filter(|row| !row.is_empty()) {
            let (now, entry) = row.split_once('|').map_or((row, None), |(now, entry)| (now, Some(entry)));
            if entry.is_some() {
                side = Side::Exit;
            }
            let point = if entry.is_some() { exit } else { enter };
            let entry = entry.map(values).unwrap_or_default();
            let (run, strand, event) = (round as u64, 0, 0);
            inference.take(&points, &Sample { point, run, strand, event, values: values(now), entry });
        }
    }
    let told = inference.tell_point(&region, side).expect("samples");
    told.told.iter().map(|told| told.statement.to_string()).collect()
}

fn check(variables: &str, rows: &str, rounds: usize, expected: &[&str]) {
    assert_eq!(told(variables, rows, rounds), expected);
}

/// One value always. A constant says all there is to say.
#[test]
fn a_constant() {
    check("x:int", "5", 30, &["x == 5"]);
}

/// Six samples of a constant: `(1/2)^6` is more than a hundredth.
#[test]
fn too_few_samples() {
    check("x:int", "5", 6, &[]);
}

/// Three values: `one of` implies bounds, sign and rest.
#[test]
fn a_few_values() {
    check("x:int", "1\n4\n7", 10, &["x one of {1, 4, 7}"]);
}

/// Twelve values, 240 samples: one more value at an end would have come.
#[test]
fn a_range() {
    check("x:int", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12", 20, &["x >= 1", "x <= 12"]);
}

/// Values far apart: of the bounds only the sign is no chance. Their differences have no common divisor, no bit is always the same.
#[test]
fn a_sign() {
    check("x:int", "7\n130\n5013\n99\n40000\n22\n1500\n611", 10, &["x >= 1"]);
}

/// Both signs, few values between, never zero.
#[test]
fn not_zero() {
    check("x:int", "-3\n-2\n-1\n1\n2\n3", 20, &["x != 0", "x >= -3", "x <= 3"]);
}

/// Multiples of 12 plus 5, eight of them. The modulus covers the lowest two bits.
#[test]
fn a_modulus() {
    check("x:int", "5\n17\n41\n53\n77\n89\n113\n1205", 20, &["x >= 1", "x % 12 == 5"]);
}

/// Bit 6 is always set, bit 4 never; the others are not.
#[test]
fn bits() {
    check("x:u8", "75\n204\n229\n110\n239\n64\n73\n236\n205\n207\n238\n107", 20, &["x & 0x50 == 0x40"]);
}

/// Now is one more than then. The bounds of one follow from those of the other.
#[test]
fn an_increment() {
    check("n:int", "1|0\n2|1\n3|2\n4|3\n5|4\n6|5", 30, &["n == orig(n) + 1", "n >= 1", "n <= 6"]);
}

/// Nothing happens, three values.
#[test]
fn unchanged() {
    check("n:int", "1|1\n2|2\n9|9", 10, &["n == orig(n)", "n one of {1, 2, 9}"]);
}

/// Two rounds of minus 100: values too few for a general line.
#[test]
fn a_withdrawal() {
    check(
        "balance:int",
        "300|400\n200|300",
        20,
        &["balance == orig(balance) - 100", "balance one of {200, 300}"],
    );
}

/// Less than before, by different amounts.
#[test]
fn it_shrinks() {
    check(
        "balance:int",
        "300|400\n150|400\n190|330\n-20|330\n7|11",
        20,
        &[
            "balance < orig(balance)",
            "balance one of {-20, 7, 150, 190, 300}",
            "orig(balance) one of {11, 330, 400}",
        ],
    );
}

/// `y == 2*x + 1` of five points.
#[test]
fn twice_and_one() {
    check("x:int y:int", "1 3\n2 5\n5 11\n9 19\n-4 -7", 20, &["y == 2*x + 1", "x one of {-4, 1, 2, 5, 9}"]);
}

/// `z == x + y`, no two of them related.
#[test]
fn a_sum_of_two() {
    check("x:int y:int z:int", "1 5 6\n2 -3 -1\n4 4 8\n-7 2 -5\n0 9 9\n30 -11 19", 20, &["z == x + y"]);
}

/// x is below y, y is at most z; that x is below z follows.
#[test]
fn an_order() {
    check(
        "x:int y:int z:int",
        "1 5 9\n2 3 3\n-8 0 70\n4 50 51\n-30 -29 -29\n-2 1 44",
        20,
        &["x < y", "y <= z"],
    );
}

/// Never null, and the same as before.
#[test]
fn a_pointer() {
    check("p:ptr", "64|64\n128|128\n192|192\n64|64", 10, &["p == orig(p)", "p != NULL"]);
}

/// Two of three values; no order, no sum.
#[test]
fn an_enum() {
    check("s:enum", "0\n1", 20, &["s one of {.OFF, .ON}"]);
}

/// When the flag is set there is data; else there is none. The flag and the pointer have nothing in common.
#[test]
fn a_flag_and_data() {
    check("ready:bool p:ptr", "1 64\n1 128\n0 0", 20, &["!ready ==> p == NULL", "ready ==> p != NULL"]);
}

/// A number that is 3 with the flag, and one of four below zero without. `one of` implies the sign.
#[test]
fn a_flag_and_a_number() {
    check(
        "on:bool n:int",
        "1 3\n0 -3\n0 -14\n0 -200\n0 -31",
        20,
        &["n one of {-200, -31, -14, -3, 3}", "on ==> n == 3", "!on ==> n one of {-200, -31, -14, -3}"],
    );
}

/// Two flags that always differ: implications between them follow.
#[test]
fn opposite_flags() {
    check("a:bool b:bool", "1 0\n0 1", 20, &["a != b"]);
}

/// `a ==> b`; the other way round is the same said twice.
#[test]
fn one_flag_implies_the_other() {
    check("a:bool b:bool", "1 1\n0 1\n0 0", 20, &["a ==> b == true"]);
}

/// Two strings, unchanged.
#[test]
fn a_string() {
    check("s:str", "red|red\nblue|blue", 20, &["s == orig(s)", "s one of {\"blue\", \"red\"}"]);
}

/// Sorted, three to four long, the length unchanged.
#[test]
fn a_sorted_list() {
    check(
        "a:ints n:int",
        "[1,2,9] 3|[1,9,2] 3\n[0,4,4,8] 4|[8,4,0,4] 4\n[-5,7,7] 3|[7,-5,7] 3",
        20,
        &[
            "size(a) == orig(size(a))",
            "min(a) == orig(min(a))",
            "max(a) == orig(max(a))",
            "sum(a) == orig(sum(a))",
            "n == orig(n)",
            "a != orig(a)",
            "size(a) == n",
            "size(a) one of {3, 4}",
            "min(a) one of {-5, 0, 1}",
            "max(a) one of {7, 8, 9}",
            "sum(a) one of {9, 12, 16}",
            "sorted(a, <=)",
        ],
    );
}

/// Half more than before, never below zero. Six values are too few for bounds.
#[test]
fn a_float() {
    check(
        "f:float",
        "0.5|0\n1|0.5\n2.75|2.25\n9.5|9\n101|100.5\n7|6.5",
        30,
        &["f == orig(f) + 0.5", "f > 0.0", "orig(f) >= 0.0"],
    );
}

/// With one value that is no number nothing can be said of an order.
#[test]
fn not_a_number() {
    check("f:float", "1\n2\nNaN\n0.5\n7\n8\n9", 30, &[]);
}

/// Unsigned numbers above the signed half.
#[test]
fn above_half_of_u64() {
    check(
        "x:u64 y:u64",
        "18446744073709551615 18446744073709551610\n9223372036854775808 9223372036854775803\n10000000000000000000 9999999999999999995\n12000000000000000007 12000000000000000002",
        30,
        &[
            "x == y + 5",
            "x one of {9223372036854775808, 10000000000000000000, 12000000000000000007, 18446744073709551615}",
        ],
    );
}

/// y is there only when x is not zero; then it equals x.
#[test]
fn missing_at_times() {
    check("x:int y:int", "0 -\n3 3\n5 5\n0 -\n81 81\n40 40\n1007 1007\n-6 -6", 20, &["x == y"]);
}
