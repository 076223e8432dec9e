//! Loops that look for memory to change: whether they end by themselves.
//!
//! That is found by letting a strand go on alone in its loop, once, and is kept with the known instructions: the driver
//! carries it to later runs, so runs stay the same for the same seed and planners begin anew when something was learnt.
//! A loop is known by the instructions of its loads and by their innermost callers, since in code that is not optimised one
//! instruction makes the loads of many loops.
//!
//! | a loop | for planners | for strategies that draw, by the run's seed |
//! |---|---|---|
//! | is not known | its strand goes on alone | the same |
//! | ends within [`SHORT`] rounds | is made of ordinary steps | runs out alone, is ordinary steps, or waits |
//! | ends later, or sometimes | waits, and they are told | runs out alone, or waits |
//! | does not end within [`TRIED`] rounds | is tried again each time, for [`TRIED_AGAIN`] rounds, and waits | waits; is tried again in a few runs |
//! | does much between its looks | is made of ordinary steps | the same |

use super::sched::engine;
use super::{frames, learn as known, modules};
use threadbare_abi::fact::Fact;
use threadbare_abi::layout::{self, Plan};
use threadbare_strategy::rng::mix;
use threadbare_strategy::{IN_ORDER, StrategyId};

/// Rounds up to which a loop that ends is short: every one of them counts.
pub const SHORT: u32 = 256;
/// Rounds after which a loop is taken to have no end.
pub const TRIED: u32 = 1 << 16;
/// Rounds that a loop is let go on for that had no end before.
pub const TRIED_AGAIN: u32 = 1 << 10;
/// Rounds that a long loop is let go on for.
const RUN_OUT: u32 = 1 << 20;
/// Rounds that a loop is let go on for when nothing else can.
pub const LAST_TRY: u32 = 1 << 20;
/// Events of a loop that is not known, after which it is taken to work.
pub const WORK: u64 = 1 << 20;
/// How often a strand is hasty in a run.
pub const HASTE: u32 = 64;
/// Callers that a load is told apart by.
const CALLERS: usize = 6;

/// What is known of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Nature {
    /// Nothing.
    Unknown,
    /// It ends by itself, soon.
    Short,
    /// It ends by itself, late or not always.
    Long,
    /// It does not end by itself.
    Endless,
    /// It does other things.
    Work,
}

/// Why a strand goes on alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// It does not.
    None,
    /// To learn whether its loop ends.
    Learn,
    /// To learn whether a loop that does not end does so after all.
    LearnAgain,
    /// So that the loop runs out.
    RunOut,
    /// Because nothing else can go on.
    LastTry,
}

/// Rounds that a strand goes on alone for.
pub fn most(purpose: Purpose) -> u32 {
    match purpose {
        Purpose::LearnAgain => TRIED_AGAIN,
        Purpose::RunOut => RUN_OUT,
        Purpose::LastTry => LAST_TRY,
        Purpose::None | Purpose::Learn => TRIED,
    }
}

/// Stands for an instruction of the running strand and its callers.
#[cold]
pub fn place(pc: u64) -> u64 {
    let key = mix(modules::program_place(pc));
    frames::innermost::<CALLERS>().iter().fold(key, |key, &caller| mix(key ^ modules::program_place(caller)))
}

/// Something that was found of a loop.
fn fact(key: u64, of: u64) -> Fact {
    Fact::Loop(mix(key ^ of.wrapping_mul(0x9E37_79B9_7F4A_7C15)) as u32 | 1)
}

fn is(key: u64, nature: Nature) -> bool {
    known::is_known(fact(key, nature as u64 + 1))
}

/// What is known of a loop.
pub fn nature(key: u64) -> Nature {
    let (short, long) = (is(key, Nature::Short), is(key, Nature::Long));
    if is(key, Nature::Work) {
        Nature::Work
    } else if is(key, Nature::Endless) {
        if short || long { Nature::Long } else { Nature::Endless }
    } else if long {
        Nature::Long
    } else if short {
        Nature::Short
    } else {
        Nature::Unknown
    }
}

/// This has been found.
pub fn learn(key: u64, nature: Nature) {
    known::learn_fact(fact(key, nature as u64 + 1));
}

/// Of loads that belong to a loop that waits: the load with its callers, and the instruction alone.
const IDLE: u64 = 64;
const IDLE_ANYWHERE: u64 = 65;
static mut ANY_LOOP: bool = false;

/// Something is known of some loop.
pub fn knows_some() {
    // SAFETY: single kernel thread.
    unsafe { ANY_LOOP = true }
}

/// A load belongs to a loop that does not end.
pub fn learn_idle(pc: u64, place: u64) {
    known::learn_fact(fact(pc, IDLE_ANYWHERE));
    known::learn_fact(fact(place, IDLE));
}

/// Whether the running strand's load at this instruction belongs to a loop that does not end.
#[inline(always)]
pub fn is_idle(pc: u64) -> bool {
    // SAFETY: single kernel thread.
    unsafe { ANY_LOOP && is_idle_here(pc) }
}

#[inline(never)]
fn is_idle_here(pc: u64) -> bool {
    known::is_known(fact(pc, IDLE_ANYWHERE)) && known::is_known(fact(place(pc), IDLE))
}

/// What a strand does that has made so many rounds of a loop in vain: it goes on, perhaps alone, or waits (`None`).
pub fn decide(key: u64, rounds: u32) -> Option<Purpose> {
    let nature = nature(key);
    match nature {
        Nature::Unknown => return Some(Purpose::Learn),
        Nature::Work => return Some(Purpose::None),
        // It ended sooner before.
        Nature::Short if rounds > SHORT => return Some(Purpose::Learn),
        _ => {}
    }
    if is_planned(&engine().plan) {
        return match nature {
            Nature::Short => Some(Purpose::None),
            // In another state of its strand it may end.
            Nature::Endless => Some(Purpose::LearnAgain),
            _ => None,
        };
    }
    let drawn = mix(engine().plan.seed ^ key) >> 32;
    match nature {
        Nature::Short => match drawn & 7 {
            0 | 1 => Some(Purpose::RunOut),
            2 | 3 => Some(Purpose::None),
            _ => None,
        },
        Nature::Long => (drawn & 7 == 0).then_some(Purpose::RunOut),
        _ => (drawn & 31 == 0).then_some(Purpose::LearnAgain),
    }
}

/// Whether a planner decides.
pub fn is_planned(plan: &Plan) -> bool {
    StrategyId::from_code(plan.strategy).is_some_and(StrategyId::is_planner)
}

/// Whether a poll that gives way or sleeps between its looks may run out in this run: giving way lets nobody else go first
/// then, and a sleep is over at once, for a few times of each strand. In one of eight runs, and not where a driver plans.
pub fn is_hasty(plan: &Plan) -> bool {
    const SALT: u64 = 0x7068_6173_7465;
    let planned = is_planned(plan) || plan.flags & layout::flags::LENIENT != 0 || plan.follow != 0;
    let in_order = plan.params[IN_ORDER] != 0;
    !planned && !in_order && mix(plan.seed ^ SALT) >> 61 == 0
}
