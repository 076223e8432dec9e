//! Values by type.

use super::types::Ty;
use super::{Api, Receiver};
use crate::{Draw, Recipes};

/// Makes values for a test.
pub(super) struct Values<'a> {
    pub(super) api: &'a Api,
    pub(super) recipes: &'a Recipes,
    /// The number of the next payload.
    pub(super) next: u32,
}

impl Values<'_> {
    /// An expression of a type.
    ///
    /// # Errors
    /// The type that has no value.
    pub(super) fn of(&mut self, ty: &Ty, draw: &mut Draw) -> Result<String, String> {
        self.at(ty, draw, 0)
    }

    fn at(&mut self, ty: &Ty, draw: &mut Draw, depth: u32) -> Result<String, String> {
        if depth > 3 {
            return Err(shown(self.api, ty));
        }
        let mut inner = |ty: &Ty, draw: &mut Draw| self.at(ty, draw, depth + 1);
        Ok(match ty {
            Ty::Unit => "()".to_owned(),
            Ty::Number => draw.pick(&["1", "2"]).unwrap_or(&"1").to_string(),
            Ty::Bool => draw.pick(&["true", "false"]).unwrap_or(&"true").to_string(),
            Ty::Char => "'a'".to_owned(),
            Ty::Str => "*\"a\"".to_owned(),
            Ty::String => "\"a\".to_owned()".to_owned(),
            Ty::Duration => "std::time::Duration::from_millis(1)".to_owned(),
            Ty::Instant => "std::time::Instant::now() + std::time::Duration::from_millis(1)".to_owned(),
            Ty::Ordering => "std::sync::atomic::Ordering::SeqCst".to_owned(),
            Ty::Param => {
                self.next += 1;
                format!("Counted::new({})", self.next)
            }
            Ty::Ref(to, false) if **to == Ty::Str => "\"a\"".to_owned(),
            Ty::Ref(to, writable) => {
                let to = match &**to {
                    Ty::List(item, true) => format!("[{}]", inner(item, draw)?),
                    Ty::Context => "std::task::Context::from_waker(std::task::Waker::noop())".to_owned(),
                    to => inner(to, draw)?,
                };
                format!("&{}{to}", if *writable { "mut " } else { "" })
            }
            Ty::Option(to) if draw.chance(1, 3) => {
                // It must be clear which type is missing.
                inner(to, draw).map(|value| format!("Some({value}).filter(|_| false)"))?
            }
            Ty::Option(to) => format!("Some({})", inner(to, draw)?),
            Ty::Result(to) => format!("Ok({})", inner(to, draw)?),
            Ty::Fallible(to) => {
                let fails = draw.chance(1, 3);
                let value = inner(to, draw)?;
                // Which type is missing must be clear where it fails, too.
                let fails = if fails { ".and_then(|_| Err(0))" } else { "" };
                format!("Ok::<_, u32>({value}){fails}")
            }
            Ty::Poll(to) => format!("std::task::Poll::Ready({})", inner(to, draw)?),
            Ty::Box(to) => format!("Box::new({})", inner(to, draw)?),
            Ty::Arc(to) => format!("std::sync::Arc::new({})", inner(to, draw)?),
            Ty::List(to, false) => format!("vec![{}, {}]", inner(to, draw)?, inner(to, draw)?),
            Ty::Items(to) => format!("vec![{}].into_iter()", inner(to, draw)?),
            Ty::Tuple(parts) => {
                let parts = parts.iter().map(|part| inner(part, draw)).collect::<Result<Vec<_>, _>>()?;
                format!("({})", parts.join(", "))
            }
            Ty::Closure(count, gives) => {
                let names = vec!["_"; *count].join(", ");
                format!("move |{names}| {}", inner(gives, draw)?)
            }
            Ty::Future(gives) => format!("std::future::ready({})", inner(gives, draw)?),
            Ty::Own(id, _) => self.own(id, draw, depth)?,
            Ty::Pin(_) | Ty::List(_, true) | Ty::Context | Ty::Other(_) => {
                let shown = shown(self.api, ty);
                return self.recipe(&shown, draw).ok_or(shown);
            }
        })
    }

    fn recipe(&self, name: &str, draw: &mut Draw) -> Option<String> {
        draw.pick(self.recipes.of(name, "make")).cloned()
    }

    fn own(&mut self, id: &str, draw: &mut Draw, depth: u32) -> Result<String, String> {
        let api = self.api;
        let Some(ty) = api.types.get(id) else { return Err(id.to_owned()) };
        if let Some(made) = self.recipe(&ty.name, draw) {
            return Ok(made);
        }
        if ty.path.is_none() {
            return Err(ty.name.clone());
        }
        let written = api.written(ty, true);
        if let Some(variant) = draw.pick(&ty.variants) {
            return Ok(format!("{written}::{variant}"));
        }
        if ty.traits.contains("Default") {
            return Ok(format!("{written}::default()"));
        }
        for function in &api.functions {
            let makes = function.receiver == Receiver::None
                && function.owner.as_deref() == Some(id)
                && matches!(&function.gives, Ty::Own(given, _) if given == id)
                && !function.is_async;
            if !makes {
                continue;
            }
            let args: Result<Vec<String>, String> =
                function.args.iter().map(|arg| self.at(arg, draw, depth + 1)).collect();
            if let Ok(args) = args {
                return Ok(format!("{written}::{}({})", function.name, args.join(", ")));
            }
        }
        Err(ty.name.clone())
    }
}

/// A type as a reader knows it.
fn shown(api: &Api, ty: &Ty) -> String {
    match ty {
        Ty::Own(id, _) => api.types.get(id).map_or_else(|| id.clone(), |ty| ty.name.clone()),
        Ty::Other(text) => text.clone(),
        Ty::Pin(inner) => format!("Pin<{}>", shown(api, inner)),
        Ty::List(inner, true) => format!("[{}]", shown(api, inner)),
        Ty::Ref(inner, _) => format!("&{}", shown(api, inner)),
        Ty::Context => "Context".to_owned(),
        other => format!("{other:?}").split(['(', ' ']).next().unwrap_or_default().to_owned(),
    }
}
