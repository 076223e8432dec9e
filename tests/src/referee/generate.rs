//! Random programs by seed, each about a few features.

use super::model::{self, Account};
use super::program::{Exit, Home, Place, Program, SLOTS, Statement, Strand, Value, Variable};

/// What a program is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum Feature {
    /// Plain accesses of integers.
    Plain,
    /// Plain accesses of small neighbours in one word.
    Neighbours,
    /// Loads, stores, additions.
    Atomic,
    /// Exchanges, with a condition and without.
    Exchange,
    /// Locks, also in different orders.
    Mutex,
    /// Tries of locks.
    Try,
    /// Condition variables.
    Condition,
    /// Semaphores.
    Semaphore,
    /// Locks for reading and writing.
    RwLock,
    /// Loops that wait without a bound.
    Spin,
    /// Loops that wait with a bound.
    Poll,
    /// Barriers.
    Barrier,
    /// Strands that nobody joins.
    Unjoined,
    /// Detached strands.
    Detached,
    /// Ends of the process in the midst of it, and main's own end before the others'.
    Exit,
    /// `pthread_tryjoin_np`.
    TryJoin,
    /// Objects that are made anew or destroyed.
    Renew,
    /// Allocation, and shared memory in a block.
    Heap,
    /// Shared memory on main's stack.
    Stack,
    /// Branches on what was read.
    Branch,
    /// Strands that create strands.
    Nested,
    /// Checks that fail.
    Fail,
}

impl Feature {
    /// All of them, with their names.
    pub const ALL: [(Feature, &'static str); 22] = [
        (Feature::Plain, "plain"),
        (Feature::Neighbours, "neighbours"),
        (Feature::Atomic, "atomic"),
        (Feature::Exchange, "exchange"),
        (Feature::Mutex, "mutex"),
        (Feature::Try, "try"),
        (Feature::Condition, "condition"),
        (Feature::Semaphore, "semaphore"),
        (Feature::RwLock, "rwlock"),
        (Feature::Spin, "spin"),
        (Feature::Poll, "poll"),
        (Feature::Barrier, "barrier"),
        (Feature::Unjoined, "unjoined"),
        (Feature::Detached, "detached"),
        (Feature::Exit, "exit"),
        (Feature::TryJoin, "tryjoin"),
        (Feature::Renew, "renew"),
        (Feature::Heap, "heap"),
        (Feature::Stack, "stack"),
        (Feature::Branch, "branch"),
        (Feature::Nested, "nested"),
        (Feature::Fail, "fail"),
    ];

    /// The feature of this name.
    pub fn named(name: &str) -> Option<Feature> {
        Feature::ALL.iter().find(|(_, own)| *own == name).map(|(feature, _)| *feature)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Feature::ALL[self as usize].1
    }
}

/// Random numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Numbers that depend on nothing but the seed.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0x9e37_79b9_7f4a_7c15)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ value >> 31
    }

    /// A number below this.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// The most classes of a program: each is a run.
const CLASSES: usize = 100;
/// The most beginnings that the model looks at.
const PREFIXES: usize = 6000;

/// A program, what it is about, and what the model says of it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The seed it comes from; 0 for one that was kept.
    pub seed: u64,
    /// What it is about.
    pub features: Vec<Feature>,
    /// The program.
    pub program: Program,
    /// What it can do.
    pub account: Account,
}

/// The program of a seed, about some of these features, or of all if there are none, that `fits`.
pub fn case(seed: u64, only: &[Feature], fits: &dyn Fn(&Program) -> bool) -> Case {
    let mut random = Random::new(seed);
    loop {
        let features = choose(&mut random, only);
        let program = Maker::new(&mut random, &features).make();
        if !program.is_sound() || !fits(&program) || waits_for_nobody(&program) {
            continue;
        }
        let Some(account) = model::account(&program, PREFIXES) else { continue };
        if program.ends_early() && !account.companied {
            continue;
        }
        // A run that spins for ever takes a thousand times as long as others.
        if account.stuck
            && program.has(|it| matches!(it, Statement::Spin(..) | Statement::Stairs(..)))
            && !random.chance(16)
        {
            continue;
        }
        if account.classes <= CLASSES && (account.classes > 1 || random.chance(3)) {
            return Case { seed, features, program, account };
        }
    }
}

/// Whether the first strand spins before there is another one: a run without a second strand is nobody's concern, and only its time ends it.
fn waits_for_nobody(program: &Program) -> bool {
    let alone = program.strands[0].body.iter().take_while(|it| !matches!(it, Statement::Create(_)));
    alone.into_iter().any(|it| matches!(it, Statement::Spin(..) | Statement::Stairs(..)))
}

/// Whether Rust's std has what the feature is about.
pub fn has_rust(feature: Feature) -> bool {
    !matches!(feature, Feature::Semaphore | Feature::TryJoin | Feature::Renew)
}

fn choose(random: &mut Random, only: &[Feature]) -> Vec<Feature> {
    let all: Vec<Feature> = Feature::ALL.iter().map(|(feature, _)| *feature).collect();
    let from = if only.is_empty() { &all[..] } else { only };
    let mut chosen: Vec<Feature> = (0..1 + random.below(3)).map(|_| random.pick(from)).collect();
    chosen.sort_unstable();
    chosen.dedup();
    let touches = |feature: &Feature| {
        use Feature::*;
        !matches!(
            feature,
            Unjoined | Detached | Exit | TryJoin | Heap | Stack | Branch | Nested | Barrier | Fail
        )
    };
    if !chosen.iter().any(touches) {
        chosen.push(random.pick(&[Feature::Plain, Feature::Atomic, Feature::Neighbours, Feature::Exchange]));
    }
    chosen
}

struct Maker<'a> {
    random: &'a mut Random,
    features: &'a [Feature],
    program: Program,
    plain: Vec<u8>,
    atomic: Vec<u8>,
    /// The variable of spin locks.
    grabbed: u8,
    /// The next free slot of the strand that is being made.
    slot: u8,
    /// Locks that are held where the next statement comes: mutexes, and locks for reading and writing.
    held: Vec<(bool, u8)>,
}

impl<'a> Maker<'a> {
    fn new(random: &'a mut Random, features: &'a [Feature]) -> Maker<'a> {
        let program = Program {
            home: Home::Static,
            variables: Vec::new(),
            mutexes: 0,
            conditions: 0,
            semaphores: Vec::new(),
            rwlocks: 0,
            barriers: Vec::new(),
            strands: Vec::new(),
        };
        Maker {
            random,
            features,
            program,
            plain: Vec::new(),
            atomic: Vec::new(),
            grabbed: 0,
            slot: 0,
            held: Vec::new(),
        }
    }

    fn is(&self, feature: Feature) -> bool {
        self.features.contains(&feature)
    }

    fn make(mut self) -> Program {
        self.objects();
        let workers = if self.random.chance(65) { 2 } else { 3 };
        let nested = self.is(Feature::Nested);
        self.program.strands = vec![Strand::default(); 1 + workers];
        for at in 1..=workers {
            self.slot = 0;
            let length = 1 + self.random.below(if workers == 2 { 4 } else { 2 });
            let mut body = Vec::new();
            while body.len() < length {
                self.statement(&mut body);
            }
            if self.is(Feature::Barrier) && !self.program.barriers.is_empty() {
                let place = self.random.below(body.len() + 1);
                body.insert(place, Statement::Barrier(0));
            }
            self.program.strands[at].body = body;
        }
        if self.is(Feature::Barrier) && !self.program.barriers.is_empty() {
            self.program.barriers[0] = workers as u8;
        }
        let mut open: Vec<u8> = (1..=workers as u8).collect();
        if nested {
            // The last is created by the first.
            let inner = open.pop().unwrap_or(1);
            let place = self.random.below(self.program.strands[1].body.len() + 1);
            let joins = !self.program.strands[inner as usize].detached && self.random.chance(60);
            let body = &mut self.program.strands[1].body;
            body.insert(place, Statement::Create(inner));
            if joins {
                body.push(Statement::Join(inner));
            }
        }
        self.main(&open);
        if self.is(Feature::Fail) {
            self.checks();
        }
        if self.is(Feature::Exit) {
            self.exits();
        }
        self.program
    }

    fn main(&mut self, workers: &[u8]) {
        self.slot = 0;
        let mut body = Vec::new();
        if self.random.chance(15) {
            self.statement(&mut body);
        }
        let between = self.random.chance(20);
        for &worker in workers {
            body.push(Statement::Create(worker));
            if between && self.random.chance(50) {
                self.statement(&mut body);
            }
        }
        if self.random.chance(if workers.len() == 1 { 90 } else { 25 }) {
            self.statement(&mut body);
        }
        for &worker in workers {
            if self.is(Feature::Detached) && self.random.chance(60) {
                self.program.strands[worker as usize].detached = true;
                continue;
            }
            if self.is(Feature::TryJoin) && self.random.chance(70) {
                let slot = self.slot();
                body.push(Statement::TryJoin(worker, slot));
                if self.random.chance(70) {
                    body.push(Statement::If(slot, 0, vec![Statement::Join(worker)]));
                }
                continue;
            }
            if !self.is(Feature::Unjoined) || self.random.chance(35) {
                body.push(Statement::Join(worker));
            }
        }
        if self.random.chance(15) {
            self.statement(&mut body);
        }
        self.program.strands[0].body = body;
    }

    /// Puts checks of what was found out into the strands.
    fn checks(&mut self) {
        for _ in 0..1 + self.random.below(3) {
            let at = self.random.below(self.program.strands.len());
            let place = self.random.below(self.program.strands[at].body.len()) + 1;
            let body = &mut self.program.strands[at].body;
            let mut slots = Vec::new();
            super::program::walk(&body[..place.min(body.len())], &mut |statement| {
                super::c::slots_of(statement, &mut |slot| slots.push(slot));
            });
            if !slots.is_empty() {
                let (slot, value) = (self.random.pick(&slots), self.random.below(4) as u8);
                body.insert(place, Statement::If(slot, value, vec![Statement::Fail]));
            }
        }
    }

    /// Puts ends of the process into the strands.
    fn exits(&mut self) {
        if self.random.chance(30) {
            let main = &mut self.program.strands[0].body;
            main.retain(|statement| !matches!(statement, Statement::Join(_)));
            main.push(Statement::Leave);
            if self.random.chance(60) {
                return;
            }
        }
        let at = self.random.below(self.program.strands.len());
        let exit = Statement::Exit(self.random.pick(&[Exit::Exit, Exit::Now, Exit::Quick]));
        let body = &mut self.program.strands[at].body;
        let mut slots = Vec::new();
        for statement in body.iter() {
            super::c::slots_of(statement, &mut |slot| slots.push(slot));
        }
        let conditional = !slots.is_empty() && self.random.chance(40);
        let exit = match conditional {
            true => {
                let (slot, value) = (self.random.pick(&slots), self.random.below(2) as u8);
                Statement::If(slot, value, vec![exit])
            }
            false => exit,
        };
        if body.last() == Some(&Statement::Leave) {
            body.pop();
        }
        body.push(exit);
    }

    fn objects(&mut self) {
        use Feature as F;
        let home = [(F::Heap, Home::Heap), (F::Stack, Home::Stack)];
        let homes: Vec<Home> =
            home.iter().filter(|(feature, _)| self.is(*feature)).map(|(_, home)| *home).collect();
        self.program.home = match homes.is_empty() {
            true => self.random.pick(&[Home::Static, Home::Static, Home::Static, Home::Heap]),
            false => self.random.pick(&homes),
        };
        let fields = !homes.is_empty();
        let neighbours = self.is(F::Neighbours);
        let needs_plain = self.is(F::Plain) || neighbours;
        let locks = self.is(F::Mutex) || self.is(F::RwLock) || self.is(F::Try) || self.is(F::Condition);
        let plain = match (needs_plain, locks) {
            (true, _) => 1 + self.random.below(if neighbours { 3 } else { 2 }),
            (false, true) => 1,
            (false, false) => usize::from(self.random.chance(20)),
        };
        for _ in 0..plain {
            let width = match neighbours {
                true => self.random.pick(&[1, 1, 2, 4]),
                false => self.random.pick(&[4, 4, 4, 8, 1]),
            };
            let place = match (neighbours, fields) {
                (true, _) => self.random.pick(&[Place::Field, Place::Cell]),
                (_, true) => Place::Field,
                (_, false) => self.random.pick(&[Place::Loose, Place::Field]),
            };
            self.plain.push(self.program.variables.len() as u8);
            let width = if place == Place::Cell { 1 } else { width };
            self.program.variables.push(Variable { width, atomic: false, place });
        }
        let needs_atomic = [F::Atomic, F::Exchange, F::Spin, F::Poll].iter().any(|feature| self.is(*feature));
        let atomic = if needs_atomic { 1 + self.random.below(2) } else { usize::from(plain == 0) };
        for _ in 0..atomic {
            let width = self.random.pick(&[4, 4, 4, 8, 1, 2]);
            let place = if fields { Place::Field } else { self.random.pick(&[Place::Loose, Place::Field]) };
            self.atomic.push(self.program.variables.len() as u8);
            self.program.variables.push(Variable { width, atomic: true, place });
        }
        if self.is(F::Spin) {
            self.grabbed = self.program.variables.len() as u8;
            self.program.variables.push(Variable { width: 4, atomic: true, place: Place::Loose });
        }
        if self.is(F::Mutex) || self.is(F::Try) || self.is(F::Condition) {
            self.program.mutexes = if self.random.chance(40) { 2 } else { 1 };
        }
        if self.is(F::Renew) {
            // The last is for tries and destruction only.
            self.program.mutexes += 1;
        }
        if self.is(F::Condition) {
            self.program.conditions = 1;
        }
        if self.is(F::Semaphore) || self.is(F::Renew) {
            self.program.semaphores =
                (0..1 + self.random.below(2)).map(|_| self.random.below(3) as u8).collect();
        }
        if self.is(F::RwLock) {
            self.program.rwlocks = 1;
        }
        if self.is(F::Barrier) {
            self.program.barriers = vec![2];
        }
    }

    fn slot(&mut self) -> u8 {
        let slot = self.slot;
        self.slot = (self.slot + 1).min(SLOTS as u8 - 1);
        slot
    }

    fn small(&mut self) -> u8 {
        1 + self.random.below(3) as u8
    }

    /// Adds what comes next, by one of the features.
    fn statement(&mut self, body: &mut Vec<Statement>) {
        use Feature as F;
        let feature = self.random.pick(self.features);
        match feature {
            F::Mutex if self.random.chance(80) => self.locked(body),
            F::Try => self.tried(body),
            F::Condition => self.condition(body),
            F::Semaphore => self.semaphore(body),
            F::RwLock => self.rwlock(body),
            F::Spin => self.spin(body),
            F::Poll if self.random.chance(50) => {
                let (variable, slot) = (self.random.pick(&self.atomic.clone()), self.slot());
                let (value, times) = (self.random.below(3) as u8, 2 + self.random.below(14) as u8);
                body.push(Statement::Poll(variable, value, times, slot));
            }
            F::Renew => self.renew(body),
            F::Heap if self.random.chance(40) => body.push(Statement::Allocate(16)),
            F::Branch => self.branch(body),
            _ => self.access(body),
        }
    }

    /// Adds an access to some variable.
    fn access(&mut self, body: &mut Vec<Statement>) {
        let all = self.plain.len() + self.atomic.len();
        let at = self.random.below(all);
        match self.plain.get(at).copied() {
            Some(variable) => self.plain(variable, body),
            None => {
                let variable = self.atomic[at - self.plain.len()];
                self.atomic(variable, body);
            }
        }
    }

    fn plain(&mut self, variable: u8, body: &mut Vec<Statement>) {
        match self.random.below(5) {
            0 | 1 => {
                let slot = self.slot();
                body.push(Statement::Read(variable, slot));
                if self.random.chance(35) {
                    let more = self.small();
                    body.push(Statement::Write(variable, Value::Slot(slot, more)));
                }
            }
            2 | 3 => {
                let value = self.small();
                body.push(Statement::Write(variable, Value::Constant(value)));
            }
            _ => {
                let by = self.small();
                body.push(Statement::Add(variable, by));
            }
        }
    }

    fn atomic(&mut self, variable: u8, body: &mut Vec<Statement>) {
        let exchanges = self.is(Feature::Exchange);
        let slot = self.slot();
        let value = self.small();
        body.push(match self.random.below(if exchanges { 8 } else { 5 }) {
            0 | 1 => Statement::Load(variable, slot),
            2 | 3 => Statement::Store(variable, Value::Constant(value)),
            4 => Statement::FetchAdd(variable, value, slot),
            5 => Statement::Exchange(variable, value, slot),
            _ => Statement::Compare(variable, self.random.below(3) as u8, value, slot),
        });
    }

    /// A short body while a lock is held.
    fn inside(&mut self, rw: bool, lock: u8) -> Vec<Statement> {
        self.held.push((rw, lock));
        let mut body = Vec::new();
        if self.random.chance(85) {
            self.access(&mut body);
        }
        if self.random.chance(20) {
            let feature = if rw { Feature::RwLock } else { Feature::Mutex };
            if self.is(feature) && self.held.len() < 2 {
                self.locked(&mut body);
            }
        }
        self.held.pop();
        body
    }

    /// A mutex that is not held here.
    fn mutex(&mut self) -> Option<u8> {
        let count = self.program.mutexes - u8::from(self.is(Feature::Renew));
        let free: Vec<u8> = (0..count).filter(|&mutex| !self.held.contains(&(false, mutex))).collect();
        (!free.is_empty()).then(|| self.random.pick(&free))
    }

    fn locked(&mut self, body: &mut Vec<Statement>) {
        let Some(mutex) = self.mutex() else { return self.access(body) };
        let inside = self.inside(false, mutex);
        body.push(Statement::Locked(mutex, inside));
    }

    fn tried(&mut self, body: &mut Vec<Statement>) {
        let Some(mutex) = self.mutex() else { return self.access(body) };
        if self.random.chance(40) {
            return self.locked(body);
        }
        let slot = self.slot();
        let inside = self.inside(false, mutex);
        body.push(Statement::TryLocked(mutex, slot, inside));
    }

    fn condition(&mut self, body: &mut Vec<Statement>) {
        let variable = self.random.pick(&self.plain.clone());
        let wakes = if self.random.chance(50) { Statement::Signal(0) } else { Statement::Broadcast(0) };
        match self.random.below(10) {
            0..=3 => {
                let mut inside = vec![Statement::Await(0, 0, variable)];
                if self.random.chance(30) {
                    inside.push(Statement::Write(variable, Value::Constant(0)));
                }
                body.push(Statement::Locked(0, inside));
            }
            4 => body.push(Statement::Locked(0, vec![Statement::Wait(0, 0)])),
            5..=7 => {
                let mut inside = vec![Statement::Write(variable, Value::Constant(1))];
                let within = self.random.chance(60);
                if within {
                    inside.push(wakes.clone());
                }
                body.push(Statement::Locked(0, inside));
                if !within {
                    body.push(wakes);
                }
            }
            8 => body.push(wakes),
            _ => self.locked(body),
        }
    }

    fn semaphore(&mut self, body: &mut Vec<Statement>) {
        let at = self.random.below(self.program.semaphores.len()) as u8;
        let slot = self.slot();
        body.push(match self.random.below(8) {
            0..=2 => Statement::Down(at),
            3..=5 => Statement::Up(at),
            6 => Statement::TryDown(at, slot),
            _ => Statement::Count(at, slot),
        });
        if self.random.chance(40) {
            self.access(body);
        }
    }

    fn rwlock(&mut self, body: &mut Vec<Statement>) {
        if self.held.contains(&(true, 0)) {
            return self.access(body);
        }
        let kind = self.random.below(10);
        let slot = self.slot();
        let inside = self.inside(true, 0);
        body.push(match kind {
            0..=3 => Statement::Reading(0, inside),
            4..=7 => Statement::Writing(0, inside),
            8 => Statement::TryReading(0, slot, inside),
            _ => Statement::TryWriting(0, slot, inside),
        });
    }

    fn spin(&mut self, body: &mut Vec<Statement>) {
        let variable = self.random.pick(&self.atomic.clone());
        match self.random.below(14) {
            10 | 11 => {
                let (from, times) = (self.random.below(2) as u8, 1 + self.random.below(3) as u8);
                body.push(Statement::Stairs(variable, from, times));
            }
            12 | 13 => {
                let value = 1 + self.random.below(3) as u8;
                body.push(Statement::Store(variable, Value::Constant(value)));
            }
            0..=2 => body.push(Statement::Spin(variable, 1)),
            3..=6 => body.push(Statement::Store(variable, Value::Constant(1))),
            7 | 8 => {
                let mut inside = Vec::new();
                self.access(&mut inside);
                body.push(Statement::Grabbed(self.grabbed, inside));
            }
            _ => self.access(body),
        }
    }

    fn renew(&mut self, body: &mut Vec<Statement>) {
        let mutex = self.program.mutexes - 1;
        let slot = self.slot();
        match self.random.below(6) {
            0 => {
                let (at, value) =
                    (self.random.below(self.program.semaphores.len()) as u8, self.random.below(3) as u8);
                body.push(Statement::Renew(at, value));
            }
            1 | 2 => self.semaphore(body),
            3 => body.push(Statement::Destroy(mutex, slot)),
            _ => {
                let mut inside = Vec::new();
                self.access(&mut inside);
                body.push(Statement::TryLocked(mutex, slot, inside));
            }
        }
    }

    fn branch(&mut self, body: &mut Vec<Statement>) {
        let mut slots = Vec::new();
        for statement in body.iter() {
            super::c::slots_of(statement, &mut |slot| slots.push(slot));
        }
        if slots.is_empty() {
            return self.access(body);
        }
        let (slot, value) = (self.random.pick(&slots), self.random.below(3) as u8);
        let mut inside = Vec::new();
        self.access(&mut inside);
        body.push(Statement::If(slot, value, inside));
    }
}
