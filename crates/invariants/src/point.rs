//! Program points, their variables, and samples of them.

use crate::value::{Type, Value};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;

/// A stretch of code with an entry and an exit.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Region {
    /// A function, by its name without parentheses.
    Function(String),
    /// A block of consecutive shared accesses of a strand, by the lines of its borders.
    Block {
        /// The source file.
        file: String,
        /// The line of its first access.
        first: u32,
        /// The line of its last access.
        last: u32,
    },
    /// Any other place, with a name of its own.
    Place(String),
}

impl Region {
    /// How many lines it spans, where that is known.
    pub fn lines(&self) -> Option<u32> {
        match self {
            Self::Block { first, last, .. } => Some(last.saturating_sub(*first).saturating_add(1)),
            _ => None,
        }
    }
}

impl fmt::Display for Region {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Function(name) => write!(out, "..{name}()"),
            Self::Block { file, first, last } => write!(out, "..{file}_{first}_{last}()"),
            Self::Place(name) => out.write_str(name),
        }
    }
}

/// Which side of a region a point is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Side {
    /// Where it begins.
    Enter,
    /// Where it ends. Its statements may speak of the values at the entry, as `orig(x)`.
    Exit,
    /// Neither: a point by itself.
    Here,
}

/// A variable that is looked at in a point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    /// Its name, `::` in front of globals.
    pub name: String,
    /// What it can be.
    pub class: Type,
    /// Whether several strands use it.
    pub shared: bool,
    /// The variable that it is a part of, by name.
    pub enclosing: Option<String>,
    /// Variables of different groups are never compared with each other.
    pub group: u32,
}

impl Variable {
    /// A variable that only its strand uses, comparable with all others of its class.
    pub fn new(name: impl Into<String>, class: Type) -> Self {
        Self { name: name.into(), class, shared: false, enclosing: None, group: 0 }
    }

    /// The same, used by several strands.
    pub fn shared(name: impl Into<String>, class: Type) -> Self {
        Self { shared: true, ..Self::new(name, class) }
    }
}

/// A program point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramPoint {
    /// The stretch of code.
    pub region: Region,
    /// The side of it.
    pub side: Side,
    /// What is looked at there; samples give the values in this order.
    pub variables: Vec<Variable>,
}

impl fmt::Display for ProgramPoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = match self.side {
            Side::Enter => ":::ENTER",
            Side::Exit => ":::EXIT",
            Side::Here => ":::POINT",
        };
        write!(out, "{}{side}", self.region)
    }
}

/// A point's number in its [`Points`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PointId(pub u32);

/// All points of a program.
#[derive(Clone, Debug, Default)]
pub struct Points {
    list: Vec<ProgramPoint>,
    by_place: HashMap<(Region, Side), PointId>,
}

/// A point was declared twice with different variables.
#[derive(Debug, thiserror::Error)]
#[error("{0} is declared twice, with different variables")]
pub struct Conflict(pub String);

impl Points {
    /// Adds a point, or finds the same one.
    ///
    /// # Errors
    /// If it is there with other variables.
    pub fn add(&mut self, point: ProgramPoint) -> Result<PointId, Conflict> {
        let place = (point.region.clone(), point.side);
        if let Some(&id) = self.by_place.get(&place) {
            return if self[id] == point { Ok(id) } else { Err(Conflict(point.to_string())) };
        }
        let id = PointId(u32::try_from(self.list.len()).expect("fewer points than 2^32"));
        self.list.push(point);
        self.by_place.insert(place, id);
        Ok(id)
    }

    /// The point on a side of a region.
    pub fn find(&self, region: &Region, side: Side) -> Option<PointId> {
        self.by_place.get(&(region.clone(), side)).copied()
    }

    /// The point with a name as [`ProgramPoint`] is displayed.
    pub fn by_name(&self, name: &str) -> Option<PointId> {
        self.iter().find(|(_, point)| point.to_string() == name).map(|(id, _)| id)
    }

    /// The entry that belongs to an exit.
    pub fn entry_of(&self, id: PointId) -> Option<PointId> {
        let point = self.get(id)?;
        if point.side == Side::Exit { self.find(&point.region, Side::Enter) } else { None }
    }

    /// A point, if there is one of that number.
    pub fn get(&self, id: PointId) -> Option<&ProgramPoint> {
        self.list.get(id.0 as usize)
    }

    /// All of them, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (PointId, &ProgramPoint)> {
        self.list.iter().enumerate().map(|(at, point)| (PointId(at as u32), point))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

impl std::ops::Index<PointId> for Points {
    type Output = ProgramPoint;

    fn index(&self, id: PointId) -> &ProgramPoint {
        &self.list[id.0 as usize]
    }
}

/// The values of a point's variables at one moment of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Where.
    pub point: PointId,
    /// In which run.
    pub run: u64,
    /// By which strand.
    pub strand: u32,
    /// The event of the run at which it was taken.
    pub event: u64,
    /// The values, in the order of the point's variables. What is not given is missing.
    pub values: Vec<Value>,
    /// For an exit, the values at the entry of the same activation, in the order of that point's variables. Empty if they are
    /// not known.
    pub entry: Vec<Value>,
}

/// Joins the samples of entries with those of exits, where a stream gives them apart.
///
/// Strands interleave and functions recurse, so an activation is named by run, strand and a nonce. An entry that is never left
/// (the run ended) is forgotten with [`Activations::end_run`].
#[derive(Debug, Default)]
pub struct Activations {
    open: HashMap<(u64, u32, u64), (PointId, Vec<Value>)>,
}

impl Activations {
    /// Notes the values at an entry.
    pub fn enter(&mut self, sample: &Sample, nonce: u64) {
        self.open.insert((sample.run, sample.strand, nonce), (sample.point, sample.values.clone()));
    }

    /// Fills in an exit's entry values. False if the entry was not seen.
    pub fn exit(&mut self, sample: &mut Sample, nonce: u64, points: &Points) -> bool {
        let Some((point, values)) = self.open.remove(&(sample.run, sample.strand, nonce)) else {
            return false;
        };
        let fits = points.entry_of(sample.point) == Some(point);
        if fits {
            sample.entry = values;
        }
        fits
    }

    /// Forgets what a run has left open.
    pub fn end_run(&mut self, run: u64) {
        self.open.retain(|&(of, ..), _| of != run);
    }
}
