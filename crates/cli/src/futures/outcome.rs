//! What came of choices.

use super::choice::Chosen;
use super::name;
use std::collections::BTreeSet;
use threadbare_abi::op::OpKind;
use threadbare_explore::futures::{Against, Found, Origin, Progress, Source, Stand, Stuck, Why, Wish};
use threadbare_findings::Places;
use threadbare_findings::places::{chain, shown};
use threadbare_report::choices::{Came, ChoiceReport, count};

/// What came of a choice.
pub(crate) fn of(
    progress: &Progress,
    found: &Found,
    struck: Option<&str>,
    wishes: &[Wish],
    places: &dyn Places,
) -> Came {
    if let Some(made) = &progress.made {
        let reads = made
            .reads
            .iter()
            .map(|&(strand, _, number)| format!("strand {}, time {number}", name::strand(strand)));
        return Came::Made { runs: made.runs, first: made.run, reads: reads.collect() };
    }
    let runs = count(found.runs as usize, "run");
    if progress.read == 0 || progress.written == 0 {
        let what = match (progress.read, progress.written) {
            (0, 0) => "neither the read nor the write is made",
            (0, _) => "the read is not made",
            _ => "the write is not made",
        };
        let all = if found.complete { ", whatever the order" } else { "" };
        return Came::NotReached { what: format!("{what} in {runs}{all}"), branches: Vec::new() };
    }
    let cycle = progress.stuck.as_ref().map(|stuck| words(stuck, places)).filter(|words| !words.is_empty());
    let cycle = cycle.or_else(|| progress.against.map(|against| in_order(against).to_owned()));
    if found.complete {
        let all = "no order of the program has it";
        let why = struck.map(str::to_owned).or(cycle).or_else(|| sees(wishes, found, places));
        let reason = why.map_or(all.to_owned(), |why| format!("{all}: {why}"));
        return Came::CannotBe { reason };
    }
    let near = match progress.both {
        0 => "the read and the write were never in one run".to_owned(),
        both => format!("both were made in {both} of them"),
    };
    let why = struck.map(str::to_owned).or(cycle).map(|why| format!("; {why}")).unwrap_or_default();
    Came::NotMade { near: format!("not in {runs}; {near}, {} tried for it{why}", progress.tries) }
}

/// What came of choices that were to come true together.
pub(crate) fn together(chosen: &[Chosen], found: &Found, places: &dyn Places) -> Vec<ChoiceReport> {
    let Some(progress) = found.goals.first() else { return Vec::new() };
    let struck = chosen.iter().find_map(|choice| choice.struck.as_deref());
    let wishes: Vec<Wish> = chosen.iter().map(|choice| choice.wish.clone()).collect();
    let came = of(progress, found, struck, &wishes, places);
    chosen
        .iter()
        .enumerate()
        .map(|(at, choice)| {
            let came = match &came {
                Came::NotReached { what, .. } => {
                    // Of a read that is not made the way to the write is not asked for.
                    let branches = if progress.read == 0 { &choice.to_read } else { &choice.to_write };
                    Came::NotReached { what: what.clone(), branches: branches.clone() }
                }
                Came::Made { runs, first, reads } => {
                    let reads = reads.get(at).cloned().into_iter().collect();
                    Came::Made { runs: *runs, first: *first, reads }
                }
                other => other.clone(),
            };
            ChoiceReport { choice: choice.text.clone(), came }
        })
        .collect()
}

/// How a strand's own order is against a choice.
fn in_order(against: Against) -> &'static str {
    match against {
        Against::Later => "the strand makes the write only after the read",
        Against::Again => "the strand writes again before the read",
        Against::Writes => "the strand itself writes before the read",
    }
}

/// What a read sees in all orders, if it is never what is wished for.
fn sees(wishes: &[Wish], found: &Found, places: &dyn Places) -> Option<String> {
    let stand = |site: u64| found.sites.get(&site).copied().unwrap_or([site, 0, 0, 0]);
    let is = |wish: &Wish, origin: Origin| match (&wish.source, origin) {
        (Source::Initial, Origin::Initial) => true,
        (Source::Write(step, own), Origin::Own(site)) => *own != Some(false) && step.sites.contains(&site),
        (Source::Write(step, own), Origin::Other(site)) => *own != Some(true) && step.sites.contains(&site),
        _ => false,
    };
    wishes.iter().find_map(|wish| {
        let pairs = found.pairs.keys().filter(|(site, _)| wish.read.sites.contains(site));
        let origins: Vec<Origin> = pairs.map(|(_, origin)| *origin).collect();
        // Which strand and time are wished for does not count here: of a read that sees it otherwise nothing is told.
        if origins.is_empty() || origins.iter().any(|&origin| is(wish, origin)) {
            return None;
        }
        let names = origins.into_iter().map(|origin| match origin {
            Origin::Own(site) => format!("its own write at {}", place(stand(site), places)),
            Origin::Other(site) => place(stand(site), places),
            Origin::Initial => "the initial value".to_owned(),
            Origin::Unseen => "a write of code that is not instrumented".to_owned(),
        });
        let names: BTreeSet<String> = names.collect();
        Some(format!("the read sees {} in every one", names.into_iter().collect::<Vec<_>>().join(" or ")))
    })
}

/// A line by its file's name: the program's own, where that is in a library.
fn place(stand: Stand, places: &dyn Places) -> String {
    let [pc, callers @ ..] = stand;
    let callers: Vec<u64> = callers.into_iter().filter(|&caller| caller != 0).collect();
    let frames = chain(places, pc, &callers);
    let Some(place) = shown(&frames) else { return "an unknown place".to_owned() };
    match (&place.file, &place.function) {
        (Some(file), _) => {
            format!("{}:{}", file.rsplit('/').next().unwrap_or_default(), place.line.unwrap_or(0))
        }
        (None, Some(function)) => format!("`{function}`"),
        (None, None) => "an unknown place".to_owned(),
    }
}

/// Who would wait for whom.
pub(super) fn words(stuck: &Stuck, places: &dyn Places) -> String {
    let place = |stand: Stand| place(stand, places);
    let one = |waits: &threadbare_explore::futures::Waits| {
        let who = name::strand(waits.strand);
        let whom = name::strand(waits.whom);
        match waits.why {
            Why::Held(stand) => format!(
                "strand {who} would have to wait at {} for {} of strand {whom}",
                place(waits.at),
                place(stand)
            ),
            Why::Lock(stand) => {
                format!(
                    "strand {who} needs at {} the lock that strand {whom} holds since {}",
                    place(waits.at),
                    place(stand)
                )
            }
            Why::Join => format!("strand {who} waits at {} for the end of strand {whom}", place(waits.at)),
            Why::After(stand) if waits.kind == OpKind::Start => {
                format!("strand {who} begins only after {} of strand {whom}", place(stand))
            }
            Why::After(stand) => {
                format!(
                    "strand {who} comes to {} only after {} of strand {whom}",
                    place(waits.at),
                    place(stand)
                )
            }
        }
    };
    stuck.iter().map(one).collect::<Vec<_>>().join("; ")
}
