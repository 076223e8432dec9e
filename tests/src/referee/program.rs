//! A small concurrent program as data: what the generator makes, the emitters write as source, and the model runs.
//!
//! Statements are structured, so that whatever is left out of a program leaves a program: a lock is held for a body, and a
//! condition is looked for inside a lock. Values are small numbers. A statement that finds something out keeps it in a slot of
//! its strand, which a branch may ask about; a slot that nothing was put into is 0.

/// Where a variable lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Place {
    /// A static variable of its own.
    Loose,
    /// A field of the program's structure, packed with its neighbours.
    Field,
    /// An element of the program's array of bytes.
    Cell,
}

/// Where the program's structure lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Home {
    /// In static memory.
    Static,
    /// On main's stack.
    Stack,
    /// In a block that main allocates.
    Heap,
}

/// A variable that strands share.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Variable {
    /// Bytes: 1, 2, 4 or 8.
    pub width: u8,
    /// It is accessed by atomic operations only; else by plain accesses only.
    pub atomic: bool,
    /// Where it lies.
    pub place: Place,
}

/// How a strand ends the process.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Exit {
    /// `exit`.
    Exit,
    /// `_exit`.
    Now,
    /// `quick_exit`.
    Quick,
}

/// A value that is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Value {
    /// A constant.
    Constant(u8),
    /// What a slot holds, and so much more.
    Slot(u8, u8),
}

/// One statement.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub enum Statement {
    /// A plain read into a slot.
    Read(u8, u8),
    /// A plain write.
    Write(u8, Value),
    /// `x += k`: a plain read and a plain write.
    Add(u8, u8),
    /// An atomic load into a slot.
    Load(u8, u8),
    /// An atomic store.
    Store(u8, Value),
    /// An atomic addition; the value before it goes into a slot.
    FetchAdd(u8, u8, u8),
    /// An atomic exchange for a constant; the value before it goes into a slot.
    Exchange(u8, u8, u8),
    /// A strong compare and exchange: variable, expected, new, slot (whether it succeeded).
    Compare(u8, u8, u8, u8),
    /// Holds a mutex for a body.
    Locked(u8, Vec<Statement>),
    /// Tries to; the slot tells whether it could, the body is left out if not.
    TryLocked(u8, u8, Vec<Statement>),
    /// `while (!x) wait`: condition, mutex (which is held), plain variable.
    Await(u8, u8, u8),
    /// A wait without a condition, inside its mutex.
    Wait(u8, u8),
    /// Wakes one.
    Signal(u8),
    /// Wakes all.
    Broadcast(u8),
    /// Waits for a semaphore.
    Down(u8),
    /// Posts a semaphore.
    Up(u8),
    /// Tries a semaphore; the slot tells whether it succeeded.
    TryDown(u8, u8),
    /// The semaphore's value into a slot.
    Count(u8, u8),
    /// Makes the semaphore anew with this value.
    Renew(u8, u8),
    /// Destroys a mutex; the slot tells whether it was free.
    Destroy(u8, u8),
    /// Holds a lock for reading.
    Reading(u8, Vec<Statement>),
    /// Holds a lock for writing.
    Writing(u8, Vec<Statement>),
    /// Tries to read; slot and body as for a mutex.
    TryReading(u8, u8, Vec<Statement>),
    /// Tries to write.
    TryWriting(u8, u8, Vec<Statement>),
    /// `while (load(x) != k);`.
    Spin(u8, u8),
    /// `for (i = k; i < k + n; i++) while (load(x) == i);`: one instruction waits for one value after the other.
    Stairs(u8, u8, u8),
    /// `while (exchange(x, 1));`, a body, and `store(x, 0)`. The variable is used for nothing else.
    Grabbed(u8, Vec<Statement>),
    /// Looks at most so often whether the variable has the value: variable, value, times, slot (whether it had).
    Poll(u8, u8, u8, u8),
    /// Waits at a barrier.
    Barrier(u8),
    /// Creates a strand.
    Create(u8),
    /// Waits for the end of a strand that this one created.
    Join(u8),
    /// Tries to; the slot tells whether it had ended. A strand is tried by its creator only, and once.
    TryJoin(u8, u8),
    /// Allocates a block and frees it.
    Allocate(u8),
    /// The body if the slot holds the value.
    If(u8, u8, Vec<Statement>),
    /// Ends the process.
    Exit(Exit),
    /// Ends the strand; others go on, also without main.
    Leave,
    /// Aborts: the run has failed.
    Fail,
}

/// One strand.
#[derive(Clone, PartialEq, Eq, Debug, Hash, Default)]
pub struct Strand {
    /// It is created detached.
    pub detached: bool,
    /// What it does.
    pub body: Vec<Statement>,
}

/// A whole program. Its first strand is main, which ends the process by its return.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct Program {
    /// Where the structure lies.
    pub home: Home,
    /// The shared variables.
    pub variables: Vec<Variable>,
    /// How many mutexes there are.
    pub mutexes: u8,
    /// How many condition variables.
    pub conditions: u8,
    /// The semaphores, by their first value.
    pub semaphores: Vec<u8>,
    /// How many locks for reading and writing.
    pub rwlocks: u8,
    /// The barriers, by how many strands each waits for.
    pub barriers: Vec<u8>,
    /// The strands, main first.
    pub strands: Vec<Strand>,
}

/// The most strands.
pub const STRANDS: usize = 5;
/// The most slots of a strand.
pub const SLOTS: usize = 30;
/// The most variables.
pub const VARIABLES: usize = 16;

/// What is known of a run when it is over, as bytes: of each strand how far it came, its slots (one more than what they hold,
/// so that 0 is what nothing was put into) and whether it failed; then the variables.
pub type Record = [u8; RECORD];
/// Bytes of a strand in a record.
pub const STRIDE: usize = SLOTS + 2;
/// Where in a strand's bytes it is told that it failed.
pub const FAILED: usize = SLOTS + 1;
/// Where the variables begin.
pub const MEMORY: usize = STRANDS * STRIDE;
/// Bytes of a record.
pub const RECORD: usize = MEMORY + VARIABLES;

impl Statement {
    /// The statements inside it.
    pub fn body(&self) -> &[Statement] {
        use Statement::*;
        match self {
            Locked(_, body)
            | Grabbed(_, body)
            | TryLocked(_, _, body)
            | Reading(_, body)
            | Writing(_, body)
            | TryReading(_, _, body)
            | TryWriting(_, _, body)
            | If(_, _, body) => body,
            _ => &[],
        }
    }

    /// The statements inside it, to be changed.
    pub fn body_mut(&mut self) -> Option<&mut Vec<Statement>> {
        use Statement::*;
        match self {
            Locked(_, body)
            | Grabbed(_, body)
            | TryLocked(_, _, body)
            | Reading(_, body)
            | Writing(_, body)
            | TryReading(_, _, body)
            | TryWriting(_, _, body)
            | If(_, _, body) => Some(body),
            _ => None,
        }
    }
}

/// Calls `each` with every statement, outer ones first.
pub fn walk<'a>(body: &'a [Statement], each: &mut dyn FnMut(&'a Statement)) {
    for statement in body {
        each(statement);
        walk(statement.body(), each);
    }
}

impl Program {
    /// Calls `each` with every statement and the number of its strand.
    pub fn statements<'a>(&'a self, mut each: impl FnMut(usize, &'a Statement)) {
        for (at, strand) in self.strands.iter().enumerate() {
            walk(&strand.body, &mut |statement| each(at, statement));
        }
    }

    /// Whether some statement is so.
    pub fn has(&self, is: impl Fn(&Statement) -> bool) -> bool {
        let mut found = false;
        self.statements(|_, statement| found |= is(statement));
        found
    }
}
