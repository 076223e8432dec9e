//! The file in which what runs show grows from campaign to campaign.
//!
//! It belongs to one build of the program: a line of its is a point here, and lines move. What differs in its variables from what the file has is left as the
//! file has it, and counted.

use crate::conduct::cannot;
use crate::exit::Trouble;
use serde::Serialize;
use std::path::{Path, PathBuf};
use threadbare_explore::files;
use threadbare_invariants::Parts;
use threadbare_symbols::ProgramId;

const FIRST_LINE: &str = "threadbare invariants of ";

/// What is told of it.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Told {
    /// The file.
    pub(crate) file: String,
    /// Runs of earlier campaigns that passed.
    pub(crate) runs_passing: u64,
    /// Runs of earlier campaigns that failed.
    pub(crate) runs_failing: u64,
    /// Points whose variables are others than the file has.
    pub(crate) changed: u64,
}

/// Such a file.
pub(crate) struct Grown {
    file: PathBuf,
    head: String,
    earlier: Option<Parts>,
    pub(crate) told: Told,
}

impl Grown {
    /// Reads the file, if there is one.
    pub(crate) fn open(file: &Path, program: &Path) -> Result<Self, Trouble> {
        let refused = |error: std::io::Error| cannot(&format!("read `{}`", file.display()), &error);
        let id = ProgramId::of(program)
            .map_err(|error| cannot(&format!("read `{}`", program.display()), &error))?;
        let head = format!("{FIRST_LINE}{id}\n");
        let mut told = Told { file: file.display().to_string(), ..Told::default() };
        let bytes = match files::read(file) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(refused(error)),
        };
        let earlier = match bytes {
            None => None,
            Some(bytes) => {
                let other = |why: &str| {
                    Trouble::usage(
                        format!("`{}` {why}", file.display()),
                        "remove it, or let what is shown grow in another file",
                    )
                };
                if !bytes.starts_with(FIRST_LINE.as_bytes()) {
                    return Err(other("is not such a file"));
                }
                let rest = bytes.strip_prefix(head.as_bytes());
                let rest = rest.ok_or_else(|| other("is of another build of the program"))?;
                let parts = Parts::load(rest).map_err(|error| other(&format!("cannot be read: {error}")))?;
                (told.runs_passing, told.runs_failing) = (parts.passing_runs, parts.failing_runs);
                Some(parts)
            }
        };
        Ok(Self { file: file.to_owned(), head, earlier, told })
    }

    /// Adds this campaign's runs to those of the file, and the other way round.
    pub(crate) fn merge(&mut self, parts: &mut Parts) -> Result<(), Trouble> {
        if let Some(mut earlier) = self.earlier.take() {
            self.told.changed = earlier.merge(parts).len() as u64;
            *parts = earlier;
        }
        let bytes = [self.head.as_bytes(), &parts.save()].concat();
        std::fs::write(&self.file, bytes)
            .map_err(|error| cannot(&format!("write `{}`", self.file.display()), &error))
    }
}
