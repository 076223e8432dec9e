//! What a run costs, told once, early enough to do something about it.

use std::time::Duration;
use threadbare_explore::campaign::Progress;
use threadbare_report::text::{counted, thousands};

/// When it is told.
const AFTER: Duration = Duration::from_secs(5);
/// A run that takes less is not worth a word.
const CHEAP: Duration = Duration::from_millis(500);

/// What is to be said, if it is time and runs are dear. `jobs` runs are made at a time.
pub(crate) fn hint(progress: &Progress, jobs: usize) -> Option<String> {
    if progress.elapsed < AFTER {
        return None;
    }
    let advice = "smaller counts (iterations, strands, input) make more runs, and show the same bugs";
    if progress.runs == 0 {
        let waited = progress.elapsed.as_secs();
        return Some(format!("no run has ended in the first {waited} s: {advice}"));
    }
    let runs = u32::try_from(progress.runs).unwrap_or(u32::MAX);
    let each = progress.elapsed.saturating_mul(u32::try_from(jobs).unwrap_or(1)) / runs;
    if each < CHEAP {
        return None;
    }
    let points = progress.points / progress.runs;
    let less =
        if points > 100_000 { "; `--points sync` has fewer points, and does not see races" } else { "" };
    Some(format!(
        "a run takes {:.1} s and makes {} ({} so far): {advice}{less}",
        each.as_secs_f64(),
        counted(points, "point"),
        thousands(progress.runs),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(seconds: u64, runs: u64, points: u64) -> Option<String> {
        let elapsed = Duration::from_secs(seconds);
        hint(&Progress { runs, points, elapsed, ..Progress::default() }, 2)
    }

    #[test]
    fn only_dear_runs_are_worth_a_word() {
        assert_eq!(told(4, 0, 0), None);
        assert_eq!(told(5, 1000, 50_000), None);
        assert!(told(5, 0, 0).unwrap().starts_with("no run has ended in the first 5 s: smaller counts"));
        let dear = told(6, 4, 8_000_000).unwrap();
        assert!(dear.starts_with("a run takes 3.0 s and makes 2,000,000 points (4 so far)"), "{dear}");
        assert!(dear.contains("--points sync"), "{dear}");
        assert!(!told(6, 4, 8000).unwrap().contains("--points sync"));
    }
}
