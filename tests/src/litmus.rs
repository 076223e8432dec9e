//! Litmus tests of the memory model: what C11 allows and what it forbids, made from shapes and orders.
//!
//! A test is a line of scripts for `programs/model/litmus.{c,cc,rs}` and the outcome that is asked for. The letters of orders are
//! `r` (relaxed), `a` (acquire), `l` (release), `q` (acquire and release) and `s` (sequentially consistent). Whether an outcome is
//! allowed is said by each shape's rule, after the C and C++ standards; where C11 and C++20 differ, neither is asked for.

/// What becomes of an outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// Some run shows it.
    Allowed,
    /// No run may show it.
    Forbidden,
    /// C11 allows it, and no run shows it: it needs a load that sees what comes of its own strand's later store.
    LeftOut,
}

/// One test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Litmus {
    /// Its shape and its orders.
    pub name: String,
    /// What becomes of the outcome.
    pub rule: Rule,
    /// The outcome, as the programs take it.
    pub outcome: String,
    /// What each strand does.
    pub strands: Vec<String>,
}

fn rule(forbidden: bool) -> Rule {
    if forbidden { Rule::Forbidden } else { Rule::Allowed }
}

/// Puts orders in the place of the digits `1` to `9` behind `%`.
fn fill(shape: &str, orders: &[char]) -> Vec<String> {
    let mut text = shape.to_owned();
    for (at, order) in orders.iter().enumerate() {
        text = text.replace(&format!("%{}", at + 1), &order.to_string());
    }
    text.split(' ').map(str::to_owned).collect()
}

struct Table(Vec<Litmus>);

impl Table {
    fn add(&mut self, name: &str, shape: &str, orders: &[char], outcome: &str, rule: Rule) {
        let strands = fill(shape, orders);
        let orders: String = orders.iter().collect();
        let name = if orders.is_empty() { name.to_owned() } else { format!("{name}+{orders}") };
        self.0.push(Litmus { name, rule, outcome: outcome.to_owned(), strands });
    }
}

fn releases(order: char) -> bool {
    matches!(order, 'l' | 'q' | 's')
}

fn acquires(order: char) -> bool {
    matches!(order, 'a' | 'q' | 's')
}

const STORES: [char; 3] = ['r', 'l', 's'];
const LOADS: [char; 3] = ['r', 'a', 's'];
const FENCES: [char; 4] = ['a', 'l', 'q', 's'];

/// All tests.
pub fn table() -> Vec<Litmus> {
    let mut table = Table(Vec::new());
    two_orders(&mut table);
    fences(&mut table);
    chains(&mut table);
    coherence(&mut table);
    let count = table.0.len();
    table.0.dedup_by(|a, b| a.name == b.name);
    assert_eq!(table.0.len(), count, "two tests have one name");
    table.0
}

/// Shapes with one order for stores and one for loads.
fn two_orders(table: &mut Table) {
    for store in STORES {
        for load in LOADS {
            let orders = [store, load];
            let total = store == 's' && load == 's';
            let pair = releases(store) && acquires(load);
            table.add("sb", "Wx%11Ry%2 Wy%11Rx%2", &orders, "00", rule(total));
            table.add("mp", "Wxr1Wy%11 Ry%2Rxr", &orders, "10", rule(pair));
            let lb = if pair { Rule::Forbidden } else { Rule::LeftOut };
            table.add("lb", "Rx%2Wy%11 Ry%2Wx%11", &orders, "11", lb);
            // Sequentially consistent loads of other stores: C11 and C++20 differ, or the total order is not that of the run.
            if load != 's' || store == 's' {
                table.add("iriw", "Wx%11 Wy%11 Rx%2Ry%2 Ry%2Rx%2", &orders, "1010", rule(total));
                table.add("wrc", "Wx%11 Rx%2Wy%11 Ry%2Rx%2", &orders, "110", rule(pair));
            }
            table.add("isa2", "Wxr1Wy%11 Ry%2Wz%11 Rz%2Rxr", &orders, "110", rule(pair));
            table.add("s", "Wxr2Wy%11 Ry%2Wxr1", &orders, "1:2", rule(pair));
            table.add("r", "Wx%11Wy%11 Wy%12Rx%2", &orders, "0:.2", rule(total));
            // A read-modify-write carries a release sequence on.
            table.add("rs", "Wxr1Wy%11 Ayr1 Ry%2Rxr", &orders, "120", rule(pair));
            table.add("rs-broken", "Wxr1Wy%11 Wyr2 Ry%2Rxr", &orders, "20", Rule::Allowed);
        }
        table.add("2+2w", "Wx%11Wy%12 Wy%11Wx%12", &[store], ":11", rule(store == 's'));
    }
    for order in ['r', 'a', 'l', 'q', 's'] {
        table.add("rmw", "Ax%11 Ax%11", &[order], "00", Rule::Forbidden);
        table.add("sb-rmw", "Ax%11Ryr Ay%11Rxr", &[order], "0000", Rule::Allowed);
        table.add("mp-rmw", "Wxr1Ay%11 RyaRxr", &[order], "010", rule(releases(order)));
        table.add("mp-rmw-load", "Wxr1Wyl1 Ay%11Rxr", &[order], "10", rule(acquires(order)));
    }
}

fn fences(table: &mut Table) {
    for one in FENCES {
        for other in FENCES {
            let total = one == 's' && other == 's';
            let pair = releases(one) && acquires(other);
            table.add("sb-fences", "Wxr1F%1Ryr Wyr1F%2Rxr", &[one, other], "00", rule(total));
            table.add("mp-fences", "Wxr1F%1Wyr1 RyrF%2Rxr", &[one, other], "10", rule(pair));
        }
        table.add("sb-one-fence", "Wxr1F%1Ryr Wyr1Rxr", &[one], "00", Rule::Allowed);
        table.add("sb-fence-sc", "Wxr1F%1Ryr Wys1Rxs", &[one], "00", rule(one == 's'));
        table.add("mp-fence-load", "Wxr1F%1Wyr1 RyaRxr", &[one], "10", rule(releases(one)));
        table.add("mp-store-fence", "Wxr1Wyl1 RyrF%1Rxr", &[one], "10", rule(acquires(one)));
        table.add("iriw-fences", "Wxr1 Wyr1 RxrF%1Ryr RyrF%1Rxr", &[one], "1010", rule(one == 's'));
        table.add("2+2w-fences", "Wxr1F%1Wyr2 Wyr1F%1Wxr2", &[one], ":11", rule(one == 's'));
        table.add("r-fences", "Wxr1F%1Wyr1 Wyr2F%1Rxr", &[one], "0:.2", rule(one == 's'));
    }
}

/// Chains through several strands, and sequences.
fn chains(table: &mut Table) {
    let forbidden = [
        // What a strand has seen it publishes, too.
        ("wrc-seen", "Wxr1 RxrWyl1 RyaRxr", "110"),
        // C11's release sequence has the strand's own relaxed stores.
        ("rs-own", "Wxr1Wyl1Wyr2 RyaRxr", "20"),
        ("rs-two", "Wxr1Wyl1 Ayr1 Ayr1 RyaRxr", "1230"),
    ];
    for (name, strands, outcome) in forbidden {
        table.add(name, strands, &[], outcome, Rule::Forbidden);
    }
}

fn coherence(table: &mut Table) {
    for (store, load) in [('r', 'r'), ('l', 'a'), ('s', 's')] {
        let orders = [store, load];
        let mut add = |name: &str, shape: &str, outcome: &str, rule| {
            table.add(name, shape, &orders, outcome, rule);
        };
        for outcome in ["21", "20", "10"] {
            add(&format!("corr-{outcome}"), "Wx%11Wx%12 Rx%2Rx%2", outcome, Rule::Forbidden);
        }
        for outcome in ["01", "12", "02"] {
            add(&format!("corr-{outcome}"), "Wx%11Wx%12 Rx%2Rx%2", outcome, Rule::Allowed);
        }
        add("corr-two", "Wx%11 Wx%12 Rx%2Rx%2 Rx%2Rx%2", "1221", Rule::Forbidden);
        add("cowr", "Wx%11Rx%2 Wx%12", "2:1", Rule::Forbidden);
        add("cowr-own", "Wx%11Rx%2 Wx%12", "0", Rule::Forbidden);
        add("corw", "Rx%2Wx%11 Wx%12", "2:2", Rule::Forbidden);
        add("coww", "Wx%11Wx%12 Rx%2", ".:1", Rule::Forbidden);
    }
    table.add("coww-hb", "Wxr1Wyl1 RyaWxr2", &[], "1:1", Rule::Forbidden);
    table.add("coww-no-hb", "Wxr1Wyr1 RyrWxr2", &[], "1:1", Rule::Allowed);
    table.add("corr-hb", "Wxr1 RxrWyl1 RyaRxr", &[], "110", Rule::Forbidden);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_every_shape_in_every_order() {
        let table = table();
        let count = |prefix: &str| table.iter().filter(|it| it.name.starts_with(prefix)).count();
        assert_eq!((count("sb+"), count("mp+"), count("sb-fences+"), count("rmw+")), (9, 9, 16, 5));
        assert!(table.iter().any(|it| it.name == "sb+ss" && it.rule == Rule::Forbidden));
        assert!(table.iter().any(|it| it.name == "sb+sr" && it.rule == Rule::Allowed));
    }
}
