//! Plots as SVG: bars beside each other, and lines over a logarithmic scale.

use std::fmt::Write;

const COLOURS: [&str; 6] = ["#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2"];
const WIDTH: f64 = 760.0;
const LEFT: f64 = 110.0;
const RIGHT: f64 = 40.0;

/// A name and its values; `None` is what was not measured.
pub(super) type Series = (String, Vec<Option<f64>>);

fn head(height: f64, title: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"16\" y=\"24\" font-size=\"15\" font-weight=\"bold\">{title}</text>\n"
    )
}

/// The names of the lines or bars, in a row above the plot.
fn legend(svg: &mut String, series: &[Series]) {
    let mut at = 16.0;
    for ((name, _), colour) in series.iter().zip(COLOURS) {
        let _ = writeln!(svg, "<rect x=\"{at:.0}\" y=\"36\" width=\"11\" height=\"11\" fill=\"{colour}\"/>");
        let _ = writeln!(svg, "<text x=\"{:.0}\" y=\"46\">{name}</text>", at + 16.0);
        at += 30.0 + 6.6 * name.len() as f64;
    }
}

/// Where decades begin and end that hold all values.
fn decades(values: impl Iterator<Item = f64>) -> (i32, i32) {
    let (mut low, mut high) = (f64::MAX, f64::MIN_POSITIVE);
    for value in values.filter(|value| *value > 0.0) {
        (low, high) = (low.min(value), high.max(value));
    }
    let (low, high) = (low.min(high).log10().floor() as i32, high.log10().ceil() as i32);
    (low, high.max(low + 1))
}

/// A number as short as it can be told.
pub(super) fn short(value: f64) -> String {
    match value {
        _ if value >= 1e6 => format!("{}M", short(value / 1e6)),
        _ if value >= 1e4 => format!("{}k", short(value / 1e3)),
        _ if value >= 100.0 || value == value.round() => format!("{value:.0}"),
        _ if value >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// A group of bars for each name, each as long as the logarithm of its value.
pub(super) fn bars(title: &str, names: &[&str], series: &[Series]) -> String {
    let thick = 13.0;
    let group = thick * series.len() as f64 + 14.0;
    let height = 64.0 + group * names.len() as f64 + 30.0;
    let (low, high) = decades(series.iter().flat_map(|(_, values)| values.iter().flatten().copied()));
    let per_decade = (WIDTH - LEFT - RIGHT - 30.0) / f64::from(high - low);
    let x = |value: f64| LEFT + (value.log10() - f64::from(low)).max(0.0) * per_decade;
    let mut svg = head(height, title);
    legend(&mut svg, series);
    for decade in low..=high {
        let (value, bottom) = (10f64.powi(decade), height - 28.0);
        let at = x(value);
        let _ = writeln!(svg, "<path d=\"M{at:.1} 58V{bottom}\" stroke=\"#ddd\"/>");
        let _ = writeln!(
            svg,
            "<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            bottom + 16.0,
            short(value)
        );
    }
    for (row, name) in names.iter().enumerate() {
        let top = 64.0 + group * row as f64;
        let middle = top + thick * series.len() as f64 / 2.0 + 4.0;
        let _ =
            writeln!(svg, "<text x=\"{}\" y=\"{middle:.1}\" text-anchor=\"end\">{name}</text>", LEFT - 10.0);
        for (at, ((_, values), colour)) in series.iter().zip(COLOURS).enumerate() {
            let top = top + thick * at as f64;
            let Some(value) = values.get(row).copied().flatten() else { continue };
            let long = (x(value) - LEFT).max(1.0);
            let _ = writeln!(
                svg,
                "<rect x=\"{LEFT}\" y=\"{top:.1}\" width=\"{long:.1}\" height=\"{}\" fill=\"{colour}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" font-size=\"10\">{}</text>",
                thick - 2.0,
                LEFT + long + 4.0,
                top + thick - 3.5,
                short(value)
            );
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// Lines over points of a logarithmic scale, with logarithmic heights.
pub(super) fn lines(title: &str, across: &str, points: &[f64], series: &[Series]) -> String {
    let (height, top, bottom) = (360.0, 64.0, 310.0);
    let (low, high) = decades(series.iter().flat_map(|(_, values)| values.iter().flatten().copied()));
    let (first, last) = (points.first().copied().unwrap_or(1.0), points.last().copied().unwrap_or(1.0));
    let wide = (last / first).log10().max(f64::MIN_POSITIVE);
    let x = |point: f64| LEFT + (WIDTH - LEFT - RIGHT) * (point / first).log10() / wide;
    let y = |value: f64| bottom - (bottom - top) * (value.log10() - f64::from(low)) / f64::from(high - low);
    let mut svg = head(height, title);
    legend(&mut svg, series);
    for decade in low..=high {
        let (value, right) = (10f64.powi(decade), WIDTH - RIGHT);
        let at = y(value);
        let _ = writeln!(svg, "<path d=\"M{LEFT} {at:.1}H{right}\" stroke=\"#ddd\"/>");
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            at + 4.0,
            short(value)
        );
    }
    for &point in points {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            x(point),
            bottom + 18.0,
            short(point)
        );
    }
    for ((_, values), colour) in series.iter().zip(COLOURS) {
        let known: Vec<(f64, f64)> = points
            .iter()
            .zip(values)
            .filter_map(|(&point, value)| value.map(|value| (x(point), y(value))))
            .collect();
        let path: Vec<String> = known.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let path = path.join(" ");
        let _ = writeln!(
            svg,
            "<polyline points=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>"
        );
        for (x, y) in known {
            let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>");
        }
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.0}\" y=\"{}\" text-anchor=\"middle\">{across}</text>",
        (LEFT + WIDTH - RIGHT) / 2.0,
        height - 12.0
    );
    svg.push_str("</svg>\n");
    svg
}

#[cfg(test)]
mod tests {
    use super::{bars, lines, short};

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [0.25, 1.0, 12.34, 456.0, 1e4, 2.5e7].map(short),
            ["0.25", "1", "12.3", "456", "10k", "25M"]
        );
    }

    #[test]
    fn what_was_not_measured_has_no_bar() {
        let svg = bars(
            "t",
            &["one", "two"],
            &[("a".into(), vec![Some(1.0), None]), ("b".into(), vec![Some(5.0), Some(9.0)])],
        );
        assert_eq!(svg.matches("font-size=\"10\"").count(), 3);
    }

    #[test]
    fn lines_stay_within_the_picture() {
        let svg =
            lines("t", "x", &[1.0, 10.0, 1000.0], &[("a".into(), vec![Some(0.5), Some(5.0), Some(99.0)])]);
        let path = svg.split("points=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
        let points: Vec<f64> = path.split([' ', ',']).filter_map(|part| part.parse().ok()).collect();
        assert_eq!(points.len(), 6);
        assert!(points.iter().all(|at| (0.0..=760.0).contains(at)), "{path}");
    }
}
