//! Values of options, read from text.

use std::time::Duration;
use threadbare_abi::layout::PointMode;
use threadbare_explore::Search;

/// A time such as `30s`, `500ms`, `2m`, `1h` or `1.5` (seconds).
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let seconds = match unit {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("expected a time such as 30s, 500ms, 2m or 1h".to_owned()),
    };
    let number: f64 =
        number.trim().parse().map_err(|_| "expected a time such as 30s, 500ms, 2m or 1h".to_owned())?;
    match Duration::try_from_secs_f64(number * seconds) {
        Ok(time) if !time.is_zero() => Ok(time),
        _ => Err("expected a time above 0".to_owned()),
    }
}

/// A number of runs, at least one.
pub(crate) fn runs(text: &str) -> Result<u64, String> {
    match text.replace('_', "").parse() {
        Ok(0) => Err("a campaign of 0 runs finds nothing; try 1000".to_owned()),
        Ok(runs) => Ok(runs),
        Err(_) => Err("expected a number of runs such as 1000".to_owned()),
    }
}

/// A strategy with its parameters, or the portfolio.
pub(crate) fn strategy(text: &str) -> Result<Search, String> {
    Search::parse(text).map_err(|error| error.to_string())
}

/// The strategies, a line each.
pub(crate) fn strategy_help() -> String {
    let mut help = "Who decides which strand goes on:\n".to_owned();
    for (name, summary) in Search::offered() {
        help.push_str(&format!("\n  {name:<12} {summary}"));
    }
    help
}

/// A point mode's name.
pub(crate) fn points(text: &str) -> Result<PointMode, String> {
    PointMode::from_name(text).ok_or_else(|| "expected `shared`, `sync` or `all`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        assert_eq!(duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("1.5"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        for bad in ["", "s", "0", "-1s", "1d", "1e400", "nan", "5 s x"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn no_runs_is_no_campaign() {
        assert_eq!(runs("1_000"), Ok(1000));
        assert!(runs("0").unwrap_err().contains("0 runs"));
        assert!(runs("-1").is_err());
    }
}
