//! `recorded`: the order of events that a free run recorded is followed.
//!
//! The guide is the recording ([`Recording`]): the strands by their paths, then the events in order, each a strand and an
//! instruction. At every point the strand goes on whose next recorded event comes first. What it does that was not recorded
//! (calls that order nobody, code that nobody sees) it does right before that event, so that it disturbs the others as
//! little as it can. A strand that cannot go on is passed over until it can. Futex calls that were not recorded are made at once:
//! precompiled code (the locks of Rust's `std`) got there without them, because a lock that it looked at was given back meanwhile.
//! One that was woken and waited again found the lock taken, so it goes on right before it waits again.
//!
//! A recording may not fit: input was different, or an access that nobody knew to be shared was not recorded. Then events
//! are skipped where the strand's own order shows that, and the first one that did not fit is told in the notes. What was not
//! recorded may have come at another time than right before the strand's next event: with a first parameter above 0 that
//! is drawn for each of these operations (at once, before the next event, or as late as can be). Two events may have been recorded the
//! wrong way round: above 32 each event may come a few places late.

use crate::rng::Rng;
use crate::{Born, Pick, Room, RunInfo, Strategy, View};
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::strand::StrandId;

/// Events of a strand that are looked at for one that fits.
const WINDOW: usize = 4;
const PC: u64 = (1 << 48) - 1;
/// Where the cursors begin in the room: before them are the strands' numbers in the recording, 1 more.
const CURSORS: usize = 1 << 15;
/// Where the filter of pcs begins, and its bits.
const FILTER: usize = 1 << 16;
const FILTER_BITS: u64 = 1 << 20;
/// Where the instruction of each strand's last event is kept: a load that finds the same again is not recorded.
const LAST: usize = GUIDE + GUIDE_WORDS;
const LAST_WORDS: usize = 1 << 12;
/// Times in a row that a strand goes on without an event before others do: it may spin.
const PATIENCE: u32 = 3000;
/// The same where the recording says nothing.
const SHORT_PATIENCE: u32 = 64;
/// Where the recording begins, and its words at the most.
const GUIDE: usize = FILTER + FILTER_BITS as usize / 64;
const GUIDE_WORDS: usize = 1 << 15;
const _: () = assert!(LAST + LAST_WORDS <= crate::ROOM_WORDS);
/// Up to this value of the first parameter recorded events are made in their order.
const IN_ORDER: u64 = 32;
/// No event.
const NEVER: u64 = u64::MAX;

/// A recording as words: the number of strands and the one the verdict is about, the strands' paths, the events.
#[derive(Clone, Copy, Debug)]
pub struct Recording<'a> {
    paths: &'a [u64],
    events: &'a [u64],
    last: u64,
}

impl<'a> Recording<'a> {
    /// The recording in a guide.
    pub fn decode(words: &'a [u64]) -> Recording<'a> {
        let Some((&head, rest)) = words.split_first() else {
            return Recording { paths: &[], events: &[], last: NEVER };
        };
        let (paths, events) = rest.split_at((head as u32 as usize).min(rest.len()));
        Recording { paths, events, last: head >> 32 }
    }

    /// A recording of these strands, whose verdict is about one of them, as words.
    pub fn encode(
        paths: &[u64],
        last: u16,
        events: impl IntoIterator<Item = u64>,
        words: &mut impl Extend<u64>,
    ) {
        words.extend([(last as u64) << 32 | paths.len() as u64]);
        words.extend(paths.iter().copied());
        words.extend(events);
    }

    /// An event.
    pub const fn event(strand: u16, pc: u64) -> u64 {
        (strand as u64) << 48 | pc & PC
    }

    /// Events in all.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }
}

/// The words of the notes.
pub mod notes {
    /// Events followed.
    pub const FOLLOWED: usize = 0;
    /// The first event that did not fit, counted from 1; 0 if all did.
    pub const LOST: usize = 1;
    /// How many there are.
    pub const COUNT: usize = 2;
}

/// The strategy's state.
#[derive(Debug)]
pub struct Recorded {
    room: Option<Room>,
    words: usize,
    followed: u64,
    lost: u64,
    rng: Rng,
    /// What was not recorded is done at other times.
    varies: bool,
    /// By how many places in the recording an event may come late.
    late: u64,
    /// The strand that went on last, how often in a row without an event.
    streak: (StrandId, u32),
}

impl Recorded {
    /// A strategy that has not begun.
    pub const fn new() -> Self {
        Recorded {
            room: None,
            words: 0,
            followed: 0,
            lost: 0,
            rng: Rng::new(0),
            varies: false,
            late: 0,
            streak: (StrandId::NONE, 0),
        }
    }

    fn recording(&self) -> Recording<'_> {
        let words = self.room.as_ref().map_or(&[][..], |room| &room[GUIDE..GUIDE + self.words]);
        Recording::decode(words)
    }

    fn slot(pc: u64) -> (usize, u64) {
        let bit = crate::rng::mix(pc & PC) % FILTER_BITS;
        (FILTER + (bit / 64) as usize, 1 << (bit % 64))
    }

    /// Whether events at this instruction were recorded.
    fn is_recorded(&self, pc: u64) -> bool {
        let (word, bit) = Self::slot(pc);
        self.room.as_ref().is_some_and(|room| room[word] & bit != 0)
    }

    fn number(&self, strand: StrandId) -> Option<u64> {
        self.room.as_ref().and_then(|room| room[strand.index()].checked_sub(1))
    }

    /// The strand's next event from `from` on.
    fn find(&self, number: u64, from: usize) -> usize {
        let events = self.recording().events;
        (from..events.len()).find(|&at| events[at] >> 48 == number).unwrap_or(events.len())
    }

    /// Where the strand's next event is in the recording.
    fn next(&mut self, strand: StrandId) -> u64 {
        let Some(number) = self.number(strand) else { return NEVER };
        let from = self.room.as_ref().map_or(0, |room| room[CURSORS + strand.index()] as usize);
        let at = self.find(number, from);
        if let Some(room) = self.room.as_mut() {
            room[CURSORS + strand.index()] = at as u64;
        }
        match at < self.recording().len() {
            true => at as u64,
            // The one the verdict is about comes to it first.
            false if number == self.recording().last => NEVER - 2,
            false => NEVER - 1,
        }
    }

    /// Whether the event at this place of the recording was made at this instruction.
    fn is_at(&self, at: u64, pc: u64) -> bool {
        self.recording().events.get(at as usize).is_some_and(|&event| event & PC == pc & PC)
    }

    /// The event at which a woken strand waits again, if that is the next thing it does: what it was woken for had been taken by
    /// another strand before it looked.
    fn again(&mut self, strand: StrandId, pc: u64) -> Option<u64> {
        let waited = self.room.as_ref()?[LAST + strand.index() % LAST_WORDS] == pc;
        let woken = self.next(strand) as usize;
        let after = self.find(self.number(strand)?, woken + 1) as u64;
        (waited && self.is_at(after, pc)).then_some(after)
    }

    /// When the strand is to go on, compared with others.
    fn key<V: View>(&mut self, strand: StrandId, view: &V) -> u64 {
        let next = self.next(strand);
        let says_nothing = next >= NEVER - 2;
        let patience = if says_nothing { SHORT_PATIENCE } else { PATIENCE };
        if self.streak.0 == strand && self.streak.1 > patience {
            // Once the others have gone on it has its turn again.
            return NEVER;
        }
        // Who yields lets others go first where the recording says nothing.
        if says_nothing && view.yields(strand) {
            return NEVER;
        }
        let op = view.op(strand);
        if matches!(op.kind, OpKind::FutexWait | OpKind::FutexWake) {
            if !self.is_at(next, op.pc) {
                return 0;
            }
            return self.again(strand, op.pc).unwrap_or(next);
        }
        if self.varies && view.op(strand).pc != 0 && !self.is_recorded(view.op(strand).pc) {
            return match self.rng.below(8) {
                0 | 1 => 0,
                2..5 => NEVER - 1,
                _ => next,
            };
        }
        if self.late > 0 && !says_nothing {
            return next + self.rng.below64(self.late + 1);
        }
        next
    }

    /// The strand goes on from this operation.
    fn goes(&mut self, strand: StrandId, op: Op) {
        let at = self.next(strand) as usize;
        if self.streak.0 == strand {
            self.streak.1 += 1;
        } else {
            self.streak = (strand, 0);
        }
        let events = self.recording().events;
        if at >= events.len() || !self.is_recorded(op.pc) {
            return;
        }
        let last = LAST + strand.index() % LAST_WORDS;
        let again = self.room.as_ref().is_some_and(|room| room[last] == op.pc);
        if again && events[at] & PC != op.pc & PC {
            return;
        }
        let Some(number) = self.number(strand) else { return };
        let mut found = at;
        let mut looked = 0;
        while found < events.len() && events[found] & PC != op.pc & PC && looked < WINDOW {
            found = self.find(number, found + 1);
            looked += 1;
        }
        let fits = found < events.len() && looked < WINDOW;
        // An end of a wait is recorded that was none under control: the one event that is too many.
        if (looked > 1 || !fits) && self.lost == 0 {
            self.lost = at as u64 + 1;
        }
        if fits && let Some(room) = self.room.as_mut() {
            room[CURSORS + strand.index()] = found as u64 + 1;
            room[last] = op.pc;
            self.followed += 1;
            self.streak.1 = 0;
        }
    }
}

impl Default for Recorded {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for Recorded {
    fn furnish(&mut self, room: Room) {
        self.room = Some(room);
    }

    fn begin(&mut self, info: &RunInfo<'_>) {
        self.followed = 0;
        self.lost = 0;
        self.rng = Rng::new(info.seed ^ info.params[0]);
        self.varies = info.params[0] > 0;
        self.late = info.params[0].saturating_sub(IN_ORDER) / 4;
        self.streak = (StrandId::NONE, 0);
        self.words = info.guide.len().min(GUIDE_WORDS);
        let Some(room) = self.room.as_mut() else { return };
        room[FILTER..GUIDE].fill(0);
        room[LAST..LAST + LAST_WORDS].fill(0);
        room[GUIDE..GUIDE + self.words].copy_from_slice(&info.guide[..self.words]);
        for &event in Recording::decode(info.guide).events {
            let (word, bit) = Self::slot(event);
            room[word] |= bit;
        }
    }

    // Kept out of the other strategies' way.
    #[cold]
    #[inline(never)]
    fn pick<V: View>(&mut self, view: &V) -> Pick {
        let mut best = (NEVER, view.enabled()[0]);
        for &strand in view.enabled() {
            let next = self.key(strand, view);
            if next < best.0 || next == best.0 && strand == view.current() {
                best = (next, strand);
            }
        }
        if let Some(&strand) = view.timed().first()
            && self.next(strand) < best.0
        {
            return Pick::Timeout(strand);
        }
        self.goes(best.1, view.op(best.1));
        Pick::Run(best.1)
    }

    fn choose(&mut self, _options: u32) -> u32 {
        0
    }

    fn created(&mut self, born: Born) {
        let number = self.recording().paths.iter().position(|&path| path == born.path.0);
        if let Some(room) = self.room.as_mut() {
            room[born.strand.index()] = number.map_or(0, |number| number as u64 + 1);
            room[CURSORS + born.strand.index()] = 0;
        }
    }

    fn wants_alone(&self) -> bool {
        true
    }

    #[cold]
    fn alone<V: View>(&mut self, strand: StrandId, view: &V) {
        self.goes(strand, view.op(strand));
    }

    fn finish(&self, notes: &mut [u64]) -> usize {
        let Some(room) = notes.get_mut(..notes::COUNT) else { return 0 };
        room[notes::FOLLOWED] = self.followed;
        room[notes::LOST] = self.lost;
        notes::COUNT
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim;
    use std::boxed::Box;
    use std::vec::Vec;
    use threadbare_abi::strand::StrandPath;

    /// Strands that each make events at the pcs of their list, one after the other.
    struct Lists {
        lists: Vec<Vec<u64>>,
        enabled: Vec<StrandId>,
        current: StrandId,
    }

    impl View for Lists {
        fn enabled(&self) -> &[StrandId] {
            &self.enabled
        }
        fn current(&self) -> StrandId {
            self.current
        }
        fn current_enabled(&self) -> bool {
            self.enabled.contains(&self.current)
        }
        fn op(&self, strand: StrandId) -> Op {
            Op::new(OpKind::Read, 0, self.lists[strand.index()][0])
        }
        fn any_yields(&self) -> bool {
            false
        }
        fn yields(&self, _strand: StrandId) -> bool {
            false
        }
        fn timed(&self) -> &[StrandId] {
            &[]
        }
        fn last_writer(&self, _addr: u64) -> u64 {
            0
        }
    }

    fn follow(lists: &[&[u64]], order: &[(u16, u64)]) -> (Vec<(u16, u64)>, [u64; 2]) {
        let paths: Vec<u64> = (0..lists.len() as u32).map(|n| StrandPath::MAIN.child(n).0).collect();
        let mut guide = std::vec::Vec::new();
        let events = order.iter().map(|&(strand, pc)| Recording::event(strand, pc));
        Recording::encode(&paths, u16::MAX, events, &mut guide);
        let mut strategy = Recorded::new();
        strategy
            .furnish(Box::leak(std::vec![0u64; crate::ROOM_WORDS].into_boxed_slice().try_into().unwrap()));
        strategy.begin(&RunInfo { guide: &guide, ..sim::info(0, 0) });
        for (index, &path) in paths.iter().enumerate() {
            let strand = StrandId(index as u16);
            strategy.created(Born { strand, parent: StrandId::MAIN, path: StrandPath(path) });
        }
        let lists: Vec<Vec<u64>> = lists.iter().map(|list| list.to_vec()).collect();
        let enabled = (0..lists.len() as u16).map(StrandId).collect();
        let mut view = Lists { lists, enabled, current: StrandId(0) };
        let mut made = Vec::new();
        while !view.enabled.is_empty() {
            let Pick::Run(strand) = strategy.pick(&view) else { unreachable!() };
            view.current = strand;
            made.push((strand.0, view.lists[strand.index()].remove(0)));
            let lists = &view.lists;
            view.enabled.retain(|strand| !lists[strand.index()].is_empty());
        }
        let mut notes = [0; 2];
        strategy.finish(&mut notes);
        (made, notes)
    }

    #[test]
    fn the_recorded_order_is_made_again() {
        let order = [(1, 21), (0, 11), (1, 22), (2, 31), (0, 12), (1, 21)];
        let (made, notes) = follow(&[&[11, 12], &[21, 22, 21], &[31]], &order);
        assert_eq!(made, order);
        assert_eq!(notes, [6, 0]);
    }

    #[test]
    fn what_was_not_recorded_is_done_right_before() {
        let order = [(1, 21), (0, 11), (1, 22)];
        let (made, notes) = follow(&[&[90, 11], &[91, 21, 92, 22]], &order);
        assert_eq!(made, [(1, 91), (1, 21), (0, 90), (0, 11), (1, 92), (1, 22)]);
        assert_eq!(notes, [3, 0]);
    }

    #[test]
    fn a_recording_that_does_not_fit_tells_where() {
        let (made, notes) = follow(&[&[11, 13], &[21]], &[(0, 11), (0, 12), (0, 12), (0, 13), (1, 21)]);
        assert_eq!((made.len(), notes), (3, [3, 2]));
        assert_eq!(follow(&[&[11]], &[]).0, [(0, 11)]);
    }
}
