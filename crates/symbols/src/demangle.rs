//! Names a person reads, from the names a linker reads.

use std::sync::Arc;

use cpp_demangle::DemangleOptions;

/// A function's or variable's name in two lengths.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    /// Everything: `bank::Account<int>::deposit(int)`.
    pub full: Arc<str>,
    /// Without parameters and type arguments: `bank::Account::deposit`.
    pub short: Arc<str>,
}

impl Name {
    /// The name a symbol stands for; a name that is not mangled stays as it is.
    pub fn of_symbol(symbol: &str) -> Name {
        let symbol = symbol.split_once('@').map_or(symbol, |(name, _version)| name);
        if let Some(name) = rust(symbol).or_else(|| cpp(symbol)) {
            return name;
        }
        if let Some(name) = innermost_cpp(symbol) {
            return Name::of_plain(&name);
        }
        // glibc's name for its own calls of a public function.
        let symbol = symbol.strip_prefix("__GI_").unwrap_or(symbol);
        let plain = without_clone_suffix(symbol);
        Name::of_plain(plain)
    }

    /// A lambda inside the scopes of this name.
    pub(crate) fn of_lambda(scopes: &[String]) -> Name {
        let scopes: String = scopes.iter().map(|scope| format!("{scope}::")).collect();
        let full = format!("{}{{lambda}}", tidy_cpp(&scopes));
        let short = strip_angles(&full);
        Name { full: full.into(), short: short.into() }
    }

    fn of_plain(name: &str) -> Name {
        let full: Arc<str> = name.into();
        // Debug info without linkage names has `push<i32>`.
        let short = if name.contains('<') { strip_angles(name).into() } else { full.clone() };
        Name { full, short }
    }
}

fn rust(symbol: &str) -> Option<Name> {
    let demangled = rustc_demangle::try_demangle(symbol).ok()?;
    let text = format!("{demangled:#}");
    // Legacy Rust names are valid C++ names; only the hash at the end tells them apart.
    if symbol.starts_with("_ZN") && text == format!("{demangled}") {
        return None;
    }
    // `{:#}` keeps what LLVM appended (`.llvm.123`, `.cold`) out of v0 names only.
    let text = without_clone_suffix(&text).replace("{{", "{").replace("}}", "}");
    let full = unwrap_self_type(&text);
    let short = strip_angles(&unwrap_trait_impl(&full));
    Some(Name { full: full.into(), short: short.into() })
}

fn cpp(symbol: &str) -> Option<Name> {
    if !symbol.starts_with("_Z") && !symbol.starts_with("__Z") {
        return None;
    }
    let (mangled, _clone) = split_clone_suffix(symbol);
    let parsed = cpp_demangle::Symbol::new(mangled).ok()?;
    let full = parsed.demangle_with_options(&DemangleOptions::new().no_return_type()).ok()?;
    let bare = parsed.demangle_with_options(&DemangleOptions::new().no_return_type().no_params()).ok()?;
    let short = short_cpp(&strip_angles(&tidy_cpp(&bare)));
    Some(Name { full: tidy_cpp(&full).into(), short: short.into() })
}

/// The plain names at the start of a mangled one that the demangler does not know: what it is called without the types.
fn innermost_cpp(symbol: &str) -> Option<String> {
    let mut rest = symbol.strip_prefix("_Z")?;
    let nested = rest.starts_with('N');
    rest = rest.strip_prefix('N').map_or(rest, |nested| nested.trim_start_matches(['K', 'V', 'R', 'O']));
    let mut parts = Vec::new();
    if let Some(std) = rest.strip_prefix("St") {
        parts.push("std");
        rest = std;
    }
    loop {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let Ok(length) = rest[..digits].parse::<usize>() else { break };
        let Some(name) = rest.get(digits..digits.checked_add(length)?) else { break };
        parts.push(name);
        rest = &rest[digits + length..];
    }
    // Behind types there may be more names.
    let whole = !nested || rest.starts_with('E');
    (whole && parts.last().is_some_and(|last| *last != "std")).then(|| parts.join("::"))
}

/// Takes out the parameters of the functions around a name, and says `{lambda}` for what compilers call in many ways.
fn short_cpp(name: &str) -> String {
    const KEPT: [&str; 2] = ["(anonymous namespace)", "operator()"];
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        if let Some(kept) = KEPT.iter().find(|kept| rest.starts_with(**kept)) {
            out.push_str(kept);
            rest = &rest[kept.len()..];
        } else if first == '('
            && let Some(end) = matching(rest, b'(', b')')
        {
            rest = &rest[end + 1..];
        } else if rest.starts_with("{lambda")
            && let Some(end) = matching(rest, b'{', b'}')
        {
            out.push_str("{lambda}");
            rest = &rest[end + 1..];
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    // Clang numbers lambdas as `$_0`.
    let parts = out.split("::").map(|part| match part.strip_prefix("$_") {
        Some(number) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => "{lambda}",
        _ => part,
    });
    let out = parts.collect::<Vec<_>>().join("::");
    let out = ["&&", "&", "volatile", "const"].iter().fold(out, |out, word| match out.strip_suffix(word) {
        Some(start) if start.ends_with([' ', ')']) && !start.ends_with("operator ") => {
            start.trim_end().to_owned()
        }
        _ => out,
    });
    match out.strip_suffix("::operator()") {
        Some(lambda) if lambda.ends_with("{lambda}") => lambda.to_owned(),
        _ => out,
    }
}

/// Writes C++ names as a programmer would.
pub(crate) fn tidy_cpp(name: &str) -> String {
    const STRING: &str = "std::basic_string<char, std::char_traits<char>, std::allocator<char> >";
    let mut name =
        name.replace("std::__cxx11::", "std::").replace("std::__1::", "std::").replace("[abi:cxx11]", "");
    for (long, short) in [
        (STRING, "std::string"),
        ("std::basic_string<char, std::char_traits<char>, std::allocator<char>>", "std::string"),
        ("std::basic_string_view<char, std::char_traits<char> >", "std::string_view"),
        ("std::basic_string_view<char, std::char_traits<char>>", "std::string_view"),
        ("std::basic_ostream<char, std::char_traits<char> >", "std::ostream"),
        ("std::basic_istream<char, std::char_traits<char> >", "std::istream"),
        ("{anonymous}", "(anonymous namespace)"),
    ] {
        if name.contains(long) {
            name = name.replace(long, short);
        }
    }
    while name.contains("> >") {
        name = name.replace("> >", ">>");
    }
    // The default allocator of a container.
    while let Some(at) = name.find(", std::allocator<") {
        let Some(length) = matching_angle(&name[at + ", std::allocator".len()..]) else { break };
        name.replace_range(at..=at + ", std::allocator".len() + length, "");
    }
    name
}

/// `foo.part.0.cold` into `foo` and the rest: compilers split and clone functions under such names.
fn split_clone_suffix(symbol: &str) -> (&str, &str) {
    const MARKS: [&str; 8] =
        [".isra.", ".constprop.", ".part.", ".cold", ".lto_priv.", ".llvm.", ".localalias", ".__uniq."];
    match MARKS.iter().filter_map(|mark| symbol.find(mark)).min() {
        Some(at) if at > 0 => symbol.split_at(at),
        _ => (symbol, ""),
    }
}

fn without_clone_suffix(symbol: &str) -> &str {
    split_clone_suffix(symbol).0
}

/// `<bank::Account>::deposit` says no more than `bank::Account::deposit`.
fn unwrap_self_type(name: &str) -> String {
    match leading_angle(name) {
        Some((inner, rest)) if !has_top_level_as(inner) => format!("{inner}{rest}"),
        _ => name.to_owned(),
    }
}

/// `<bank::Account as core::fmt::Display>::fmt` into `bank::Account::fmt`.
fn unwrap_trait_impl(name: &str) -> String {
    match leading_angle(name) {
        Some((inner, rest)) => {
            let kept = top_level_as(inner).map_or(inner, |at| &inner[..at]);
            format!("{}{rest}", unwrap_trait_impl(kept))
        }
        None => name.to_owned(),
    }
}

fn leading_angle(name: &str) -> Option<(&str, &str)> {
    if !name.starts_with('<') {
        return None;
    }
    let end = matching_angle(name)?;
    Some((&name[1..end], &name[end + 1..]))
}

fn matching_angle(name: &str) -> Option<usize> {
    matching(name, b'<', b'>')
}

/// Where the bracket with which the text begins is closed.
fn matching(text: &str, open: u8, close: u8) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0usize;
    for (at, byte) in bytes.iter().enumerate() {
        if *byte == open {
            depth += 1;
        } else if *byte == close && !(close == b'>' && at > 0 && bytes[at - 1] == b'-') {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

fn has_top_level_as(inner: &str) -> bool {
    top_level_as(inner).is_some()
}

fn top_level_as(inner: &str) -> Option<usize> {
    let bytes = inner.as_bytes();
    let mut depth = 0i32;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'<' | b'(' | b'[' => depth += 1,
            b'>' if at > 0 && bytes[at - 1] == b'-' => {}
            b'>' | b')' | b']' => depth -= 1,
            b' ' if depth == 0 && inner[at..].starts_with(" as ") => return Some(at),
            _ => {}
        }
    }
    None
}

/// Takes type arguments out of a name; operators keep their angles.
fn strip_angles(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut depth = 0usize;
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        if depth == 0
            && let Some(operator) = operator_with_angles(rest)
            && !out.ends_with(|c: char| c.is_alphanumeric() || c == '_')
        {
            out.push_str(operator);
            rest = &rest[operator.len()..];
            continue;
        }
        match first {
            '<' => {
                if depth == 0 && out.ends_with("::") {
                    out.truncate(out.len() - 2);
                }
                depth += 1;
            }
            '-' if depth > 0 && rest.starts_with("->") => {
                rest = &rest[2..];
                continue;
            }
            '>' if depth > 0 => depth -= 1,
            _ if depth == 0 => out.push(first),
            _ => {}
        }
        rest = &rest[first.len_utf8()..];
    }
    if out.is_empty() { name.to_owned() } else { out }
}

fn operator_with_angles(rest: &str) -> Option<&str> {
    [
        "operator<=>",
        "operator<<=",
        "operator>>=",
        "operator->*",
        "operator<<",
        "operator>>",
        "operator<=",
        "operator>=",
    ]
    .into_iter()
    .chain(["operator->", "operator<", "operator>"])
    .find(|operator| rest.starts_with(operator))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(symbol: &str, full: &str, short: &str) {
        let name = Name::of_symbol(symbol);
        assert_eq!(&*name.full, full, "{symbol}");
        assert_eq!(&*name.short, short, "{symbol}");
    }

    #[test]
    fn c_names_stay() {
        check("main", "main", "main");
        check("stdout@GLIBC_2.2.5", "stdout", "stdout");
        check("__GI_qsort", "qsort", "qsort");
        check("worker.part.0.cold", "worker", "worker");
        check("push<alloc::vec::Vec<i32>>", "push<alloc::vec::Vec<i32>>", "push");
        check("operator<", "operator<", "operator<");
        check("", "", "");
    }

    #[test]
    fn rust_hashes_go() {
        check(
            "_ZN4bank7Account7deposit17h0123456789abcdefE",
            "bank::Account::deposit",
            "bank::Account::deposit",
        );
        check(
            "_ZN4bank4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
            "bank::main::{closure}",
            "bank::main::{closure}",
        );
        check(
            "_ZN52_$LT$bank..Account$u20$as$u20$core..fmt..Display$GT$3fmt17h0123456789abcdefE",
            "<bank::Account as core::fmt::Display>::fmt",
            "bank::Account::fmt",
        );
        check("_RNvCs1234_7mycrate3foo", "mycrate::foo", "mycrate::foo");
        check("_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>", "std::mem::align_of");
        check("_RNvMC4bankNtB2_7Account7deposit", "bank::Account::deposit", "bank::Account::deposit");
    }

    #[test]
    fn cpp_names_are_readable() {
        check("_ZN4bank7Account7depositEi", "bank::Account::deposit(int)", "bank::Account::deposit");
        check("_ZN12_GLOBAL__N_15countE", "(anonymous namespace)::count", "(anonymous namespace)::count");
        check("_ZZ9incrementvE7counter", "increment()::counter", "increment::counter");
        check("_Z3maxIiET_S0_S0_", "max<int>(int, int)", "max");
        let unknown = "_ZSt14__relocate_a_1IiiENSt9enable_ifIXsrSt24__is_bitwise_relocatableIT_vE5valueEPS2_E4typeES4_S4_S4_RSaIT0_E";
        check(unknown, "std::__relocate_a_1", "std::__relocate_a_1");
        check(
            "_ZN4bank4nameENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
            "bank::name(std::string)",
            "bank::name",
        );
        check("_Z3sumSt6vectorIiSaIiEE", "sum(std::vector<int>)", "sum");
        check("_ZlsRSoRK7Account", "operator<<(std::ostream&, Account const&)", "operator<<");
        check("_ZNK7AccountltERKS_", "Account::operator<(Account const&) const", "Account::operator<");
        check("_ZN7AccountptEv", "Account::operator->()", "Account::operator->");
        check("_Z4workv.isra.0", "work()", "work");
        check("_ZN3FooclEi", "Foo::operator()(int)", "Foo::operator()");
        check("_ZN12_GLOBAL__N_13runEv", "(anonymous namespace)::run()", "(anonymous namespace)::run");
        check(
            "_ZZN4bank6Ledger4openEiENKUliE_clEi",
            "bank::Ledger::open(int)::{lambda(int)#1}::operator()(int) const",
            "bank::Ledger::open::{lambda}",
        );
        check("_ZZ4mainENK3$_0clEv", "main::$_0::operator()() const", "main::{lambda}");
    }
}
