//! Reports of data races as ThreadSanitizer writes them: the two accesses with their stacks, so that a test is written of what another tool showed.

use threadbare_findings::finding::AccessDetail;
use threadbare_findings::{Finding, Place};

/// The first data race of a report; `None` if the text has none.
pub(super) fn race(text: &str) -> Option<Finding> {
    let mut accesses: Vec<AccessDetail> = Vec::new();
    let mut inside = false;
    for line in text.lines().map(str::trim) {
        if let Some(access) = access(line) {
            if accesses.len() == 2 {
                break;
            }
            accesses.push(access);
            inside = true;
        } else if let Some(place) = frame(line) {
            if let Some(last) = accesses.last_mut().filter(|_| inside) {
                last.stack.push(place);
            }
        } else {
            // Where blocks and threads come from has stacks, too.
            inside = false;
        }
    }
    let whole = accesses.len() == 2 && accesses.iter().all(|access| !access.stack.is_empty());
    whole.then(|| Finding { kind: "race".to_owned(), accesses, ..Finding::default() })
}

/// `Previous write of size 4 at 0x7b04 by thread T1 (mutexes: …):`
fn access(line: &str) -> Option<AccessDetail> {
    let (operation, rest) = line.strip_suffix(':')?.split_once(" of size ")?;
    let (size, rest) = rest.split_once(" at 0x")?;
    let (_, strand) = rest.split_once(" by ")?;
    Some(AccessDetail {
        strand: strand.to_owned(),
        operation: operation.trim_start_matches("Previous ").to_lowercase(),
        size: size.parse().ok()?,
        ..AccessDetail::default()
    })
}

/// `#0 name(arguments) file.c:12:5 (program+0x1234) (BuildId: …)`
fn frame(line: &str) -> Option<Place> {
    let (number, rest) = line.strip_prefix('#')?.split_once(' ')?;
    number.parse::<u32>().ok()?;
    let source = line.split_whitespace().rev().find_map(source)?;
    let function = rest.split(['(', ' ']).next().unwrap_or_default().to_owned();
    Some(Place { function: Some(function), file: Some(source.0), line: Some(source.1), ..Place::default() })
}

/// `file.c:12` or `file.c:12:5`.
fn source(word: &str) -> Option<(String, u32)> {
    let (before, last) = word.rsplit_once(':')?;
    let last = last.parse::<u32>().ok()?;
    match before.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse::<u32>().ok()?))) {
        Some((file, line)) => Some((file.to_owned(), line)),
        None if !before.is_empty() => Some((before.to_owned(), last)),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "==================
WARNING: ThreadSanitizer: data race (pid=12)
  Write of size 4 at 0x55d0 by thread T2 (mutexes: write M0):
    #0 shop::sell(int, char const*) /src/shop.cc:21:9 (shop+0x12ab) (BuildId: 5f)
    #1 clerk /src/shop.cc:30 (shop+0x12ff)

  Previous read of size 4 at 0x55d0 by main thread:
    #0 left /src/shop.cc:14 (shop+0x1234)

  Location is global 'stock' of size 4 at 0x55d0 (shop+0x4014)

  Thread T2 (tid=14, running) created by main thread at:
    #0 pthread_create <null> (libtsan.so.2+0x5)
    #1 main /src/shop.cc:40 (shop+0x1300)
";

    #[test]
    fn the_two_accesses_of_a_report_are_read() {
        let race = race(REPORT).expect("a race");
        let places: Vec<Vec<_>> = race
            .accesses
            .iter()
            .map(|it| it.stack.iter().map(|place| (place.file.as_deref(), place.line)).collect())
            .collect();
        let at = |line| (Some("/src/shop.cc"), Some(line));
        assert_eq!(places, [vec![at(21), at(30)], vec![at(14)]]);
        assert_eq!(race.accesses[0].stack[0].function.as_deref(), Some("shop::sell"));
        let texts = ["", "#", "#0", "{}", "  Write of size 4 at 0x5 by thread T1:\n", "#0 f :1:1\n"];
        assert!(texts.iter().all(|text| super::race(text).is_none()));
    }
}
