//! Inference over all points of a program: takes samples one by one, keeps facts, merges, is kept in a file.

use crate::point::{PointId, Points, Region, Sample, Side};
use crate::state::State;
use std::collections::BTreeMap;

/// The version of the file form.
const VERSION: u32 = 1;
const MAGIC: &[u8; 8] = b"tb-facts";

/// What is known of a program's points. Its size depends on points and variables, not on samples.
///
/// Two of them are equal if they have taken the same samples, in whatever order and however divided.
#[derive(Clone, Debug, Default)]
pub struct Inference {
    states: Vec<State>,
    by_place: BTreeMap<(Region, Side), usize>,
    /// The state of each point number of the table in use.
    by_id: Vec<Option<usize>>,
}

impl PartialEq for Inference {
    fn eq(&self, other: &Self) -> bool {
        self.in_order().eq(other.in_order())
    }
}

/// Why what was kept cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Not a file of this kind.
    #[error("this is no file of facts about values")]
    NotFacts,
    /// Written by another version.
    #[error("the facts have format version {0}, not {VERSION}")]
    Version(u32),
    /// Cut off or changed.
    #[error("the facts are damaged")]
    Damaged,
}

impl Inference {
    /// Nothing known.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a sample. All samples must be of the same table of points; an exit's entry must be in it before the first sample.
    ///
    /// Facts that were loaded for a point with other variables are dropped.
    pub fn take(&mut self, points: &Points, sample: &Sample) {
        self.take_times(points, sample, 1);
    }

    /// Takes a sample that came so many times.
    pub fn take_times(&mut self, points: &Points, sample: &Sample, times: u64) {
        if times == 0 {
            return;
        }
        let id = sample.point.0 as usize;
        let known = self.by_id.get(id).copied().flatten();
        if let Some(at) = known.or_else(|| self.resolve(points, sample.point)) {
            self.states[at].take(sample, times);
        }
    }

    fn resolve(&mut self, points: &Points, id: PointId) -> Option<usize> {
        let point = points.get(id)?;
        let entry = points.entry_of(id).map(|entry| &points[entry]);
        let fresh = State::new(point, entry);
        let place = (point.region.clone(), point.side);
        let at = match self.by_place.get(&place) {
            Some(&at) => {
                if self.states[at].layout != fresh.layout {
                    self.states[at] = fresh;
                }
                at
            }
            None => self.add(fresh),
        };
        let id = id.0 as usize;
        if self.by_id.len() <= id {
            self.by_id.resize(id + 1, None);
        }
        self.by_id[id] = Some(at);
        Some(at)
    }

    fn add(&mut self, state: State) -> usize {
        self.by_place.insert((state.point.region.clone(), state.point.side), self.states.len());
        self.states.push(state);
        self.states.len() - 1
    }

    /// Takes all samples that another has taken. Names the points whose variables differ: there the facts of this one stay.
    pub fn merge(&mut self, other: &Self) -> Vec<String> {
        let mut changed = Vec::new();
        for theirs in other.in_order() {
            match self.by_place.get(&(theirs.point.region.clone(), theirs.point.side)) {
                Some(&at) if self.states[at].layout == theirs.layout => self.states[at].merge(theirs),
                Some(_) => changed.push(theirs.point.to_string()),
                None => {
                    self.add(theirs.clone());
                }
            }
        }
        changed
    }

    /// The states in the order of their places.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = &State> {
        self.by_place.values().map(|&at| &self.states[at])
    }

    /// The state of a place.
    pub(crate) fn state(&self, region: &Region, side: Side) -> Option<&State> {
        self.by_place.get(&(region.clone(), side)).map(|&at| &self.states[at])
    }

    /// How many samples were taken.
    pub fn samples(&self) -> u64 {
        self.states.iter().map(|state| state.all.all_samples()).sum()
    }

    /// How many variables found no place, over all points.
    pub fn left_out(&self) -> u64 {
        self.states.iter().map(|state| u64::from(state.layout.left_out)).sum()
    }

    /// The form that is kept in a file.
    pub fn save(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        let states: Vec<&State> = self.in_order().collect();
        let body = postcard::to_stdvec(&states).expect("facts have a form");
        bytes.extend(body);
        bytes
    }

    /// What was kept.
    ///
    /// # Errors
    /// If it is something else, of another version, or damaged.
    pub fn load(bytes: &[u8]) -> Result<Self, LoadError> {
        let body = bytes.strip_prefix(MAGIC).ok_or(LoadError::NotFacts)?;
        let (version, body) = body.split_at_checked(4).ok_or(LoadError::Damaged)?;
        let version = u32::from_le_bytes(version.try_into().map_err(|_| LoadError::Damaged)?);
        if version != VERSION {
            return Err(LoadError::Version(version));
        }
        let states: Vec<State> = postcard::from_bytes(body).map_err(|_| LoadError::Damaged)?;
        let mut loaded = Self::new();
        for mut state in states {
            let place = (state.point.region.clone(), state.point.side);
            if loaded.by_place.contains_key(&place) || !state.reopen() {
                return Err(LoadError::Damaged);
            }
            loaded.add(state);
        }
        Ok(loaded)
    }
}
