//! What a call does to what is known: hooks announce accesses, known functions take locks and make strands, functions of the program
//! do what their summary says, and everybody else may do anything to what they know of.

use std::rc::Rc;

use iced_x86::{Instruction, OpKind};

use crate::address::Reason;
use crate::flow::Follow;
use crate::function::{Access, Callee};
use crate::hook::{self, Announced, Extent, Hook, Kind, Size};
use crate::image::Slot;
use crate::known::{self, Known};
use crate::state::{Held, State};
use crate::summary::{Summary, instantiate};
use crate::value::{Base, V};
use crate::x86_64::{ARGUMENTS, RESULT, SCRATCH, SECOND_RESULT};

/// Bytes of a store from which on a slot is forgotten, not set.
const FORGET: u32 = 17;
/// Words of a copy that are followed one by one.
const LONGEST_COPY: i64 = 256;

/// Who is called, while values are values.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    Function(usize),
    Import(Rc<str>),
    Pointer(V),
}

impl Follow<'_> {
    /// Who a call instruction calls.
    pub(crate) fn target(&mut self, state: &State, call: &Instruction) -> Target {
        let image = self.stepper.image;
        if matches!(call.op0_kind(), OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64) {
            return self.target_at(call.near_branch_target());
        }
        if let Some(slot) = crate::x86_64::slot_of(call)
            && let Some(found) = image.slots.get(&slot)
        {
            match found {
                Slot::Import(name, 0) => return Target::Import(name.clone()),
                Slot::Address(address) => return self.target_at(*address),
                _ => {}
            }
        }
        let value = match call.op0_kind() {
            OpKind::Memory => {
                let address = self.stepper.address(state, call);
                self.stepper.load(state, address, 8, call.ip())
            }
            _ => crate::x86_64::general(call.op0_register()).map_or_else(
                || self.stepper.pool.unknown(Reason::Arithmetic),
                |number| state.registers[number],
            ),
        };
        let node = self.stepper.pool.node(value);
        match node.base {
            Base::Global => match self.target_at(node.offset.cast_unsigned()) {
                Target::Pointer(_) => Target::Pointer(value),
                known => known,
            },
            Base::Import(number) if node.offset == 0 => {
                Target::Import(self.stepper.pool.imports[number as usize].as_str().into())
            }
            _ => Target::Pointer(value),
        }
    }

    /// Who begins at an address.
    pub(crate) fn target_at(&mut self, address: u64) -> Target {
        let image = self.stepper.image;
        if let Some(name) = image.stubs.get(&address) {
            return Target::Import(name.clone());
        }
        match image.function_starting(address) {
            Some(function) => Target::Function(function),
            None => Target::Pointer(self.stepper.pool.make(Base::Global, address.cast_signed())),
        }
    }

    /// Does a call; `place` is its return address, `at` its own. Whether it comes back.
    pub(crate) fn call(
        &mut self,
        state: &mut State,
        target: &Target,
        at: u64,
        place: u64,
        tail: bool,
    ) -> bool {
        let arguments = ARGUMENTS.map(|register| state.registers[register]);
        let name = match target {
            Target::Import(name) => Some(name.clone()),
            Target::Function(function) => Some(self.stepper.image.functions[*function].name.clone()),
            Target::Pointer(_) => None,
        };
        let name = name.as_deref().unwrap_or_default();
        if let Some(hook) = hook::named(name).filter(|_| matches!(target, Target::Import(_))) {
            self.hooks += usize::from(name.starts_with("__tsan_"));
            self.hook(state, &hook, name, &arguments, place, tail);
            return true;
        }
        self.note_call(state, target, &arguments, at, place, tail);
        // A program's own `sleep` is not the one of libc.
        let known = match target {
            Target::Import(_) => known::named(name),
            Target::Function(_) => known::rust(name),
            Target::Pointer(_) => None,
        };
        if let Some(known) = known {
            return self.known(state, known, name, &arguments, place);
        }
        match target {
            Target::Function(function) => {
                let summary = self.summaries[*function].clone();
                let summary = summary.unwrap_or_else(|| Summary::dark(self.may_give[*function]).into());
                let returns = self.apply(state, &summary, &arguments, place);
                if let Some(argument) = known::rust_takes(name) {
                    state.take(Held { lock: arguments[argument], shared: false, word: true, since: place });
                }
                returns
            }
            Target::Import(name) if &**name == "__tls_get_addr" => {
                let slot = self.stepper.pool.node(arguments[0]);
                let found = self.stepper.image.slots.get(&slot.offset.cast_unsigned());
                let value = match (slot.base, found) {
                    (Base::Global, Some(Slot::ThreadModule(offset))) => {
                        let offset = offset.cast_signed() - self.stepper.image.thread_size;
                        self.stepper.pool.make(Base::Thread, offset)
                    }
                    _ => self.stepper.pool.make(Base::Result { at: place }, 0),
                };
                self.clobber(state, place);
                state.registers[RESULT] = value;
                true
            }
            Target::Import(_) => {
                let calls_back = arguments.iter().any(|value| self.is_function(*value));
                let summary = Summary::dark(calls_back && self.pointers_give);
                self.apply(state, &summary, &arguments, place)
            }
            Target::Pointer(_) => {
                let summary = Summary::dark(self.pointers_give);
                self.apply(state, &summary, &arguments, place)
            }
        }
    }

    fn is_function(&self, value: V) -> bool {
        let node = self.stepper.pool.node(value);
        node.base == Base::Global
            && self.stepper.image.function_starting(node.offset.cast_unsigned()).is_some()
    }

    /// What every call forgets.
    pub(crate) fn clobber(&mut self, state: &mut State, place: u64) {
        let gone = self.stepper.pool.unknown(Reason::Clobbered);
        for register in SCRATCH {
            state.registers[register] = gone;
        }
        for register in &mut state.registers[16..] {
            *register = gone;
        }
        state.registers[RESULT] = self.stepper.pool.make(Base::Result { at: place }, 0);
        state.registers[SECOND_RESULT] = self.stepper.pool.make(Base::Result { at: place | 1 << 63 }, 0);
        state.compared = None;
    }

    fn note_taken(&mut self, value: V, size: i64) {
        if let Some(offset) = self.stepper.pool.in_frame(value) {
            let part = (offset, offset.saturating_add(size.max(1)));
            if !self.found_taken.contains(&part) {
                self.found_taken.push(part);
            }
        }
    }

    fn hook(
        &mut self,
        state: &mut State,
        hook: &Hook,
        name: &str,
        arguments: &[V; 6],
        place: u64,
        tail: bool,
    ) {
        let Hook::Accesses(accesses) = hook else {
            self.clobber(state, place);
            return;
        };
        for announced in accesses {
            self.announce(state, announced, arguments, place, tail);
        }
        let first = accesses[0];
        let mut result = None;
        if name.contains("mem") && accesses.iter().any(|access| access.kind == Kind::Write) {
            self.copy(state, accesses.len() == 2, arguments, place);
            result = Some(arguments[0]);
        } else if accesses.len() == 2 && accesses[1].kind == Kind::Write {
            // Strings: how long they are is not known.
            let unknown = self.stepper.pool.unknown(Reason::Arithmetic);
            self.stepper.store(state, arguments[0], 1 << 16, unknown);
            result = Some(arguments[0]);
        } else if first.atomic {
            result = self.atomic(state, name, first, arguments, place);
        }
        self.clobber(state, place);
        if let Some(result) = result {
            state.registers[RESULT] = result;
        }
    }

    fn announce(
        &mut self,
        state: &mut State,
        announced: &Announced,
        arguments: &[V; 6],
        place: u64,
        tail: bool,
    ) {
        let address = arguments[announced.address];
        let size = match announced.size {
            Extent::Fixed(bytes) => Size::Bytes(bytes),
            Extent::Argument(number) => match self.stepper.pool.as_number(arguments[number]) {
                Some(bytes) => Size::Bytes(bytes.unsigned_abs()),
                None => Size::Unknown,
            },
            Extent::Open => Size::Unknown,
        };
        let bytes = match size {
            Size::Bytes(bytes) => i64::try_from(bytes).unwrap_or(1),
            Size::Unknown => i64::MAX / 2,
        };
        self.note_taken(address, bytes);
        if self.recording {
            let locks = self.held(state, Some((address, size)));
            let access = Access {
                place,
                kind: announced.kind,
                atomic: announced.atomic,
                size,
                address: self.stepper.pool.address(address, self.stepper.image),
                locks,
                created: state.created,
            };
            self.record_access(access, address, tail);
        }
        if announced.kind == Kind::Write || announced.kind == Kind::Update {
            state.wrote(address, u32::try_from(bytes).unwrap_or(0));
        }
    }

    fn copy(&mut self, state: &mut State, copies: bool, arguments: &[V; 6], place: u64) {
        let unknown = self.stepper.pool.unknown(Reason::Arithmetic);
        let length =
            self.stepper.pool.as_number(arguments[2]).filter(|length| (0..=LONGEST_COPY).contains(length));
        let Some(length) = length else {
            self.stepper.store(state, arguments[0], 1 << 16, unknown);
            return;
        };
        let mut values = Vec::new();
        for offset in (0..length).step_by(8) {
            let size = u8::try_from((length - offset).min(8)).unwrap_or(8);
            let value = if copies {
                let from = self.stepper.pool.shifted(arguments[1], offset);
                self.stepper.load(state, from, size, place.wrapping_add(offset.unsigned_abs() << 48))
            } else {
                match self.stepper.pool.as_number(arguments[1]) {
                    Some(0) => self.stepper.pool.number(0),
                    _ => unknown,
                }
            };
            values.push((offset, size, value));
        }
        for (offset, size, value) in values {
            let to = self.stepper.pool.shifted(arguments[0], offset);
            self.leaked(to, value);
            self.stepper.store(state, to, size.into(), value);
        }
    }

    fn atomic(
        &mut self,
        state: &mut State,
        name: &str,
        access: Announced,
        arguments: &[V; 6],
        place: u64,
    ) -> Option<V> {
        let Extent::Fixed(bytes) = access.size else { return None };
        let size = u8::try_from(bytes).unwrap_or(8);
        let address = arguments[0];
        let found = self.stepper.load(state, address, size, place);
        if access.kind == Kind::CompareExchange {
            if name.ends_with("_val") && self.stepper.pool.as_number(arguments[1]) == Some(0) {
                let held = Held { lock: address, shared: false, word: true, since: place };
                self.attempts.insert(place, held);
            }
            if !name.ends_with("_val") {
                // What it found goes where the expected value was.
                let unknown = self.stepper.pool.unknown(Reason::Arithmetic);
                self.stepper.store(state, arguments[1], bytes as u32, unknown);
            }
            // It may write what it was given, or nothing.
            self.leaked(address, arguments[2]);
            self.stepper.store(state, address, bytes as u32, arguments[2]);
            let unknown = self.stepper.pool.unknown(Reason::Arithmetic);
            self.stepper.store(state, address, bytes as u32, unknown);
            return None;
        }
        if access.kind == Kind::Read {
            return Some(found);
        }
        let exchange = name.ends_with("_store") || name.ends_with("_exchange");
        let value = if exchange { arguments[1] } else { self.stepper.pool.unknown(Reason::Arithmetic) };
        self.leaked(address, arguments[1]);
        self.stepper.expose(arguments[1]);
        self.stepper.store(state, address, bytes as u32, value);
        let held = state.give(&self.stepper.pool, address, true);
        // How Rust's guard gives its lock back, in a function of its own where that was not inlined.
        let zero = self.stepper.pool.as_number(arguments[1]).is_none_or(|value| value == 0);
        if !held && exchange && bytes == 4 && zero {
            self.gave(address, true);
        }
        Some(found)
    }

    fn known(&mut self, state: &mut State, known: Known, name: &str, arguments: &[V; 6], place: u64) -> bool {
        let taken = self.stepper.taken.clone();
        match known {
            Known::Lock { argument, shared, word } => {
                let lock = arguments[argument];
                self.note_taken(lock, 1);
                if known::is_contended(name) {
                    self.contended.insert(lock);
                }
                state.take(Held { lock, shared, word, since: place });
            }
            Known::TryLock { argument, shared } => {
                let held = Held { lock: arguments[argument], shared, word: false, since: place };
                self.attempts.insert(place, held);
            }
            Known::Unlock { argument, word } => {
                let lock = arguments[argument];
                if !state.give(&self.stepper.pool, lock, word) {
                    self.gave(lock, word);
                }
            }
            Known::Wait { lock } => {
                let lock = arguments[lock];
                let held = state.locks.iter().find(|held| held.lock == lock).copied();
                if !state.give(&self.stepper.pool, lock, false) {
                    self.gave(lock, false);
                }
                state.others_wrote(&self.stepper.pool, taken.as_ref());
                if held.is_some() {
                    state.take(Held { lock, shared: false, word: false, since: place });
                }
            }
            Known::WaitBehind => {
                // Which lock it is is not known: any may have been given back meanwhile, and is held again.
                let held = std::mem::take(&mut state.locks);
                state.give_all();
                self.gives_any = true;
                state.others_wrote(&self.stepper.pool, taken.as_ref());
                for held in held {
                    state.take(Held { since: place, ..held });
                }
            }
            Known::Create { argument, id, .. } => {
                state.escape(&self.stepper.pool, arguments[argument]);
                self.note_taken(arguments[argument], 8);
                if let Some(id) = id {
                    self.note_taken(arguments[id], 8);
                    let value = self.stepper.pool.make(Base::Result { at: place }, 0);
                    self.stepper.store(state, arguments[id], 8, value);
                }
                state.created = true;
                self.creates = true;
                state.others_wrote(&self.stepper.pool, taken.as_ref());
            }
            Known::Join { .. } | Known::Barrier => {
                if let Some(offset) = self.stepper.pool.in_frame(arguments[1]) {
                    self.note_taken(arguments[1], 8);
                    state.forget(&self.stepper.pool, 0, offset, 8);
                }
                state.others_wrote(&self.stepper.pool, taken.as_ref());
            }
            Known::Once { .. } | Known::Calls { .. } => {
                let summary = Summary::dark(self.pointers_give);
                return self.apply(state, &summary, arguments, place);
            }
            Known::Harmless => {
                // What waits lets others write.
                state.others_wrote(&self.stepper.pool, taken.as_ref());
            }
            Known::Allocate => {
                self.clobber(state, place);
                state.registers[RESULT] = self.stepper.pool.make(Base::Block { at: place }, 0);
                return true;
            }
            Known::Never => {
                self.clobber(state, place);
                return false;
            }
        }
        self.clobber(state, place);
        true
    }

    /// Does what a summary says. Whether the function comes back.
    fn apply(&mut self, state: &mut State, summary: &Summary, arguments: &[V; 6], place: u64) -> bool {
        let unknown = self.stepper.pool.unknown(Reason::Clobbered);
        for (number, leaks) in summary.leaks.iter().enumerate() {
            self.note_taken(arguments[number], 8);
            state.lend(&self.stepper.pool, arguments[number]);
            for value in state.lent(&self.stepper.pool, arguments[number]) {
                self.keeps(value);
            }
            if *leaks {
                state.escape(&self.stepper.pool, arguments[number]);
                self.stepper.expose(arguments[number]);
            }
        }
        // Results first: they are in terms of what was.
        let result =
            summary.result.as_ref().and_then(|a| instantiate(&mut self.stepper, state, a, arguments, place));
        let second =
            summary.second.as_ref().and_then(|a| instantiate(&mut self.stepper, state, a, arguments, place));
        let mut stores = Vec::new();
        for stored in &summary.stores {
            if let Some(value) = instantiate(&mut self.stepper, state, &stored.value, arguments, place) {
                stores.push((stored, value));
            }
        }
        let mut takes = Vec::new();
        for taken in &summary.takes {
            if let Some(lock) = instantiate(&mut self.stepper, state, &taken.lock, arguments, place) {
                takes.push(Held { lock, shared: taken.shared, word: taken.word, since: place });
            }
        }
        match &summary.gives {
            None => {
                state.give_all();
                self.gives_any = true;
            }
            Some(gives) => {
                for (lock, word) in gives {
                    match instantiate(&mut self.stepper, state, lock, arguments, place) {
                        Some(lock) => {
                            if !state.give(&self.stepper.pool, lock, *word) {
                                self.gave(lock, *word);
                            }
                        }
                        None => {
                            state.give_all();
                            self.gives_any = true;
                        }
                    }
                }
            }
        }
        match &summary.writes {
            None => {
                self.writes_any = true;
                let taken = self.stepper.taken.clone();
                state.others_wrote(&self.stepper.pool, taken.as_ref());
            }
            Some(writes) => {
                for &(argument, from, to) in writes {
                    let start = self.stepper.pool.shifted(arguments[usize::from(argument)], from);
                    let size = u32::try_from(to.saturating_sub(from).max(1)).unwrap_or(1 << 16);
                    self.wrote_through(start, i64::from(size));
                    self.stepper.store(state, start, size.max(FORGET), unknown);
                }
                if !writes.is_empty() {
                    state.drop_slots(&self.stepper.pool, |slot| slot.region != 0);
                }
            }
        }
        for (stored, value) in stores {
            let address = self.stepper.pool.shifted(arguments[usize::from(stored.argument)], stored.offset);
            self.stepper.store(state, address, stored.size.into(), value);
        }
        for held in takes {
            state.take(held);
        }
        if summary.creates {
            state.created = true;
            self.creates = true;
        }
        self.clobber(state, place);
        if let Some(result) = result {
            state.registers[RESULT] = result;
        }
        if let Some(second) = second {
            state.registers[SECOND_RESULT] = second;
        }
        summary.returns
    }

    fn note_call(
        &mut self,
        state: &State,
        target: &Target,
        arguments: &[V; 6],
        at: u64,
        place: u64,
        tail: bool,
    ) {
        if !self.recording {
            return;
        }
        let image = self.stepper.image;
        let callee = match target {
            Target::Function(function) => Callee::Function(*function),
            Target::Import(name) => Callee::Import(name.to_string()),
            Target::Pointer(value) => Callee::Pointer(self.stepper.pool.address(*value, image)),
        };
        let locks = self.held(state, None);
        let arguments = arguments.iter().map(|value| self.stepper.pool.address(*value, image)).collect();
        let place = if tail { at } else { place };
        self.record_call(callee, arguments, locks, state.created, place, tail);
    }
}
