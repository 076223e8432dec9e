//! The test as a source file.

use super::ctypes::Declarations;
use super::state::{Place, Refusal, State, Target, Thing};
use super::values::Values;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Range;
use threadbare_symbols::{Shape, Signature, TypeId};

/// A call of the test.
pub(super) struct Call {
    /// What the test calls the function.
    pub(super) name: String,
    pub(super) signature: Signature,
    /// The bytes of its arguments.
    pub(super) arguments: Vec<Vec<u8>>,
    /// Locks that the strand has when it begins.
    pub(super) held: Vec<Lock>,
}

/// A lock that a strand has when its call begins.
pub(super) struct Lock {
    pub(super) at: u64,
    /// It has it when the call ends.
    pub(super) still: bool,
    /// It has it together with others.
    pub(super) shared: bool,
}

/// What a test is about.
pub(super) struct About {
    pub(super) name: String,
    pub(super) object: String,
    pub(super) program: String,
    pub(super) functions: [String; 2],
    /// Of states recorded apart: what both calls have.
    pub(super) shared: Option<Vec<String>>,
}

/// The function of a test that says what is expected.
pub(super) const EXPECTED: &str = "expected";
/// What a test says in place of it.
const NOT_ATOMIC: &str =
    "/* The two are not atomic: what they leave depends on their turns, so nothing is expected of it. */";

/// How a test says that its states were recorded apart.
pub(super) const COMBINED: &str = "From combined states:";

/// A test as it is written.
pub(super) struct Source {
    pub(super) text: String,
    /// The same without what is expected, if something is.
    pub(super) bare: Option<String>,
}

/// What both orders leave: address, size and value.
pub(super) type Agreed = Vec<(u64, u32, u64)>;

/// Names that the test's own lines need, or that its headers have.
const TAKEN: [&str; 40] = [
    "first",
    "second",
    "set_up",
    "expected",
    "kept_test",
    "main",
    "clock",
    "time",
    "calloc",
    "malloc",
    "free",
    "auto",
    "break",
    "case",
    "char",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "float",
    "for",
    "goto",
    "if",
    "int",
    "long",
    "register",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "union",
    "void",
    "while",
];

/// A name that nothing else has in a test.
pub(super) fn safe(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let clashes = TAKEN.contains(&plain.as_str())
        || ["pthread_", "sem_", "kept_", "sched_", "nanosleep", "timer_", "clock_"]
            .iter()
            .any(|beginning| plain.starts_with(beginning));
    let digit = plain.starts_with(|c: char| c.is_ascii_digit());
    if clashes || digit { format!("the_{plain}") } else { plain }
}

/// Writes the test; what a reader should know of what is not as it was comes with it.
pub(super) fn write(
    state: &State<'_, '_, '_>,
    calls: &[Call; 2],
    about: &About,
    agreed: &Agreed,
) -> Result<Source, Refusal> {
    let values = Values { state, notes: RefCell::default() };
    let mut types = Declarations::new(&state.types);
    for thing in &state.things {
        if thing.ty != TypeId::VOID {
            types.define(thing.ty);
        }
    }
    for call in calls {
        types.define(call.signature.returns);
        call.signature.parameters.iter().for_each(|(_, ty)| types.define(*ty));
    }
    let lines = |call: &Call, which: &str| strand(&values, call, which, &types);
    let (first, second) = (lines(&calls[0], "first")?, lines(&calls[1], "second")?);
    let set = setting(&values, &types)?;
    let expected = expected(&values, agreed);
    let mut text = head(about, &values.notes.borrow());
    let _ = writeln!(text, "#include \"threadbare-kept.h\"\n");
    text.push_str(&types.text);
    let (found, find) = program(state, calls, &types);
    let _ = writeln!(text, "/* Of the program, by their names in its symbol table. */\n{found}");
    let own: Vec<&Thing> =
        state.things.iter().filter(|thing| !matches!(thing.place, Place::Variable(..))).collect();
    if !own.is_empty() {
        let _ = writeln!(text, "/* What the two find in memory. */");
        for thing in own {
            let _ = writeln!(text, "static {};", declared(thing, &types));
        }
        text.push('\n');
    }
    let _ = writeln!(text, "static void set_up(void) {{\n{find}{set}}}\n");
    let _ = writeln!(text, "{first}\n{second}");
    let ended = |mut text: String, last: &str| {
        let has = &calls[0].signature.symbol;
        let _ = writeln!(
            text,
            "const struct kept_test kept_test = {{ set_up, first, second, {last}, {has:?} }};"
        );
        text
    };
    let Some(expected) = expected else { return Ok(Source { text: ended(text, "0"), bare: None }) };
    let bare = ended(format!("{text}{NOT_ATOMIC}\n"), "0");
    let _ = writeln!(text, "/* What is left when one call comes after the other, whichever begins. */");
    let _ = writeln!(text, "static void {EXPECTED}(void) {{\n{expected}}}\n");
    Ok(Source { text: ended(text, EXPECTED), bare: Some(bare) })
}

fn head(about: &About, notes: &[String]) -> String {
    let About { name, object, program, functions: [first, second], shared } = about;
    let mut text = format!("/* {first} and {second} at the same time, on {object}.\n *\n");
    if let Some(shared) = shared {
        let _ = writeln!(
            text,
            " * {COMBINED} no run that was looked at had the two at the same time. Each was recorded in a run of"
        );
        let _ = writeln!(
            text,
            " * its own, and both found the same in {}. What it shows is a note, as long as this is said here.\n *",
            shared.join(", ")
        );
    }
    let runs = if shared.is_some() { "two runs" } else { "a run" };
    let _ = writeln!(text, " * Recorded from {runs} of {program}; it can be edited. With Threadbare:");
    let _ = writeln!(text, " *     threadbare generate --check . -- {program}");
    let _ = writeln!(text, " * Without it, or with another detector:");
    let _ = writeln!(
        text,
        " *     cc -g -shared -fPIC {name}.c threadbare-kept.c -o {name}.so -pthread -ldl\n *     LD_PRELOAD=./{name}.so {program}"
    );
    if !notes.is_empty() {
        let _ = writeln!(text, " *\n * Not as it was:");
        for note in notes {
            let _ = writeln!(text, " *     {note}");
        }
    }
    text.push_str(" */\n");
    text
}

fn declared(thing: &Thing, types: &Declarations<'_>) -> String {
    match thing.ty {
        TypeId::VOID => format!("uint64_t *{}", thing.name),
        ty => types.declare(ty, &format!("*{}", thing.name)),
    }
}

fn found_by(symbol: &str, file: Option<&str>) -> String {
    match file {
        Some(file) => format!("kept_symbol({symbol:?}, {file:?})"),
        None => format!("kept_symbol({symbol:?}, 0)"),
    }
}

/// Declarations of what the program has, and how it is found.
fn program(state: &State<'_, '_, '_>, calls: &[Call; 2], types: &Declarations<'_>) -> (String, String) {
    let (mut declarations, mut find) = (String::new(), String::new());
    for thing in &state.things {
        if let Place::Variable(symbol, file) = &thing.place {
            let _ = writeln!(declarations, "static {};", declared(thing, types));
            let _ = writeln!(find, "    {} = {};", thing.name, found_by(symbol, file.as_deref()));
        }
    }
    let mut known = BTreeSet::new();
    for call in calls {
        let signature = &call.signature;
        if known.insert(call.name.clone()) {
            let name = &call.name;
            let parameters = signature.parameters.iter();
            let list: Vec<String> = parameters.map(|(name, ty)| types.declare(*ty, &safe(name))).collect();
            let list = if list.is_empty() { "void".to_owned() } else { list.join(", ") };
            let function = types.declare(signature.returns, &format!("(*{name})({list})"));
            let _ = writeln!(declarations, "static {function};");
            let _ =
                writeln!(find, "    {name} = {};", found_by(&signature.symbol, signature.file.as_deref()));
        }
    }
    (declarations, find)
}

/// The lines that set the state.
fn setting(values: &Values<'_, '_, '_, '_>, types: &Declarations<'_>) -> Result<String, Refusal> {
    let (mut blocks, mut lines) = (String::new(), String::new());
    for thing in &values.state.things {
        let Thing { name, size, ty, count, place, lead, .. } = thing;
        let is_variable = matches!(place, Place::Variable(..));
        let own = values.state.types.get(values.state.types.behind(*ty)).size;
        if !is_variable {
            let _ = match (*count, own) {
                _ if *lead > 0 => {
                    let whole = size.next_multiple_of(8);
                    writeln!(blocks, "    {name} = (void *)((char *)kept_block({whole}) + {lead});")
                }
                (1, own) if own == *size => writeln!(blocks, "    {name} = kept_block(sizeof *{name});"),
                (count, own) if own * count == *size => {
                    writeln!(blocks, "    {name} = kept_block({count} * sizeof *{name});")
                }
                _ => writeln!(blocks, "    {name} = kept_block({});", size.next_multiple_of(8)),
            };
        }
        if *place == Place::Result {
            continue;
        }
        let bytes = values.state.bytes(thing).ok_or("a part of the state cannot be read")?;
        if own == 0 {
            words(values, thing, 0..*size, &bytes, &mut lines);
            continue;
        }
        words(values, thing, 0..*lead, &bytes, &mut lines);
        let whole = &bytes;
        let bytes = &bytes[*lead as usize..];
        if *count > 1 && is_variable {
            let _ = writeln!(lines, "    __builtin_memset({name}, 0, {count} * sizeof *{name});");
        }
        let is_char = own == 1 && *count > 1;
        if is_char && let Some(text) = values.array(*ty, bytes, name).filter(|text| text.starts_with('"')) {
            let _ = writeln!(lines, "    __builtin_strcpy((char *){name}, {text});");
            continue;
        }
        for (at, item) in bytes.chunks_exact(own as usize).take(*count as usize).enumerate() {
            let place = if *count > 1 { format!("{name}[{at}]") } else { format!("*{name}") };
            let path = if *count > 1 { place.clone() } else { name.clone() };
            let value = values.value(*ty, item, &path);
            if value.is_none() && (*count > 1 || !is_variable) {
                continue;
            }
            let value = match value {
                Some(text) if text.starts_with("PTHREAD") => format!("({}){text}", types.declare(*ty, "")),
                _ => values.expression(*ty, item, &path, types),
            };
            // A structure without a name is another type wherever it is written down.
            let bare = types.declare(*ty, "");
            let value = match bare.contains('{') {
                true => value.replacen(&format!("({bare})"), &format!("(__typeof__({place}))"), 1),
                false => value,
            };
            let _ = writeln!(lines, "    {place} = {};", value.replace('\n', "\n    "));
        }
        words(values, thing, lead + own * count..*size, whole, &mut lines);
    }
    Ok(format!("{blocks}{lines}"))
}

/// Memory whose type is not known, by its words.
fn words(values: &Values<'_, '_, '_, '_>, thing: &Thing, part: Range<u64>, bytes: &[u8], lines: &mut String) {
    let name = &thing.name;
    for (start, size) in pieces(part.start, part.end) {
        let place = start.cast_signed() - thing.lead.cast_signed();
        let mut all = [0; 8];
        all[..size as usize].copy_from_slice(&bytes[start as usize..(start + size) as usize]);
        let number = u64::from_le_bytes(all);
        if number != 0 || matches!(thing.place, Place::Variable(..)) {
            let value = word_value(values, number, &format!("{name} + {place}"));
            let _ = writeln!(lines, "    kept_set(uint{}_t, {name}, {place}, {value});", size * 8);
        }
    }
}

/// Cuts what lies between two offsets into numbers of 8 bytes and less, each where such a number may lie.
fn pieces(mut at: u64, end: u64) -> Vec<(u64, u64)> {
    let mut parts = Vec::new();
    while at < end {
        let fits = |size: &u64| at.is_multiple_of(*size) && at + size <= end;
        let size = [8, 4, 2, 1].into_iter().find(fits).unwrap_or(1);
        parts.push((at, size));
        at += size;
    }
    parts
}

/// A word that may be anything: what looks like an address is one.
fn word_value(values: &Values<'_, '_, '_, '_>, number: u64, path: &str) -> String {
    // Half a word of something else is no address.
    match number {
        _ if number as u32 == 0 || values.state.target(number) == Target::Number(number) => {
            if number < 1 << 32 { number.to_string() } else { format!("{number:#x}") }
        }
        0x1_0000_0000..0x8000_0000_0000 => {
            format!("(uint64_t){}", values.pointer(number, TypeId::VOID, path))
        }
        _ => number.to_string(),
    }
}

/// The function of one strand.
fn strand(
    values: &Values<'_, '_, '_, '_>,
    call: &Call,
    which: &str,
    types: &Declarations<'_>,
) -> Result<String, Refusal> {
    let mut text = format!("static void {which}(void) {{\n");
    let (mut before, mut after) = (String::new(), String::new());
    for Lock { at, still, shared } in &call.held {
        let (lock, kind) = values.lock(*at).ok_or("a lock is held that is no mutex of the program's")?;
        let (take, give) = match kind {
            "pthread_mutex_t" => ("pthread_mutex_lock", "pthread_mutex_unlock"),
            "pthread_rwlock_t" if *shared => ("pthread_rwlock_rdlock", "pthread_rwlock_unlock"),
            "pthread_rwlock_t" => ("pthread_rwlock_wrlock", "pthread_rwlock_unlock"),
            _ => ("pthread_spin_lock", "pthread_spin_unlock"),
        };
        let _ = writeln!(before, "    {take}({lock});");
        if *still {
            let _ = writeln!(after, "    {give}({lock});");
        }
    }
    let parameters = call.signature.parameters.iter().zip(&call.arguments);
    let arguments: Vec<String> =
        parameters.map(|((name, ty), bytes)| values.expression(*ty, bytes, name, types)).collect();
    let _ = writeln!(text, "{before}    {}({});\n{after}}}", call.name, arguments.join(", "));
    Ok(text)
}

/// What both orders agree on.
fn expected(values: &Values<'_, '_, '_, '_>, agreed: &Agreed) -> Option<String> {
    let mut text = String::new();
    for &(address, size, value) in agreed {
        let Some((reached, ty)) = values.scalar(address, size.into()) else { continue };
        let types = &values.state.types;
        let bytes = &value.to_le_bytes()[..size.min(8) as usize];
        let number = match &types.get(types.behind(ty)).shape {
            Shape::Integer { .. } | Shape::Enumeration(_) => {
                values.value(ty, bytes, "").unwrap_or_else(|| "0".to_owned())
            }
            Shape::Pointer(_) if value == 0 => "0".to_owned(),
            _ => continue,
        };
        let _ = writeln!(text, "    kept_expect_that({reached} == {number});");
    }
    (!text.is_empty()).then_some(text)
}
