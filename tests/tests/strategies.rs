//! A strategy is one file, one row, one page: every strategy that a user may ask for has its page, every file its row.

use std::fs;
use threadbare_strategy::StrategyId;
use threadbare_tests::tool;

#[test]
fn every_strategy_has_its_page() {
    let docs = tool::root().join("docs");
    let list = fs::read_to_string(docs.join("strategies.md")).expect("the list of strategies");
    assert!(list.contains("(strategies/)"), "docs/strategies.md does not lead to the pages");
    let mut pages = 0;
    for id in StrategyId::offered() {
        let name = id.name();
        let page = format!("strategies/{name}.md");
        let text = fs::read_to_string(docs.join(&page)).unwrap_or_else(|error| panic!("{page}: {error}"));
        assert!(text.contains(name), "{page} does not speak of {name}");
        if let Some(parameter) = id.parameter() {
            let shown = format!("{name}:");
            assert!(
                list.contains(&shown) || text.contains(&shown),
                "{page} shows no `{shown}{}`",
                parameter.least
            );
        }
        pages += 1;
    }
    assert!(pages > 10, "only {pages} strategies are offered");
}

#[test]
fn every_file_has_its_row() {
    let source = tool::root().join("crates/strategy/src");
    let registry = fs::read_to_string(source.join("registry.rs")).expect("the registry");
    let files = fs::read_dir(source.join("registry")).expect("the strategies").flatten();
    let mut count = 0;
    for file in files.map(|entry| entry.path()) {
        let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
        let is_named = ["(", "<"].iter().any(|before| registry.contains(&format!("{before}{name}::")));
        assert!(is_named, "{name}.rs has no row in the registry");
        count += 1;
    }
    assert!(count > 10, "only {count} files");
    // Nobody else asks which strategy it is: what a strategy is made of is named by its row alone.
    let library = fs::read_to_string(source.join("lib.rs")).expect("the library");
    assert!(library.contains("pub use registry::*;"), "the library names strategies one by one");
}
