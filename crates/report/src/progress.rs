//! The line on a terminal that tells how far a campaign is.

use crate::text::{per_second, thousands};
use crate::width;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};
use threadbare_coverage::Estimate;

/// How often the line is written anew.
const EVERY: Duration = Duration::from_millis(200);

/// What the line tells.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct State {
    /// Runs done.
    pub runs: u64,
    /// Runs to be done, if bounded.
    pub of: Option<u64>,
    /// Points so far.
    pub points: u64,
    /// Findings so far.
    pub findings: usize,
    /// Time so far.
    pub elapsed: Duration,
    /// How likely something new is.
    pub estimate: Option<Estimate>,
    /// How much free runs are to cover, if that was said: tasks covered, tasks that can be, the share of them that is wanted.
    pub goal: Option<(u64, u64, f64)>,
}

/// The line.
#[derive(Debug)]
pub struct ProgressLine {
    shown: bool,
    enabled: bool,
    last: Option<Instant>,
}

impl ProgressLine {
    /// A line on standard error if that is a terminal, else none.
    pub fn on_stderr() -> ProgressLine {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        ProgressLine { shown: false, enabled: std::io::stderr().is_terminal() && !dumb, last: None }
    }

    /// No line.
    pub fn none() -> ProgressLine {
        ProgressLine { shown: false, enabled: false, last: None }
    }

    /// Shows the state, not too often.
    pub fn show(&mut self, state: &State) {
        // Short campaigns end before the first line would be read.
        let due = self.last.map_or(state.elapsed >= EVERY, |last| last.elapsed() >= EVERY);
        if !self.enabled || !due {
            return;
        }
        self.last = Some(Instant::now());
        self.shown = true;
        let mut stderr = std::io::stderr().lock();
        let _ = write!(stderr, "\r\x1b[K{}", line(state, width::of_stream(&stderr)));
        let _ = stderr.flush();
    }

    /// Takes the line away, so that other text can be written.
    pub fn clear(&mut self) {
        if self.shown {
            self.shown = false;
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.clear();
    }
}

fn line(state: &State, width: usize) -> String {
    let of = state.of.map(|of| format!("/{}", thousands(of))).unwrap_or_default();
    let text = format!(
        "{}{of} runs, {} runs/s, {} points/s, {} finding{}",
        thousands(state.runs),
        per_second(state.runs, state.elapsed),
        per_second(state.points, state.elapsed),
        state.findings,
        if state.findings == 1 { "" } else { "s" },
    );
    let text = match &state.estimate {
        Some(estimate) => format!("{text}; {}", estimate.words()),
        None => text,
    };
    let text = match state.goal {
        Some((covered, coverable, share)) => {
            let percent = (covered as f64 / coverable.max(1) as f64 * 100.0).floor();
            let (covered, coverable) = (thousands(covered), thousands(coverable));
            let wanted = crate::tasks::percent(share);
            format!("{text}; {covered} of {coverable} tasks covered, {percent}% of {wanted}")
        }
        None => text,
    };
    // One column stays free: some terminals wrap when the last is written.
    text.chars().take(width.saturating_sub(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_fits_the_terminal() {
        let state = State {
            runs: 123_456_789,
            of: Some(1_000_000_000),
            points: u64::MAX / 2,
            findings: 1,
            elapsed: Duration::from_millis(2500),
            estimate: None,
            goal: None,
        };
        let text = line(&state, 200);
        assert!(text.starts_with("123,456,789/1,000,000,000 runs, 49,382,715 runs/s, "), "{text}");
        assert!(text.ends_with(", 1 finding"), "{text}");
        assert_eq!(line(&state, 40).chars().count(), 39);
        let state = State { estimate: Some(Estimate::complete(3)), ..state };
        assert!(
            line(&state, 200).ends_with(
                ", 1 finding; no run can show anything new: proved for this input and memory model"
            )
        );
        let state = State { estimate: None, goal: Some((19, 25, 0.95)), ..state };
        assert!(line(&state, 200).ends_with(", 1 finding; 19 of 25 tasks covered, 76% of 95%"));
    }
}
