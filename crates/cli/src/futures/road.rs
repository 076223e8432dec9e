//! The way to a write, or a read, that no run came to: the branches that must be taken, in places of the source.

use std::collections::BTreeSet;
use std::path::Path;
use threadbare_code::Code;
use threadbare_code::reach::{self, Entry, Need, Road, Roads, Turn, Unknown};
use threadbare_findings::places::shown;
use threadbare_findings::{Place, Places, SymbolPlaces};
use threadbare_report::branches::{Branch, Kind};

/// Who works out ways.
pub(super) struct Scout<'a> {
    roads: Roads<'a>,
    code: &'a Code,
    places: &'a SymbolPlaces,
    /// Where the program's addresses count from.
    base: u64,
}

impl<'a> Scout<'a> {
    /// Of a program, with the instructions that runs came to; `None` if its file cannot be read any more.
    pub(super) fn of(
        path: &Path,
        code: &'a Code,
        places: &'a SymbolPlaces,
        base: u64,
        reached: &BTreeSet<u64>,
    ) -> Option<Scout<'a>> {
        let linked = reached.iter().map(|pc| pc.wrapping_sub(base)).collect();
        Some(Scout { roads: Roads::of(path, code, linked).ok()?, code, places, base })
    }

    /// What must be so for one of these places of the file to be come to: the one that takes least.
    pub(super) fn to(&mut self, places: impl Iterator<Item = u64>) -> Vec<Branch> {
        let roads: Vec<Road> = places.map(|place| self.roads.to(place)).collect();
        roads.iter().min_by_key(|road| road.untaken()).map(|road| self.told(road)).unwrap_or_default()
    }

    fn told(&self, road: &Road) -> Vec<Branch> {
        let mut told = Vec::new();
        let mut needs = 0;
        for unknown in &road.unknown {
            let (kind, function) = match *unknown {
                Unknown::NoCaller(function) => (Kind::NoCaller, function),
                Unknown::ByPointer(function) => (Kind::ByPointer, function),
                Unknown::NoWay(function) => (Kind::NotFollowed, function),
                Unknown::TooMany(function) => (Kind::ManyWays, function),
            };
            told.push(self.step(kind, self.function(function), needs));
            needs += 1;
        }
        for (at, leg) in road.legs.iter().enumerate() {
            for (number, need) in leg.needs.iter().enumerate() {
                if leg.needs[number + 1..].iter().any(|later| self.says_more(need, later)) {
                    continue;
                }
                for (way, branches) in need.ways.iter().enumerate() {
                    let ways = branches.iter().map(|it| Branch { way, ..self.branch(it, needs) });
                    told.extend(ways);
                }
                needs += 1;
            }
            let (place, Some(entry)) = leg.to else { continue };
            let kind = match entry {
                Entry::Call => Kind::Call,
                Entry::Creation => Kind::Creation,
                Entry::Handed => Kind::Handed,
            };
            let (place, text) =
                self.line(place).map_or_else(Default::default, |it| (name(&it), self.text(&it)));
            let next = road.legs.get(at + 1).map(|leg| self.function(leg.function));
            told.push(Branch { text, to: next.into_iter().collect(), ..self.step(kind, place, needs) });
            needs += 1;
        }
        told
    }

    fn step(&self, kind: Kind, place: String, need: usize) -> Branch {
        let (to, not) = (Vec::new(), Vec::new());
        Branch { kind, place, text: String::new(), to, not, taken: false, need, way: 0 }
    }

    /// Whether a branch that stays on its line is the first of several of that line: `if (a && b)`.
    fn says_more(&self, need: &Need, later: &Need) -> bool {
        let ([one], [other]) = (&need.ways[..], &later.ways[..]) else { return false };
        let ([one], [other]) = (&one[..], &other[..]) else { return false };
        let line = |address| self.line(address).map(|it| (it.file, it.line));
        let stays = |branch: &reach::Branch| {
            let own = line(branch.at);
            own.is_some() && branch.to.iter().flatten().all(|&address| line(address) == own)
        };
        one.kind == Turn::Jump && stays(one) && line(one.at) == line(other.at)
    }

    fn branch(&self, branch: &reach::Branch, need: usize) -> Branch {
        let at = self.line(branch.at);
        let kind = if branch.kind == Turn::Throws { Kind::Throws } else { Kind::Branch };
        let place = at.as_ref().map_or_else(|| format!("{:#x}", branch.at), name);
        let text = at.as_ref().map(|at| self.text(at)).unwrap_or_default();
        let lead = |ways: &[Vec<u64>], known: &[Place]| -> Vec<Place> {
            ways.iter().filter_map(|way| self.lead(way, at.as_ref(), known)).collect()
        };
        let to = lead(&branch.to, &[]);
        let not = lead(&branch.not, &to);
        let names = |places: &[Place], with: &dyn Fn(&Place) -> String| {
            places.iter().map(with).collect::<BTreeSet<String>>().into_iter().collect::<Vec<String>>()
        };
        let (mut lines, mut others) = (names(&to, &name), names(&not, &name));
        // Where both ways go on in one line, columns part them, if there are any.
        if lines.iter().any(|line| others.contains(line)) {
            (lines, others) = (names(&to, &name_and_column), names(&not, &name_and_column));
            others.retain(|other| !lines.contains(other));
        }
        if kind == Kind::Throws {
            (lines, others) = (Vec::new(), Vec::new());
        }
        Branch { text, to: lines, not: others, taken: branch.taken, ..self.step(kind, place, need) }
    }

    /// Where a way leads: its first line that is another than the branch's and those that are known, or else its first.
    fn lead(&self, way: &[u64], from: Option<&Place>, known: &[Place]) -> Option<Place> {
        let mut places = way.iter().filter_map(|&address| self.line(address)).peekable();
        let first = places.peek().cloned();
        let same = |place: &Place, other: &Place| (&place.file, place.line) == (&other.file, other.line);
        places.find(|place| !from.into_iter().chain(known).any(|other| same(place, other))).or(first)
    }

    /// The line of an address that is like a return address.
    fn line(&self, address: u64) -> Option<Place> {
        let frames = self.places.at(self.base.wrapping_add(address));
        shown(&frames)
            .filter(|place| place.file.is_some() && place.line.is_some_and(|line| line > 0))
            .cloned()
    }

    fn text(&self, place: &Place) -> String {
        let line = place.file.as_deref().zip(place.line);
        let text = line.and_then(|(file, line)| self.places.source(file, line));
        text.map(|text| condition(&text).to_owned()).unwrap_or_default()
    }

    fn function(&self, at: usize) -> String {
        self.code.functions[at].shown()
    }
}

/// A line without what stands around its condition.
fn condition(line: &str) -> &str {
    let end = [" //", " /*"].iter().filter_map(|mark| line.find(mark)).min().unwrap_or(line.len());
    line[..end].trim().trim_end_matches('{').trim_end()
}

fn name(place: &Place) -> String {
    format!("{}:{}", place.file.as_deref().unwrap_or_default(), place.line.unwrap_or(0))
}

fn name_and_column(place: &Place) -> String {
    match place.column {
        Some(column) => format!("{}:{column}", name(place)),
        None => name(place),
    }
}
