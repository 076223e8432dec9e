//! A Rust crate's API, and tests over it.

mod emit;
mod generate;
mod modules;
mod objects;
mod probe;
mod read;
mod types;
mod values;

pub use emit::{Asserts, HARNESS, Plain, harness, import_at, plain, probe_program};
pub use generate::{Limits, generate};
pub use probe::{Probe, probes};
pub use read::read;
pub use types::Ty;

use crate::LeftOut;
use std::collections::{BTreeMap, BTreeSet};

/// What a crate lets others do.
#[derive(Clone, Debug, Default)]
pub struct Api {
    /// The crate's name in source.
    pub krate: String,
    /// Its types, by the module and name of their definition.
    pub types: BTreeMap<String, Type>,
    /// Functions and methods.
    pub functions: Vec<Function>,
    /// What is not tested.
    pub left_out: Vec<LeftOut>,
    /// What the compiler refused: names of probes.
    pub refused: BTreeSet<String>,
    /// It has variables that all of the program share: objects may have to do with each other that nobody gave each other.
    pub statics: bool,
}

/// A type of the crate.
#[derive(Clone, Debug, Default)]
pub struct Type {
    /// Its name.
    pub name: String,
    /// Its public path, if it has one.
    pub path: Option<String>,
    /// Its parameters that are not lifetimes, as arguments for a test: `Counted`, `_`, `2`.
    pub arguments: Vec<String>,
    /// It has more parameters, which are left as they are by default.
    pub defaults: bool,
    /// It has a lifetime.
    pub borrows: bool,
    /// Traits of std that it has: `Clone`, `Default`, `Deref`, `DerefMut`, `Future`, `Iterator`.
    pub traits: BTreeSet<String>,
    /// What it derefs to.
    pub target: Option<Ty>,
    /// What it yields as a future or an iterator.
    pub item: Option<Ty>,
    /// Variants of an enum that have no fields.
    pub variants: Vec<String>,
}

impl Type {
    /// Whether somebody may mean it by a name, or the end of a path.
    pub fn is_called(&self, name: &str) -> bool {
        let ends = |path: &String| path.ends_with(&format!("::{name}"));
        self.name == name || (name.contains("::") && self.path.as_ref().is_some_and(ends))
    }
}

/// How a method takes its object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Receiver {
    /// It is no method.
    None,
    /// `&self`.
    Ref,
    /// `&mut self`.
    Mut,
    /// `self`.
    Own,
    /// `self: Arc<Self>` or `&Arc<Self>`.
    Arc,
    /// `self: Pin<&mut Self>`.
    Pin,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// The type it belongs to.
    pub owner: Option<String>,
    /// Its name.
    pub name: String,
    /// The public path of a free function.
    pub path: Option<String>,
    /// How it takes its object.
    pub receiver: Receiver,
    /// Its arguments.
    pub args: Vec<Ty>,
    /// What it gives.
    pub gives: Ty,
    /// It is an `async fn`.
    pub is_async: bool,
}

impl Api {
    /// A function's name as tables show it: `Sender::send`.
    pub fn title(&self, function: &Function) -> String {
        match function.owner.as_ref().and_then(|owner| self.types.get(owner)) {
            Some(owner) => format!("{}::{}", owner.name, function.name),
            None => function.name.clone(),
        }
    }

    /// A type with the arguments of a test, in an expression or where types stand.
    pub fn written(&self, ty: &Type, in_expression: bool) -> String {
        let name = match &ty.path {
            Some(path) if !self.is_short(&ty.name) => path,
            _ => &ty.name,
        };
        match (ty.arguments.is_empty(), in_expression) {
            // Defaults hold where types stand.
            (true, true) if ty.defaults => format!("<{name}>"),
            (false, true) if ty.defaults => format!("<{name}<{}>>", ty.arguments.join(", ")),
            (true, _) => name.clone(),
            (false, true) => format!("{name}::<{}>", ty.arguments.join(", ")),
            (false, false) => format!("{name}<{}>", ty.arguments.join(", ")),
        }
    }

    /// Whether a name means one thing only, so that a test can import it.
    pub(crate) fn is_short(&self, name: &str) -> bool {
        const TAKEN: [&str; 16] = [
            "Counted", "Gate", "Outcome", "Case", "Show", "Option", "Result", "Box", "Arc", "Vec", "String",
            "Some", "Ok", "Err", "drop", "main",
        ];
        let types = self.types.values().filter(|ty| ty.name == name && ty.path.is_some()).count();
        let functions =
            self.functions.iter().filter(|function| function.name == name && function.path.is_some()).count();
        types + functions == 1 && !TAKEN.contains(&name)
    }

    /// How a free function is called.
    pub(crate) fn called(&self, function: &Function) -> String {
        match &function.path {
            Some(path) if !self.is_short(&function.name) => path.clone(),
            _ => function.name.clone(),
        }
    }

    /// What has this path is not there after all: another feature has it.
    pub fn hide(&mut self, path: &str) {
        for ty in self.types.values_mut().filter(|ty| ty.path.as_deref() == Some(path)) {
            ty.path = None;
        }
        self.functions.retain(|function| function.path.as_deref() != Some(path));
        let types = &self.types;
        let is_gone = |owner: &String| types.get(owner).is_some_and(|ty| ty.path.is_none());
        self.functions.retain(|function| !function.owner.as_ref().is_some_and(is_gone));
    }

    /// Takes the compiler's word on a probe.
    pub fn refuse(&mut self, probe: &Probe, why: &str) {
        if self.refused.insert(probe.name.clone())
            && let Some(what) = &probe.of
        {
            self.left_out.push(LeftOut { what: what.clone(), why: why.to_owned() });
        }
    }
}
