//! A strategy with its parameters, as users write it: `pct`, `pct:3`.

use crate::StrategyId;
use crate::registry::Adviser;
use core::fmt;

/// Parameters of a strategy that a user may set; [`crate::IN_ORDER`] is not among them.
pub const OWN_PARAMS: usize = 7;

/// A strategy and its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Spec {
    /// The strategy.
    pub id: StrategyId,
    /// Its own parameters; 0 where the strategy's default holds.
    pub params: [u64; OWN_PARAMS],
}

/// A parameter of a strategy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// What it is, in a word or two.
    pub name: &'static str,
    /// The least value.
    pub least: u64,
    /// The most.
    pub most: u64,
}

impl StrategyId {
    /// Whether a user may ask for it.
    pub const fn is_offered(self) -> bool {
        self.row().offered
    }

    /// Whether a planner in the driver decides, run by run.
    pub const fn is_planner(self) -> bool {
        matches!(self.row().adviser, Adviser::Planner | Adviser::Idioms)
    }

    /// The strategies that a user may ask for.
    pub fn offered() -> impl Iterator<Item = StrategyId> {
        StrategyId::ALL.iter().copied().filter(|id| id.is_offered())
    }

    /// The parameter the strategy takes, if any.
    pub const fn parameter(self) -> Option<Parameter> {
        self.row().parameter
    }
}

/// Why a text is no strategy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpecError {
    /// No strategy has this name.
    Unknown,
    /// The strategy takes no (further) parameter.
    TooMany(StrategyId),
    /// The parameter is no number in its range.
    Bad(StrategyId, Parameter),
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpecError::Unknown => {
                f.write_str("there is no such strategy; there are: ")?;
                for (index, id) in StrategyId::offered().enumerate() {
                    write!(f, "{}{}", if index > 0 { ", " } else { "" }, id.name())?;
                }
                Ok(())
            }
            SpecError::TooMany(id) => match id.parameter() {
                Some(parameter) => write!(f, "`{}` takes one parameter, its {}", id.name(), parameter.name),
                None => write!(f, "`{}` takes no parameter", id.name()),
            },
            SpecError::Bad(id, Parameter { name, least, most }) => {
                write!(f, "the parameter of `{}` is its {name}, a number from {least} to {most}", id.name())
            }
        }
    }
}

impl core::error::Error for SpecError {}

impl Spec {
    /// A strategy with its defaults.
    pub const fn of(id: StrategyId) -> Spec {
        Spec { id, params: [0; OWN_PARAMS] }
    }

    /// The strategy in a text such as `pct:3`.
    ///
    /// # Errors
    /// Why it is none.
    pub fn parse(text: &str) -> Result<Spec, SpecError> {
        let mut words = text.split(':');
        let name = words.next().unwrap_or_default();
        StrategyId::from_name(name).filter(|id| id.is_offered()).ok_or(SpecError::Unknown)?;
        Spec::from_words(name, words)
    }

    /// The strategy with this name and these parameters, as a schedule has it.
    ///
    /// # Errors
    /// Why there is none.
    pub fn from_words<'a>(name: &str, words: impl Iterator<Item = &'a str>) -> Result<Spec, SpecError> {
        let kept = |id: &StrategyId| *id != StrategyId::Directed;
        let mut spec = Spec::of(StrategyId::from_name(name).filter(kept).ok_or(SpecError::Unknown)?);
        for (index, word) in words.enumerate() {
            let parameter = spec.id.parameter().filter(|_| index == 0).ok_or(SpecError::TooMany(spec.id))?;
            let digits = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
            let value = word
                .parse()
                .ok()
                .filter(|value| digits && (parameter.least..=parameter.most).contains(value));
            spec.params[index] = value.ok_or(SpecError::Bad(spec.id, parameter))?;
        }
        Ok(spec)
    }

    /// The parameters that are set.
    pub fn set_params(&self) -> &[u64] {
        let used = self.params.iter().rposition(|&param| param != 0).map_or(0, |last| last + 1);
        &self.params[..used]
    }

    /// All parameters as a plan has them.
    pub fn plan_params(&self, in_order: bool) -> [u64; 8] {
        let mut params = [0; 8];
        params[..OWN_PARAMS].copy_from_slice(&self.params);
        params[crate::IN_ORDER] = u64::from(in_order);
        params
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id.name())?;
        self.set_params().iter().try_for_each(|param| write!(f, ":{param}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn what_is_written_is_read() {
        for text in
            ["random", "random:8", "uniform", "pct", "pct:5", "delay:1", "round-robin:4", "rff", "rff:3"]
        {
            assert_eq!(Spec::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Spec::parse("pct:3").unwrap().params[0], 3);
    }

    #[test]
    fn what_is_wrong_is_told() {
        let message = |text: &str| Spec::parse(text).unwrap_err().to_string();
        assert!(message("psychic").contains("there are: random, "));
        assert!(message("pos:3").contains("takes no parameter"));
        assert!(message("pct:3:4").contains("one parameter, its depth"));
        for text in ["pct:", "pct:0", "pct:x", "pct:+3", "pct:99999999999999999999", "pct:-1"] {
            assert!(message(text).contains("a number from 1 to"), "{text}: {}", message(text));
        }
    }
}
