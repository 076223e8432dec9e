//! What is known of a function.

use serde::{Deserialize, Serialize};

use crate::address::Address;
use crate::hook::{Kind, Size};

/// One instrumented access.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// The place: the return address of the hook's call, as linked. The runtime tells the same.
    pub place: u64,
    /// What it does.
    pub kind: Kind,
    /// Whether it is an atomic one.
    pub atomic: bool,
    /// How many bytes.
    pub size: Size,
    /// Where.
    pub address: Address,
    /// The locks that are surely held, by the function itself or by whoever calls it.
    pub locks: Vec<Held>,
    /// Whether a strand may have been made before, in the function itself or by what it calls.
    pub created: bool,
}

/// A lock that is surely held at an access.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Where it is.
    pub lock: Address,
    /// Whether it is held for reading only, so that others may be inside as well.
    pub shared: bool,
    /// By which instruction it was taken; 0 if that depends on the way, or a caller did.
    pub since: u64,
    /// How far it is from what is accessed, if both surely count from one and the same pointer.
    pub distance: Option<i64>,
    /// This strand surely wrote the same bytes before, and has held the lock ever since: nobody else who takes it can have changed them.
    pub own: bool,
    /// This strand surely writes the same bytes again before it gives the lock back: nobody who takes it can see this write.
    pub hidden: bool,
}

/// Who is called.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Callee {
    /// A function of this module, by index.
    Function(usize),
    /// A function of another module, by name.
    Import(String),
    /// Whatever a value points to.
    Pointer(Address),
}

/// One call that is no hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The place: the return address, as linked; for a jump at the function's end its own address.
    pub place: u64,
    /// Who.
    pub callee: Callee,
    /// The six integer arguments, as far as they may matter.
    pub arguments: Vec<Address>,
    /// The locks that are surely held.
    pub locks: Vec<Held>,
    /// Whether a strand may have been made before.
    pub created: bool,
    /// Whether the function ends with it.
    pub tail: bool,
    /// Whether the function may come to it again: it is in a loop.
    pub repeats: bool,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// The name as linked, or its address.
    pub name: String,
    /// The first address, as linked.
    pub start: u64,
    /// The first address after it.
    pub end: u64,
    /// How many blocks its control flow has.
    pub blocks: usize,
    /// Whether it has hooks.
    pub instrumented: bool,
    /// Its accesses, by place.
    pub accesses: Vec<Access>,
    /// Its calls, by place.
    pub calls: Vec<Call>,
    /// Addresses of variables that it stores somewhere or hands to code that is not seen: others may come to them by pointer.
    pub exposes: Vec<u64>,
    /// Whether addresses of its own frame go elsewhere.
    pub exposes_frame: bool,
    /// Arguments that it stores somewhere, or hands to code that does: others may come by pointer to what they point to.
    pub leaks: [bool; 6],
    /// Whether its address is in data or taken by code, so that a call by pointer may lead to it.
    pub taken: bool,
    /// Whether the loader calls it before `main`.
    pub constructs: bool,
}

impl Function {
    /// The name as a person writes it.
    pub fn shown(&self) -> String {
        threadbare_symbols::Name::of_symbol(&self.name).short.to_string()
    }
}
