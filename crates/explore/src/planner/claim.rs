//! What a planner's runs show of all the runs there are, and why they show less.
//!
//! A planner that has come to its end has kept a *promise*, unless something happened that it cannot follow. Every such
//! thing is a [`Reason`]: the planner's own, the campaign's, or what the runtime saw ([`Doubt`]). A new one is a variant here or
//! there, and its words here.

use threadbare_abi::step::Doubt;

/// What is true when a planner has no other run to make.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Promise {
    /// Every order that makes a difference was run.
    #[default]
    Everything,
    /// Every order with at most so many preemptions was run; whether there are others.
    Preemptions(u64, bool),
    /// No run can be planned that shows a new pair of a statement and its predecessor.
    Pairs,
}

impl Promise {
    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Promise::Everything => "complete",
            Promise::Preemptions(..) => "bounded",
            Promise::Pairs => "pairs",
        }
    }

    /// The promise, kept, in words.
    pub fn words(self) -> String {
        match self {
            Promise::Everything => "every order that makes a difference was run".to_owned(),
            Promise::Preemptions(1, _) => "all orders with at most one preemption were run".to_owned(),
            Promise::Preemptions(most, _) => format!("all orders with at most {most} preemptions were run"),
            Promise::Pairs => "no new predecessor pair".to_owned(),
        }
    }

    /// What is left out by design, in words.
    pub fn left_out(self) -> Option<String> {
        match self {
            Promise::Everything | Promise::Preemptions(_, false) => None,
            Promise::Preemptions(1, true) => Some("orders with more than one preemption".to_owned()),
            Promise::Preemptions(most, true) => Some(format!("orders with more than {most} preemptions")),
            Promise::Pairs => Some("orders of pairs that were seen".to_owned()),
        }
    }
}

/// Why a promise is not kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// So many orders could not be made.
    Departed(u64),
    /// A run had more steps than these, which are the most that are looked at.
    LongRun(usize),
    /// A plan had too many switches to be told to a run.
    LongPlan,
    /// There were more strands than these.
    ManyStrands(usize),
    /// So many classes of runs were seen that are none of the planner's.
    MoreClasses(u64),
    /// Which stores are in store buffers is not followed.
    Buffers,
    /// A loop was taken to wait, and may end by itself after many rounds.
    LongPoll,
    /// Every run fails right after a step that others would have seen.
    FailsFirst,
    /// Calls may fail, and planners do not choose that.
    FailingCalls,
    /// A run did something that cannot be followed.
    Seen(Doubt),
}

impl Reason {
    /// The name in JSON.
    pub const fn name(&self) -> &'static str {
        match self {
            Reason::Departed(_) => "order-not-made",
            Reason::LongRun(_) => "long-run",
            Reason::LongPlan => "long-plan",
            Reason::ManyStrands(_) => "many-strands",
            Reason::MoreClasses(_) => "more-classes",
            Reason::Buffers => "store-buffers",
            Reason::LongPoll => "long-poll",
            Reason::FailsFirst => "fails-first",
            Reason::FailingCalls => "failing-calls",
            Reason::Seen(doubt) => doubt.name(),
        }
    }

    /// What is not known because of it, in words.
    pub fn words(&self) -> String {
        match self {
            Reason::Departed(1) => "one order that could not be made".to_owned(),
            Reason::Departed(n) => format!("{n} orders that could not be made"),
            Reason::LongRun(most) => format!("what could come of a run of more than {most} steps"),
            Reason::LongPlan => "plans with too many switches".to_owned(),
            Reason::ManyStrands(most) => format!("strands beyond the first {most}"),
            Reason::MoreClasses(1) => "one class of runs that no planned run showed".to_owned(),
            Reason::MoreClasses(n) => format!("{n} classes of runs that no planned run showed"),
            Reason::Buffers => "when store buffers are emptied (`dfs` has it)".to_owned(),
            Reason::LongPoll => "what comes when a loop has looked in vain more than 256 times".to_owned(),
            Reason::FailsFirst => {
                "what others would do between a step and the failure right after it".to_owned()
            }
            Reason::FailingCalls => "calls that fail, which are drawn by chance (`--faults`)".to_owned(),
            Reason::Seen(Doubt::Unseen) => {
                "what others do right before a wait of precompiled code".to_owned()
            }
            Reason::Seen(Doubt::Full) => {
                "accesses to shared memory beyond the most that are noted".to_owned()
            }
            Reason::Seen(Doubt::Plain) => "orders of plain accesses (`--points sync`)".to_owned(),
            Reason::Seen(Doubt::Stack) => {
                "accesses to fields of variables on the stack, which LLVM leaves out before version 21"
                    .to_owned()
            }
            Reason::Seen(Doubt::Merge) => {
                "what others do while a bit-field is put into the word that it lies in".to_owned()
            }
            Reason::Seen(Doubt::Address) => {
                "other addresses of memory that is used again, or large".to_owned()
            }
            Reason::Seen(Doubt::Clock) => "what a clock shows in other orders".to_owned(),
            Reason::Seen(Doubt::Stale) => {
                "atomic loads that see the same older store again and again, or one of more than 16"
                    .to_owned()
            }
            Reason::Seen(Doubt::Rounds) => "what others do between the rounds of a loop".to_owned(),
            Reason::Seen(Doubt::Values) => "other values of more than 16 bits".to_owned(),
            Reason::Seen(Doubt::Torn) => "what others do between two words of one access".to_owned(),
        }
    }
}

/// A reason, and where it showed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Withdrawal {
    /// The reason.
    pub reason: Reason,
    /// The instruction, or 0.
    pub pc: u64,
}
