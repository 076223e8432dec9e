use super::*;

fn finding(lines: &[&str]) -> Finding {
    let lines = lines.iter().map(|&line| line.to_owned()).collect();
    Finding { sources: vec![SourceText { file: "bank.c".into(), line: 8, lines }], ..Finding::default() }
}

fn mark(line: u32, name: &str, label: &str, main: bool) -> Mark {
    Mark {
        file: "bank.c".into(),
        line,
        function: Some("deposit".into()),
        name: (!name.is_empty()).then(|| name.to_owned()),
        label: label.into(),
        main,
        ..Mark::default()
    }
}

fn shown(lines: &[&str], marks: &[Mark], width: usize) -> String {
    let finding = finding(lines);
    let mut out = String::new();
    excerpts(&mut out, marks, Sources::of(&finding), Screen { width, ..Screen::PLAIN });
    for line in out.lines() {
        assert!(crate::columns::width(line) <= width, "{line}");
    }
    out
}

const BANK: &[&str] = &[
    "static void *deposit(void *amount) {",
    "    int before = balance;",
    "    balance = before + *(int *)amount;",
    "    return NULL;",
    "}",
];

#[test]
fn two_near_places_share_an_excerpt() {
    let marks = [
        mark(10, "balance", "write by strand 0.2, holding nothing", true),
        mark(9, "balance", "earlier read by strand 0.1, holding nothing", false),
    ];
    insta::assert_snapshot!(shown(BANK, &marks, 80));
    insta::assert_snapshot!(shown(BANK, &marks, 40));
}

#[test]
fn one_place_of_two_strands_is_marked_once() {
    let marks =
        [mark(10, "", "write by strand 0.2", true), mark(10, "", "earlier write by strand 0.1", false)];
    insta::assert_snapshot!(shown(BANK, &marks, 80));
}

#[test]
fn long_lines_tabs_and_wide_characters() {
    let lines = [
        "",
        "\tif (long_enough_to_fill_the_screen(first, second, third)) { printf(\"%d\", balance); }",
        "\t余额 = 余额 + 1; // 余额",
        "",
    ];
    let here = Mark { column: Some(75), ..mark(9, "balance", "read", true) };
    let wide = Mark { column: Some(2), ..mark(10, "余额", "write", true) };
    insta::assert_snapshot!(shown(&lines, &[here, wide], 40));
}

#[test]
fn without_source_there_are_place_and_label() {
    let mut gone = mark(99, "x", "write by strand 0.2, holding nothing", true);
    gone.function = Some(
        "std::vector<std::pair<long, std::string>, std::allocator<std::pair<long, std::string>>>::push_back"
            .into(),
    );
    insta::assert_snapshot!(shown(BANK, &[gone], 40));
}

#[test]
fn what_is_marked() {
    let part = |source: &str, column: Option<u32>, name: &str| {
        let mark = Mark { column, ..mark(1, name, "", true) };
        let range = span(source, &mark);
        source[range].to_owned()
    };
    assert_eq!(part("  x = y + y; // x", None, "x"), "x");
    assert_eq!(part("  x = y + y;", None, "y"), "x = y + y", "it could be either");
    assert_eq!(part("  x = y + y;", Some(11), "y"), "y");
    assert_eq!(span("  f(\"x: %d\", x);", &Mark { column: Some(3), ..mark(1, "x", "", true) }), 13..14);
    assert_eq!(part("  a->b.lock(c[1], (d))->e;", Some(3), ""), "a->b.lock(c[1], (d))");
    assert_eq!(part("  list->push_back(4);", Some(18), ""), "list->push_back(4)");
    assert_eq!(part("  let a = ACCOUNTS.lock().unwrap();", Some(20), ""), "ACCOUNTS.lock()");
    assert_eq!(part("  delete list;", Some(14), ""), "delete list", "a column that says nothing");
    assert_eq!(part("  return (long)*p;", Some(10), ""), "(long)");
    assert_eq!(part("  pthread_mutex_lock(&b); // here", Some(3), "gone"), "pthread_mutex_lock(&b)");
    assert_eq!(part("  x += 1;", Some(5), ""), "+=");
    assert_eq!(part("  *self.x += 1;", Some(3), ""), "*self.x");
    assert_eq!(part("  while (f(\"//\")) {", None, ""), "while (f(\"//\"))");
    assert_eq!(part("  } // end", Some(99), ""), "}");
    assert_eq!(part("", None, "").len(), 0);
}

mod any_source {
    use super::*;
    use proptest::prelude::*;

    fn line() -> impl Strategy<Value = String> {
        prop_oneof![
            "[ \\t\u{3000}]{0,30}[a-z_.:()\\[\\]\"'/*<>=;&-]{0,60}",
            "[ \\t]{0,4}(balance|余额|é|x|[^a-z]){0,20}",
            any::<String>(),
        ]
    }

    proptest! {
        #[test]
        fn is_shown_within_the_width(
            lines in proptest::collection::vec(line(), 1..6),
            at in 8u32..14,
            column in proptest::option::of(0u32..90),
            name in prop_oneof![Just(None), Just(Some("x".to_owned())), Just(Some("余额".to_owned())), any::<String>().prop_map(Some)],
            width in 30usize..110,
            unicode in any::<bool>(),
        ) {
            let lines: Vec<String> = lines.iter().map(|line| line.replace('\n', " ")).collect();
            let finding = Finding {
                sources: vec![SourceText { file: "bank.c".into(), line: 8, lines }],
                ..Finding::default()
            };
            let here = Mark { column, name, ..mark(at, "", "write by strand 0.2", true) };
            let other = mark(9, "x", "earlier read by strand 0.1", false);
            let mut out = String::new();
            excerpts(&mut out, &[here, other], Sources::of(&finding), Screen { width, unicode, ..Screen::PLAIN });
            for line in out.lines() {
                prop_assert!(crate::columns::width(line) <= width, "{}: {}", width, line);
            }
        }
    }
}
