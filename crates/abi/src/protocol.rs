//! The words on the control socket, and the variables that carry it.
//!
//! The driver starts the program with [`ENV`] and the runtime preloaded. Just before `main`, or at the program's `check`, the runtime says
//! [`Reply::HELLO`] and becomes a fork server: each [`Command::RUN`] forks a child that runs `main` by the plan in
//! shared memory and writes its process id there ([`crate::layout::Live::pid`]: a message would cost the driver a
//! wake-up); [`Reply::ENDED`] tells its wait status, or
//! [`Reply::AGAIN`] that the same command must be sent once more.

/// The variable with `shm=<fd>,ctl=<fd>` and, where they apply, `bind=1` (the driver has set `LD_BIND_NOW`) and
/// `free=1` (strands are to run free), `given=<argc>,names=<NAME:NAME>` at its end (arguments and these variables come with each [`Command::START`]) and `cpus=<hex>` (the processors the program may use, lowest byte first); the runtime takes it out of the environment.
pub const ENV: &str = "THREADBARE_RT";

/// A message from the driver.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Command {
    /// What to do.
    pub code: u32,
    /// Reserved, zero.
    pub reserved: u32,
    /// See the code.
    pub arg: u64,
}

impl Command {
    /// Fork and run; `arg` is the run's number, of a [`crate::batch::Batch`] the first one's.
    pub const RUN: u32 = 1;
    /// End the server.
    pub const QUIT: u32 = 2;
    /// Fork a server for an input, whose texts are where reports will be. Its shared memory, control socket and standard streams come with this;
    /// `reserved` is its processor and one, or 0.
    pub const START: u32 = 3;
    /// In `arg` of [`Command::START`]: a run may begin in the process of the one before it.
    pub const RESET: u64 = 1;
}

/// A message from the fork server.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Reply {
    /// What happened.
    pub code: u32,
    /// Wait status (ENDED), flags (HELLO).
    pub value: i32,
    /// Processes the run left behind (ENDED, AGAIN); the layout's version (HELLO); the run's number.
    pub arg: u64,
}

impl Reply {
    /// The server is ready. `value` bit 0: the program has instrumented code; from [`Reply::SERVER_SHIFT`] on: the process that
    /// serves, if it is not the one that was started. Runs begin at the program's `check` then.
    pub const HELLO: u32 = 1;
    /// With [`Reply::HELLO`] of a program that has no input yet: a constructor has read an argument all the same, a variable, standard input; the input
    /// cannot be given later for another reason.
    pub const READ_ARGS: i32 = 1 << 1;
    /// See [`Reply::READ_ARGS`].
    pub const READ_ENV: i32 = 1 << 2;
    /// See [`Reply::READ_ARGS`].
    pub const READ_STDIN: i32 = 1 << 3;
    /// See [`Reply::READ_ARGS`].
    pub const UNFIT: i32 = 1 << 4;
    /// All of these.
    pub const INPUT: i32 = Reply::READ_ARGS | Reply::READ_ENV | Reply::READ_STDIN | Reply::UNFIT;
    /// See [`Reply::HELLO`].
    pub const SERVER_SHIFT: u32 = 8;
    /// The child ended.
    pub const ENDED: u32 = 3;
    /// The server could not do it; `value` is an errno.
    pub const FAILED: u32 = 4;
    /// The child ended, but the run must be made again for its addresses to be those of every other run: drop what it
    /// streamed and printed, and send the same command again.
    pub const AGAIN: u32 = 5;
    /// The batch is over: all its runs are done, or the driver has asked for no more of them. (A run of a batch that needs an answer of its own has one
    /// of those above instead: it is the one behind those that are done.)
    pub const BATCH: u32 = 6;
    /// A server was forked; `value` is its process.
    pub const STARTED: u32 = 7;
}
