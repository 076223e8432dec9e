//! Options of the free mode.

use crate::exit::Trouble;
use crate::quiet::Places;
use clap::Args;
use std::path::Path;
use std::sync::Arc;
use threadbare_abi::noise::{ALWAYS, Guidance, Noise, NoiseKind, flags};
use threadbare_coverage::tasks::{Goal, TaskModel};
use threadbare_explore::Quiet;
use threadbare_session::session::USUAL_NOISE;

/// What a campaign of free runs is to do.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Free mode")]
pub(crate) struct NoiseOptions {
    /// What delays strands in the free mode: `sleep`, `yield`, `priority`, `spin`, `mixed` or `none`
    /// [default: mixed].
    #[arg(long, value_name = "KIND", value_parser = kind)]
    pub(crate) noise: Option<NoiseKind>,
    /// How likely noise is where a place is passed for the first time, from 0 to 1 [default: 0.95].
    /// It falls with every pass.
    #[arg(long, value_name = "P", allow_hyphen_values = true, value_parser = probability)]
    pub(crate) noise_probability: Option<f64>,
    /// How long noise takes, as a multiple of the usual [default: 1].
    #[arg(long, value_name = "X", allow_hyphen_values = true, value_parser = strength)]
    pub(crate) noise_strength: Option<f64>,
    /// Make noise only in functions or files that have this in their name; `*` stands for anything.
    /// May be given several times [default: the program's own code, not the standard libraries].
    #[arg(long, value_name = "PATTERN")]
    pub(crate) noise_in: Vec<String>,
    /// The most of a strand's time that may be noise, such as 10% [default: no bound].
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true, value_parser = share)]
    pub(crate) noise_share: Option<f64>,
    /// A signal that starts and stops noise, such as USR2; noise waits for the first one.
    #[arg(long, value_name = "SIGNAL", allow_hyphen_values = true, value_parser = signal)]
    pub(crate) noise_signal: Option<u64>,
    /// What decides where noise is made: `random` (chance alone), `model1` (functions that were not
    /// interrupted yet), `model2` (pairs of functions that did not meet yet) or `history` (both, and long
    /// stretches are left alone) [default: random; history with --until-coverage].
    #[arg(long, value_name = "WHAT", value_parser = guide)]
    pub(crate) guide: Option<Guidance>,
    /// Stop when this share of what can be covered is: `95%`, or `model2:60%` for pairs of functions.
    #[arg(long, value_name = "[MODEL:]PERCENT", allow_hyphen_values = true, value_parser = goal)]
    pub(crate) until_coverage: Option<Goal>,
    /// Do not record the order of events: runs are faster, and failures cannot be replayed.
    #[arg(long)]
    pub(crate) no_record: bool,
}

impl NoiseOptions {
    /// The first of these options that is given.
    fn given(&self) -> Option<&'static str> {
        let options = [
            (self.noise.is_some(), "--noise"),
            (self.noise_probability.is_some(), "--noise-probability"),
            (self.noise_strength.is_some(), "--noise-strength"),
            (!self.noise_in.is_empty(), "--noise-in"),
            (self.noise_share.is_some(), "--noise-share"),
            (self.noise_signal.is_some(), "--noise-signal"),
            (self.guide.is_some(), "--guide"),
            (self.until_coverage.is_some(), "--until-coverage"),
            (self.no_record, "--no-record"),
        ];
        options.iter().find(|(given, _)| *given).map(|(_, name)| *name)
    }

    /// Refuses these options where strands are controlled.
    pub(crate) fn check_controlled(&self) -> Result<(), Trouble> {
        match self.given() {
            None => Ok(()),
            Some(name) => Err(Trouble::usage(
                format!("`{name}` is for the free mode"),
                format!("threadbare run --mode free {name} …"),
            )),
        }
    }

    /// Where noise is of no use.
    pub(crate) fn quiet(&self, program: &Path) -> Arc<dyn Quiet> {
        Arc::new(Places::new(program.to_owned(), self.noise_in.clone()))
    }

    /// What the noise maker is to do; with `cover`, what the runs cover is told if it makes noise at all.
    pub(crate) fn noise(&self, cover: bool) -> Noise {
        let kind = self.noise.unwrap_or(NoiseKind::Mixed);
        let probability = self.noise_probability.unwrap_or(USUAL_NOISE);
        let record = if self.no_record { 0 } else { flags::RECORD };
        let usual = if self.until_coverage.is_some() { Guidance::History } else { Guidance::Random };
        let guidance = self.guide.unwrap_or(usual);
        let needed = guidance != Guidance::Random || self.until_coverage.is_some();
        let cover = if needed || cover && kind != NoiseKind::None { flags::COVER } else { 0 };
        let paused = if self.noise_signal.is_some() { flags::PAUSED } else { 0 };
        Noise {
            kind,
            guidance,
            flags: record | paused | cover,
            share: self.noise_share.map_or(1000, |share| (share * 1000.0) as u64),
            signal: self.noise_signal.unwrap_or(0),
            probability: (probability * ALWAYS as f64) as u64,
            strength: (self.noise_strength.unwrap_or(1.0) * 1000.0) as u64,
        }
    }
}

/// A share such as `10%` or `0.1`.
fn share(text: &str) -> Result<f64, String> {
    match text.strip_suffix('%') {
        Some(percent) => number(percent, 0.0, 100.0).map(|percent| percent / 100.0),
        None => number(text, 0.0, 1.0),
    }
}

/// A signal by its name, with or without `SIG`, or its number.
fn signal(text: &str) -> Result<u64, String> {
    let name = text.to_ascii_uppercase();
    match name.strip_prefix("SIG").unwrap_or(&name) {
        "HUP" => Ok(1),
        "USR1" => Ok(10),
        "USR2" => Ok(12),
        "WINCH" => Ok(28),
        number => match number.parse() {
            Ok(number @ (1..=64)) if ![9, 19].contains(&number) => Ok(number),
            _ => Err("USR1, USR2, HUP, WINCH or a number is expected".to_owned()),
        },
    }
}

fn kind(text: &str) -> Result<NoiseKind, String> {
    NoiseKind::from_name(text).ok_or_else(|| {
        let names: Vec<_> = NoiseKind::ALL.iter().map(|kind| kind.name()).collect();
        format!("one of {} is expected", names.join(", "))
    })
}

fn guide(text: &str) -> Result<Guidance, String> {
    Guidance::from_name(text).ok_or_else(|| {
        let names: Vec<_> = Guidance::ALL.iter().map(|guide| guide.name()).collect();
        format!("one of {} is expected", names.join(", "))
    })
}

/// How much is to be covered: `95%`, `0.95` or `model2:60%`.
fn goal(text: &str) -> Result<Goal, String> {
    let (model, rest) = match text.split_once(':') {
        None => (TaskModel::One, text),
        Some((name, rest)) => match TaskModel::ALL.into_iter().find(|model| model.name() == name) {
            Some(model) => (model, rest),
            None => return Err(format!("`{name}` is none of model1 and model2")),
        },
    };
    let share = share(rest)
        .ok()
        .filter(|share| *share > 0.0)
        .ok_or_else(|| "a share above 0 and up to 100% is expected, such as 95% or model2:60%".to_owned())?;
    Ok(Goal { model, share })
}

fn number(text: &str, least: f64, most: f64) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|number| (least..=most).contains(number))
        .ok_or_else(|| format!("a number from {least} to {most} is expected"))
}

fn probability(text: &str) -> Result<f64, String> {
    number(text, 0.0, 1.0)
}

fn strength(text: &str) -> Result<f64, String> {
    number(text, 0.01, 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_understood() {
        let one = |share| Ok(Goal { model: TaskModel::One, share });
        assert_eq!((goal("95%"), goal("0.5"), goal("model1:1")), (one(0.95), one(0.5), one(1.0)));
        assert_eq!(goal("model2:60%"), Ok(Goal { model: TaskModel::Two, share: 0.6 }));
        for text in ["", "0", "0%", "101%", "-1%", "95", "nan", "model2:", "model2", "90%:model2", ":5%"] {
            assert!(goal(text).is_err(), "{text}");
        }
        assert_eq!(goal("model3:5%"), Err("`model3` is none of model1 and model2".to_owned()));
    }

    #[test]
    fn coverage_is_told_where_it_is_needed() {
        let noise = |options: NoiseOptions, cover| {
            let noise = options.noise(cover);
            (noise.guidance, noise.flags & flags::COVER != 0)
        };
        let given = NoiseOptions { noise: Some(NoiseKind::None), ..NoiseOptions::default() };
        // Without noise a run is to be fast.
        assert_eq!(noise(given.clone(), true), (Guidance::Random, false));
        assert_eq!(noise(NoiseOptions::default(), true), (Guidance::Random, true));
        assert_eq!(noise(given.clone(), false), (Guidance::Random, false));
        let until = NoiseOptions { until_coverage: goal("95%").ok(), ..given };
        assert_eq!(noise(until.clone(), false), (Guidance::History, true));
        let guided = NoiseOptions { guide: guide("model2").ok(), ..until };
        assert_eq!(noise(guided, false), (Guidance::Pairs, true));
    }
}
