//! Numbers and names in words.

use std::time::Duration;
use threadbare_findings::explain::place_text;
use threadbare_findings::{Finding, Place, Shrunk};

/// A number with its thousands apart.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// How many a second.
pub fn per_second(count: u64, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64().max(1e-9);
    thousands((count as f64 / seconds) as u64)
}

/// A time in seconds.
pub fn seconds(elapsed: Duration) -> String {
    format!("{:.2} s", elapsed.as_secs_f64())
}

/// A number of things.
pub fn counted(count: u64, what: &str) -> String {
    let plural = match count {
        1 => "",
        _ if what.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{} {what}{plural}", thousands(count))
}

/// A variable is quoted, so that `lock` the lock is told from lock the operation.
pub fn quoted(object: &str) -> String {
    let variable = object.starts_with(|c: char| c.is_alphabetic() || c == '_') && !object.contains(' ');
    if variable { format!("`{object}`") } else { object.to_owned() }
}

/// A place with its function.
pub fn place_in_function(place: &Place) -> String {
    match (&place.file, &place.function) {
        (Some(_), Some(function)) => format!("{} in {function}", place_text(place)),
        _ => place_text(place),
    }
}
/// Where a statement on values stands: a side, `enter` or `exit`, of lines or of a function.
pub fn point(side: &str, lines: Option<(u32, u32)>, place: &str, function: &str) -> String {
    let side = if side == "enter" { "the entry" } else { "the exit" };
    let Some((first, last)) = lines else { return format!("{side} of {function}()") };
    let file = place.rsplit_once(':').map_or("", |(file, _)| file);
    let lines = if first == last { first.to_string() } else { format!("{first}-{last}") };
    format!("{side} of {file}:{lines}")
}

/// What shrinking came to.
pub fn shrunk(before: Shrunk, finding: &Finding) -> String {
    let (switches, preemptions) = (finding.switches, finding.preemptions.unwrap_or(0));
    let size = format!("{} ({})", counted(switches, "switch"), counted(preemptions, "preemption"));
    let minimal = if before.minimal { ", minimal" } else { "" };
    match (before.switches, before.preemptions) == (switches, preemptions) {
        true => format!("{size}{minimal}"),
        false => format!("shrunk from {} to {size}{minimal}", thousands(before.switches)),
    }
}
