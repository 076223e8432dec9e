//! When two tests show the same.

use super::judge::Class;
use threadbare_findings::Finding;

/// A key that findings of one bug share: the kind and the places for what has places of its own, the kind and what makes the
/// object for what is only seen at the end.
pub(super) fn key(class: Class, finding: &Finding, maker: &str) -> String {
    match class {
        Class::NotAtomic | Class::Leak => format!("{} {maker}", class.word()),
        Class::Panic => format!("{} {}", class.word(), finding.message),
        Class::Other | Class::Deadlock => {
            // Where strands of the harness wait for others says nothing.
            let ours = |file: &Option<String>| {
                let parts = ["threadbare-generate/", "generate/tests.c", "/harness.rs"];
                file.as_ref().is_some_and(|file| parts.iter().any(|part| file.contains(part)))
            };
            let mut places: Vec<String> = finding
                .locations
                .iter()
                .filter(|place| !ours(&place.file))
                .take(2)
                .map(|place| {
                    format!("{}:{}", place.file.as_deref().unwrap_or("?"), place.line.unwrap_or_default())
                })
                .collect();
            places.sort();
            places.dedup();
            format!("{} {}", finding.kind, places.join(" "))
        }
    }
}
