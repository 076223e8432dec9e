//! What is known of the sampled variables in one run.

use crate::array::Array;
use crate::location::Home;
use crate::objects::Objects;
use crate::places::{Program, Spot};
use crate::recording::{Access, Recording};
use crate::regions::Found;
use crate::sequence::{LONGEST, Sequence, Told};
use crate::timeline::{Moment, Timeline};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::collections::BTreeMap;
use std::rc::Rc;
use threadbare_abi::op::OpKind;
use threadbare_symbols::{Content, NoScalar};

/// What is sampled.
#[derive(Clone, Debug)]
pub(crate) enum Slot {
    /// A variable: of those in heap blocks and frames, that of the first object an activation touches, or of the second.
    One(One),
    /// An array, put together from its elements.
    All(Array),
    /// A sequence on the heap.
    Sequence(Sequence, Told),
    /// Which object a pointer leads to.
    Object(One),
}

/// A variable of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct One {
    pub(crate) variable: usize,
    pub(crate) nth: usize,
}

impl Slot {
    /// The variables that it is made of, the first object of each; none for an element that was never touched.
    fn all(&self) -> Vec<Option<One>> {
        match self {
            Self::One(one) | Self::Object(one) => vec![Some(*one)],
            Self::All(array) => {
                array.elements.iter().map(|it| it.map(|variable| One { variable, nth: 0 })).collect()
            }
            Self::Sequence(sequence, _) => {
                let borders = sequence.borders().into_iter().flatten();
                let borders = borders.map(|variable| Some(One { variable, nth: 0 }));
                borders.chain(std::iter::repeat(None)).take(self.width()).collect()
            }
        }
    }

    /// How many values it has in a [`Raw`].
    pub(crate) fn width(&self) -> usize {
        match self {
            Self::One(_) | Self::Object(_) => 1,
            Self::All(array) => array.elements.len(),
            Self::Sequence(_, Told::Size) => 2,
            Self::Sequence(_, Told::All) => 2 + LONGEST,
        }
    }
}

/// What the variables of all slots were, one after the other, as far as that is known.
pub(crate) type Raw = Vec<Option<u64>>;

/// A variable in one run.
#[derive(Clone, Debug)]
struct Held {
    variable: usize,
    home: Home,
    size: u64,
    /// When it means anything.
    content: Option<Content>,
    /// How many of its objects are told apart.
    most: usize,
    /// The numbers of its timelines, by address.
    lines: BTreeMap<u64, usize>,
}

/// The places of the variables in one run, each with what it was.
pub(crate) struct Known {
    held: Vec<Held>,
    timelines: Vec<Timeline>,
    /// Of each value of a [`Raw`] the variable, by its place in `held`, and which of its objects.
    ones: Vec<Option<(usize, usize)>>,
    /// The same of each value, of an activation that touches none.
    base: Vec<Option<Source>>,
    /// Of each access its variable and its timeline, if it is sampled.
    touched: Vec<Option<(usize, usize)>>,
    /// Of each access the strand's next one.
    next: Vec<usize>,
    /// The sequences, each with where its values begin in a [`Raw`].
    sequences: Vec<(usize, Sequence)>,
    /// Where the two borders of sequences that have an end are in a [`Raw`].
    bordered: Vec<usize>,
    /// Heap blocks that were allocated, with their ends.
    blocks: BTreeMap<u64, u64>,
    /// Timelines of what may be elements of sequences, by address and size.
    elements: HashMap<(u64, u8), usize>,
    /// Timelines of all variables, by address.
    by_address: HashMap<u64, usize>,
    /// Timelines of places that no access touches, and that were only seen beside others.
    beside: HashSet<usize>,
    /// By the timeline of an element of an array in a block or a frame, the other elements of it that were seen: variable, timeline, address.
    siblings: HashMap<usize, Vec<(usize, usize, u64)>>,
    /// Of which values of a [`Raw`] the object is told that they lead to.
    leading: Vec<usize>,
    objects: Objects,
}

impl Known {
    pub(crate) fn new(program: &mut Program, run: &Recording, slots: &[Slot], spots: &[Spot]) -> Self {
        let mut places: HashMap<usize, usize> = HashMap::default();
        let mut held: Vec<Held> = Vec::new();
        let mut ones = Vec::new();
        for one in slots.iter().flat_map(Slot::all) {
            let Some(one) = one else {
                ones.push(None);
                continue;
            };
            let at = *places.entry(one.variable).or_insert_with(|| {
                let location = program.location(one.variable);
                let size = u64::from(location.size);
                let (variable, home) = (one.variable, location.home);
                let content = location.content.clone();
                held.push(Held { variable, home, size, content, most: 1, lines: BTreeMap::new() });
                held.len() - 1
            });
            if held[at].home != Home::Fixed {
                held[at].most = held[at].most.max(one.nth + 1);
            }
            ones.push(Some((at, one.nth)));
        }
        let mut timelines = Vec::new();
        let touch = |(access, spot): (&Access, &Spot)| {
            let at = *places.get(&(*spot).ok()?)?;
            let line = *held[at].lines.entry(access.addr).or_insert_with(|| {
                timelines.push(Timeline::default());
                timelines.len() - 1
            });
            Some((at, line))
        };
        let touched = run.accesses.iter().zip(spots).map(touch).collect();
        let mut known = Self {
            held,
            timelines,
            ones,
            base: Vec::new(),
            touched,
            next: next(run),
            sequences: Vec::new(),
            bordered: Vec::new(),
            blocks: BTreeMap::new(),
            elements: HashMap::default(),
            by_address: HashMap::default(),
            beside: HashSet::default(),
            siblings: HashMap::default(),
            leading: Vec::new(),
            objects: Objects::default(),
        };
        known.fill(run, spots, &Members::of(slots, &places));
        known.fill_elements(run, slots);
        known.follow_pointers(program, run, slots);
        known.base = known.ones.iter().map(|one| known.outside((*one)?)).collect();
        known
    }

    /// Looks what the pointers lead to of which that is told.
    fn follow_pointers(&mut self, program: &mut Program, run: &Recording, slots: &[Slot]) {
        let mut at = 0;
        for slot in slots {
            if matches!(slot, Slot::Object(_)) {
                self.leading.push(at);
            }
            at += slot.width();
        }
        let pointers: HashSet<usize> = self.leading.iter().filter_map(|at| Some(self.ones[*at]?.0)).collect();
        if pointers.is_empty() {
            return;
        }
        let touching = run.accesses.iter().zip(&self.touched);
        let touching = touching.filter(|(_, touched)| touched.is_some_and(|(at, _)| pointers.contains(&at)));
        let all = touching.flat_map(|(access, _)| [Some(access.before), access.after]).flatten();
        self.objects = Objects::of(program, run, all);
    }

    /// What was seen of the other elements of an array when one of them was touched.
    fn fill_beside(&mut self, run: &Recording, number: usize, members: &Members) {
        let Some((at, own)) = self.touched[number] else { return };
        let access = &run.accesses[number];
        let words = run.beside(access);
        let Some((elements, index)) = members.of.get(&at).filter(|_| !words.is_empty()) else { return };
        let size = self.held[at].size;
        let begin = access.addr.wrapping_sub(*index as u64 * size);
        for (other, member) in elements.iter().enumerate() {
            let addr = begin.wrapping_add(other as u64 * size);
            let Some(member) = member.filter(|_| other != *index) else { continue };
            let Some(value) = within(words, addr, size) else { continue };
            let line = *self.held[member].lines.entry(addr).or_insert_with(|| {
                self.timelines.push(Timeline::default());
                self.beside.insert(self.timelines.len() - 1);
                self.timelines.len() - 1
            });
            self.timelines[line].add(number, Some(value), Some(value));
            if self.held[at].home != Home::Fixed {
                let siblings = self.siblings.entry(own).or_default();
                if !siblings.iter().any(|(_, known, _)| *known == line) {
                    siblings.push((member, line, addr));
                }
            }
        }
    }

    /// Follows what may be elements of sequences: accesses to heap blocks of just their size.
    fn fill_elements(&mut self, run: &Recording, slots: &[Slot]) {
        let lines = self.held.iter().flat_map(|held| &held.lines);
        self.by_address = lines.map(|(addr, line)| (*addr, *line)).collect();
        self.follow_tags(run);
        let mut at = 0;
        for slot in slots {
            if let Slot::Sequence(sequence, told) = slot {
                if *told == Told::All {
                    self.sequences.push((at, sequence.clone()));
                }
                if sequence.has_end() {
                    self.bordered.push(at);
                }
            }
            at += slot.width();
        }
        if !self.bordered.is_empty() {
            self.blocks.extend(run.allocations.iter().map(|it| (it.start, it.start.saturating_add(it.size))));
        }
        if self.sequences.is_empty() {
            return;
        }
        let sizes: Vec<u8> = self.sequences.iter().map(|(_, sequence)| sequence.element.size).collect();
        for (number, access) in run.accesses.iter().enumerate().filter(|(_, access)| access.block.is_some()) {
            let end = access.addr + u64::from(access.size);
            for &(word, value) in run.beside(access) {
                for &size in &sizes {
                    let all = (word..word + 8).step_by(size.into());
                    for addr in all.filter(|addr| addr + u64::from(size) <= access.addr || end <= *addr) {
                        let line = *self.elements.entry((addr, size)).or_insert_with(|| {
                            self.timelines.push(Timeline::default());
                            self.beside.insert(self.timelines.len() - 1);
                            self.timelines.len() - 1
                        });
                        let value = within(&[(word, value)], addr, size.into());
                        self.timelines[line].add(number, value, value);
                    }
                }
            }
            if sizes.contains(&access.size) {
                if let Some(line) = self.elements.get(&(access.addr, access.size)) {
                    self.beside.remove(line);
                }
                let line = *self.elements.entry((access.addr, access.size)).or_insert_with(|| {
                    self.timelines.push(Timeline::default());
                    self.timelines.len() - 1
                });
                self.timelines[line].add(number, Some(access.before), access.after);
            }
            // Whoever writes a part of an element, or several, leaves it unknown.
            for &size in sizes.iter().filter(|size| access.writes() && **size != access.size) {
                for addr in access.addr.saturating_sub(u64::from(size) - 1)..end {
                    if let Some(&line) = self.elements.get(&(addr, size)) {
                        self.timelines[line].add(number, None, None);
                    }
                }
            }
        }
    }

    /// Follows the tags of enums that are no variables here.
    fn follow_tags(&mut self, run: &Recording) {
        let mut tags: HashMap<u64, Option<usize>> = HashMap::default();
        for held in &self.held {
            let Some(content) = &held.content else { continue };
            for addr in held.lines.keys() {
                let tag = addr.wrapping_add_signed(content.behind.wrapping_neg());
                if !self.by_address.contains_key(&tag) {
                    tags.insert(tag, None);
                }
            }
        }
        if tags.is_empty() {
            return;
        }
        for (number, access) in run.accesses.iter().enumerate() {
            for addr in access.addr..access.addr + u64::from(access.size) {
                let Some(line) = tags.get_mut(&addr) else { continue };
                let line = *line.get_or_insert_with(|| {
                    self.timelines.push(Timeline::default());
                    self.timelines.len() - 1
                });
                let whole = addr == access.addr;
                let after = access.after.filter(|_| whole);
                self.timelines[line].add(number, whole.then_some(access.before), after);
            }
        }
        self.by_address.extend(tags.into_iter().filter_map(|(addr, line)| Some((addr, line?))));
    }

    fn fill(&mut self, run: &Recording, spots: &[Spot], members: &Members) {
        for (number, access) in run.accesses.iter().enumerate() {
            self.fill_beside(run, number, members);
            if let Some((at, line)) = self.touched[number] {
                let line = &mut self.timelines[line];
                // What the first write to a frame replaces is no value of the variable.
                let fresh = self.held[at].home == Home::Stack
                    && matches!(access.op, OpKind::Write | OpKind::WriteRange)
                    && line.last() != Some(access.before);
                line.add(number, (!fresh).then_some(access.before), access.after);
            } else if spots[number] == Err(NoScalar::Doubtful) && access.writes() {
                // It may have written a part of one, or several.
                let end = access.addr + u64::from(access.size);
                for held in &self.held {
                    for (_, &line) in held.lines.range(access.addr.saturating_sub(held.size - 1)..end) {
                        self.timelines[line].add(number, None, None);
                    }
                }
            }
        }
    }

    /// Where the value of a variable comes from, in an activation that does not touch it.
    fn outside(&self, (at, nth): (usize, usize)) -> Option<Source> {
        let Held { home, size, lines, .. } = &self.held[at];
        let (&addr, &line) = lines.first_key_value().filter(|_| lines.len() == 1 && nth == 0)?;
        let lives = match home {
            _ if self.beside.contains(&line) => Lives::Seen,
            Home::Stack => Lives::Between,
            Home::Heap => Lives::SinceFirst,
            Home::Fixed => Lives::Always,
        };
        Some(Source { held: at, line, addr, size: *size, replaced: None, lives })
    }

    /// The variables as an activation has them: of the objects that it touches.
    pub(crate) fn view(&self, run: &Recording, found: &Found) -> View<'_> {
        let mut objects: Vec<Object> = Vec::new();
        let mut number = found.first;
        while number <= found.last {
            if let Some((variable, line)) = self.touched[number] {
                let access = &run.accesses[number];
                let at = objects.iter().position(|object| object.line == line).or_else(|| {
                    // More than are told apart, so that none of them can be meant.
                    let others = objects.iter().filter(|object| object.variable == variable).count();
                    (others <= self.held[variable].most).then(|| {
                        objects.push(Object { variable, line, addr: access.addr, replaced: None });
                        objects.len() - 1
                    })
                });
                for &(variable, line, addr) in self.siblings.get(&line).into_iter().flatten() {
                    if !objects.iter().any(|object| object.line == line) {
                        objects.push(Object { variable, line, addr, replaced: None });
                    }
                }
                if let Some(at) = at.filter(|_| access.writes()) {
                    objects[at].replaced.get_or_insert(access.before);
                }
            }
            number = self.next[number];
        }
        let mut sources = self.base.clone();
        for (source, one) in sources.iter_mut().zip(&self.ones) {
            let Some((variable, nth)) = *one else { continue };
            let mine = objects.iter().filter(|object| object.variable == variable);
            match mine.clone().count() {
                0 => {}
                count if count > self.held[variable].most => *source = None,
                _ => {
                    let size = self.held[variable].size;
                    *source = mine.clone().nth(nth).map(|object| {
                        let seen = self.beside.contains(&object.line);
                        let lives = if seen { Lives::Seen } else { Lives::Always };
                        Source { lives, ..Source::of(object, size) }
                    });
                }
            }
        }
        View { known: self, sources }
    }

    /// The variables that an activation touches.
    pub(crate) fn touched_in(&self, found: &Found) -> impl Iterator<Item = usize> {
        let next = |number: &usize| Some(self.next[*number]).filter(|next| *next <= found.last);
        let numbers = std::iter::successors(Some(found.first), next);
        numbers.filter_map(|number| Some(self.held[self.touched[number]?.0].variable))
    }

    /// What the variable that an access touches was when just these accesses had been made.
    pub(crate) fn found_by(&self, number: usize, made: impl Fn(usize) -> bool) -> Option<u64> {
        self.timelines[self.touched[number]?.1].after_those(made)
    }

    /// Whether an access touches a variable that is sampled.
    pub(crate) fn tells(&self, number: usize) -> bool {
        self.touched[number].is_some()
    }
}

/// The elements of an array, by their places; `None` for one that nobody touched.
type Elements = Rc<[Option<usize>]>;

/// By an element of an array, all of its elements, and which one it is.
struct Members {
    of: HashMap<usize, (Elements, usize)>,
}

impl Members {
    /// Those of the arrays among the slots; `places` has the variables' places in `held`.
    fn of(slots: &[Slot], places: &HashMap<usize, usize>) -> Self {
        let mut of = HashMap::default();
        for slot in slots {
            let Slot::All(array) = slot else { continue };
            let place = |variable: &Option<usize>| variable.and_then(|it| places.get(&it).copied());
            let elements: Elements = array.elements.iter().map(place).collect();
            for (index, element) in elements.iter().enumerate() {
                of.extend(element.map(|element| (element, (Rc::clone(&elements), index))));
            }
        }
        Self { of }
    }
}

/// What so many bytes at an address have, by the words around them.
fn within(words: &[(u64, u64)], addr: u64, size: u64) -> Option<u64> {
    let (word, value) = words.iter().find(|(word, _)| *word <= addr && addr + size <= word + 8)?;
    Some(value >> (8 * (addr - word)) & (u64::MAX >> (64 - 8 * size)))
}

/// Of each access the next one of its strand; after the last there is none.
fn next(run: &Recording) -> Vec<usize> {
    let mut next = vec![usize::MAX; run.accesses.len()];
    let mut last: HashMap<u16, usize> = HashMap::default();
    for (number, access) in run.accesses.iter().enumerate() {
        if let Some(last) = last.insert(access.strand, number) {
            next[last] = number;
        }
    }
    next
}

/// An object that an activation touches.
#[derive(Clone, Copy, Debug)]
struct Object {
    variable: usize,
    line: usize,
    addr: u64,
    /// What the first write to it found.
    replaced: Option<u64>,
}

/// When a place is what its accesses say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lives {
    Always,
    /// In a heap block that is there at its first access.
    SinceFirst,
    /// In a frame that is there from its first access to its last: it is gone some time after.
    Between,
    /// Only seen beside others: what it was between two moments that show the same.
    Seen,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug)]
struct Source {
    held: usize,
    line: usize,
    addr: u64,
    size: u64,
    /// What the activation's first write to it found.
    replaced: Option<u64>,
    lives: Lives,
}

impl Source {
    fn of(object: &Object, size: u64) -> Self {
        let Object { variable: held, line, addr, replaced } = *object;
        Self { held, line, addr, size, replaced, lives: Lives::Always }
    }
}

/// The variables as an activation has them.
pub(crate) struct View<'a> {
    known: &'a Known,
    sources: Vec<Option<Source>>,
}

impl View<'_> {
    fn each(&self, of: impl Fn(&Source, &Timeline) -> Option<u64>) -> Raw {
        let known = self.known;
        let value = |source: &Source| {
            let value = of(source, &known.timelines[source.line])?;
            let Some(content) = &known.held[source.held].content else { return Some(value) };
            // What is in a variant means something while the enum is that variant.
            let addr = source.addr.wrapping_add_signed(content.behind.wrapping_neg());
            // Where nobody touches the tag in sight of others, it stays.
            let Some(&line) = known.by_address.get(&addr) else { return Some(value) };
            let tag = of(&Source { line, addr, size: 1, replaced: None, ..*source }, &known.timelines[line])?;
            (content.numbers.contains(&tag) != content.rest).then_some(value)
        };
        let mut raw: Raw = self.sources.iter().map(|source| source.as_ref().and_then(value)).collect();
        for at in &known.leading {
            raw[*at] = raw[*at].and_then(|pointer| known.objects.at(pointer));
        }
        // Where somebody has put one border and not yet the other, they are of two blocks.
        for at in &known.bordered {
            let [Some(begin), Some(end)] = raw[*at..at + 2] else { continue };
            let block = known.blocks.range(..=begin).next_back().filter(|(_, last)| begin < **last);
            if block.is_some_and(|(first, last)| !(first..=last).contains(&&end)) {
                raw[at + 1] = None;
            }
        }
        for (at, sequence) in &known.sequences {
            let [Some(begin), Some(border)] = raw[*at..at + 2] else { continue };
            let count = sequence.count(begin, border).filter(|count| *count <= LONGEST as u64);
            let size = sequence.element.size;
            for index in 0..count.unwrap_or(0) {
                let addr = begin.wrapping_add(index * u64::from(size));
                let Some(&line) = known.elements.get(&(addr, size)) else { continue };
                // The sequence is there: so are its elements.
                let (held, seen) = (0, known.beside.contains(&line));
                let lives = if seen { Lives::Seen } else { Lives::Always };
                let source = Source { held, line, addr, size: size.into(), replaced: None, lives };
                raw[at + 2 + index as usize] = of(&source, &known.timelines[line]);
            }
        }
        raw
    }

    /// What they were at a moment, as far as that is known.
    pub(crate) fn at(&self, moment: Moment) -> Raw {
        self.each(|source, line| match source.lives {
            Lives::Always => line.at(moment),
            Lives::SinceFirst => line.since_first(moment),
            Lives::Between | Lives::Seen => line.since_first(moment).filter(|_| line.has_more(moment)),
        })
    }

    /// What they were when just these accesses had been made; `early` is one of them that writes and came out of its order, the last of all.
    pub(crate) fn after_those(&self, early: Option<&Access>, made: impl Fn(usize) -> bool) -> Raw {
        self.each(|source, line| {
            if let Some(early) = early {
                if (early.addr, u64::from(early.size)) == (source.addr, source.size) {
                    return early.after;
                }
                let ends = early.addr + u64::from(early.size);
                if source.addr < ends && early.addr < source.addr + source.size {
                    return None;
                }
            }
            match source.lives {
                Lives::Always => line.after_those(&made),
                Lives::SinceFirst | Lives::Seen => line.after_those(&made).filter(|_| line.has_any(&made)),
                Lives::Between => None,
            }
        })
    }

    /// An entry as the activation's own writes had it: what the first of them to each variable replaced.
    pub(crate) fn own(&self, entry: &Raw) -> Raw {
        let own = |(source, entry): (&Option<Source>, &Option<u64>)| {
            let replaced = source.and_then(|source| source.replaced);
            entry.map(|entry| replaced.unwrap_or(entry))
        };
        let mut raw: Raw = self.sources.iter().zip(entry).map(own).collect();
        for at in &self.known.leading {
            let replaced = self.sources[*at].and_then(|source| source.replaced);
            if let Some(replaced) = replaced {
                raw[*at] = self.known.objects.at(replaced);
            }
        }
        raw
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::{after, making};
    use threadbare_abi::event::{Event, EventKind};
    use threadbare_symbols::{Element, ScalarKind, Symbols};

    /// What an array of three bytes was at the moments of a run in which only its first element is touched.
    #[test]
    fn what_is_beside_an_element_is_known_while_it_is_seen() {
        let mut program = Program::new(Symbols::new([]));
        let byte = ScalarKind::Integer { signed: true };
        let mut number = |index| program.number(format!("::t[{index}]"), byte.clone(), 1, Home::Fixed);
        let elements = [number(0), number(1), number(2)];
        let mut array = Array::new("::t[0]", Element { index: 0, count: 3, text: true }).expect("an array");
        array.elements = elements.map(Some).to_vec();
        let mut run = Recording::new();
        let event = |kind, pc, addr, value| Event {
            pc,
            addr,
            value,
            strand: 1,
            kind: kind as u8,
            op: OpKind::Read as u8,
            size_order: 1,
        };
        let other = |run: &mut Recording| run.event(&event(EventKind::Made, 9, 0x900, 1));
        let touched = |run: &mut Recording, rest: u64| {
            run.event(&event(EventKind::Beside, 1, 0x100, 0x108));
            run.event(&event(EventKind::Beside, 0, 0x100, rest << 8 | 1));
            run.event(&event(EventKind::Made, 9, 0x100, 1));
        };
        other(&mut run);
        touched(&mut run, 0x0302);
        other(&mut run);
        touched(&mut run, 0x0302);
        touched(&mut run, 0x0305);
        other(&mut run);
        let spots: Vec<Spot> = run
            .accesses
            .iter()
            .map(|access| if access.addr == 0x100 { Ok(elements[0]) } else { Err(NoScalar::NoVariable) })
            .collect();
        let known = Known::new(&mut program, &run, &[Slot::All(array)], &spots);
        let found = Found { region: 0, first: 0, last: 5, whole: true, up: 0 };
        let view = known.view(&run, &found);
        let at = |moment| view.at(moment);
        // Before it was seen, and after that, somebody may have written who is not told.
        assert_eq!(at(making(0)), [Some(1), None, None]);
        assert_eq!(at(making(1)), [Some(1), Some(2), Some(3)]);
        assert_eq!(at(making(2)), [Some(1), Some(2), Some(3)]);
        assert_eq!(at(making(4)), [Some(1), Some(5), Some(3)]);
        assert_eq!(at(after(5)), [Some(1), None, None]);
    }
}
