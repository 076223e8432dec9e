//! The places of a finding, each with what happened there: what every form of a report shows.

use crate::excerpt::Mark;
use crate::text::words::quoted;
use threadbare_findings::finding::AccessDetail;
use threadbare_findings::places::shown;
use threadbare_findings::std_locks::word;
use threadbare_findings::{Finding, Location, Place, StrandDetail};

/// All places of a finding, the most telling first; each label says who did what.
pub fn all(finding: &Finding) -> Vec<Mark> {
    if !finding.accesses.is_empty() {
        return accesses(finding).into_iter().chain(block(finding)).filter_map(Told::into_mark).collect();
    }
    if is_about_all(finding) {
        let (detailed, _) = parted(finding);
        return detailed
            .into_iter()
            .flat_map(|strand| {
                let whole = doing(strand);
                let took = |label: &str| format!("strand {} {label}", strand.strand);
                of_strand(strand, finding).into_iter().map(move |mark| Mark {
                    label: if mark.main { whole.clone() } else { took(&mark.label) },
                    ..mark
                })
            })
            .collect();
    }
    failure(finding).into_iter().filter_map(Told::into_mark).collect()
}

/// What happened somewhere; the place may have no source.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    /// What.
    pub(crate) label: String,
    /// Where, if there is a file and a line.
    pub(crate) mark: Option<Mark>,
    /// Where otherwise.
    pub(crate) place: Option<String>,
}

impl Told {
    fn at(place: Option<&Place>, label: String, strand: &str, main: bool) -> Told {
        let mark = place.and_then(|place| at(place, label.clone(), strand, main));
        let text = place.map(threadbare_findings::explain::place_text);
        Told { label, mark, place: text }
    }

    fn into_mark(self) -> Option<Mark> {
        self.mark
    }
}

/// Whether all strands have part in the failure, not one.
pub(crate) fn is_about_all(finding: &Finding) -> bool {
    matches!(finding.kind.as_str(), "deadlock" | "livelock" | "timeout")
}

/// The accesses: of a race the later one first.
pub(crate) fn accesses(finding: &Finding) -> Vec<Told> {
    let race = finding.kind == "race";
    let name = finding.object.as_ref().and_then(|object| object.name.as_deref()).and_then(last_name);
    let told = |(index, access): (usize, &AccessDetail)| {
        let label = access_label(finding, access, race, index);
        let mut told = Told::at(shown(&access.stack), label, &access.strand, index == 0);
        if let Some(mark) = &mut told.mark {
            mark.name.clone_from(&name);
        }
        told
    };
    finding.accesses.iter().enumerate().map(told).collect()
}

/// The end of the block and its beginning, where they are part of the failure; of a race they are facts beside it.
pub(crate) fn block(finding: &Finding) -> Vec<Told> {
    let block = finding.object.as_ref().and_then(|object| object.block.as_ref());
    let Some(block) = block.filter(|_| finding.kind != "race") else { return Vec::new() };
    let first = if finding.kind == "double-free" { "first freed" } else { "freed" };
    let happened = [(&block.freed, first), (&block.allocated, "allocated")];
    happened
        .into_iter()
        .filter_map(|(happening, what)| Some((happening.as_ref()?, what)))
        .map(|(happening, what)| {
            let label = format!("{what} by {}", strand(finding, &happening.strand));
            Told::at(shown(&happening.stack), label, &happening.strand, false)
        })
        .collect()
}

/// The places of a failure that one strand made.
pub(crate) fn failure(finding: &Finding) -> Vec<Told> {
    let told = |(index, location): (usize, &Location)| {
        let label = failure_label(finding, location);
        let frames = finding.strands.iter().flat_map(|strand| &strand.stack);
        let same = |place: &&Place| (&place.file, place.line) == (&location.file, location.line);
        let frame = frames.into_iter().find(same);
        let whole = location.file.clone().zip(location.line);
        let mark = whole.map(|(file, line)| Mark {
            file,
            line,
            // An assertion is a statement; its column is that of some part of it.
            column: frame.and_then(|place| place.column).filter(|_| finding.kind == "crash"),
            function: location.function.clone(),
            name: None,
            label: label.clone(),
            strand: location.strand.clone(),
            main: index == 0,
        });
        let place = location.function.as_ref().map(|function| format!("in {function}"));
        Told { label, mark, place }
    };
    finding.locations.iter().enumerate().map(told).collect()
}

/// The strands that are to be shown at length, and those that only wait for others to end.
pub(crate) fn parted(finding: &Finding) -> (Vec<&StrandDetail>, Vec<&StrandDetail>) {
    let joins = |strand: &&StrandDetail| strand.operation.as_deref() == Some("join");
    let (joining, others): (Vec<&StrandDetail>, Vec<&StrandDetail>) = finding.strands.iter().partition(joins);
    // Where all wait for an end, those waits are the matter.
    if others.is_empty() { (joining, Vec::new()) } else { (others, joining) }
}

/// Where a strand stands, and where it took what it holds.
pub(crate) fn of_strand(strand: &StrandDetail, finding: &Finding) -> Vec<Mark> {
    let of_strand = |location: &&Location| location.strand.as_ref() == Some(&strand.strand);
    let location = finding.locations.iter().find(of_strand);
    let same = |place: &&Place| {
        location.is_some_and(|location| (&place.file, place.line) == (&location.file, location.line))
    };
    let place = strand.stack.iter().find(same).or_else(|| shown(&strand.stack));
    let label = match (strand.state.as_str(), strand.operation.as_deref()) {
        ("running", _) => "runs here",
        ("blocked", Some("spin-wait")) => "spins here",
        ("blocked", _) => "waits here",
        _ => "stands here",
    };
    let from_location = || {
        let location = location?;
        Some(Mark {
            file: location.file.clone()?,
            line: location.line?,
            function: location.function.clone(),
            label: label.to_owned(),
            strand: location.strand.clone(),
            main: true,
            ..Mark::default()
        })
    };
    let here = place.and_then(|place| at(place, label.to_owned(), &strand.strand, true));
    let mut marks: Vec<Mark> = here.or_else(from_location).into_iter().collect();
    for held in &strand.holds {
        let label = format!("took {} here", quoted(&held.object));
        marks.extend(held.taken_at.as_ref().and_then(|place| at(place, label, &strand.strand, false)));
    }
    marks
}

/// What a strand does, in a sentence.
pub(crate) fn doing(strand: &StrandDetail) -> String {
    let name = if strand.name.is_empty() { String::new() } else { format!(" ({})", strand.name) };
    let told =
        strand.operation.as_deref().map(|operation| word(operation, &strand.stack).unwrap_or(operation));
    let what = match (strand.state.as_str(), told) {
        ("blocked", Some("spin-wait")) => "spins on".to_owned(),
        ("blocked", Some(operation)) => format!("waits: {operation}"),
        ("ready", Some(operation)) => format!("can go on, before: {operation}"),
        ("running", _) => "runs".to_owned(),
        (state, _) => format!("is {state}"),
    };
    let object = strand.object.as_deref().filter(|_| strand.state != "running");
    let object = object.map(|object| format!(" {}", quoted(object))).unwrap_or_default();
    let joins = strand.operation.as_deref() == Some("join");
    let holder = match &strand.held_by {
        _ if joins => String::new(),
        Some(holder) if *holder == strand.strand => ", which it holds itself".to_owned(),
        Some(holder) => format!(", held by strand {holder}"),
        None => String::new(),
    };
    format!("strand {}{name} {what}{object}{holder}", strand.strand)
}

/// A strand with the name the program gave it.
pub(crate) fn strand(finding: &Finding, strand: &str) -> String {
    let details = finding.strands.iter().map(|detail| (&detail.strand, &detail.name));
    let created = finding.created.iter().map(|creation| (&creation.strand, &creation.name));
    let named = details.chain(created).find(|(other, name)| *other == strand && !name.is_empty());
    named.map_or_else(|| format!("strand {strand}"), |(_, name)| format!("strand {strand} ({name})"))
}

fn at(place: &Place, label: String, strand: &str, main: bool) -> Option<Mark> {
    Some(Mark {
        file: place.file.clone()?,
        line: place.line?,
        column: place.column,
        function: place.function.clone(),
        name: None,
        label,
        strand: Some(strand.to_owned()),
        main,
    })
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
    let bytes =
        if odd { format!(" of {}", crate::text::counted(access.size, "byte")) } else { String::new() };
    // The runtime does not know all locks (std's of Rust, a program's own): "nothing" is said only beside a lock.
    let known = finding.accesses.iter().any(|access| !access.holds.is_empty());
    let holding = if race && known { format!(", holding {}", locks(access)) } else { String::new() };
    format!("{earlier}{operation}{bytes} by {}{holding}", strand(finding, &access.strand))
}

fn locks(access: &AccessDetail) -> String {
    let names: Vec<String> = access.holds.iter().map(|held| quoted(&held.object)).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(" and ") }
}

fn failure_label(finding: &Finding, location: &Location) -> String {
    let what = match finding.kind.as_str() {
        "assertion" => "the assertion fails",
        "panic" => "the panic",
        "crash" => "the crash",
        "exit" => "the exit",
        "leak" => "what is left was allocated",
        kind => kind,
    };
    let strand = location.strand.as_deref().map(|name| format!(" in {}", strand(finding, name)));
    format!("{what}{}", strand.unwrap_or_default())
}

/// The part of a variable's name that stands in the source where it is used: the last field, or the variable.
fn last_name(name: &str) -> Option<String> {
    let part = name.rsplit(['.', ':', '>']).next().unwrap_or(name);
    let part = part.split('[').next().unwrap_or(part).trim_start_matches('*');
    (!part.is_empty()).then(|| part.to_owned())
}
