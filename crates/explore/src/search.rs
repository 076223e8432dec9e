//! What makes the runs of a campaign, as users write it: `portfolio`, or one strategy such as `pct:3`.

use std::fmt;
use threadbare_strategy::spec::SpecError;
use threadbare_strategy::{Spec, StrategyId};

/// The name of the portfolio on the command line.
const PORTFOLIO: &str = "portfolio";

/// Who decides in a campaign's runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Search {
    /// Several strategies, by what each has lately brought.
    #[default]
    Portfolio,
    /// One strategy in every run.
    Strategy(Spec),
}

/// Why a text names no search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SearchError {
    /// Nothing has this name.
    Unknown,
    /// The portfolio takes no parameter.
    Parameter,
    /// It is no strategy.
    Strategy(SpecError),
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SearchError::Unknown => {
                f.write_str("there is no such strategy; there are: ")?;
                let names: Vec<&str> = Search::offered().map(|(name, _)| name).collect();
                f.write_str(&names.join(", "))
            }
            SearchError::Parameter => write!(f, "`{PORTFOLIO}` takes no parameter"),
            SearchError::Strategy(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SearchError {}

impl Search {
    /// The search in a text such as `pct:3`.
    ///
    /// # Errors
    /// Why it is none.
    pub fn parse(text: &str) -> Result<Search, SearchError> {
        if text == PORTFOLIO {
            return Ok(Search::Portfolio);
        }
        match Spec::parse(text) {
            Ok(spec) => Ok(Search::Strategy(spec)),
            Err(_) if text.split(':').next() == Some(PORTFOLIO) => Err(SearchError::Parameter),
            Err(SpecError::Unknown) => Err(SearchError::Unknown),
            Err(error) => Err(SearchError::Strategy(error)),
        }
    }

    /// All that a user may ask for: names, and a line for the help.
    pub fn offered() -> impl Iterator<Item = (&'static str, &'static str)> {
        let portfolio = (PORTFOLIO, "all of the following, by what each has lately brought");
        std::iter::once(portfolio).chain(StrategyId::offered().map(|id| (id.name(), id.summary())))
    }

    /// Whether a planner chooses every run by those before it.
    pub fn is_planner(&self) -> bool {
        matches!(self, Search::Strategy(spec) if spec.id.is_planner())
    }

    /// The strategy of runs that are none of the search's own.
    pub(crate) fn plain(&self) -> Spec {
        match self {
            Search::Portfolio => Spec::of(StrategyId::Random),
            Search::Strategy(spec) => *spec,
        }
    }
}

impl fmt::Display for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Search::Portfolio => f.write_str(PORTFOLIO),
            Search::Strategy(spec) => spec.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for text in ["portfolio", "random", "pct:5", "rff"] {
            assert_eq!(Search::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Search::default(), Search::Portfolio);
    }

    #[test]
    fn what_is_wrong_is_told() {
        let message = |text: &str| Search::parse(text).unwrap_err().to_string();
        assert!(message("psychic").contains("there are: portfolio, random, "));
        assert!(message("directed").contains("no such strategy"));
        assert!(message("portfolio:3").contains("`portfolio` takes no parameter"));
        assert!(message("pct:x").contains("a number from 1 to"));
    }
}
