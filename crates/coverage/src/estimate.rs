//! How likely the next run shows something new, and how much there is still to see.
//!
//! Runs of a strategy that forgets are independent draws of classes, and Good and Turing's estimate is right for them. A
//! strategy that learns from run to run, or several in turn, draws from what changes: there the share of recent runs that
//! showed something new is told instead. As less and less is new, that share is rather too high than too low.
//!
//! Either is a statement about this strategy with this program and input: what the strategy cannot do, it does not see.

use crate::interval;
use crate::species::Species;
use serde::{Deserialize, Serialize};

/// Fewer runs say nothing.
const FEWEST: u64 = 16;
/// How much less is new after the last tenth of the runs than in it.
const DECAY: f64 = 0.8;

/// Where an estimate comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// From the classes seen once and twice, by independent runs.
    GoodTuring,
    /// From the share of recent runs that showed something new.
    RecentRuns,
    /// All there is was seen.
    Complete,
}

/// Classes that are still to be seen; it may be more, as what is rarest of all leaves no trace.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Remaining {
    /// The estimate (Chao's lower bound).
    pub classes: f64,
    /// The lower end of its 95% interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// How likely something new is.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Estimate {
    /// The chance that the next run shows a class that none has shown.
    pub chance: f64,
    /// The lower end of its 95% interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Where it comes from.
    pub method: Method,
    /// Runs it comes from.
    pub runs: u64,
    /// Classes seen.
    pub classes: u64,
    /// How many are left; `None` where that cannot be said.
    pub remaining: Option<Remaining>,
}

impl Estimate {
    /// All classes were seen: nothing is left, and that is proved.
    pub fn complete(classes: u64) -> Estimate {
        Estimate {
            chance: 0.0,
            low: 0.0,
            high: 0.0,
            method: Method::Complete,
            runs: classes,
            classes,
            remaining: Some(Remaining::default()),
        }
    }

    /// The estimate for the next of independent runs.
    pub fn independent(species: &Species) -> Option<Estimate> {
        let runs = species.runs();
        if runs < FEWEST {
            return None;
        }
        let (once, twice) = (species.seen(1), species.seen(2));
        let (low, high) = interval::good_turing(runs, once, twice);
        Some(Estimate {
            chance: once as f64 / runs as f64,
            low,
            high,
            method: Method::GoodTuring,
            runs,
            classes: species.classes(),
            remaining: Some(remaining(species)),
        })
    }

    /// The estimate for the next of runs that learn from each other: from the later half of them.
    pub fn recent(species: &Species) -> Option<Estimate> {
        let window = species.runs() / 2;
        if window < FEWEST {
            return None;
        }
        let new = species.new_in_last(window);
        let (_, high) = interval::wilson(new, window);
        // Less is new at the end of the window than in its middle: the lower end is of the very last runs.
        let end = species.runs() / 10;
        let newest = species.new_in_last(end);
        let low = if newest < interval::FEW { 0.0 } else { interval::wilson(newest, end).0 * DECAY };
        Some(Estimate {
            chance: new as f64 / window as f64,
            low,
            high,
            method: Method::RecentRuns,
            runs: window,
            classes: species.classes(),
            remaining: None,
        })
    }

    /// Whether nothing is left, proved.
    pub fn is_proved(&self) -> bool {
        self.method == Method::Complete
    }

    /// The estimate in words.
    pub fn words(&self) -> String {
        if self.is_proved() {
            return "no run can show anything new: proved for this input and memory model".to_owned();
        }
        if self.low >= NEARLY_ALL {
            return "nearly every run still shows something new".to_owned();
        }
        if self.chance >= MANY {
            let tenths = |chance: f64| (chance * 10.0).round() as u64;
            let (low, middle, high) = (tenths(self.low), tenths(self.chance), tenths(self.high));
            return format!(
                "about {middle} in 10 runs still show something new (95%: {low} to {high} in 10)"
            );
        }
        if self.chance <= 0.0 {
            return format!("less than {} runs still shows something new (95%)", one_in(self.high));
        }
        let low = if self.low <= 0.0 { "none".to_owned() } else { one_in(self.low) };
        format!(
            "about {} runs still shows something new (95%: {} to {low})",
            one_in(self.chance),
            one_in(self.high)
        )
    }
}

/// From here on a share is told in tenths.
const MANY: f64 = 0.35;
const NEARLY_ALL: f64 = 0.9;

/// `1 in 400`.
fn one_in(chance: f64) -> String {
    format!("1 in {}", thousands(in_how_many(chance)))
}

/// One in how many, with two digits that say something.
fn in_how_many(chance: f64) -> u64 {
    let n = 1.0 / chance.max(1e-18);
    let unit = 10f64.powi((n.log10().floor() as i32 - 1).max(0));
    ((n / unit).round() * unit) as u64
}

fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The improved estimate of Chao (Chiu, Wang, Walther, Chao 2014), with the log-normal interval of Chao 1987.
fn remaining(species: &Species) -> Remaining {
    let [f1, f2, f3, f4] = [1, 2, 3, 4].map(|times| species.seen(times) as f64);
    let n = species.runs() as f64;
    let grow = (n - 1.0) / n;
    let basic = grow * f1 * (f1 - 1.0) / (2.0 * (f2 + 1.0));
    let f4 = f4.max(1.0);
    let more = (n - 3.0) / n * f3 / (4.0 * f4)
        * (f1 - (n - 3.0) / (n - 1.0).max(1.0) * f2 * f3 / (2.0 * f4)).max(0.0);
    let classes = basic + more;
    if classes <= 0.0 {
        // Nothing was seen once, or one class: the interval says what may be left.
        let high = if f1 > 0.0 { f1 * (f1 + 1.0) / 2.0 } else { 0.0 };
        return Remaining { classes: 0.0, low: 0.0, high };
    }
    let variance = if f2 > 0.0 {
        let ratio = f1 / f2;
        f2 * (grow * ratio.powi(2) / 2.0 + grow * grow * ratio.powi(3) + grow * grow * ratio.powi(4) / 4.0)
    } else {
        let all = species.classes() as f64 + classes;
        (grow * f1 * (f1 - 1.0) / 2.0 + grow * grow * f1 * (2.0 * f1 - 1.0).powi(2) / 4.0
            - grow * grow * f1.powi(4) / (4.0 * all))
            .max(classes)
    };
    let spread = (interval::Z * (1.0 + variance / classes.powi(2)).ln().sqrt()).exp();
    Remaining { classes, low: classes / spread, high: classes * spread }
}
