//! Every strategy that a user may ask for has its page and its line in the list.

use std::fs;
use threadbare_strategy::StrategyId;
use threadbare_tests::tool;

#[test]
fn every_strategy_has_its_page() {
    let docs = tool::root().join("docs");
    let list = fs::read_to_string(docs.join("strategies.md")).expect("the list of strategies");
    let mut pages = 0;
    for id in StrategyId::offered() {
        let name = id.name();
        let page = format!("strategies/{name}.md");
        let text = fs::read_to_string(docs.join(&page)).unwrap_or_else(|error| panic!("{page}: {error}"));
        assert!(text.contains(name), "{page} does not speak of {name}");
        assert!(list.contains(&format!("({page})")), "docs/strategies.md does not lead to {page}");
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
