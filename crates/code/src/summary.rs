//! What a caller must know of a function: what it gives back, what it stores through its arguments, locks that it takes or gives back.
//!
//! Addresses in it count from the arguments; a caller puts its own values there ([`instantiate`]).

use crate::address::{Address, Root};
use crate::state::State;
use crate::value::{Base, V};
use crate::x86_64::Stepper;

/// A word that a function surely stores through an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) argument: u8,
    pub(crate) offset: i64,
    pub(crate) size: u8,
    pub(crate) value: Address,
}

/// A lock that is held at the end and was not at the beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) lock: Address,
    pub(crate) shared: bool,
    pub(crate) word: bool,
}

/// What a function does to its caller.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Summary {
    /// What it gives back, if all returns give back the same.
    pub(crate) result: Option<Address>,
    /// The same for its second half.
    pub(crate) second: Option<Address>,
    pub(crate) stores: Vec<Stored>,
    /// Bytes that it may write through its arguments: argument, from, to. `None`: anything.
    pub(crate) writes: Option<Vec<(u8, i64, i64)>>,
    /// Arguments whose address others may know afterwards.
    pub(crate) leaks: [bool; 6],
    pub(crate) takes: Vec<Taken>,
    /// Locks that it may give back without having taken them. `None`: any.
    pub(crate) gives: Option<Vec<(Address, bool)>>,
    /// Whether it may make a strand.
    pub(crate) creates: bool,
    /// Whether it comes back.
    pub(crate) returns: bool,
}

impl Summary {
    /// Of a function that nothing is known of.
    pub(crate) fn dark(may_give: bool) -> Summary {
        Summary {
            writes: None,
            leaks: [true; 6],
            gives: (!may_give).then(Vec::new),
            creates: true,
            returns: true,
            ..Summary::default()
        }
    }
}

/// An address of a callee in terms of its caller; `None` if it counts from something that is the callee's own.
pub(crate) fn instantiate(
    stepper: &mut Stepper<'_>,
    state: &State,
    address: &Address,
    arguments: &[V; 6],
    call: u64,
) -> Option<V> {
    let mix = |at: u64| at.rotate_left(17) ^ call.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let value = match &address.root {
        Root::Global => stepper.pool.make(Base::Global, address.offset),
        Root::Number => stepper.pool.number(address.offset),
        Root::Import(name) => {
            let number = stepper.pool.import(name);
            stepper.pool.make(Base::Import(number), address.offset)
        }
        Root::ThreadLocal => stepper.pool.make(Base::Thread, address.offset - stepper.image.thread_size),
        Root::Argument(number) => stepper.pool.shifted(*arguments.get(usize::from(*number))?, address.offset),
        Root::Loaded { from, at } => {
            let from = instantiate(stepper, state, from, arguments, call)?;
            let loaded = stepper.load(state, from, 8, mix(*at));
            stepper.pool.shifted(loaded, address.offset)
        }
        // One block for each call is enough to tell it from others.
        Root::Allocated { at } => stepper.pool.make(Base::Block { at: *at }, address.offset),
        Root::Returned { at } => stepper.pool.make(Base::Result { at: mix(*at) }, address.offset),
        Root::OneOf(ways) => {
            let mut values = Vec::new();
            for way in ways {
                values.push(instantiate(stepper, state, way, arguments, call)?);
            }
            let mut values = values.into_iter();
            let first = values.next()?;
            let joined = values.fold(first, |a, b| stepper.pool.either(a, b, mix(0)));
            stepper.pool.shifted(joined, address.offset)
        }
        Root::Stack | Root::Again | Root::Unknown(_) => return None,
    };
    if address.stride == 0 {
        return Some(value);
    }
    let stride = u32::try_from(address.stride).unwrap_or(1);
    Some(stepper.pool.indexed(value, stride, mix(address.stride)))
}
