//! A strand: what the engine knows of one thread of the program.

use super::carriers::Carrier;
use super::crowds;
use super::frames::{self, FrameEntry};
use super::local::Foreign;
use super::part;
use super::race::Ignored;
use super::registers;
use super::rounds;
use super::sched::engine;
use super::spin::SpinTrack;
use super::unseen::Inside;
use super::wait::Wait;
use super::words;
use crate::heap::arena::Slot;
use crate::model::PerStrand;
use alloc::vec::Vec;
use threadbare_abi::fault::SORTS;
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::strand::{StrandId, StrandPath};
use threadbare_rules::clock::Clock;
use threadbare_rules::lineage::Line;
use threadbare_rules::locks::Held;
use threadbare_rules::stores::View;
use threadbare_strategy::classes::Track;
use threadbare_strategy::rng::Rng;

/// What a strand is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// It runs or can go on.
    Ready,
    /// It waits: see [`Strand::wait`].
    Blocked,
    /// It has ended.
    Ended,
}

/// A strand. What a switch touches comes first, close together.
#[repr(C)]
pub struct Strand {
    /// Saved stack pointer while it does not run.
    pub sp: usize,
    /// Thread pointer.
    pub fs: usize,
    /// The operation it stands before.
    pub op: Op,
    /// Next free entry of its shadow stack while it does not run.
    pub frames: *mut FrameEntry,
    /// Its name as a number.
    pub path: StrandPath,
    /// Events of its own up to its last stop.
    pub own: u64,
    /// Index.
    pub id: StrandId,
    /// What it is doing, unless it is in a crowd: see [`Strand::state`].
    pub alone: State,
    /// It asked to give way, and nobody else has moved since.
    pub yields: bool,
    /// What it did since it took a lock.
    pub rounds: rounds::Rounds,
    /// It has ended (its model state says so too).
    pub ended: bool,
    /// Another strand has touched its stack.
    pub stack_shared: bool,
    /// Not to be preempted while above 0.
    pub pinned: u32,
    /// Where it is in a part of the code that is made atomic.
    pub part: part::Inside,
    /// It stands before what another place is to come after, and makes it next.
    pub makes_first: bool,
    /// How often it was hasty.
    pub haste: u32,
    /// It is libtest's, and not the test's: none of its waits has a deadline.
    pub waits_for_test: bool,
    /// Place in the enabled list, `u32::MAX` if not in it.
    pub enabled_at: u32,
    /// Place in the list of waiters, `u32::MAX` if not in it.
    pub waits_at: u32,
    /// The crowd it is in, and its place there.
    pub crowd: u32,
    /// The same.
    pub crowd_at: u32,
    /// Place in the timed list, `u32::MAX` if not in it.
    pub timed_at: u32,
    /// Its part of the run's class.
    pub track: Track,
    /// Lowest and highest address of its stack.
    pub stack: (usize, usize),
    /// What it had in registers at the access that it stands before, while values are told; null otherwise.
    pub captured: *const registers::Captured,
    /// Stands for what it had in registers and on its stack at its last point, while planners ask.
    pub local: u64,
    /// What others have written into its stack.
    pub foreign: Foreign,
    /// What comes before its next step by creations and joins alone.
    pub line: Line,
    /// What happens before its next step.
    pub clock: Clock,
    /// What its next acquire fence orders before it.
    pub fence_acquire: Clock,
    /// What its last release fence published.
    pub fence_release: Clock,
    /// What it must see of atomics besides.
    pub view: View,
    /// Words it has changed or tried to change atomically, each once, since it last waited out of sight.
    pub locks: Vec<u64>,
    /// What the program wants left out.
    pub ignored: Ignored,
    /// Whether it is spinning.
    pub spin: SpinTrack,
    /// What it waits for.
    pub wait: Wait,
    /// Random numbers for the program: each strand has its own.
    pub entropy: Rng,
    /// Where its memory comes from.
    pub heap: Slot,
    /// Who created it.
    pub parent: StrandId,
    /// Its number among its parent's children, from 1.
    pub ordinal: u32,
    /// Children it has created.
    pub children: u32,
    /// libc's handle of its carrier.
    pub pthread: usize,
    /// Its carrier; none for the main strand and after it was given back.
    pub carrier: Option<Carrier>,
    /// Locks of all sorts that it has taken, oldest first.
    pub held: Vec<Held>,
    /// Locks it has that are words of the program's own.
    pub words: words::PerStrand,
    /// The function of precompiled std that it entered last.
    pub inside: Inside,
    /// Chances it had for a fault, of each sort.
    pub faults: [u32; SORTS],
    /// What the models keep for it.
    pub model: PerStrand,
}

impl Strand {
    /// A strand that has not run yet.
    pub fn new(id: StrandId, parent: StrandId, ordinal: u32, path: StrandPath, entropy: u64) -> Self {
        Strand {
            sp: 0,
            fs: 0,
            op: Op::new(OpKind::Start, id.0 as u64, 0),
            frames: frames::base_of(id.index()),
            alone: State::Ready,
            yields: false,
            rounds: rounds::Rounds::default(),
            ended: false,
            pinned: 0,
            part: part::Inside::default(),
            makes_first: false,
            haste: 0,
            waits_for_test: false,
            enabled_at: u32::MAX,
            timed_at: u32::MAX,
            waits_at: u32::MAX,
            crowd: crowds::NONE,
            crowd_at: 0,
            id,
            entropy: Rng::new(entropy ^ path.0),
            heap: Slot::of(path.0),
            parent,
            ordinal,
            children: 0,
            path,
            track: Track::new(id.0, path.0, 0),
            own: 0,
            wait: Wait::NONE,
            line: Line::new(),
            clock: Clock::new(),
            fence_acquire: Clock::new(),
            fence_release: Clock::new(),
            view: View::default(),
            locks: Vec::new(),
            ignored: Ignored::default(),
            spin: SpinTrack::new(),
            pthread: 0,
            carrier: None,
            stack: (0, 0),
            captured: core::ptr::null(),
            local: 0,
            foreign: Foreign::default(),
            stack_shared: false,
            held: Vec::new(),
            words: words::PerStrand::default(),
            inside: Inside::NOTHING,
            faults: [0; SORTS],
            model: PerStrand::default(),
        }
    }

    /// What it is doing.
    #[inline(always)]
    pub fn state(&self) -> State {
        if self.crowd == crowds::NONE { self.alone } else { engine().crowds.state(self.crowd) }
    }

    /// The highest entry its shadow stack may use.
    pub fn frames_limit(&self) -> *mut FrameEntry {
        frames::limit_of(self.id.index())
    }
}
