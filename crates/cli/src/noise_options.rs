//! Options of the free mode.

use crate::exit::Trouble;
use clap::Args;
use threadbare_abi::noise::{ALWAYS, Noise, NoiseKind, flags};

/// How likely noise is at a place that is passed for the first time, unless told otherwise.
const PROBABILITY: f64 = 0.5;

/// What a campaign of free runs is to do.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Free mode")]
pub(crate) struct NoiseOptions {
    /// What delays strands in the free mode: `sleep`, `yield`, `priority`, `spin`, `mixed` or `none`
    /// [default: mixed].
    #[arg(long, value_name = "KIND", value_parser = kind)]
    pub(crate) noise: Option<NoiseKind>,
    /// How likely noise is where a place is passed for the first time, from 0 to 1 [default: 0.5].
    /// It falls with every pass.
    #[arg(long, value_name = "P", value_parser = probability)]
    pub(crate) noise_probability: Option<f64>,
    /// How long noise takes, as a multiple of the usual [default: 1].
    #[arg(long, value_name = "X", value_parser = strength)]
    pub(crate) noise_strength: Option<f64>,
}

impl NoiseOptions {
    /// The first of these options that is given.
    fn given(&self) -> Option<&'static str> {
        let options = [
            (self.noise.is_some(), "--noise"),
            (self.noise_probability.is_some(), "--noise-probability"),
            (self.noise_strength.is_some(), "--noise-strength"),
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

    /// What the noise maker is to do.
    pub(crate) fn noise(&self) -> Noise {
        let kind = self.noise.unwrap_or(NoiseKind::Mixed);
        let probability = self.noise_probability.unwrap_or(PROBABILITY);
        Noise {
            kind,
            flags: flags::RECORD,
            probability: (probability * ALWAYS as f64) as u64,
            strength: (self.noise_strength.unwrap_or(1.0) * 1000.0) as u64,
            ..Noise::OFF
        }
    }
}

fn kind(text: &str) -> Result<NoiseKind, String> {
    NoiseKind::from_name(text).ok_or_else(|| {
        let names: Vec<_> = NoiseKind::ALL.iter().map(|kind| kind.name()).collect();
        format!("one of {} is expected", names.join(", "))
    })
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
