//! Probes: one line of source for each function and promise, compiled before any test.
//!
//! What the compiler refuses is left out with its reason, and the tests that are made then compile nearly always.

use super::objects::{makers, methods};
use super::types::Ty;
use super::values::Values;
use super::{Api, Receiver};
use crate::{Draw, Recipes};

/// A line that compiles or not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Probe {
    /// What it stands for: `fn:3`, `send:TYPE`.
    pub name: String,
    /// The function, if its absence is to be told.
    pub of: Option<String>,
    /// The line.
    pub line: String,
}

/// All probes of an API.
pub fn probes(api: &Api, recipes: &Recipes) -> Vec<Probe> {
    let mut probes = Vec::new();
    let mut draw = Draw::new(1);
    let mut values = Values { api, recipes, next: 0 };
    for (id, ty) in api.types.iter().filter(|(_, ty)| ty.path.is_some()) {
        if ty.arguments.iter().any(|argument| argument == "_") {
            continue;
        }
        let written = api.written(ty, false);
        for (name, bound) in [("send", "Send + 'static"), ("sync", "Sync"), ("clone", "Clone")] {
            if api.refused.contains(&format!("{name}:{id}")) {
                continue;
            }
            let number = probes.len();
            let line = format!("fn probe_{number}() {{ fn has<X: {bound}>() {{}} has::<{written}>(); }}");
            probes.push(Probe { name: format!("{name}:{id}"), of: None, line });
        }
        for method in methods(api, recipes, id) {
            let args: Result<Vec<String>, String> =
                method.args.iter().map(|arg| values.of(arg, &mut draw)).collect();
            let Ok(args) = args else { continue };
            let args = args.join(", ");
            let taken = match method.receiver {
                Receiver::Ref => format!("x: &{written}"),
                Receiver::Mut => format!("x: &mut {written}"),
                Receiver::Own => format!("x: {written}"),
                Receiver::Arc => format!("x: std::sync::Arc<{written}>"),
                Receiver::Pin => format!("x: std::pin::Pin<&mut {written}>"),
                Receiver::None => continue,
            };
            let call = match &method.by_path {
                Some(path) if args.is_empty() => format!("{path}(x)"),
                Some(path) => format!("{path}(x, {args})"),
                None => format!("x.{}({args})", method.function.name),
            };
            let number = probes.len();
            let at = api.functions.iter().position(|function| std::ptr::eq(function, method.function));
            probes.push(Probe {
                name: format!("fn:{}", at.unwrap_or_default()),
                of: Some(method.title.clone()),
                line: format!("fn probe_{number}({taken}) {{ let _ = {call}; }}"),
            });
        }
    }
    for maker in makers(api, recipes) {
        let Some(args) = &maker.args else { continue };
        let args: Result<Vec<String>, String> =
            args.iter().map(|arg: &Ty| values.of(arg, &mut draw)).collect();
        let Ok(args) = args else { continue };
        let at = api
            .functions
            .iter()
            .position(|function| function.receiver == Receiver::None && api.title(function) == maker.title);
        let number = probes.len();
        probes.push(Probe {
            name: format!("fn:{}", at.unwrap_or_default()),
            of: Some(maker.title.clone()),
            line: format!(
                "fn probe_{number}() {{ let _ = {}({}){}; }}",
                maker.call,
                args.join(", "),
                maker.after
            ),
        });
    }
    probes
}
