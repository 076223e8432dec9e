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
    /// Time to be taken, if bounded.
    pub time: Option<Duration>,
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
    /// Which campaign it is of how many.
    number: Option<(usize, usize)>,
}

impl ProgressLine {
    /// A line on standard error if that is a terminal, else none.
    pub fn on_stderr() -> ProgressLine {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let enabled = std::io::stderr().is_terminal() && !dumb;
        ProgressLine { enabled, ..ProgressLine::none() }
    }

    /// No line.
    pub fn none() -> ProgressLine {
        ProgressLine { shown: false, enabled: false, last: None, number: None }
    }

    /// The line of the test with this number, of so many.
    #[must_use]
    pub fn of_test(self, number: usize, of: usize) -> ProgressLine {
        ProgressLine { number: Some((number, of)), ..self }
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
        let _ = write!(stderr, "\r\x1b[K{}", line(state, self.number, width::of_stream(&stderr)));
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

/// How long it takes still, as far as the bounds and the pace so far tell; a bound that is far off need not be met.
fn left(state: &State) -> Option<Duration> {
    let by_time = state.time.map(|time| time.saturating_sub(state.elapsed));
    let by_runs = state.of.filter(|_| state.runs > 0).and_then(|of| {
        let share = of.saturating_sub(state.runs) as f64 / state.runs as f64;
        Duration::try_from_secs_f64(state.elapsed.as_secs_f64() * share).ok()
    });
    [by_time, by_runs].into_iter().flatten().min()
}

fn rounded(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{} s", seconds + 1),
        seconds @ 120..7200 => format!("{} min", seconds.div_ceil(60)),
        seconds => format!("{} h", seconds.div_ceil(3600)),
    }
}

fn line(state: &State, number: Option<(usize, usize)>, width: usize) -> String {
    let of = state.of.map(|of| format!("/{}", thousands(of))).unwrap_or_default();
    let test = number.map(|(number, of)| format!("test {number}/{of}: ")).unwrap_or_default();
    let left = left(state).map(|left| format!("{} left, ", rounded(left))).unwrap_or_default();
    let text = format!(
        "{test}{}{of} runs, {} runs/s, {left}{} points/s, {} finding{}",
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
            time: None,
            points: u64::MAX / 2,
            findings: 1,
            elapsed: Duration::from_millis(2500),
            estimate: None,
            goal: None,
        };
        let text = line(&state, None, 200);
        assert!(text.starts_with("123,456,789/1,000,000,000 runs, 49,382,715 runs/s, 18 s left, "), "{text}");
        assert!(text.ends_with(", 1 finding"), "{text}");
        assert_eq!(line(&state, None, 40).chars().count(), 39);
        let state = State { estimate: Some(Estimate::complete(3)), ..state };
        assert!(
            line(&state, None, 200).ends_with(
                ", 1 finding; no run can show anything new: proved for this input and memory model"
            )
        );
        let state = State { estimate: None, goal: Some((19, 25, 0.95)), ..state };
        assert!(line(&state, None, 200).ends_with(", 1 finding; 19 of 25 tasks covered, 76% of 95%"));
    }

    #[test]
    fn what_is_left_is_what_comes_first() {
        let state = State { runs: 100, of: Some(1100), elapsed: Duration::from_secs(60), ..State::default() };
        let text = |state: &State| line(state, Some((2, 7)), 200);
        assert!(
            text(&state).starts_with("test 2/7: 100/1,100 runs, 1 runs/s, 10 min left, "),
            "{}",
            text(&state)
        );
        let state = State { time: Some(Duration::from_secs(90)), ..state };
        assert!(text(&state).contains(" runs/s, 31 s left, "), "{}", text(&state));
        let state = State { of: None, time: Some(Duration::from_secs(24 * 3600)), ..state };
        assert!(text(&state).contains(" runs/s, 24 h left, "), "{}", text(&state));
        let state = State { of: None, time: None, ..state };
        assert!(!text(&state).contains(" left"), "{}", text(&state));
    }
}
