//! The examples of the paper that the inference follows (Kusano, Chattopadhyay, Wang: "Dynamic Generation of Likely Invariants for Multithreaded
//! Programs"), and cousins of them, as streams: the broken invariant comes first in the ranking.

mod streams;

use streams::{Program, Run, function, int, ints, pointer};
use threadbare_invariants::{Broken, Element, Region, Shown, Side, Type, Value, Variable};

fn block(file: &str, first: u32, last: u32) -> Region {
    Region::Block { file: file.to_owned(), first, last }
}

/// What comes first, and what holds instead.
fn first(program: &Program, shown: &Run) -> Broken {
    let shown = Shown { points: &program.points, samples: &shown.samples, failure: shown.event + 5 };
    let broken = program.parts.broken(Some(shown), |_| 0);
    for line in &broken {
        println!("{} {} {:?}", line.point, line.told.statement, line.first);
    }
    broken.into_iter().next().expect("something is broken")
}

fn instead(broken: &Broken) -> String {
    broken.instead.first().map(|told| told.statement.to_string()).unwrap_or_default()
}

fn told(program: &Program, region: &Region, side: Side) -> Vec<String> {
    let point = program.parts.passing.tell_point(region, side).expect("a point with samples");
    point.told.iter().map(|told| told.statement.to_string()).collect()
}

/// Figure 3: `withdraw` reads and writes a balance in two steps. The strands see the balance at entry and exit.
#[test]
fn figure_3_a_bank_account() {
    for (start, amount) in [(400, 100), (1_000, 7)] {
        let mut program = Program::default();
        let local = Variable::new("bal", Type::I32);
        let withdraw = program.region(&function("withdraw"), &[int("::balance")], &[local]);
        let inner = program.region(&block("bank.c", 14, 16), &[int("::balance")], &[]);
        let mut failing = Run::default();
        for number in 0..40 {
            let mut run = program.begin();
            let failed = number % 4 == 3;
            let mut balance = start;
            for strand in 1..=2 {
                // A strand that is interrupted finds less at its exit than it took away itself.
                let after = if failed && strand == 2 { balance - 2 * amount } else { balance - amount };
                for region in [inner, withdraw] {
                    let now = ints(&[after, after]);
                    let now = if region == withdraw { &now[..] } else { &now[..1] };
                    run.through(strand, region, &ints(&[balance]), now);
                }
                balance = after;
            }
            program.end(&run, failed);
            if failed {
                failing = run;
            }
        }
        let broken = first(&program, &failing);
        assert_eq!(broken.told.statement.to_string(), format!("::balance == orig(::balance) - {amount}"));
        assert_eq!(instead(&broken), "::balance < orig(::balance)");
        let place = broken.first.expect("the shown run breaks it");
        assert_eq!((place.run, place.strand), (failing.number, 2));
        let values: Vec<String> =
            place.values.iter().map(|(name, value)| format!("{name} {value}")).collect();
        let (was, is) = (start - amount, start - 3 * amount);
        assert_eq!(values, [format!("::balance {is}"), format!("orig(::balance) {was}")]);
    }
}

/// Figure 5: mended, nothing is broken.
#[test]
fn figure_5_mended() {
    let mut program = Program::default();
    let withdraw = program.region(&function("withdraw"), &[int("::balance")], &[]);
    for number in 0..40 {
        let mut run = program.begin();
        for (strand, balance) in [(1, 400), (2, 300)] {
            run.through(strand, withdraw, &ints(&[balance]), &ints(&[balance - 100]));
        }
        // What fails, fails elsewhere.
        program.end(&run, number % 2 == 1);
    }
    assert_eq!(program.parts.broken(None, |_| 0), []);
}

/// Figures 2, 6 and 7: a pointer that another strand changes between its test and its use.
#[test]
fn figure_6_a_pointer() {
    for nulled in [false, true] {
        let mut program = Program::default();
        let region = block("main.c", 6, 12);
        let variables = [pointer("::p"), int("::p->a"), Variable::new("tmp", Type::Pointer)];
        let inner = program.region(&region, &variables, &[]);
        let mut failing = Run::default();
        for number in 0..60_i128 {
            let failed = number % 3 == 2;
            let mut run = program.begin();
            let was = 0x5000 + number % 7 * 64;
            let is = match (failed, nulled) {
                (false, _) => was,
                (true, false) => was + 64,
                (true, true) => 0,
            };
            let entry = ints(&[was, number % 5, was]);
            let mut now = ints(&[is, 100, was]);
            if is == 0 {
                now[1] = Value::Missing;
            }
            run.through(1, inner, &entry, &now);
            program.end(&run, failed);
            if failed {
                failing = run;
            }
        }
        assert!(told(&program, &region, Side::Enter).contains(&"::p != NULL".to_owned()));
        assert!(told(&program, &region, Side::Exit).contains(&"::p == orig(::p)".to_owned()));
        let broken = first(&program, &failing);
        assert_eq!(broken.told.statement.to_string(), "::p == orig(::p)");
        assert_eq!(broken.point.to_string(), "..main.c_6_12():::EXIT");
        assert_eq!((broken.broken_in, broken.looked_at), (8, 8));
    }
}

/// Figure 9: strands that add one to a sum.
#[test]
fn figure_9_a_counter() {
    for strands in [2, 3, 6] {
        let mut program = Program::default();
        let thread = program.region(&function("thread"), &[int("::sum")], &[]);
        let mut failing = Run::default();
        for number in 0..50_i128 {
            let failed = number % 2 == 1;
            let mut run = program.begin();
            for (sum, strand) in (0_i128..).zip(1..=strands) {
                let more = if failed && strand > 1 { 1 + (number / 2 + i128::from(strand)) % 3 } else { 1 };
                run.through(strand, thread, &ints(&[sum]), &ints(&[sum + more]));
            }
            program.end(&run, failed);
            if failed {
                failing = run;
            }
        }
        let broken = first(&program, &failing);
        assert_eq!(broken.told.statement.to_string(), "::sum == orig(::sum) + 1");
        assert_eq!(instead(&broken), "::sum > orig(::sum)");
    }
}

/// A cousin: what is added is a parameter.
#[test]
fn a_deposit_of_any_amount() {
    let mut program = Program::default();
    let amount = Variable::new("amount", Type::I32);
    let deposit = program.region(&function("deposit"), &[amount, int("::total")], &[]);
    let mut failing = Run::default();
    for number in 0..60_i128 {
        let failed = number % 3 == 0;
        let mut run = program.begin();
        let (amount, total) = (5 + number * 7 % 13, number * 31 % 101);
        let lost = if failed { 1 + number % 4 } else { 0 };
        run.through(1, deposit, &ints(&[amount, total]), &ints(&[amount, total + amount - lost]));
        program.end(&run, failed);
        if failed {
            failing = run;
        }
    }
    let broken = first(&program, &failing);
    assert_eq!(broken.told.statement.to_string(), "::total == amount + orig(::total)");
}

/// A cousin: a flag that promises data.
#[test]
fn a_flag_before_its_data() {
    let mut program = Program::default();
    let ready = Variable::shared("::ready", Type::Bool);
    let consume = program.region(&function("consume"), &[ready, pointer("::data")], &[]);
    let mut failing = Run::default();
    for number in 0..60_i128 {
        let failed = number % 3 == 0;
        let mut run = program.begin();
        for ready in [0, 1] {
            let data = if ready == 1 && !failed { 0x7000 + number % 3 * 32 } else { 0 };
            run.through(1, consume, &ints(&[ready, data]), &ints(&[ready, data]));
        }
        program.end(&run, failed);
        if failed {
            failing = run;
        }
    }
    let broken = first(&program, &failing);
    assert_eq!(broken.told.statement.to_string(), "::ready ==> ::data != NULL");
}

/// A cousin: accounts in an array, of which a transfer keeps the sum.
#[test]
fn a_transfer_between_accounts() {
    let mut program = Program::default();
    let accounts = Variable::shared("::accounts", Type::Sequence(Element::Int));
    let transfer = program.region(&function("transfer"), &[accounts], &[]);
    let mut failing = Run::default();
    for number in 0..60_i128 {
        let failed = number % 3 == 0;
        let mut run = program.begin();
        let (a, b, by) = (100 + number % 11, 50 + number % 7, 1 + number % 5);
        let entry = [Value::Ints([a, b].into())];
        let now = [Value::Ints([a - by, b + by + i128::from(failed)].into())];
        run.through(1, transfer, &entry, &now);
        program.end(&run, failed);
        if failed {
            failing = run;
        }
    }
    let broken = first(&program, &failing);
    assert_eq!(broken.told.statement.to_string(), "sum(::accounts) == orig(sum(::accounts))");
    assert_eq!(instead(&broken), "sum(::accounts) == orig(sum(::accounts)) + 1");
}

/// Of two broken statements that part the runs as well, the one nearer to the failure comes first; one that all failing runs break comes before both.
#[test]
fn ranking_goes_by_runs_then_by_nearness() {
    let mut program = Program::default();
    let far = program.region(&function("far"), &[int("::a")], &[]);
    let near = program.region(&function("near"), &[int("::b")], &[]);
    let mut failing = Run::default();
    for number in 0..60_i128 {
        let failed = number % 2 == 1;
        let mut run = program.begin();
        let wrong = |runs: bool| i128::from(failed && runs);
        run.through(1, far, &ints(&[number % 9]), &ints(&[number % 9 + wrong(true)]));
        for _ in 0..100 {
            run.through(2, near, &ints(&[3]), &ints(&[3]));
        }
        run.through(1, near, &ints(&[number % 5]), &ints(&[number % 5 + wrong(true)]));
        program.end(&run, failed);
        if failed {
            failing = run;
        }
    }
    let shown = Shown { points: &program.points, samples: &failing.samples, failure: failing.event + 1 };
    let broken = program.parts.broken(Some(shown), |_| 0);
    let statements: Vec<String> =
        broken.iter().take(2).map(|broken| broken.told.statement.to_string()).collect();
    assert_eq!(statements, ["::b == orig(::b)", "::a == orig(::a)"]);
    assert!(broken[0].before_failure < broken[1].before_failure);
}
