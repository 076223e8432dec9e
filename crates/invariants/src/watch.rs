//! Holds a stream against statements and tells the first sample that breaks each.

use crate::bind::BindError;
use crate::layout::{Kind, Layout, Row, Slot};
use crate::operand::Operand;
use crate::point::{PointId, Points, Sample};
use crate::statement::Statement;
use crate::text::quoted;
use crate::value::Value;

/// A sample that breaks a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Break {
    /// The run.
    pub run: u64,
    /// The strand.
    pub strand: u32,
    /// The event of the run.
    pub event: u64,
    /// What the statement's variables were, in the order of its text.
    pub values: Vec<(Operand, String)>,
}

/// A statement that is watched.
#[derive(Clone, Debug)]
struct Watched {
    statement: Statement<usize>,
    first: Option<Break>,
    looked_at: u64,
    /// Runs that broke it, the last one, and how many there were.
    last_run: Option<u64>,
    runs: u64,
}

/// Statements that a stream is held against.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    layouts: Vec<Option<Layout>>,
    /// By point, then which of the watched ones.
    by_point: Vec<Vec<usize>>,
    watched: Vec<Watched>,
    row: Row,
}

impl Watch {
    /// Watches nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Watches a statement at a point. Its number counts from 0 in the order of successful calls.
    ///
    /// # Errors
    /// If the statement makes no sense there.
    pub fn add(
        &mut self,
        points: &Points,
        id: PointId,
        statement: &Statement<Operand>,
    ) -> Result<usize, BindError> {
        let at = id.0 as usize;
        let Some(point) = points.get(id) else { return Err(BindError::NoPoint(format!("number {at}"))) };
        if self.layouts.len() <= at {
            self.layouts.resize(at + 1, None);
            self.by_point.resize(at + 1, Vec::new());
        }
        let layout = self.layouts[at]
            .get_or_insert_with(|| Layout::new(point, points.entry_of(id).map(|entry| &points[entry])));
        let statement = layout.bind(statement)?;
        self.by_point[at].push(self.watched.len());
        self.watched.push(Watched { statement, first: None, looked_at: 0, last_run: None, runs: 0 });
        Ok(self.watched.len() - 1)
    }

    /// Takes a sample.
    pub fn take(&mut self, sample: &Sample) {
        let at = sample.point.0 as usize;
        let Some(Some(layout)) = self.layouts.get(at) else { return };
        layout.fill(sample, &mut self.row);
        for &number in &self.by_point[at] {
            let watched = &mut self.watched[number];
            let Some(holds) = watched.statement.holds(&self.row, layout) else { continue };
            watched.looked_at += 1;
            if holds {
                continue;
            }
            if watched.first.is_none() {
                watched.first = Some(Break::new(layout, &watched.statement, &self.row, sample));
            }
            if watched.last_run != Some(sample.run) {
                watched.last_run = Some(sample.run);
                watched.runs += 1;
            }
        }
    }

    /// The first sample that broke a statement.
    pub fn first(&self, number: usize) -> Option<&Break> {
        self.watched[number].first.as_ref()
    }

    /// How many samples had all variables of a statement.
    pub fn looked_at(&self, number: usize) -> u64 {
        self.watched[number].looked_at
    }

    /// How many runs broke a statement, if the samples of a run came together.
    pub fn runs(&self, number: usize) -> u64 {
        self.watched[number].runs
    }
}

impl Break {
    fn new(layout: &Layout, statement: &Statement<usize>, row: &Row, sample: &Sample) -> Self {
        let mut slots: Vec<usize> = Vec::new();
        for &slot in statement.operands() {
            if !slots.contains(&slot) {
                slots.push(slot);
            }
        }
        let values = slots.into_iter().map(|slot| layout.show(slot, row, sample)).collect();
        Self { run: sample.run, strand: sample.strand, event: sample.event, values }
    }
}

impl Layout {
    /// A slot's name and value, for a person.
    fn show(&self, slot: usize, row: &Row, sample: &Sample) -> (Operand, String) {
        let Slot { operand, kind, .. } = &self.slots[slot];
        let cell = row.get(slot);
        let text = match (self.value(slot, sample), kind, cell) {
            (_, _, None) => "missing".to_owned(),
            (Some(Value::Text(text)), Kind::Text, _) => quoted(text),
            (Some(Value::Ints(list)), Kind::Sequence | Kind::Order, _) => format!("{list:?}"),
            (Some(Value::Floats(list)), Kind::Sequence | Kind::Order, _) => format!("{list:?}"),
            (_, Kind::Pointer, Some(address @ 1..)) => format!("{address:#x}"),
            (_, _, Some(cell)) => self.slots[slot].constant(cell).to_string(),
        };
        let operand = match kind {
            Kind::Order => operand.clone().part(crate::operand::Part::Whole),
            _ => operand.clone(),
        };
        (operand, text)
    }
}
