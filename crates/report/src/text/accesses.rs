//! Findings about memory: the accesses, the block's allocation and its end.

use crate::excerpt::{Mark, Sources, excerpts};
use crate::screen::Screen;
use crate::text::strands::{mark, paragraph};
use crate::text::words::quoted;
use threadbare_findings::Finding;
use threadbare_findings::finding::{AccessDetail, Happening};
use threadbare_findings::places::shown;

/// The places: the later access of a race first, or the access of a memory error, then the free and the allocation.
pub(super) fn all(out: &mut String, finding: &Finding, screen: Screen) {
    let mut marks: Vec<Mark> = Vec::new();
    let race = finding.kind == "race";
    let name = finding.object.as_ref().and_then(|object| object.name.as_deref()).map(last_name);
    for (index, access) in finding.accesses.iter().enumerate() {
        let label = access_label(finding, access, race, index);
        match shown(&access.stack).and_then(|place| mark(place, label.clone(), index == 0)) {
            Some(mark) => marks.push(Mark { name: name.clone(), ..mark }),
            None => paragraph(out, &without_place(&label, &access.stack), 2, screen),
        }
    }
    let block = finding.object.as_ref().and_then(|object| object.block.as_ref());
    let freed = block.and_then(|block| block.freed.as_ref());
    let first = if finding.kind == "double-free" { "first freed" } else { "freed" };
    for (happening, what) in freed
        .map(|happening| (happening, first))
        .into_iter()
        .chain(allocation(finding).map(|it| (it, "allocated")))
    {
        let label = format!("{what} by {}", strand(finding, &happening.strand));
        match shown(&happening.stack).and_then(|place| mark(place, label.clone(), false)) {
            Some(mark) => marks.push(mark),
            None => paragraph(out, &without_place(&label, &happening.stack), 2, screen),
        }
    }
    excerpts(out, &marks, Sources::of(finding), screen);
}

/// The allocation, where it is part of the failure; of a race it is a fact beside it.
fn allocation(finding: &Finding) -> Option<&Happening> {
    let block = finding.object.as_ref().and_then(|object| object.block.as_ref());
    block.and_then(|block| block.allocated.as_ref()).filter(|_| finding.kind != "race")
}

fn access_label(finding: &Finding, access: &AccessDetail, race: bool, index: usize) -> String {
    let earlier = if race && index > 0 { "earlier " } else { "" };
    let operation = match (finding.kind.as_str(), access.operation.as_str()) {
        ("double-free", "free") => "freed again".to_owned(),
        ("invalid-free", "free") => "freed".to_owned(),
        (_, operation) => operation.replace('-', " "),
    };
    let sizes: Vec<u64> = finding.accesses.iter().map(|access| access.size).collect();
    let whole = finding.object.as_ref().map(|object| object.size);
    let odd =
        access.size > 0 && (sizes.iter().any(|size| *size != access.size) || whole != Some(access.size));
    let bytes = if odd { format!(" of {} bytes", access.size) } else { String::new() };
    let holding = if race { format!(", holding {}", locks(access)) } else { String::new() };
    format!("{earlier}{operation}{bytes} by {}{holding}", strand(finding, &access.strand))
}

fn locks(access: &AccessDetail) -> String {
    let names: Vec<String> = access.holds.iter().map(|held| quoted(&held.object)).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(" and ") }
}

fn without_place(label: &str, stack: &[threadbare_findings::Place]) -> String {
    match shown(stack) {
        Some(place) => format!("{label} at {}", threadbare_findings::explain::place_text(place)),
        None => label.to_owned(),
    }
}

/// A strand with the name the program gave it.
pub(super) fn strand(finding: &Finding, strand: &str) -> String {
    let details = finding.strands.iter().map(|detail| (&detail.strand, &detail.name));
    let created = finding.created.iter().map(|creation| (&creation.strand, &creation.name));
    let named = details.chain(created).find(|(other, name)| *other == strand && !name.is_empty());
    named.map_or_else(|| format!("strand {strand}"), |(_, name)| format!("strand {strand} ({name})"))
}

/// The part of a variable's name that stands in the source where it is used: the last field, or the variable.
fn last_name(name: &str) -> String {
    let part = name.rsplit(['.', ':', '>']).next().unwrap_or(name);
    part.split('[').next().unwrap_or(part).trim_start_matches('*').to_owned()
}
