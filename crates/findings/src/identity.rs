//! Which bug a finding is, by its places in the source.
//!
//! Within a build a failure is known again by its instructions (`trace::identity`). A finding is named by the lines that a user sees, so that the
//! same bug has the same name in every campaign, whatever the folder, the strand or the compiler's mood: its kind, its places, and of an
//! exit its code. Lines move from build to build; there a place is its function. No message has a part in it.

use crate::finding::{AccessDetail, Finding, Location};
use crate::places::{Place, shown};
use threadbare_trace::hash::Fnv;

/// The name of a bug: its kind and a hash of kind and places. `code` is that of the run's verdict.
pub(crate) fn id(finding: &Finding, code: i32, label: &str) -> String {
    let mut places = places(finding);
    if finding.kind == "exit" {
        places.push(format!("the program ended with code {code}"));
        places.sort();
    }
    let mut hash = Fnv::new();
    hash.write(label.as_bytes());
    hash.write(finding.kind.as_bytes());
    for place in &places {
        hash.write(b"\n");
        hash.write(place.as_bytes());
    }
    let folded = hash.finish() ^ (hash.finish() >> 32);
    format!("{}-{:08x}", finding.kind, folded as u32)
}

/// Whether two findings of one build are one: the same kind at the same places, whatever strands and values are theirs. Where strands
/// wait, whoever compares runs has seen to that already (`trace::identity`), and bystanders may stand anywhere.
pub fn is_same(one: &Finding, other: &Finding) -> bool {
    let waits = matches!(one.kind.as_str(), "deadlock" | "livelock" | "timeout");
    one.kind == other.kind && (waits || places(one) == places(other))
}

/// Whether two data races of different builds are one: the same operations of the same functions on the same variable, on whatever
/// lines. Which element of an array it is does not matter, and where one of them does not know the variable, nothing is said by that: those on stacks have
/// names only in runs that were made again for their details.
pub fn is_same_race(one: &Finding, other: &Finding) -> bool {
    let object = |finding: &Finding| {
        let name = finding.object.as_ref()?.name.as_ref()?;
        Some(name.replace(|c: char| c.is_ascii_digit(), ""))
    };
    let accesses = |finding: &Finding| {
        let mut all: Vec<(String, String, String)> = finding.accesses.iter().map(in_function).collect();
        all.sort();
        all
    };
    let races = one.kind == "race" && other.kind == "race";
    let differ = object(one).zip(object(other)).is_some_and(|(one, other)| one != other);
    races && !differ && accesses(one) == accesses(other)
}

/// What an access does, in which function of which file.
fn in_function(access: &AccessDetail) -> (String, String, String) {
    let place = shown(&access.stack);
    let function = place.and_then(|place| place.function.clone()).unwrap_or_default();
    let file = place.and_then(|place| place.file.as_deref()).map(base_name).unwrap_or_default();
    (access.operation.clone(), function, file.to_owned())
}

/// The places of a bug, in order.
fn places(finding: &Finding) -> Vec<String> {
    let mut places: Vec<String> = match finding.kind.as_str() {
        "race" => finding.accesses.iter().map(access_text).collect(),
        _ => finding.locations.iter().map(place_text).collect(),
    };
    if places.iter().all(String::is_empty) {
        let stacks = finding.strands.iter().flat_map(|strand| strand.stack.first());
        places = stacks.map(|place: &Place| place.address.clone()).collect();
    }
    if finding.kind == "timeout" {
        // The line is wherever the time was over; the function is the same more often.
        places =
            finding.locations.first().and_then(|location| location.function.clone()).into_iter().collect();
    }
    places.sort();
    if finding.kind != "race" {
        places.dedup();
    }
    places
}

/// Where an access of a race is: a line may hold parts of several functions. What it does there is not told apart, so
/// that `x++` against `x++` is one race.
pub(crate) fn access_text(access: &AccessDetail) -> String {
    let Some(place) = shown(&access.stack) else { return String::new() };
    let location = Location { file: place.file.clone(), line: place.line, ..Location::default() };
    let at = place_text(&location);
    let function = place.function.as_ref().unwrap_or(&place.address);
    format!("{function} at {at}")
}

fn place_text(location: &Location) -> String {
    match (location.file.as_deref().map(base_name), location.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        _ => location.function.clone().unwrap_or_default(),
    }
}

fn base_name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::ObjectDetail;

    fn access(operation: &str, function: &str, line: u32) -> AccessDetail {
        let place = Place {
            function: Some(function.into()),
            file: Some("/a/x.c".into()),
            line: Some(line),
            ..Place::default()
        };
        AccessDetail { operation: operation.into(), stack: vec![place], ..AccessDetail::default() }
    }

    fn race(on: &str, accesses: [AccessDetail; 2]) -> Finding {
        let object = Some(ObjectDetail { name: Some(on.into()), ..ObjectDetail::default() });
        let message = format!("data race on `{on}`");
        Finding { kind: "race".into(), message, object, accesses: accesses.into(), ..Finding::default() }
    }

    fn at(kind: &str, lines: &[u32]) -> Finding {
        let location =
            |&line: &u32| Location { file: Some("x.c".into()), line: Some(line), ..Location::default() };
        let locations = lines.iter().map(location).collect();
        Finding { kind: kind.into(), locations, ..Finding::default() }
    }

    #[test]
    fn lines_may_move_from_build_to_build() {
        let one = race("x[3]", [access("write", "f", 9), access("read", "g", 12)]);
        // The other order, other lines, another element, other words.
        let mut moved = race("x[12]", [access("read", "g", 1), access("write", "f", 11)]);
        moved.message = "something else".into();
        assert!(is_same_race(&one, &moved) && !is_same(&one, &moved));
        for other in [
            race("y[3]", [access("write", "f", 9), access("read", "g", 12)]),
            race("x[3]", [access("write", "f", 9), access("write", "g", 12)]),
            race("x[3]", [access("write", "f", 9), access("read", "h", 12)]),
            race("x[3]", [access("write", "f", 9), access("read", "f", 12)]),
        ] {
            assert!(!is_same_race(&one, &other), "{other:?}");
        }
    }

    #[test]
    fn places_tell_findings_apart_and_words_do_not() {
        let mut one = at("exit", &[3]);
        one.message = "the program ended with code 1: at 7".into();
        let mut other = at("exit", &[3, 3]);
        other.message = "the program ended with code 1: at 8".into();
        assert!(is_same(&one, &other));
        assert_eq!(id(&one, 1, ""), id(&other, 1, ""));
        assert_ne!(id(&one, 1, ""), id(&one, 2, ""));
        assert!(!is_same(&one, &at("exit", &[4])) && !is_same(&one, &at("crash", &[3])));
        assert!(is_same(&at("deadlock", &[1, 2]), &at("deadlock", &[1, 2, 3])));
    }
}
