//! Types and values in Daikon's words.

use super::{escape, unescape};
use crate::value::{Element, Type, Value};

/// How many elements of a sequence are read.
const MAX_ELEMENTS: usize = 65_536;

/// The representation type.
pub(super) fn representation(class: &Type) -> &'static str {
    match class {
        Type::Int { .. } | Type::Enum { .. } => "int",
        Type::Bool => "boolean",
        Type::Float => "double",
        Type::Pointer => "hashcode",
        Type::Text | Type::Opaque => "java.lang.String",
        Type::Sequence(Element::Int) => "int[]",
        Type::Sequence(Element::Float) => "double[]",
        Type::Sequence(Element::Other) => "hashcode[]",
    }
}

/// The declared type.
pub(super) fn declared(class: &Type) -> String {
    match class {
        Type::Int { bits, signed } => format!("{}{bits}", if *signed { 'i' } else { 'u' }),
        Type::Bool => "bool".to_owned(),
        Type::Enum { names } => {
            let names: Vec<String> =
                names.iter().map(|(value, name)| format!("{value}={}", item(name))).collect();
            escape(&format!("enum{{{}}}", names.join(",")))
        }
        Type::Float => "f64".to_owned(),
        Type::Pointer => "ptr".to_owned(),
        Type::Text => "str".to_owned(),
        Type::Opaque => "opaque".to_owned(),
        Type::Sequence(Element::Int) => "int[]".to_owned(),
        Type::Sequence(Element::Float) => "double[]".to_owned(),
        Type::Sequence(Element::Other) => "ptr[]".to_owned(),
    }
}

/// The class of a variable by its two types.
pub(super) fn class(representation: &str, declared: &str) -> Type {
    let declared = unescape(declared);
    let (base, array) = match representation.strip_suffix("[]") {
        Some(base) => (base, true),
        None => (representation, false),
    };
    match (base, array) {
        ("int" | "boolean", true) => Type::Sequence(Element::Int),
        ("double", true) => Type::Sequence(Element::Float),
        ("hashcode", true) => Type::Sequence(Element::Other),
        ("int", false) => integer(&declared),
        ("boolean", false) => Type::Bool,
        ("double", false) => Type::Float,
        ("hashcode", false) => Type::Pointer,
        ("java.lang.String" | "string" | "String", false) if declared != "opaque" => Type::Text,
        _ => Type::Opaque,
    }
}

fn integer(declared: &str) -> Type {
    if let Some(names) = declared.strip_prefix("enum{").and_then(|rest| rest.strip_suffix('}')) {
        let names = split_items(names).into_iter().filter_map(|item| {
            let (value, name) = item.split_once('=')?;
            Some((value.parse().ok()?, unescape_item(name)))
        });
        return Type::Enum { names: names.collect() };
    }
    let own = |prefix: char| declared.strip_prefix(prefix).and_then(|bits| bits.parse().ok());
    if let Some(bits @ 1..=128) = own('i') {
        return Type::Int { bits, signed: true };
    }
    if let Some(bits @ 1..=128) = own('u') {
        return Type::Int { bits, signed: false };
    }
    let signed = !(declared.contains("unsigned") || declared.starts_with("uint") || declared == "size_t");
    let bits = match declared {
        "byte" | "signed char" | "unsigned char" | "int8_t" | "uint8_t" => 8,
        "short" | "unsigned short" | "int16_t" | "uint16_t" => 16,
        "int" | "unsigned" | "unsigned int" | "int32_t" | "uint32_t" => 32,
        _ => 64,
    };
    Type::Int { bits, signed }
}

/// A name within a list that has commas and an end.
fn item(name: &str) -> String {
    name.replace('\\', "\\\\").replace(',', "\\,").replace('}', "\\}")
}

fn unescape_item(text: &str) -> String {
    let (mut out, mut all) = (String::new(), text.chars());
    while let Some(next) = all.next() {
        out.push(if next == '\\' { all.next().unwrap_or('\\') } else { next });
    }
    out
}

fn split_items(text: &str) -> Vec<&str> {
    let (mut items, mut start, mut escaped) = (Vec::new(), 0, false);
    for (at, next) in text.char_indices() {
        match next {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ',' => {
                items.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    items.push(&text[start..]);
    items
}

/// A value as text. Nothing if it is missing or Daikon has no word for it.
pub(super) fn write_value(class: &Type, value: &Value) -> Option<String> {
    if !value.fits(class) {
        return None;
    }
    match value {
        Value::Missing => None,
        Value::Int(value) => long(*value),
        Value::Float(value) => Some(double(*value)),
        Value::Text(text) => Some(quote(text)),
        Value::Ints(list) => {
            let list: Option<Vec<String>> = list.iter().map(|&next| long(next)).collect();
            Some(format!("[{}]", list?.join(" ")))
        }
        Value::Floats(list) => {
            let list: Vec<String> = list.iter().map(|&next| double(next)).collect();
            Some(format!("[{}]", list.join(" ")))
        }
    }
}

fn long(value: i128) -> Option<String> {
    (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&value).then(|| value.to_string())
}

fn double(value: f64) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
    } else {
        format!("{value:?}")
    }
}

/// A string in quotes; no line break stays in it.
fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for next in text.chars() {
        match next {
            '"' | '\\' => out.extend(['\\', next]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            next => out.push(next),
        }
    }
    out.push('"');
    out
}

fn unquote(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let (mut out, mut all) = (String::new(), inner.chars());
    while let Some(next) = all.next() {
        out.push(match next {
            '\\' => match all.next()? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                other => other,
            },
            next => next,
        });
    }
    Some(out)
}

/// A value from text. Nothing if it is none of the class.
pub(super) fn read_value(class: &Type, text: &str) -> Option<Value> {
    let value = match class {
        Type::Int { .. } | Type::Enum { .. } | Type::Bool => Value::Int(read_int(text)?),
        Type::Pointer => match text {
            "null" => Value::Int(0),
            // A hash code of another front end may be below zero: the same bits, as an address.
            text => Value::Int(match read_int(text)? {
                negative @ ..0 => i128::from(i64::try_from(negative).ok()? as u64),
                address => address,
            }),
        },
        Type::Float => Value::Float(read_real(text)?),
        Type::Text => match text {
            "null" => Value::Missing,
            text => Value::text(&unquote(text)?),
        },
        Type::Opaque => Value::text(&unquote(text).unwrap_or_else(|| text.to_owned())),
        Type::Sequence(element) => {
            let Some(list) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
                return (text == "null").then_some(Value::Missing);
            };
            let items = list.split_whitespace().take(MAX_ELEMENTS + 1);
            let value = match element {
                Element::Float => Value::Floats(items.map(read_real).collect::<Option<Vec<_>>>()?.into()),
                _ => Value::Ints(items.map(read_int).collect::<Option<Vec<_>>>()?.into()),
            };
            let length = match &value {
                Value::Ints(list) => list.len(),
                Value::Floats(list) => list.len(),
                _ => 0,
            };
            if length > MAX_ELEMENTS { Value::Missing } else { value }
        }
    };
    Some(if value.fits(class) { value } else { Value::Missing })
}

fn read_int(text: &str) -> Option<i128> {
    match text {
        "true" => Some(1),
        "false" | "null" => Some(0),
        text => match text.strip_prefix("0x") {
            Some(digits) => i128::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        },
    }
}

fn read_real(text: &str) -> Option<f64> {
    match text {
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        text => text.parse().ok(),
    }
}
