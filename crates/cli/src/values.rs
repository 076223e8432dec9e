//! Values of options, read from text.

use std::num::NonZeroUsize;
use std::time::Duration;
use threadbare_abi::fault::Faults;
use threadbare_abi::layout::{MemoryModel, PointMode};
use threadbare_explore::Search;

/// Times that are added to the clock's must not go beyond its end.
const MOST_TIME: Duration = Duration::from_secs(100 * 366 * 24 * 3600);

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
        Ok(time) if time > MOST_TIME => Err("expected a time of at most 100 years".to_owned()),
        Ok(time) if !time.is_zero() => Ok(time),
        Err(_) if number > 0.0 => Err("expected a time of at most 100 years".to_owned()),
        _ => Err("expected a time above 0".to_owned()),
    }
}

/// A time, or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TimeOrOff(pub(crate) Option<Duration>);

/// A time, or `off`.
pub(crate) fn time_or_off(text: &str) -> Result<TimeOrOff, String> {
    match text {
        "off" | "0" | "0s" => Ok(TimeOrOff(None)),
        text => match duration(text) {
            Ok(time) => Ok(TimeOrOff(Some(time))),
            Err(why) => Err(format!("{why}, or `off`")),
        },
    }
}

/// Groups of faults, with commas between.
pub(crate) fn faults(text: &str) -> Result<Faults, String> {
    Faults::parse(text).ok_or_else(|| {
        let names: Vec<&str> = Faults::GROUPS.iter().map(|(name, _)| *name).collect();
        format!("expected none, all, or some of {} with commas between", names.join(", "))
    })
}

/// A number of runs, at least one.
pub(crate) fn runs(text: &str) -> Result<u64, String> {
    match text.replace('_', "").parse() {
        Ok(0) => Err("a campaign of 0 runs finds nothing; try 1000".to_owned()),
        Ok(runs) => Ok(runs),
        Err(_) => Err("expected a number of runs such as 1000".to_owned()),
    }
}

/// More jobs than that are of no use on any machine, and each is a process with memory of its own.
const MOST_JOBS: usize = 1024;

/// A number of jobs.
pub(crate) fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    match text.parse::<NonZeroUsize>() {
        Ok(jobs) if jobs.get() <= MOST_JOBS => Ok(jobs),
        _ => Err(format!("expected a number of jobs from 1 to {MOST_JOBS}")),
    }
}

/// A number between two, both of them included.
pub(crate) fn between<T: TryFrom<u64>>(
    low: u64,
    high: u64,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.replace('_', "").parse().ok().filter(|number| (low..=high).contains(number));
        let most = if high == u64::MAX { "on".to_owned() } else { format!("to {high}") };
        let value = number.and_then(|number| T::try_from(number).ok());
        value.ok_or_else(|| format!("expected a number from {low} {most}"))
    }
}

/// A number that is not negative.
pub(crate) fn number(text: &str) -> Result<u64, String> {
    text.replace('_', "").parse().map_err(|_| format!("expected a number from 0 to {}", u64::MAX))
}

/// A number of bytes such as `512M`, `2G` or `4096`.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let wrong = || "expected a size such as 512M, 2G or 4096".to_owned();
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let shift = match unit.to_ascii_lowercase().trim_end_matches("ib").trim_end_matches('b') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return Err(wrong()),
    };
    let number: u64 = number.trim().replace('_', "").parse().map_err(|_| wrong())?;
    number.checked_mul(1 << shift).ok_or_else(wrong)
}

/// A chance such as `0.1%`, `1/1000` or `0.001`.
pub(crate) fn chance(text: &str) -> Result<f64, String> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let chance = match (text.strip_suffix('%'), text.split_once('/')) {
        (Some(percent), _) => number(percent).map(|percent| percent / 100.0),
        (None, Some((one, of))) => number(one).zip(number(of)).map(|(one, of)| one / of),
        (None, None) => number(text),
    };
    match chance {
        Some(chance) if chance > 0.0 && chance < 1.0 => Ok(chance),
        _ => Err("expected a chance between 0 and 1, such as 0.1%, 1/1000 or 0.001".to_owned()),
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

/// A memory model's name.
pub(crate) fn model(text: &str) -> Result<MemoryModel, String> {
    MemoryModel::from_name(text).ok_or_else(|| "expected `sc`, `tso` or `c11`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        let read = ["4096", "512M", "2G", "1KiB", "3mb", "0"].map(|text| size(text).unwrap());
        assert_eq!(read, [4096, 512 << 20, 2 << 30, 1024, 3 << 20, 0]);
        for wrong in ["", "G", "1.5G", "-1", "2X", "99999999T"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_are_read() {
        assert_eq!(duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("1.5"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        for bad in ["", "s", "0", "-1s", "1d", "1e400", "nan", "5 s x"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
        for long in ["9999999999999", "99999999999999999999999999h"] {
            assert!(duration(long).is_err_and(|why| why.contains("100 years")), "{long}");
        }
    }

    #[test]
    fn chances_are_read() {
        for text in ["0.1%", "1/1000", "0.001", " 0.1 %"] {
            assert!(chance(text).is_ok_and(|chance| (chance - 0.001).abs() < 1e-12), "{text}");
        }
        for bad in ["", "0", "0%", "100%", "1", "2", "-1%", "1/0", "0/5", "nan", "inf%", "x"] {
            assert!(chance(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn numbers_have_bounds() {
        assert_eq!(jobs("8").map(NonZeroUsize::get), Ok(8));
        for bad in ["0", "-1", "100000", "x", ""] {
            assert!(jobs(bad).is_err_and(|why| why.contains("from 1 to")), "{bad}");
        }
        let few = between::<u8>(2, 64);
        assert_eq!((few("2"), few("64")), (Ok(2), Ok(64)));
        for bad in ["1", "65", "-3", "x", "", "300"] {
            assert!(few(bad).is_err_and(|why| why.contains("from 2 to 64")), "{bad}");
        }
        assert_eq!(number("7_000"), Ok(7000));
        assert!(number("-1").is_err() && number("99999999999999999999").is_err());
    }

    #[test]
    fn a_time_may_be_off() {
        assert_eq!(time_or_off("off"), Ok(TimeOrOff(None)));
        assert_eq!(time_or_off("3s"), Ok(TimeOrOff(Some(Duration::from_secs(3)))));
        assert!(time_or_off("never").unwrap_err().ends_with("or `off`"));
    }

    #[test]
    fn no_runs_is_no_campaign() {
        assert_eq!(runs("1_000"), Ok(1000));
        assert!(runs("0").unwrap_err().contains("0 runs"));
        assert!(runs("-1").is_err());
    }
}
