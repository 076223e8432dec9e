//! Qualified names of DIEs and readable names of types.

use gimli::{AttributeValue, DwLang};

use crate::demangle::tidy_cpp;
use crate::units::{Die, Entry, Slice};

/// How deep types may nest: real ones are far below, damaged ones may be endless.
const MAX_DEPTH: usize = 24;

impl<'a> Die<'a> {
    /// The language of the DIE's unit.
    pub(crate) fn language(&self) -> Option<DwLang> {
        let root = self.at(self.unit.unit.header.root_offset()).entry()?;
        match root.attr_value(gimli::DW_AT_language)? {
            AttributeValue::Language(language) => Some(language),
            _ => None,
        }
    }

    /// Whether the DIE's unit is Rust.
    pub(crate) fn is_rust(&self) -> bool {
        self.language() == Some(gimli::DW_LANG_Rust)
    }

    pub(crate) fn is_c(&self) -> bool {
        matches!(
            self.language(),
            Some(
                gimli::DW_LANG_C
                    | gimli::DW_LANG_C89
                    | gimli::DW_LANG_C99
                    | gimli::DW_LANG_C11
                    | gimli::DW_LANG_C17
            )
        )
    }

    /// The DIE's own name, or that of what it completes.
    pub(crate) fn name(&self, entry: &Entry<'a>) -> Option<Slice<'a>> {
        self.string(entry, gimli::DW_AT_name).or_else(|| {
            let (die, entry) = self.declaration(entry)?;
            die.string(&entry, gimli::DW_AT_name).or_else(|| {
                let (die, entry) = die.declaration(&entry)?;
                die.string(&entry, gimli::DW_AT_name)
            })
        })
    }

    /// What this DIE completes or is an instance of.
    pub(crate) fn declaration(&self, entry: &Entry<'a>) -> Option<(Die<'a>, Entry<'a>)> {
        let die = [gimli::DW_AT_specification, gimli::DW_AT_abstract_origin]
            .into_iter()
            .find_map(|at| self.reference(entry, at))?;
        let entry = die.entry()?;
        Some((die, entry))
    }

    /// The first of this DIE and what it completes that has the attribute.
    pub(crate) fn with_attribute(
        &self,
        entry: &Entry<'a>,
        name: gimli::DwAt,
    ) -> Option<(Die<'a>, Entry<'a>)> {
        let mut current = (self.clone(), entry.clone());
        for _ in 0..4 {
            if current.1.has_attr(name) {
                return Some(current);
            }
            current = current.0.declaration(&current.1)?;
        }
        None
    }

    /// The type of this variable, parameter or member, or of what it completes.
    pub(crate) fn type_of(&self, entry: &Entry<'a>) -> Option<Die<'a>> {
        let (home, entry) = self.with_attribute(entry, gimli::DW_AT_type)?;
        home.reference(&entry, gimli::DW_AT_type)
    }

    /// The names around the DIE, outermost first.
    pub(crate) fn scope_names(&self) -> Vec<String> {
        self.scope_names_within(MAX_DEPTH)
    }

    fn scope_names_within(&self, depth: usize) -> Vec<String> {
        let mut names = Vec::new();
        for scope in self.scan().around(self.offset) {
            let die = self.at(scope.begin);
            let Some(entry) = die.entry() else { continue };
            if let Some((origin, _)) = die.declaration(&entry).filter(|_| depth > 0) {
                // Defined outside the class or namespace it is declared in: that is around the declaration.
                names.extend(die.name(&entry).map(|name| name.to_string_lossy().into_owned()));
                names.extend(origin.scope_names_within(depth - 1).into_iter().rev());
                break;
            }
            let own_name = scope.name.and_then(|name| self.unit_ref().attr_string(name).ok());
            let name = own_name.or_else(|| {
                // A class whose name is in a type unit only.
                let (full, entry) = die.definition(entry);
                full.string(&entry, gimli::DW_AT_name)
            });
            match name {
                // Rust's numbered impl blocks tell a reader nothing.
                Some(name) if name.starts_with(b"{impl#") => {}
                Some(name) => names.push(name.to_string_lossy().into_owned()),
                None if scope.tag == gimli::DW_TAG_namespace => {
                    names.push("(anonymous namespace)".to_owned())
                }
                None => {}
            }
        }
        names.reverse();
        names
    }

    /// The DIE around which the names of this one are: its declaration, if it has one.
    pub(crate) fn home(&self, entry: &Entry<'a>) -> Die<'a> {
        let mut current = (self.clone(), entry.clone());
        for _ in 0..4 {
            match current.0.declaration(&current.1) {
                Some(declared) => current = declared,
                None => break,
            }
        }
        current.0
    }

    /// The DIE's name with what is around it.
    pub(crate) fn qualified_name(&self, entry: &Entry<'a>) -> Option<String> {
        let name = self.name(entry)?.to_string_lossy().into_owned();
        let mut parts = self.home(entry).scope_names();
        parts.push(name);
        Some(parts.join("::"))
    }

    /// The definition of a type of which this DIE is only a declaration with a signature, or itself.
    pub(crate) fn definition(self, entry: Entry<'a>) -> (Die<'a>, Entry<'a>) {
        if entry.has_attr(gimli::DW_AT_declaration)
            && let Some(full) = self.reference(&entry, gimli::DW_AT_signature)
            && let Some(full_entry) = full.entry()
        {
            return (full, full_entry);
        }
        (self, entry)
    }

    /// The type as a programmer writes it.
    pub(crate) fn type_name(&self) -> String {
        let name = self.type_name_within(MAX_DEPTH);
        if self.is_rust() { name.replace(", alloc::alloc::Global>", ">") } else { tidy_cpp(&name) }
    }

    fn type_name_within(&self, depth: usize) -> String {
        let Some(entry) = self.entry().filter(|_| depth > 0) else { return "?".to_owned() };
        if let (full, _) = self.clone().definition(entry.clone())
            && (full.offset != self.offset || !std::sync::Arc::ptr_eq(&full.unit, &self.unit))
        {
            return full.type_name_within(depth - 1);
        }
        let inner = || match self.reference(&entry, gimli::DW_AT_type) {
            Some(die) => die.type_name_within(depth - 1),
            None => "void".to_owned(),
        };
        let named = || self.qualified_name(&entry);
        match entry.tag() {
            // Rust names its pointers itself.
            gimli::DW_TAG_pointer_type => match self.own_name(&entry) {
                Some(name) => name,
                None if self.is_rust() => format!("*const {}", inner()),
                None => pointer(inner(), "*"),
            },
            gimli::DW_TAG_reference_type => pointer(inner(), "&"),
            gimli::DW_TAG_rvalue_reference_type => pointer(inner(), "&&"),
            gimli::DW_TAG_ptr_to_member_type => pointer(inner(), "::*"),
            gimli::DW_TAG_const_type => qualified("const", inner()),
            gimli::DW_TAG_volatile_type => qualified("volatile", inner()),
            gimli::DW_TAG_restrict_type => inner(),
            gimli::DW_TAG_atomic_type => qualified("_Atomic", inner()),
            gimli::DW_TAG_array_type => {
                let lengths = self.array_lengths();
                if self.is_rust() {
                    let length = lengths.first().copied().flatten();
                    return format!("[{}; {}]", inner(), length.map_or("?".to_owned(), |n| n.to_string()));
                }
                let lengths: String =
                    lengths.iter().map(|n| n.map_or("[]".to_owned(), |n| format!("[{n}]"))).collect();
                format!("{}{lengths}", inner())
            }
            gimli::DW_TAG_subroutine_type => {
                let parameters: Vec<_> = self
                    .children()
                    .into_iter()
                    .filter(|(_, child)| child.tag() == gimli::DW_TAG_formal_parameter)
                    .filter_map(|(die, child)| {
                        Some(die.reference(&child, gimli::DW_AT_type)?.type_name_within(depth - 1))
                    })
                    .collect();
                format!("{}({})", inner(), parameters.join(", "))
            }
            tag @ (gimli::DW_TAG_structure_type
            | gimli::DW_TAG_union_type
            | gimli::DW_TAG_enumeration_type
            | gimli::DW_TAG_class_type) => {
                let word = match tag {
                    gimli::DW_TAG_structure_type => "struct",
                    gimli::DW_TAG_union_type => "union",
                    gimli::DW_TAG_class_type => "class",
                    _ => "enum",
                };
                match named() {
                    Some(name) if self.is_c() => format!("{word} {name}"),
                    Some(name) => name,
                    None => format!("(anonymous {word})"),
                }
            }
            // The library's own names for a type (`__syscall_slong_t`) say less than the type.
            gimli::DW_TAG_typedef if self.own_name(&entry).is_some_and(|name| name.starts_with("__")) => {
                inner()
            }
            _ => named().unwrap_or_else(|| "?".to_owned()),
        }
    }

    fn own_name(&self, entry: &Entry<'a>) -> Option<String> {
        Some(self.string(entry, gimli::DW_AT_name)?.to_string_lossy().into_owned())
    }

    /// The first type argument of a generic type.
    pub(crate) fn type_parameter(&self) -> Option<Die<'a>> {
        self.children()
            .into_iter()
            .find(|(_, child)| child.tag() == gimli::DW_TAG_template_type_parameter)
            .and_then(|(die, child)| die.reference(&child, gimli::DW_AT_type))
    }

    /// The number of elements in each dimension of an array type.
    pub(crate) fn array_lengths(&self) -> Vec<Option<u64>> {
        self.children()
            .into_iter()
            .filter(|(_, child)| {
                matches!(child.tag(), gimli::DW_TAG_subrange_type | gimli::DW_TAG_enumeration_type)
            })
            .map(|(_, child)| {
                let count = child.attr(gimli::DW_AT_count).and_then(|count| count.udata_value());
                count.or_else(|| child.attr(gimli::DW_AT_upper_bound)?.udata_value()?.checked_add(1))
            })
            .collect()
    }
}

fn pointer(target: String, mark: &str) -> String {
    match target.split_once('(') {
        Some((result, parameters)) if target.ends_with(')') && !target.starts_with('(') && mark == "*" => {
            format!("{result}(*)({parameters}")
        }
        _ if target.ends_with(['*', '&']) => format!("{target}{mark}"),
        _ => format!("{target} {mark}"),
    }
}

fn qualified(word: &str, target: String) -> String {
    if target.ends_with('*') { format!("{target} {word}") } else { format!("{word} {target}") }
}
