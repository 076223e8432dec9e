//! The modules of a crate: which file has which, what is public, and under which path.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::{Attribute, Item, UseTree, Visibility};

/// A module's items.
#[derive(Default)]
pub(super) struct Module {
    pub(super) items: Vec<Item>,
    public: bool,
    /// Names that `use` brings in: name, path, whether it is public. A name `*` stands for all.
    uses: Vec<(String, Vec<String>, bool)>,
}

/// All modules, by path from the root: `` for the root, `a::b`.
#[derive(Default)]
pub(super) struct Modules {
    pub(super) all: BTreeMap<String, Module>,
    /// Files that could not be read as Rust.
    pub(super) unread: Vec<String>,
}

impl Modules {
    /// Reads a crate from its root file.
    pub(super) fn read(files: &BTreeMap<PathBuf, String>, root: &Path) -> Modules {
        let mut modules = Modules::default();
        let folder = root.parent().unwrap_or(Path::new("")).to_owned();
        modules.file(files, root, &folder, String::new(), true);
        modules
    }

    fn file(
        &mut self,
        files: &BTreeMap<PathBuf, String>,
        file: &Path,
        folder: &Path,
        path: String,
        public: bool,
    ) {
        let Some(text) = files.get(file) else { return };
        match syn::parse_file(text) {
            Ok(parsed) => self.items(files, parsed.items, folder, path, public),
            Err(_) => self.unread.push(file.display().to_string()),
        }
    }

    fn items(
        &mut self,
        files: &BTreeMap<PathBuf, String>,
        items: Vec<Item>,
        folder: &Path,
        path: String,
        public: bool,
    ) {
        if self.all.contains_key(&path) {
            return;
        }
        self.all.insert(path.clone(), Module { public, ..Module::default() });
        let mut kept = Vec::new();
        for item in unfolded(items) {
            match item {
                Item::Mod(module) if !is_hidden(&module.attrs) => {
                    let name = module.ident.to_string();
                    let inner = join(&path, &name);
                    let public = matches!(module.vis, Visibility::Public(_));
                    let below = folder.join(&name);
                    if let Some((_, items)) = module.content {
                        self.items(files, items, &below, inner, public);
                    } else if let Some(named) = path_of(&module.attrs) {
                        let file = folder.join(named);
                        let folder = file.parent().unwrap_or(folder).to_owned();
                        self.file(files, &file, &folder, inner, public);
                    } else {
                        let file = folder.join(format!("{name}.rs"));
                        let file = if files.contains_key(&file) { file } else { below.join("mod.rs") };
                        self.file(files, &file, &below, inner, public);
                    }
                }
                Item::Use(item) if !is_hidden(&item.attrs) => {
                    let public = matches!(item.vis, Visibility::Public(_));
                    let mut uses = Vec::new();
                    leaves(&item.tree, &mut Vec::new(), &mut uses);
                    let uses = uses.into_iter().map(|(name, path)| (name, path, public));
                    if let Some(module) = self.all.get_mut(&path) {
                        module.uses.extend(uses);
                    }
                }
                other => kept.push(other),
            }
        }
        if let Some(module) = self.all.get_mut(&path) {
            module.items = kept;
        }
    }

    /// The module that a path of a `use` in `from` leads to, or that one's parent and a name in it.
    fn resolve(&self, from: &str, path: &[String]) -> Option<(String, Option<String>)> {
        let mut at = from.to_owned();
        let mut rest = path;
        match path.first().map(String::as_str) {
            Some("crate") => (at, rest) = (String::new(), &path[1..]),
            Some("self") => rest = &path[1..],
            _ => {
                while rest.first().is_some_and(|part| part == "super") {
                    at = at.rsplit_once("::").map_or(String::new(), |(parent, _)| parent.to_owned());
                    rest = &rest[1..];
                }
            }
        }
        for (number, part) in rest.iter().enumerate() {
            let inner = join(&at, part);
            if self.all.contains_key(&inner) {
                at = inner;
            } else if number + 1 == rest.len() {
                return Some((at, Some(part.clone())));
            } else {
                return None;
            }
        }
        Some((at, None))
    }

    /// Public paths: the shortest for each definition, `module` and `name` of it first.
    pub(super) fn public(&self, krate: &str) -> BTreeMap<(String, String), String> {
        let mut found = BTreeMap::new();
        self.walk("", krate, &mut found, &mut BTreeSet::new());
        found
    }

    fn walk(
        &self,
        module: &str,
        shown: &str,
        found: &mut BTreeMap<(String, String), String>,
        seen: &mut BTreeSet<(String, String)>,
    ) {
        if shown.matches("::").count() > 6 || !seen.insert((module.to_owned(), shown.to_owned())) {
            return;
        }
        let Some(here) = self.all.get(module) else { return };
        for name in here.items.iter().filter_map(public_name) {
            tell(found, (module.to_owned(), name.clone()), format!("{shown}::{name}"));
        }
        for (name, path, public) in &here.uses {
            if !public {
                continue;
            }
            match self.resolve(module, path) {
                Some((target, None)) if name == "*" => self.walk(&target, shown, found, seen),
                Some((target, None)) => self.walk(&target, &format!("{shown}::{name}"), found, seen),
                Some((target, Some(item))) => {
                    // What is used here may itself be a name from elsewhere.
                    let (target, item) = self.definition(&target, &item, 0);
                    tell(found, (target, item), format!("{shown}::{name}"));
                }
                None => {}
            }
        }
        let prefix = if module.is_empty() { String::new() } else { format!("{module}::") };
        for (path, inner) in &self.all {
            if let Some(name) = path.strip_prefix(&prefix)
                && inner.public
                && !name.is_empty()
                && !name.contains("::")
            {
                self.walk(path, &format!("{shown}::{name}"), found, seen);
            }
        }
    }

    /// Where a name that a module has is defined.
    pub(super) fn definition(&self, module: &str, name: &str, depth: u32) -> (String, String) {
        let here = (module.to_owned(), name.to_owned());
        let Some(found) = self.all.get(module) else { return here };
        if depth > 6 || found.items.iter().any(|item| name_of(item).is_some_and(|other| other == name)) {
            return here;
        }
        for (other, path, _) in &found.uses {
            let resolved = if other == name {
                self.resolve(module, path)
            } else if other == "*" {
                self.resolve(module, path).and_then(|(target, item)| match item {
                    None if self.defines(&target, name) => Some((target, Some(name.to_owned()))),
                    _ => None,
                })
            } else {
                None
            };
            if let Some((target, Some(item))) = resolved {
                return self.definition(&target, &item, depth + 1);
            }
        }
        here
    }

    pub(super) fn defines(&self, module: &str, name: &str) -> bool {
        self.all
            .get(module)
            .is_some_and(|module| module.items.iter().any(|item| name_of(item).is_some_and(|n| n == name)))
    }
}

fn tell(found: &mut BTreeMap<(String, String), String>, what: (String, String), path: String) {
    let better =
        found.get(&what).is_none_or(|other| path.matches("::").count() < other.matches("::").count());
    if better {
        found.insert(what, path);
    }
}

/// Items, with those in macros that only switch them on: `cfg_sync! { pub mod sync; }`.
fn unfolded(items: Vec<Item>) -> Vec<Item> {
    let mut out = Vec::new();
    for item in items {
        match item {
            Item::Macro(item) => {
                let name =
                    item.mac.path.segments.last().map(|part| part.ident.to_string()).unwrap_or_default();
                if name == "cfg_if" {
                    out.extend(unfolded(chosen(item.mac.tokens)));
                } else if name.starts_with("cfg_")
                    && !name.starts_with("cfg_not")
                    && !["cfg_loom", "cfg_test"].contains(&name.as_str())
                    && let Ok(file) = item.mac.parse_body::<syn::File>()
                {
                    out.extend(unfolded(file.items));
                }
            }
            other => out.push(other),
        }
    }
    out
}

/// The items of a `cfg_if!`: those of its first branch that is for more than other checkers.
fn chosen(tokens: TokenStream) -> Vec<Item> {
    let mut condition = String::new();
    for token in tokens {
        let TokenTree::Group(group) = token else { continue };
        match group.delimiter() {
            Delimiter::Bracket => condition = group.stream().to_string().replace(' ', ""),
            Delimiter::Brace => {
                if !is_for_checkers(&condition)
                    && let Ok(file) = syn::parse2::<syn::File>(group.stream())
                {
                    return file.items;
                }
                condition.clear();
            }
            _ => {}
        }
    }
    Vec::new()
}

/// The leaves of a `use`: the name here, and the path.
fn leaves(tree: &UseTree, path: &mut Vec<String>, out: &mut Vec<(String, Vec<String>)>) {
    match tree {
        UseTree::Path(part) => {
            path.push(part.ident.to_string());
            leaves(&part.tree, path, out);
            path.pop();
        }
        UseTree::Name(name) => {
            let name = name.ident.to_string();
            let mut whole = path.clone();
            if name == "self" {
                out.push((path.last().cloned().unwrap_or_default(), whole));
            } else {
                whole.push(name.clone());
                out.push((name, whole));
            }
        }
        UseTree::Rename(rename) => {
            let mut whole = path.clone();
            whole.push(rename.ident.to_string());
            out.push((rename.rename.to_string(), whole));
        }
        UseTree::Glob(_) => out.push(("*".to_owned(), path.clone())),
        UseTree::Group(group) => {
            for inner in &group.items {
                leaves(inner, path, out);
            }
        }
    }
}

fn name_of(item: &Item) -> Option<String> {
    match item {
        Item::Struct(item) => Some(item.ident.to_string()),
        Item::Enum(item) => Some(item.ident.to_string()),
        Item::Fn(item) => Some(item.sig.ident.to_string()),
        Item::Type(item) => Some(item.ident.to_string()),
        _ => None,
    }
}

fn public_name(item: &Item) -> Option<String> {
    let (vis, attrs) = match item {
        Item::Struct(item) => (&item.vis, &item.attrs),
        Item::Enum(item) => (&item.vis, &item.attrs),
        Item::Fn(item) => (&item.vis, &item.attrs),
        Item::Type(item) => (&item.vis, &item.attrs),
        _ => return None,
    };
    if matches!(vis, Visibility::Public(_)) && !is_hidden(attrs) { name_of(item) } else { None }
}

/// Joins the parts of a module's path.
pub(super) fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}::{name}") }
}

/// For tests or other checkers alone, or not meant to be called.
pub(super) fn is_hidden(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| {
        let text = super::types::text(&attr.meta);
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        is_for_checkers(&text) || text == "doc(hidden)" || text.starts_with("deprecated")
    })
}

/// Whether a condition, without blanks, holds for tests and other checkers alone.
fn is_for_checkers(condition: &str) -> bool {
    ["test", "loom", "crossbeam_loom", "kani", "shuttle", "doc", "docsrs"].iter().any(|word| {
        condition.starts_with(&format!("cfg({word})")) || condition.starts_with(&format!("cfg(all({word},"))
    })
}

fn path_of(attrs: &[Attribute]) -> Option<String> {
    attrs.iter().find_map(|attr| {
        let text = super::types::text(&attr.meta);
        let text = text.strip_prefix("path")?.trim().strip_prefix('=')?.trim();
        Some(text.trim_matches('"').to_owned())
    })
}
