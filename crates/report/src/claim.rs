//! What a campaign claims of the runs it has not made, and why it does not.

use crate::text::counted;
use serde::{Deserialize, Serialize};
use threadbare_abi::fault::Faults;

/// What a claim holds for, with these words for the memory of the runs, where these faults were among the choices.
fn holds_for(memory: &str, faults: Faults) -> Vec<String> {
    let faults = match faults.has(Faults::SPURIOUS) {
        true => "at most one spurious wake-up a run and no failing calls",
        false => "no spurious wake-ups and no failing calls",
    };
    ["this input", memory, faults].map(str::to_owned).into()
}

/// What is known of the orders that were not run. Field names are an interface: others read them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Claim {
    /// `complete`: there is no other order that makes a difference; `bounded`: none with so few preemptions; `pairs`: no new
    /// predecessor pair can be planned; `none`: nothing is known of them.
    pub kind: String,
    /// The same in words.
    pub text: String,
    /// What it holds for; empty if nothing is claimed.
    pub holds_for: Vec<String>,
    /// Different orders that the planner's runs showed.
    pub orders: u64,
    /// Runs that the planner chose, knowing what it knew in the end.
    pub runs: u64,
    /// Why nothing is claimed; empty if something is.
    pub withdrawn: Vec<Withdrawn>,
}

/// Why something is not claimed.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Withdrawn {
    /// A name for it.
    pub reason: String,
    /// What is not known because of it.
    pub text: String,
    /// Where it showed, as `file:line` if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

impl Withdrawn {
    /// In words, with its place.
    pub fn words(&self) -> String {
        match &self.place {
            Some(place) => format!("{} ({place})", self.text),
            None => self.text.clone(),
        }
    }
}

/// What ended a campaign before its planner was through, with the reason's name.
fn cut(ended_by: &str) -> Option<(&'static str, &'static str)> {
    match ended_by {
        "runs" => Some(("runs", "cut by the number of runs (`--runs`)")),
        "time" => Some(("time", "cut by the time (`--time`)")),
        "failure" => Some(("failure", "cut by the first failure (`--keep-going`)")),
        "interrupt" => Some(("interrupt", "cut by the interruption")),
        "until" => Some(("until", "cut by the chance that was asked for (`--until`)")),
        _ => None,
    }
}

impl Claim {
    /// The claim of a planner: what it promises, by name and in words, whether it is through, and why that is not enough.
    pub fn of(
        promise: (&str, String),
        (orders, runs): (u64, u64),
        finished: bool,
        ended_by: &str,
        memory: &str,
        withdrawn: Vec<Withdrawn>,
        faults: Faults,
    ) -> Claim {
        let mut reasons = withdrawn;
        if !finished {
            let (reason, text) =
                cut(ended_by).unwrap_or(("unfinished", "orders that were planned and not run"));
            let text = text.to_owned();
            reasons.insert(0, Withdrawn { reason: reason.to_owned(), text, place: None });
        }
        let claimed = reasons.is_empty();
        let (kind, text) =
            if claimed { promise } else { ("none", "nothing is known of other orders".to_owned()) };
        let holds_for = if claimed { holds_for(memory, faults) } else { Vec::new() };
        Claim { kind: kind.to_owned(), text, holds_for, orders, runs, withdrawn: reasons }
    }

    /// The claim in a line, or why there is none.
    pub fn line(&self) -> String {
        let runs = counted(self.runs, "run");
        let orders = counted(self.orders, if self.kind == "complete" { "order" } else { "different order" });
        let holds_for = self.holds_for.join(", ");
        match self.kind.as_str() {
            "none" => {
                let left_out = |it: &&Withdrawn| cut(&it.reason).is_none();
                let mut out = format!("not complete: {orders} in {runs}");
                for cut in self.withdrawn.iter().filter(|it| !left_out(it)) {
                    out = format!("{out}; {}", cut.text);
                }
                let left_out: Vec<String> =
                    self.withdrawn.iter().filter(left_out).map(Withdrawn::words).collect();
                if left_out.is_empty() { out } else { format!("{out}; left out: {}", left_out.join(", ")) }
            }
            "complete" => format!("complete: {}, {orders} in {runs}, for {holds_for}", self.text),
            _ => format!("{}: {orders} in {runs}, for {holds_for}", self.text),
        }
    }
}
