//! What `futures --of` tells: the terms, how sure they are, and the command that makes the failure again.

use super::terms::{Candidate, Detail, Variant};
use crate::conduct::shell_word;
use crate::futures::name;
use crate::futures::suite::Pair;
use crate::futures::table::{Table, Whose};
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;
use threadbare_explore::Races;
use threadbare_explore::campaign::Config;
use threadbare_explore::futures::Moment;
use threadbare_explore::server::Target;
use threadbare_findings::Finding;
use threadbare_report::Screen;
use threadbare_report::campaign::FORMAT_VERSION;
use threadbare_report::choices::count;
use threadbare_report::columns::wrap;
use threadbare_report::text::sentence;

/// A set that was found.
pub(super) struct Decided {
    /// The terms, each in the way it is told.
    pub(super) terms: Vec<(Candidate, Variant)>,
    /// Every smaller set was spoken against by a run.
    pub(super) smallest: bool,
    /// Terms of the failing run in all.
    pub(super) of: usize,
    /// Runs that were made to have it; all failed.
    pub(super) made: u64,
    /// The orders of the program, if all were gone through.
    pub(super) orders: Option<u64>,
    /// No run was seen that does not fail so.
    pub(super) always: bool,
}

impl Decided {
    /// The terms for a file.
    pub(super) fn pairs(&self) -> Vec<Pair> {
        let step = |moment: &Moment, detail: Detail| {
            (detail.has_strand().then_some(moment.strand), detail.has_time().then_some(moment.number))
        };
        let pair = |(candidate, variant): &(Candidate, Variant)| Pair {
            row: candidate.row,
            term: candidate.term,
            read: step(&candidate.seen.read, variant.manner.0),
            write: candidate.seen.write.as_ref().map_or((None, None), |write| step(write, variant.manner.1)),
        };
        self.terms.iter().map(pair).collect()
    }
}

/// A term as others read it.
#[derive(Debug, Serialize)]
pub(super) struct TermTold {
    /// As `run --future` takes it.
    choice: String,
    /// The read's place.
    place: String,
    function: String,
    variable: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strand: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<u64>,
    /// The write's place, or `initial`.
    write: String,
    whose: Whose,
    #[serde(skip_serializing_if = "Option::is_none")]
    write_strand: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    write_instance: Option<u64>,
}

/// A set as others read it.
#[derive(Debug, Serialize)]
pub(super) struct Told {
    terms: Vec<TermTold>,
    /// No smaller set of the run's terms fails every time.
    smallest: bool,
    /// Terms of the failing run in all.
    terms_of_run: usize,
    /// Runs that were made to have it; all failed.
    made: u64,
    /// The orders of the program, if all were gone through.
    #[serde(skip_serializing_if = "Option::is_none")]
    orders: Option<u64>,
    /// No run was seen that does not fail so, whatever its reads see.
    always: bool,
}

impl Told {
    pub(super) fn of(decided: &Decided, table: &Table) -> Told {
        let term = |(candidate, variant): &(Candidate, Variant)| {
            let row = &table.reads[candidate.row];
            let term = &row.terms[candidate.term];
            let (read, write) = variant.manner;
            let place = |site: &crate::futures::table::Site| format!("{}:{}", site.file, site.line);
            let source = candidate.seen.write;
            TermTold {
                choice: variant.text.clone(),
                place: place(&row.read),
                function: row.read.function.clone(),
                variable: row.variable.clone(),
                strand: read.has_strand().then(|| name::strand(candidate.seen.read.strand)),
                instance: read.has_time().then_some(candidate.seen.read.number),
                write: term.write.as_ref().map_or("initial".to_owned(), place),
                whose: term.whose,
                write_strand: source.filter(|_| write.has_strand()).map(|it| name::strand(it.strand)),
                write_instance: source.filter(|_| write.has_time()).map(|it| it.number),
            }
        };
        Told {
            terms: decided.terms.iter().map(term).collect(),
            smallest: decided.smallest,
            terms_of_run: decided.of,
            made: decided.made,
            orders: decided.orders,
            always: decided.always,
        }
    }

    /// How sure it is.
    fn sure(&self) -> String {
        let all = count(self.made as usize, "run");
        let terms = if self.terms.len() == 1 { "it" } else { "them" };
        let mut text = format!("all {all} that were made to have {terms} failed");
        if let Some(orders) = self.orders {
            let _ = write!(
                text,
                ", and of all {} of the program every one that has {terms}",
                count(orders as usize, "order")
            );
        }
        if self.always {
            text.push_str("; no run was seen that does not fail, whatever its reads see");
        } else if self.smallest {
            let of = count(self.terms_of_run, "term");
            let _ = write!(text, "; of the {of} of the failing run no smaller set does");
        }
        text
    }
}

/// All that is told.
pub(super) struct Answer {
    pub(super) finding: Finding,
    /// The set, or why there is none.
    pub(super) decided: Result<Told, String>,
    /// The file it was written to.
    pub(super) kept: Option<PathBuf>,
    /// What makes the failure again.
    pub(super) command: String,
    pub(super) runs: u64,
    pub(super) elapsed_s: f64,
    pub(super) seed: u64,
}

impl Answer {
    pub(super) fn with_command(mut self, target: &Target, config: &Config) -> Answer {
        let Ok(told) = &self.decided else { return self };
        let mut words = "threadbare run".to_owned();
        if config.races == Races::Off {
            words.push_str(" --races off");
        }
        if config.seed != 0 {
            let _ = write!(words, " --seed {}", config.seed);
        }
        for term in &told.terms {
            let _ = write!(words, " --future {}", shell_word(term.choice.as_ref()));
        }
        if let Some(input) = &target.stdin {
            let _ = write!(words, " --stdin {}", shell_word(input.as_os_str()));
        }
        let here = std::env::current_dir().ok();
        let short = here.as_ref().and_then(|here| target.program.strip_prefix(here).ok());
        let short = short.map(|short| std::path::Path::new(".").join(short));
        let _ = write!(words, " -- {}", shell_word(short.as_deref().unwrap_or(&target.program).as_os_str()));
        for arg in &target.args {
            let _ = write!(words, " {}", shell_word(arg));
        }
        self.command = words;
        self
    }

    pub(super) fn text(&self) -> String {
        let screen = Screen::for_stream(&std::io::stdout());
        let wrapped = |text: &mut String, words: &str, edge: &str| {
            for (at, line) in wrap(words, screen.width.saturating_sub(edge.len())).into_iter().enumerate() {
                let edge = if at == 0 { "" } else { edge };
                let _ = writeln!(text, "{edge}{line}");
            }
        };
        let mut text = String::new();
        wrapped(&mut text, &format!("{}: {}", self.finding.id, sentence(&self.finding)), "  ");
        match &self.decided {
            Err(why) => wrapped(&mut text, &format!("no set of terms decides it: {why}"), "  "),
            Ok(told) => {
                text.push_str("it fails whenever\n");
                for term in &told.terms {
                    let _ = writeln!(text, "  {}", term.choice);
                }
                wrapped(&mut text, &told.sure(), "  ");
                if let Some(file) = &self.kept {
                    let _ = writeln!(text, "kept: {}", file.display());
                }
                let _ = writeln!(text, "again: {}", self.command);
            }
        }
        text
    }

    pub(super) fn json(&self) -> String {
        let mut value = serde_json::json!({
            "format_version": FORMAT_VERSION,
            "of": self.finding.id,
            "decided": self.decided.is_ok(),
            "runs": self.runs,
            "elapsed_s": self.elapsed_s,
            "seed": self.seed,
            "findings": [self.finding],
        });
        if let Some(object) = value.as_object_mut() {
            match &self.decided {
                Err(why) => _ = object.insert("reason".to_owned(), why.clone().into()),
                Ok(told) => {
                    let told = serde_json::to_value(told).unwrap_or_default();
                    object.extend(told.as_object().cloned().unwrap_or_default());
                    object.insert("command".to_owned(), self.command.clone().into());
                }
            }
            if let Some(file) = &self.kept {
                object.insert("kept".to_owned(), file.display().to_string().into());
            }
        }
        format!("{value:#}\n")
    }
}
