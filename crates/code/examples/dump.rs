//! Prints what the code of a program does: `cargo run -p threadbare-code --example dump -- PROG [FUNCTION]`.

use std::path::Path;

use threadbare_code::{Code, Held};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else { return eprintln!("usage: dump PROG [FUNCTION]") };
    let only = arguments.next();
    let begun = std::time::Instant::now();
    let code = match Code::read(Path::new(&path)) {
        Ok(code) => code,
        Err(error) => return eprintln!("{error}"),
    };
    eprintln!("{} functions in {:?}", code.functions.len(), begun.elapsed());
    for (at, function) in code.functions.iter().enumerate() {
        let wanted =
            only.as_ref().map_or(!function.accesses.is_empty(), |only| function.shown().contains(only));
        if !wanted {
            continue;
        }
        let begins = if code.entries.contains(&at) { " (a strand begins here)" } else { "" };
        let known = if function.exposes_frame { " (others know its frame)" } else { "" };
        println!("{:#x} {}{begins}{known}", function.start, function.shown());
        for access in &function.accesses {
            let sort = if access.atomic { "atomic " } else { "" };
            let locks = shown(&access.locks);
            println!(
                "  {:#x} {sort}{:?} {:?} {}{locks}",
                access.place, access.kind, access.size, access.address
            );
        }
        for call in &function.calls {
            let arguments: Vec<String> = call.arguments.iter().take(4).map(ToString::to_string).collect();
            println!(
                "  {:#x} calls {:?}({}){}",
                call.place,
                call.callee,
                arguments.join(", "),
                shown(&call.locks)
            );
        }
    }
    for creation in &code.creations {
        println!("{creation:?}");
    }
    for gap in &code.gaps {
        println!("gap {:#x} {:?} in {:#x}", gap.at, gap.what, gap.function);
    }
}

fn shown(locks: &[Held]) -> String {
    let one = |held: &Held| {
        let marks = [(held.shared, " shared"), (held.own, " own"), (held.hidden, " hidden")];
        let marks: String = marks.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
        format!("{}{marks}", held.lock)
    };
    if locks.is_empty() {
        String::new()
    } else {
        format!(" under {}", locks.iter().map(one).collect::<Vec<_>>().join(", "))
    }
}
