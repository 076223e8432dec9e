//! Which store an atomic load sees, and where an atomic store comes: the choice itself.
//!
//! It is made right before the operation, when its strand goes on from the point; the operation's effect takes it over. Only
//! what is not plain is recorded, with how far the strand has come: a load that no schedule speaks of sees the newest store.

use super::super::super::sched::{Phase, engine};
use super::super::super::strand::Strand;
use super::super::super::{coverage, follow, report, segments, shadow, steps};
use super::super::stores;
use super::super::{SYNC, is_on as races_are_on};
use super::{Atomic, neighbours, objects, slot};
use crate::raw::Raw;
use threadbare_abi::layout::{MemoryModel, flags};
use threadbare_abi::op::{OpKind, Order};
use threadbare_abi::report::{RecordTag, Remedy};
use threadbare_abi::step::Doubt;
use threadbare_abi::strand::StrandId;
use threadbare_rules::stores::Made;
use threadbare_strategy::rng::{Rng, mix};
use threadbare_strategy::{Load, Strategy, StrategyId};

/// What was chosen for the operation under way: how many newer stores there are.
static mut TAKEN: usize = 0;
static mut DRAW: Draw = Draw { rng: Rng::new(0), manner: Manner::Newest };

/// How often a run that draws its choices takes another store than the newest.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// Never.
    Newest,
    /// Once in so many.
    Rarely(u32),
    /// Always at some instructions, and never at others.
    Here(u64),
    /// The driver plans.
    Planned,
    /// The strategy names the stores that some loads are to see.
    Named,
}

struct Draw {
    rng: Rng,
    manner: Manner,
}

fn draw() -> Raw<Draw> {
    // SAFETY: single kernel thread.
    unsafe { Raw::new(&raw mut DRAW) }
}

/// The run begins.
pub fn begin() {
    const SALT: u64 = 0x7374_616C_6572_6561;
    let plan = &engine().plan;
    let model = MemoryModel::from_code(plan.model as u8).unwrap_or(MemoryModel::Sc);
    let seed = mix(plan.seed ^ SALT);
    let manner = match StrategyId::from_code(plan.strategy) {
        Some(id) if id.is_planner() => Manner::Planned,
        Some(_) if engine().strategy.names_stores() => Manner::Named,
        None => Manner::Newest,
        Some(id) if !id.row().older_stores => Manner::Newest,
        Some(_) => match seed & 7 {
            0 => Manner::Rarely(2),
            1 => Manner::Rarely(6),
            2 => Manner::Here(seed),
            _ => Manner::Newest,
        },
    };
    // A run that takes the newest store everywhere needs no others.
    let plain = manner == Manner::Newest && plan.follow == 0 && plan.flags & flags::LENIENT == 0;
    stores::begin(if plain { MemoryModel::Sc } else { model });
    *draw() = Draw { rng: Rng::new(seed), manner };
}

/// Whether there is a choice at all.
#[inline(always)]
pub fn is_on() -> bool {
    stores::model() != MemoryModel::Sc
}

/// What was chosen for the operation that has just been made.
#[inline(always)]
pub fn taken() -> usize {
    // SAFETY: single kernel thread.
    unsafe { core::mem::replace(&mut *(&raw mut TAKEN), 0) }
}

fn take(back: usize) {
    // SAFETY: single kernel thread.
    unsafe { TAKEN = back }
}

/// The object, if more than its value is known and nobody uses it in another way.
fn known(addr: u64, size: u8, found: u64) -> Option<Raw<Atomic>> {
    // SAFETY: the cell is in the shadow; single kernel thread.
    let used = unsafe { (*shadow::cell(addr)).touch } & SYNC != 0;
    if !used || shadow::is_full() {
        return None;
    }
    let first = slot((addr >> 3) + 1).1;
    let object = objects(first).find(|it| it.addr == addr && it.size == size)?;
    let alone =
        core::ptr::eq(first, &*object) && object.next.is_null() || neighbours(&object).next().is_none();
    (!object.hidden && object.last == found && alone).then_some(object)
}

/// An atomic load is about to return `found`, the newest value: what it returns instead.
#[inline(always)]
pub fn load(this: &mut Strand, addr: u64, size: u8, found: u64, order: Order, pc: u64) -> u64 {
    if !is_on() || !races_are_on() {
        return found;
    }
    load_slow(this, addr, size, found, order, pc)
}

#[inline(never)]
fn load_slow(this: &mut Strand, addr: u64, size: u8, found: u64, order: Order, pc: u64) -> u64 {
    let Some(wish) = wish(pc) else { return found };
    // Looks of a loop that goes on alone are no steps of their own, and have no choices.
    if this.spin.is_alone() && !matches!(wish, Wish::Followed(_)) {
        return found;
    }
    let Some(object) = known(addr, size, found) else { return found };
    if object.history.is_plain() {
        return found;
    }
    let (options, impatient) = stores::visible(&object.history, this, order);
    if impatient || object.history.cut {
        steps::doubt(Doubt::Stale, pc);
    }
    let back = match wish {
        Wish::Named if options > 1 => chosen(named(this, &object, options, pc)),
        _ => choose(wish, options),
    } as usize;
    if options < 2 {
        return found;
    }
    let stored = object.history.back(back);
    let value = stored.filter(|_| back > 0).map_or(found, |stored| stored.value);
    steps::sees(back as u64, options as u64, back as u64, value);
    if back > 0 {
        tell(this, &object, OpKind::AtomicLoad, back, pc);
    }
    take(back);
    value
}

/// The store that the strategy names for a load.
fn named(this: &Strand, object: &Atomic, options: u32, pc: u64) -> u32 {
    let made = |back: u32| {
        let stored = object.history.back(back as usize);
        stored.map_or((StrandId::NONE, 0), |stored| (StrandId(stored.strand), stored.pc))
    };
    engine().strategy.store(Load { strand: this.id, pc }, options, &made).min(options - 1)
}

/// Choices that a run tells of at the most.
const TOLD: u32 = 32;
static mut TOLD_SO_FAR: u32 = 0;

/// The strand's load sees an older store, or its store comes after that one and before newer ones.
#[cold]
#[inline(never)]
fn tell(this: &Strand, object: &Atomic, kind: OpKind, back: usize, pc: u64) {
    // SAFETY: single kernel thread.
    let told = unsafe { &mut *(&raw mut TOLD_SO_FAR) };
    let newer = (0..back).filter_map(|back| object.history.back(back)).find(|it| it.strand != this.id.0);
    let (Some(saw), Some(newer)) = (object.history.back(back), newer) else { return };
    if *told == TOLD {
        return;
    }
    *told += 1;
    let by = newer.strand as usize;
    let remedy = if this.fence_acquire.get(by) >= newer.event {
        Remedy::Acquire
    } else if this.view.heard.get(by) >= newer.event {
        Remedy::Release
    } else {
        Remedy::SeqCst
    };
    report::add(
        RecordTag::Stale,
        this.id.0,
        [pc, saw.pc, newer.pc],
        format_args!(
            "{} {} {} {} {} {} {} {}",
            object.addr,
            object.size,
            kind as u8,
            saw.strand,
            saw.value,
            newer.strand,
            newer.value,
            remedy as u8
        ),
    );
}

/// An atomic store is about to be made over `old`. Whether it comes before newer stores, so that memory stays as it is.
#[inline(always)]
pub fn store(this: &mut Strand, addr: u64, size: u8, old: u64, order: Order, pc: u64) -> bool {
    is_on() && races_are_on() && store_slow(this, addr, size, old, order, pc)
}

#[inline(never)]
fn store_slow(this: &mut Strand, addr: u64, size: u8, old: u64, order: Order, pc: u64) -> bool {
    if shadow::is_full() {
        return false;
    }
    let Some(mut object) = known(addr, size, old) else {
        let mut object = super::object(addr, size).0;
        object.history.begins(old);
        return false;
    };
    if object.history.is_empty() {
        object.history.begins(old);
    }
    if object.history.is_plain() || order == Order::SeqCst || stores::model() != MemoryModel::C11 {
        return false;
    }
    let Some(wish) = wish(pc).filter(|wish| *wish != Wish::Named) else { return false };
    let options = stores::places(&object.history, this, order);
    let option = choose(wish, options);
    if options < 2 {
        return false;
    }
    let back = stores::place(&object.history, this, order, option);
    steps::sees(option as u64, options as u64, back as u64, old);
    if back > 0 {
        tell(this, &object, OpKind::AtomicStore, back, pc);
    }
    take(back);
    back > 0
}

/// The strand's store comes before newer ones: what they publish stays as it is.
pub fn publish_late(this: &mut Strand, object: &mut Atomic, back: usize, value: u64, order: Order, pc: u64) {
    let made = Made { pc, value, order, exchange: false, back };
    if order.releases() {
        this.publishes();
        let clock = core::mem::take(&mut this.clock);
        stores::push(&mut object.history, this, made, &clock);
        this.clock = clock;
    } else {
        let mut clock = super::Clock::new();
        clock.assign(&this.fence_release);
        // What it follows may be a release of its own, whose sequence it carries on.
        if let Some(before) = object.history.back(back).filter(|before| before.strand == this.id.0) {
            clock.join(&before.release);
        }
        stores::push(&mut object.history, this, made, &clock);
    }
}

/// Whether an operation has a place in the total order of sequentially consistent ones; planners are told then.
#[inline(always)]
pub fn in_total(kind: OpKind, order: Order) -> bool {
    let is = order == Order::SeqCst && is_on();
    if is {
        steps::in_total(kind);
    }
    is
}

/// Whether a load of the strand there could see another store than the newest.
pub fn may_see_older(this: &Strand, addr: u64, size: u8) -> bool {
    let found = super::value(addr, size);
    let object = known(addr, size, found).filter(|object| !object.history.is_plain());
    object.is_some_and(|object| stores::visible(&object.history, this, Order::Relaxed).0 > 1)
}

/// What the operation under way takes, before its options are known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wish {
    /// What the schedule says, which is not the plain one.
    Followed(u32),
    /// What the driver plans.
    Planned,
    /// Any but the plain one.
    Older,
    /// The oldest.
    Oldest,
    /// What the strategy names, of a load.
    Named,
}

/// Whether the operation may take another option than the plain one, and which: most need not look for their options.
#[inline(always)]
fn wish(pc: u64) -> Option<Wish> {
    if engine().phase != Phase::Running {
        return None;
    }
    let mut draw = draw();
    match (follow::stale(), draw.manner) {
        (Some(0), _) | (None, Manner::Newest) => None,
        (Some(option), _) => Some(Wish::Followed(option)),
        (None, Manner::Planned) => Some(Wish::Planned),
        (None, Manner::Named) => Some(Wish::Named),
        (None, Manner::Rarely(times)) => (draw.rng.below(times) == 0).then_some(Wish::Older),
        (None, Manner::Here(seed)) => (mix(seed ^ pc) & 3 == 0).then_some(Wish::Oldest),
    }
}

/// One of so many stores or places, 0 for the plain one.
fn choose(wish: Wish, options: u32) -> u32 {
    let taken = match wish {
        Wish::Followed(option) => follow::take_stale(option, options),
        _ if options < 2 => 0,
        Wish::Planned => engine().strategy.choose(options),
        Wish::Older => 1 + draw().rng.below(options - 1),
        Wish::Oldest => options - 1,
        Wish::Named => 0,
    };
    chosen(taken)
}

/// Records a choice, if it is not the plain one.
fn chosen(taken: u32) -> u32 {
    if taken > 0 {
        coverage::chose(taken as u64);
        segments::stale(taken);
    }
    taken
}
