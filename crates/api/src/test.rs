//! A test: steps in strands.

use std::collections::BTreeSet;

/// How the result of a call is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Told {
    /// It has no part in the outcome.
    Nothing,
    /// As a value.
    Value,
    /// Whether there is one.
    IfSome,
    /// Whether it is one, or else the error.
    IfOk,
}

/// One call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ApiCall {
    /// What is called, for tables: `Sender::send`.
    pub name: String,
    /// The call as an expression.
    pub call: String,
    /// Statements of the harness in its place, where the expression does not tell all: they tell the result, too.
    pub says: Option<String>,
    /// How its result is told.
    pub told: Told,
    /// It may fail for no reason, so a failure says nothing.
    pub tries: bool,
    /// The variable that keeps its result.
    pub keeps: Option<Kept>,
    /// The variable that must hold something for the call to be made.
    pub needs: Option<Need>,
    /// Variables that must be there.
    pub uses: Vec<String>,
    /// The first of them is written.
    pub writes: bool,
    /// The variable that is no more after it.
    pub ends: Option<String>,
    /// It only drops a variable at the end of its strand: a person would leave it out.
    pub silent: bool,
}

/// A result that is used further.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kept {
    /// The variable.
    pub name: String,
    /// How the object is taken out of the result: `` for itself, `.ok()` for a `Result`; `Some("")` holds for an `Option`.
    pub unwrap: Option<&'static str>,
    /// What is done with it at once.
    pub touch: Option<&'static str>,
}

/// A variable that may hold nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Need {
    /// The variable.
    pub name: String,
    /// `.as_ref()`, `.as_mut()` or `.take()`.
    pub how: &'static str,
}

/// A small parallel program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Test {
    /// Its number in the harness.
    pub number: u32,
    /// Lines that make the objects. A variable that is made stands between `⟨` and `⟩`.
    pub make: Vec<String>,
    /// The function that made the object, for tables.
    pub maker: String,
    /// Calls before the strands.
    pub setup: Vec<ApiCall>,
    /// Variables that are put into an `Arc` after those.
    pub shared: Vec<String>,
    /// For each strand the lines that give it its handles.
    pub handles: Vec<Vec<String>>,
    /// For each strand the variables that it has for itself.
    pub owned: Vec<Vec<String>>,
    /// The strands.
    pub strands: Vec<Vec<ApiCall>>,
    /// Calls after the strands have ended.
    pub end: Vec<ApiCall>,
    /// Lines that unmake the objects.
    pub unmake: Vec<String>,
}

impl Test {
    /// Calls that a person would count.
    pub fn size(&self) -> usize {
        let all = self.setup.iter().chain(self.strands.iter().flatten()).chain(&self.end);
        all.filter(|step| !step.silent).count()
    }

    /// In how many orders its calls can come, one at a time; those that may be left out count twice.
    pub fn orders(&self) -> u64 {
        let (mut orders, mut total) = (1u64, 0u64);
        for strand in 0..self.strands.len() {
            for (at, step) in (1u64..).zip(&self.whole(strand)) {
                total += 1;
                orders = orders.saturating_mul(total) / at;
                if step.may_be_left_out() {
                    orders = orders.saturating_mul(2);
                }
            }
        }
        orders
    }

    /// The calls in a line: `send() | recv()`.
    pub fn calls(&self) -> String {
        let names = |steps: &[ApiCall]| {
            let names: Vec<&str> =
                steps.iter().filter(|step| !step.silent).map(|step| step.short()).collect();
            if names.is_empty() { "end".to_owned() } else { names.join(", ") }
        };
        let mut text = self.strands.iter().map(|steps| names(steps)).collect::<Vec<_>>().join(" | ");
        if !self.setup.is_empty() {
            text = format!("{}; {text}", names(&self.setup));
        }
        if !self.end.is_empty() {
            text = format!("{text}; {}", names(&self.end));
        }
        text
    }

    /// A name after what it does: `send_against_recv_and_len`.
    pub fn name(&self) -> String {
        let of = |steps: &Vec<ApiCall>| {
            let mut names: Vec<String> = Vec::new();
            for step in steps.iter().filter(|step| !step.silent) {
                let name = word(step.short());
                if names.last() != Some(&name) {
                    names.push(name);
                }
            }
            if names.is_empty() { "end".to_owned() } else { names.join("_and_") }
        };
        self.strands.iter().map(of).collect::<Vec<_>>().join("_against_")
    }

    /// The steps of a strand, with the drops at its end: each is a step that others can come before or after.
    pub fn whole(&self, strand: usize) -> Vec<ApiCall> {
        let mut steps = self.strands[strand].clone();
        let mut alive: Vec<String> = self.owned.get(strand).cloned().unwrap_or_default();
        for step in &steps {
            alive.extend(step.keeps.as_ref().map(|kept| kept.name.clone()));
            alive.retain(|name| step.ends.as_ref() != Some(name));
        }
        steps.extend(alive.into_iter().rev().map(|name| ApiCall::drop(&name, true)));
        steps
    }

    /// The functions that its strands call.
    pub fn functions(&self) -> BTreeSet<&str> {
        self.strands.iter().flatten().filter(|step| !step.silent).map(|step| step.name.as_str()).collect()
    }

    /// The same with one step less, or one strand, each way once.
    pub fn smaller(&self) -> Vec<Test> {
        let mut smaller = Vec::new();
        if self.strands.len() > 2 {
            for at in 0..self.strands.len() {
                let mut test = self.clone();
                test.strands.remove(at);
                test.handles.remove(at);
                if at < test.owned.len() {
                    test.owned.remove(at);
                }
                smaller.push(test);
            }
        }
        for at in 0..self.setup.len() {
            let mut test = self.clone();
            test.setup.remove(at);
            smaller.push(test);
        }
        for at in 0..self.end.len() {
            let mut test = self.clone();
            test.end.remove(at);
            smaller.push(test);
        }
        for (strand, steps) in self.strands.iter().enumerate() {
            for (at, step) in steps.iter().enumerate().filter(|(_, step)| !step.silent) {
                let gone = step.keeps.as_ref().map(|kept| kept.name.as_str());
                let needed =
                    |other: &ApiCall| gone.is_some_and(|gone| other.uses.iter().any(|used| used == gone));
                if steps[at + 1..].iter().any(needed) {
                    continue;
                }
                let mut test = self.clone();
                test.strands[strand].remove(at);
                smaller.push(test);
            }
        }
        smaller
    }
}

impl ApiCall {
    /// Drops a variable.
    pub fn drop(name: &str, silent: bool) -> ApiCall {
        ApiCall {
            name: "drop".to_owned(),
            call: format!("drop({name})"),
            says: None,
            told: Told::Nothing,
            tries: false,
            keeps: None,
            needs: None,
            uses: vec![name.to_owned()],
            writes: false,
            ends: Some(name.to_owned()),
            silent,
        }
    }

    /// What it does, whatever its values are.
    pub(crate) fn call_kind(&self) -> String {
        self.call.chars().filter(|c| !c.is_ascii_digit()).collect()
    }

    /// Its function without the type.
    pub fn short(&self) -> &str {
        self.name.rsplit("::").next().unwrap_or(&self.name)
    }

    /// Whether an order of the calls may go without it.
    pub fn may_be_left_out(&self) -> bool {
        let may_lack = |kept: &Kept| kept.unwrap.is_some();
        self.tries && self.keeps.as_ref().is_none_or(may_lack) && self.told != Told::Nothing
    }
}

/// A word that may stand in a name.
fn word(text: &str) -> String {
    let parts = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("_").to_ascii_lowercase()
}
