//! What creating and joining strands orders: the rules are those of `threadbare_rules::lineage`.
//!
//! Accesses that nothing but these order are no points (`touched`): no choice changes their order. Runs that are looked at for what reads see, values or
//! calls have them all the same ([`flags::ORDERED`]). It is kept whether races are looked for or not, and only in the run: strands that are older know nothing of each other.

use super::sched::{Phase, engine, this};
use super::strand;
use crate::model::single::Single;
use threadbare_abi::layout::flags;
use threadbare_abi::strand::StrandId;
use threadbare_rules::lineage::{Names, PENDING};
use threadbare_rules::touched::Order;

static NAMES: Single<Names> = Single::new(Names::new());
/// The name of the running strand's stretch.
static mut ME: u16 = PENDING;

/// Names that there is room for from the beginning.
const MANY: usize = 256;

/// Makes room. Once, in the fork server.
pub fn init() {
    NAMES.with(|names| names.reserve(MANY));
}

/// The name of the running strand's stretch, or [`PENDING`].
#[inline(always)]
pub fn me() -> u16 {
    // SAFETY: single kernel thread.
    unsafe { ME }
}

/// This strand runs from now on.
#[inline(always)]
pub fn goes_on(strand: &super::Strand) {
    // SAFETY: single kernel thread.
    unsafe { ME = strand.line.name() }
}

/// The name of the running strand's stretch, which gets one if it has none.
#[inline(always)]
pub fn named() -> u16 {
    if me() == PENDING {
        name();
    }
    me()
}

#[inline(never)]
fn name() {
    let mut this = this();
    let id = this.id.0;
    NAMES.with(|names| names.give(id, &mut this.line));
    goes_on(&this);
}

/// The running strand creates another.
pub fn created(id: StrandId) {
    if engine().phase == Phase::Running {
        let (mut this, mut new) = (this(), strand(id));
        let by = this.id.0;
        NAMES.with(|names| names.created(by, &mut this.line, &mut new.line));
        goes_on(&this);
    }
}

/// The running strand has waited for the end of another.
pub fn joined(id: StrandId) {
    if engine().phase == Phase::Running && id != this().id {
        let other = strand(id);
        NAMES.with(|names| names.joined(&mut this().line, id.0, &other.line));
    }
}

/// Whether something could not be told apart, for want of names.
pub fn has_lost() -> bool {
    NAMES.with(|names| names.has_lost())
}

/// The running strand, for those who ask what comes before it.
pub struct Running;

impl Order for Running {
    #[inline]
    fn stretch(&self, name: usize) -> (u16, u32) {
        NAMES.with(|names| names.stretch(name))
    }
    #[inline]
    fn is_before(&self, name: usize) -> bool {
        let this = this();
        let creations_count = super::plan_flags() & flags::ORDERED == 0;
        NAMES.with(|names| match creations_count {
            true => names.is_before(this.id.0, &this.line, name),
            false => names.stretch(name).0 == this.id.0,
        })
    }
}
