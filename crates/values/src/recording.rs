//! A run's stream of accesses, read.

use rustc_hash::FxHashMap as HashMap;
use threadbare_abi::event::{Event, EventKind};
use threadbare_abi::op::OpKind;
use threadbare_symbols::StackFrame;

/// Accesses of a run that are kept; later ones are counted.
pub const MAX_ACCESSES: usize = 200_000;

/// An access that a strand made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The strand's index.
    pub strand: u16,
    /// Bytes, 1, 2, 4 or 8. An access to more has several pieces.
    pub size: u8,
    /// Whether it is made together with the one before it: another piece of the same access.
    pub goes_on: bool,
    /// What it was.
    pub op: OpKind,
    /// The function it was made in.
    pub activation: u32,
    /// The instruction (return address).
    pub pc: u64,
    /// The address.
    pub addr: u64,
    /// The heap block that it is in: its beginning and its bytes.
    pub block: Option<(u64, u64)>,
    /// The frame that it is in, on any strand's stack.
    pub frame: Option<StackFrame>,
    /// The event of the run at which the strand came to it.
    pub event: u64,
    /// What was there when it was made.
    pub before: u64,
    /// What was there right after it; none if the run ended there.
    pub after: Option<u64>,
    /// The parameters and locals that were told with it: where they begin, and how many.
    pub(crate) locals: (u32, u32),
    /// What was told of the words beside it: where that begins, and how much.
    pub(crate) beside: (u32, u32),
}

impl Access {
    /// Whether it can have written.
    pub fn writes(&self) -> bool {
        self.op.writes_memory()
    }
}

/// A function that a strand was in, from its entry to its return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activation {
    /// The one it was called in; none for what a strand begins with.
    pub parent: Option<u32>,
    /// Its return address, a place in its caller.
    pub call: u64,
    /// How many are around it.
    pub depth: u32,
    /// Whether it came to its return, as far as the run shows.
    pub left: bool,
    /// What was told of its return value: where that begins, and how much.
    pub(crate) returned: (u32, u32),
}

#[derive(Clone, Debug, Default)]
struct Strand {
    /// The functions it is in; the first stands for what it begins with.
    stack: Vec<u32>,
    event: u64,
    /// The block of its next access.
    block: Option<(u64, u64)>,
    /// The frame of its next access.
    frame: Option<StackFrame>,
    /// The parameters and locals of its next access, by the numbers of their places.
    locals: Vec<(u32, u64)>,
}

/// Something a strand did that is no access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Deed {
    /// How many accesses there were before it.
    pub(crate) at: usize,
    pub(crate) strand: u16,
    /// What it was; a [`OpKind::Create`] stands where the new strand began to be.
    pub(crate) op: OpKind,
    /// The object, or the other strand.
    pub(crate) object: u64,
    /// Its instruction (return address); 0 where that is not known.
    pub(crate) pc: u64,
}

/// A heap block that was allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allocation {
    pub(crate) start: u64,
    pub(crate) size: u64,
    /// Where the innermost function that was told goes on.
    pub(crate) pc: u64,
    pub(crate) activation: u32,
}

/// What a run's accesses did, in the order in which they were made.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// The accesses.
    pub accesses: Vec<Access>,
    /// The functions they were made in.
    pub activations: Vec<Activation>,
    /// Accesses that were not kept.
    pub dropped: u64,
    strands: HashMap<u16, Strand>,
    names: HashMap<u16, String>,
    /// What was done beside the accesses, in order.
    pub(crate) deeds: Vec<Deed>,
    /// Parameters and locals of the accesses, by the numbers of their places.
    locals: Vec<(u32, u64)>,
    /// What return values come from, likewise.
    returned: Vec<(u32, u64)>,
    /// Words beside accesses, by their addresses.
    beside: Vec<(u64, u64)>,
    /// Heap blocks, in the order of their allocation.
    pub(crate) allocations: Vec<Allocation>,
    words: Words,
}

/// What is known of words beside accesses.
#[derive(Clone, Debug, Default)]
struct Words {
    now: HashMap<u64, u64>,
    /// What the next access is told with.
    next: Option<(u64, u64)>,
    /// Where such stretches are in the list, as long as nothing new was told.
    listed: HashMap<(u64, u64), (u32, u32)>,
}

fn is_access(op: OpKind) -> bool {
    op.is_plain_access() || op.is_atomic_access()
}

impl Recording {
    /// Nothing recorded.
    pub fn new() -> Self {
        Self::default()
    }

    /// A strand's name, by its place in the creation tree.
    pub fn strand_name(&self, strand: u16) -> String {
        match self.names.get(&strand) {
            Some(name) => name.clone(),
            None if strand == 0 => "0".to_owned(),
            None => format!("#{strand}"),
        }
    }

    /// The instruction of an access with the calls that lead to it, innermost first.
    pub(crate) fn stack(&self, access: &Access) -> Vec<u64> {
        self.stack_at(access.pc, access.activation)
    }

    /// An instruction of an activation with the calls that lead to it, innermost first.
    pub(crate) fn stack_at(&self, pc: u64, activation: u32) -> Vec<u64> {
        let mut stack = vec![pc];
        let mut next = Some(activation);
        while let Some(activation) = next.map(|number| self.activations[number as usize]) {
            if activation.call != 0 {
                stack.push(activation.call);
            }
            next = activation.parent;
        }
        stack
    }

    /// Places in the code of all functions that it shows: of accesses and of calls.
    pub fn places(&self) -> impl Iterator<Item = u64> {
        let calls = self.activations.iter().map(|it| it.call);
        self.accesses.iter().map(|it| it.pc).chain(calls).filter(|pc| *pc != 0)
    }

    /// Takes the next record of the stream.
    pub fn event(&mut self, event: &Event) {
        let strand = event.strand;
        match EventKind::from_code(event.kind) {
            Some(EventKind::Point) => {
                self.strands.entry(strand).or_default().event = event.value;
                self.deed(event);
            }
            // Who waits for memory to change looks at it again.
            Some(EventKind::Blocked) => self.deed(event),
            Some(EventKind::Created) => {
                let parent = u16::try_from(event.addr).unwrap_or(u16::MAX);
                if strand != 0 && parent != strand {
                    let name = format!("{}.{}", self.strand_name(parent), event.value);
                    self.names.insert(strand, name);
                }
                let at = self.accesses.len();
                let (op, object) = (OpKind::Create, strand.into());
                self.deeds.push(Deed { at, strand: parent, op, object, pc: 0 });
            }
            Some(EventKind::Ended) => self.cut_to(strand, 0),
            Some(EventKind::Entered) => self.entered(strand, event.pc, event.value),
            Some(EventKind::Block) => {
                let state = self.strands.entry(strand).or_default();
                if event.pc == 0 {
                    state.block = Some((event.addr, event.value));
                } else {
                    let pointer = event.value.wrapping_add(8);
                    state.frame = Some(StackFrame { pc: event.pc, address: event.addr, pointer });
                }
            }
            Some(EventKind::Local) => {
                let place = u32::try_from(event.addr).unwrap_or(u32::MAX);
                self.strands.entry(strand).or_default().locals.push((place, event.value));
            }
            Some(EventKind::Beside) if event.pc != 0 => self.words.next = Some((event.addr, event.value)),
            Some(EventKind::Beside) => {
                self.words.now.insert(event.addr, event.value);
                self.words.listed.clear();
            }
            Some(EventKind::Returned) => self.returned(event),
            Some(EventKind::Allocated) => self.allocated(event),
            Some(EventKind::Made) => self.made(event),
            Some(EventKind::Left) => {
                let mut more = self.dropped == 0;
                let pieces = self.accesses.iter_mut().rev().take_while(|piece| {
                    let goes_on = more && piece.goes_on;
                    std::mem::replace(&mut more, goes_on) && piece.strand == strand
                });
                for piece in pieces.filter(|piece| piece.addr == event.addr) {
                    piece.after = Some(event.value);
                }
            }
            _ => {}
        }
    }

    /// Puts others in place of the accesses; `begins` says where those for each old one begin.
    pub(crate) fn replace(&mut self, accesses: Vec<Access>, begins: &[usize]) {
        for deed in &mut self.deeds {
            deed.at = begins.get(deed.at).copied().unwrap_or(accesses.len());
        }
        self.accesses = accesses;
    }

    /// The same run with its accesses in another order, that of these numbers. Strands are created right after what their creators did before, and
    /// joined right before what comes next; all else that is no access is left out, and is to make no difference.
    pub(crate) fn in_order(&self, sequence: &[usize]) -> Option<Self> {
        let mut places = vec![usize::MAX; self.accesses.len()];
        for (place, &number) in sequence.iter().enumerate() {
            *places.get_mut(number)? = place;
        }
        let mut run = Self { deeds: Vec::new(), ..self.clone() };
        // What was beside them may be something else then.
        let elsewhere = |&number: &usize| Access { beside: (0, 0), ..self.accesses[number] };
        run.accesses = sequence.iter().map(elsewhere).collect();
        for deed in self.deeds.iter().filter(|deed| matches!(deed.op, OpKind::Create | OpKind::Join)) {
            let (before, after) = self.accesses.split_at(deed.at.min(self.accesses.len()));
            let own = |access: &Access| access.strand == deed.strand;
            let at = match deed.op {
                OpKind::Create => before.iter().rposition(own).map_or(0, |number| places[number] + 1),
                _ => match after.iter().position(own) {
                    Some(number) => places[before.len() + number],
                    None => self.accesses.len(),
                },
            };
            run.deeds.push(Deed { at, ..*deed });
        }
        run.deeds.sort_by_key(|deed| deed.at);
        Some(run)
    }

    /// Notes what is no access. That a strand is created is told by itself.
    fn deed(&mut self, event: &Event) {
        let Some(op) = OpKind::from_code(event.op) else { return };
        if !is_access(op) && op != OpKind::Create && self.accesses.len() < MAX_ACCESSES {
            let (at, strand) = (self.accesses.len(), event.strand);
            self.deeds.push(Deed { at, strand, op, object: event.addr, pc: event.pc });
        }
    }

    /// Of each access how many strands its own has created and joined by then.
    pub(crate) fn parts(&self) -> Vec<u32> {
        let mut parts: HashMap<u16, u32> = HashMap::default();
        let mut deeds = self.deeds.iter().peekable();
        let of = |(number, access): (usize, &Access)| {
            while let Some(deed) = deeds.next_if(|deed| deed.at <= number) {
                let apart = matches!(deed.op, OpKind::Create | OpKind::Join);
                *parts.entry(deed.strand).or_insert(0) += u32::from(apart);
            }
            parts.get(&access.strand).copied().unwrap_or(0)
        };
        self.accesses.iter().enumerate().map(of).collect()
    }

    /// Whether the strand of an access had joined all others by then.
    pub(crate) fn is_alone(&self, number: usize) -> bool {
        let (mut created, mut joined) = (0, 0);
        for deed in self.deeds.iter().take_while(|deed| deed.at <= number) {
            created += usize::from(deed.op == OpKind::Create);
            joined += usize::from(deed.op == OpKind::Join && deed.strand == self.accesses[number].strand);
        }
        created > 0 && joined >= created
    }

    /// For each access the instruction at which its strand took the first of the locks that it holds then.
    pub fn locked_since(&self) -> Vec<Option<u64>> {
        let mut held: HashMap<u16, Vec<(u64, u64)>> = HashMap::default();
        let mut deeds = self.deeds.iter().peekable();
        let mut all = Vec::with_capacity(self.accesses.len());
        for (number, access) in self.accesses.iter().enumerate() {
            while let Some(deed) = deeds.next_if(|deed| deed.at <= number) {
                let mine = held.entry(deed.strand).or_default();
                match deed.op {
                    OpKind::MutexLock => mine.push((deed.object, deed.pc)),
                    OpKind::MutexUnlock => mine.retain(|(lock, _)| *lock != deed.object),
                    _ => {}
                }
            }
            all.push(held.get(&access.strand).and_then(|held| held.first()).map(|(_, pc)| *pc));
        }
        all
    }

    /// The parameters and locals that were told with an access.
    pub(crate) fn locals_of(&self, access: &Access) -> &[(u32, u64)] {
        let (first, count) = (access.locals.0 as usize, access.locals.1 as usize);
        self.locals.get(first..first + count).unwrap_or_default()
    }

    /// The words that were told with an access: what was beside it then.
    pub(crate) fn beside(&self, access: &Access) -> &[(u64, u64)] {
        let (first, count) = (access.beside.0 as usize, access.beside.1 as usize);
        self.beside.get(first..first + count).unwrap_or_default()
    }

    /// The last piece of an access.
    pub(crate) fn last_piece(&self, mut number: usize) -> usize {
        while self.accesses.get(number + 1).is_some_and(|next| next.goes_on) {
            number += 1;
        }
        number
    }

    /// Whether it is too long for what runs like it have to be looked at.
    pub fn is_long(&self) -> bool {
        self.accesses.len() > crate::order::MOST_ACCESSES || self.dropped > 0
    }

    /// The run has ended without a failure: all functions came to their end.
    pub fn passed(&mut self) {
        for activation in &mut self.activations {
            activation.left = true;
        }
    }

    /// Drops all functions of a strand's stack above a depth, and the one there too: they have returned.
    fn cut_to(&mut self, strand: u16, depth: usize) {
        let Some(state) = self.strands.get_mut(&strand) else { return };
        while state.stack.len() > depth {
            let Some(gone) = state.stack.pop() else { break };
            self.activations[gone as usize].left = true;
        }
    }

    fn push(&mut self, strand: u16, call: u64) {
        let number = self.activations.len() as u32;
        let state = self.strands.entry(strand).or_default();
        let (parent, depth) = (state.stack.last().copied(), state.stack.len() as u32);
        state.stack.push(number);
        self.activations.push(Activation { parent, call, depth, left: false, returned: (0, 0) });
    }

    fn root(&mut self, strand: u16) {
        if self.strands.entry(strand).or_default().stack.is_empty() {
            self.push(strand, 0);
        }
    }

    fn entered(&mut self, strand: u16, call: u64, depth: u64) {
        if self.accesses.len() >= MAX_ACCESSES {
            return;
        }
        self.root(strand);
        self.cut_to(strand, usize::try_from(depth).unwrap_or(usize::MAX));
        self.push(strand, call);
    }

    /// A function is left, and this is a part of what its return value comes from.
    fn returned(&mut self, event: &Event) {
        let depth = (event.size_order & 0xFF_FFFF) as usize;
        let stack = self.strands.get(&event.strand).map(|state| &state.stack);
        let Some(&activation) = stack.and_then(|stack| stack.get(depth)) else { return };
        let activation = &mut self.activations[activation as usize];
        activation.left = true;
        if activation.returned.1 == 0 {
            activation.returned.0 = self.returned.len() as u32;
        }
        activation.returned.1 += 1;
        self.returned.push((u32::try_from(event.addr).unwrap_or(u32::MAX), event.value));
    }

    fn allocated(&mut self, event: &Event) {
        let (strand, depth) = (event.strand, (event.size_order & 0xFF_FFFF) as usize);
        self.root(strand);
        self.cut_to(strand, depth + 1);
        let Some(&activation) = self.strands.get(&strand).and_then(|state| state.stack.last()) else {
            return;
        };
        let Event { addr: start, value: size, pc, .. } = *event;
        self.allocations.push(Allocation { start, size, pc, activation });
    }

    /// What was told of an activation's return value.
    pub(crate) fn returned_of(&self, activation: u32) -> &[(u32, u64)] {
        let (first, count) = self.activations[activation as usize].returned;
        self.returned.get(first as usize..(first + count) as usize).unwrap_or_default()
    }

    /// The activation of a function that its first access is so many calls away from.
    pub(crate) fn caller(&self, access: usize, up: u32) -> Option<u32> {
        let inner = self.accesses[access].activation;
        (0..up).try_fold(inner, |it, _| self.activations[it as usize].parent)
    }

    fn made(&mut self, event: &Event) {
        if self.accesses.len() >= MAX_ACCESSES {
            self.dropped += 1;
            return;
        }
        let Some(op) = OpKind::from_code(event.op) else { return };
        self.root(event.strand);
        self.cut_to(event.strand, (event.size_order >> 8 & 0x7F_FFFF) as usize + 1);
        let Some(state) = self.strands.get_mut(&event.strand) else { return };
        let goes_on = event.size_order >> 31 == 1;
        let (block, frame) = match self.accesses.last().filter(|_| goes_on) {
            Some(first) => (first.block, first.frame),
            None => (state.block.take(), state.frame.take()),
        };
        let locals = (self.locals.len() as u32, state.locals.len() as u32);
        self.locals.append(&mut state.locals);
        let Some(&activation) = state.stack.last() else { return };
        let beside = self.words.next.take().map_or((0, 0), |(first, last)| {
            let (words, all) = (&mut self.words, &mut self.beside);
            *words.listed.entry((first, last)).or_insert_with(|| {
                let begin = all.len();
                let told = (first..last).step_by(8).filter_map(|at| Some((at, *words.now.get(&at)?)));
                all.extend(told);
                (begin as u32, (all.len() - begin) as u32)
            })
        });
        self.accesses.push(Access {
            strand: event.strand,
            size: event.size_order as u8,
            goes_on,
            op,
            activation,
            pc: event.pc,
            addr: event.addr,
            block,
            frame,
            event: state.event,
            before: event.value,
            // A read leaves what it finds.
            after: (!op.writes_memory()).then_some(event.value),
            locals,
            beside,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: EventKind, pc: u64, value: u64, size_order: u32) -> Event {
        Event { pc, value, size_order, addr: 0x10_0000, strand: 1, kind: kind as u8, op: OpKind::Write as u8 }
    }

    #[test]
    fn functions_that_return_are_other_ones_when_they_are_called_again() {
        let mut run = Recording::new();
        let made = |depth: u32, before| event(EventKind::Made, 0x99, before, 4 | depth << 8);
        for next in [
            event(EventKind::Entered, 0x10, 1, 0),
            event(EventKind::Entered, 0x20, 2, 0),
            made(2, 5),
            event(EventKind::Left, 0, 6, 4),
            made(1, 6),
            event(EventKind::Entered, 0x20, 2, 0),
            made(2, 7),
        ] {
            run.event(&next);
        }
        let depths: Vec<u32> =
            run.accesses.iter().map(|access| run.activations[access.activation as usize].depth).collect();
        assert_eq!(depths, [2, 1, 2]);
        assert_ne!(run.accesses[0].activation, run.accesses[2].activation);
        assert!(run.activations[run.accesses[0].activation as usize].left);
        assert!(!run.activations[run.accesses[2].activation as usize].left);
        assert_eq!(run.accesses.iter().map(|access| access.after).collect::<Vec<_>>(), [Some(6), None, None]);
    }

    #[test]
    fn a_block_is_allocated_in_the_function_that_asks_for_it() {
        let mut run = Recording::new();
        let allocated = |depth| event(EventKind::Allocated, 0x44, 32, depth);
        for next in [
            event(EventKind::Entered, 0x10, 1, 0),
            event(EventKind::Entered, 0x20, 2, 0),
            allocated(2),
            // It has returned.
            allocated(1),
        ] {
            run.event(&next);
        }
        let stacks: Vec<Vec<u64>> =
            run.allocations.iter().map(|it| run.stack_at(it.pc, it.activation)).collect();
        assert_eq!(stacks, [vec![0x44, 0x20, 0x10], vec![0x44, 0x10]]);
    }

    #[test]
    fn locks_and_joins_are_known_at_each_access() {
        let mut run = Recording::new();
        let at = |strand, of: Event| Event { strand, ..of };
        let deed = |op: OpKind, pc| Event { op: op as u8, ..event(EventKind::Point, pc, 0, 0) };
        let made = || event(EventKind::Made, 0x99, 1, 4);
        for next in [
            Event { strand: 1, addr: 0, ..event(EventKind::Created, 0, 1, 0) },
            at(0, deed(OpKind::MutexLock, 0x40)),
            at(0, made()),
            at(0, deed(OpKind::MutexUnlock, 0x48)),
            at(0, Event { addr: 1, ..deed(OpKind::Join, 0x50) }),
            at(1, made()),
            at(0, made()),
        ] {
            run.event(&next);
        }
        assert_eq!(run.locked_since(), [Some(0x40), None, None]);
        assert_eq!(run.parts(), [1, 0, 2]);
        let alone: Vec<bool> = (0..3).map(|number| run.is_alone(number)).collect();
        assert_eq!(alone, [false, false, true], "who waits for the other has it still beside it");
    }

    #[test]
    fn a_function_that_is_left_says_what_its_value_comes_from() {
        let mut run = Recording::new();
        let returned =
            |depth, place, value| Event { addr: place, ..event(EventKind::Returned, 0, value, depth) };
        for next in [
            event(EventKind::Entered, 0x10, 1, 0),
            event(EventKind::Entered, 0x20, 2, 0),
            event(EventKind::Made, 0x99, 5, 4 | 2 << 8),
            returned(2, 7, 6),
            returned(2, 8, 9),
            // One that was never told.
            returned(5, 7, 1),
        ] {
            run.event(&next);
        }
        let inner = run.accesses[0].activation;
        assert_eq!(run.returned_of(inner), [(7, 6), (8, 9)]);
        assert!(run.activations[inner as usize].left);
        let outer = run.caller(0, 1).expect("its caller");
        assert_eq!((run.returned_of(outer), run.activations[outer as usize].left), (&[][..], false));
    }

    #[test]
    fn words_beside_an_access_are_what_was_told_last() {
        let mut run = Recording::new();
        let beside = |pc, addr, value| Event { addr, ..event(EventKind::Beside, pc, value, 0) };
        for next in [
            beside(1, 0x100, 0x110),
            beside(0, 0x100, 5),
            beside(0, 0x108, 6),
            event(EventKind::Made, 0x99, 5, 4),
            // Nothing is new, then one word is.
            beside(1, 0x100, 0x110),
            event(EventKind::Made, 0x99, 5, 4),
            beside(1, 0x100, 0x110),
            beside(0, 0x108, 7),
            event(EventKind::Made, 0x99, 5, 4),
            event(EventKind::Made, 0x99, 5, 4),
        ] {
            run.event(&next);
        }
        let told: Vec<&[(u64, u64)]> = run.accesses.iter().map(|access| run.beside(access)).collect();
        let before = [(0x100, 5), (0x108, 6)];
        assert_eq!(told, [&before[..], &before[..], &[(0x100, 5), (0x108, 7)], &[]]);
    }

    #[test]
    fn an_access_of_many_bytes_has_pieces() {
        let mut run = Recording::new();
        let at = |addr, of: Event| Event { addr, ..of };
        for next in [
            at(0x100, event(EventKind::Made, 0x99, 5, 8)),
            at(0x108, event(EventKind::Made, 0x99, 6, 4 | 1 << 31)),
            at(0x100, event(EventKind::Left, 0, 7, 8)),
            at(0x108, event(EventKind::Left, 0, 8, 4)),
        ] {
            run.event(&next);
        }
        let all: Vec<_> = run.accesses.iter().map(|it| (it.size, it.goes_on, it.before, it.after)).collect();
        assert_eq!(all, [(8, false, 5, Some(7)), (4, true, 6, Some(8))]);
        assert_eq!(run.last_piece(0), 1);
    }
}
