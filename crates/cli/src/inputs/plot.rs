//! Shown iroots against tests, a line for each policy, as SVG.

use std::fmt::Write;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
const EDGE: f64 = 50.0;
const COLOURS: [&str; 3] = ["#1f77b4", "#d62728", "#2ca02c"];

/// The picture: a name and the iroots shown after each test, for each line.
pub(crate) fn svg(lines: &[(&str, &[u64])]) -> String {
    let tests = lines.iter().map(|(_, line)| line.len()).max().unwrap_or(0).max(1);
    let most = lines.iter().flat_map(|(_, line)| line.iter().copied()).max().unwrap_or(0).max(1);
    let x = |test: usize| EDGE + (WIDTH - 2.0 * EDGE) * test as f64 / tests as f64;
    let y = |shown: u64| HEIGHT - EDGE - (HEIGHT - 2.0 * EDGE) * shown as f64 / most as f64;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <path d=\"M{EDGE} {EDGE}V{}H{}\" fill=\"none\" stroke=\"black\"/>\n",
        HEIGHT - EDGE,
        WIDTH - EDGE
    );
    let middle = WIDTH / 2.0;
    let _ = writeln!(
        out,
        "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">tests (to {tests})</text>",
        HEIGHT - 15.0
    );
    let _ = writeln!(out, "<text x=\"{EDGE}\" y=\"{}\">iroots shown (to {most})</text>", EDGE - 15.0);
    for (at, (name, line)) in lines.iter().enumerate() {
        let colour = COLOURS[at % COLOURS.len()];
        let mut points = format!("{:.1},{:.1}", x(0), y(0));
        for (test, &shown) in line.iter().enumerate() {
            let _ = write!(points, " {:.1},{:.1}", x(test + 1), y(shown));
        }
        let _ = writeln!(
            out,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>"
        );
        let row = EDGE + 16.0 * at as f64;
        let _ =
            writeln!(out, "<text x=\"{}\" y=\"{row}\" fill=\"{colour}\">{name}</text>", WIDTH - EDGE - 60.0);
    }
    out.push_str("</svg>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::svg;

    #[test]
    fn each_policy_has_a_line() {
        let picture = svg(&[("art1", &[5, 9]), ("random", &[2, 4, 9]), ("art2", &[])]);
        assert_eq!(picture.matches("<polyline").count(), 3);
        assert!(
            picture.contains(">art1<")
                && picture.contains("tests (to 3)")
                && picture.contains("shown (to 9)")
        );
    }
}
