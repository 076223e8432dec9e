//! The units of one set of DWARF sections, parsed when first asked for.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gimli::{AttributeValue, DebuggingInformationEntry, UnitType};
use gimli::{
    DebugInfoOffset, DebugTypeSignature, Dwarf, EndianSlice, LittleEndian, UnitHeader, UnitOffset, UnitRef,
};

use crate::scan::UnitScan;

/// A slice of a mapped section.
pub(crate) type Slice<'a> = EndianSlice<'a, LittleEndian>;
/// A DIE with its attributes.
pub(crate) type Entry<'a> = DebuggingInformationEntry<Slice<'a>>;

/// A unit with what was learnt of it.
pub(crate) struct LoadedUnit<'a> {
    /// The parsed header and root.
    pub(crate) unit: gimli::Unit<Slice<'a>>,
    /// Scopes and variables, once scanned.
    scan: OnceLock<UnitScan<'a>>,
}

impl<'a> LoadedUnit<'a> {
    fn new(unit: gimli::Unit<Slice<'a>>) -> Arc<Self> {
        Arc::new(LoadedUnit { unit, scan: OnceLock::new() })
    }
}

/// Units by index; `None` for one that cannot be read.
#[derive(Default)]
struct UnitCache<'a>(Mutex<HashMap<usize, Option<Arc<LoadedUnit<'a>>>>>);

impl<'a> UnitCache<'a> {
    fn get(
        &self,
        index: usize,
        parse: impl FnOnce() -> Option<Arc<LoadedUnit<'a>>>,
    ) -> Option<Arc<LoadedUnit<'a>>> {
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cache.entry(index).or_insert_with(parse).clone()
    }
}

/// All units of one file.
pub(crate) struct UnitSet<'a> {
    /// The sections.
    pub(crate) dwarf: Arc<Dwarf<Slice<'a>>>,
    /// In order of their offsets.
    headers: Vec<UnitHeader<Slice<'a>>>,
    loaded: UnitCache<'a>,
    /// The root of the skeleton unit that led here, for a split unit.
    skeleton: Option<Die<'a>>,
    signatures: OnceLock<HashMap<DebugTypeSignature, (SignatureIn, UnitOffset)>>,
    type_headers: OnceLock<Vec<UnitHeader<Slice<'a>>>>,
    type_units: UnitCache<'a>,
    supplementary: OnceLock<Option<Arc<UnitSet<'a>>>>,
}

#[derive(Clone, Copy)]
enum SignatureIn {
    Info(usize),
    Types(usize),
}

impl<'a> UnitSet<'a> {
    /// The units of `dwarf`; `skeleton` is the unit of the main file for which these are the split ones.
    pub(crate) fn new(dwarf: Arc<Dwarf<Slice<'a>>>, skeleton: Option<Die<'a>>) -> Self {
        let mut headers = Vec::new();
        let mut units = dwarf.units();
        // A damaged header ends the list: what came before is still of use.
        while let Ok(Some(header)) = units.next() {
            headers.push(header);
        }
        UnitSet {
            dwarf,
            headers,
            loaded: UnitCache::default(),
            skeleton,
            signatures: OnceLock::new(),
            type_headers: OnceLock::new(),
            type_units: UnitCache::default(),
            supplementary: OnceLock::new(),
        }
    }

    /// How many units there are.
    pub(crate) fn len(&self) -> usize {
        self.headers.len()
    }

    /// The `index`-th unit.
    pub(crate) fn unit(&self, index: usize) -> Option<Arc<LoadedUnit<'a>>> {
        self.loaded.get(index, || self.parse(*self.headers.get(index)?))
    }

    fn parse(&self, header: UnitHeader<Slice<'a>>) -> Option<Arc<LoadedUnit<'a>>> {
        let mut unit = self.dwarf.unit(header).ok()?;
        if let Some(skeleton) = &self.skeleton {
            unit.copy_relocated_attributes(&skeleton.unit.unit);
        }
        Some(LoadedUnit::new(unit))
    }

    /// The index of the unit that holds an offset of `.debug_info`.
    pub(crate) fn index_at(&self, offset: usize) -> Option<usize> {
        let start =
            |header: &UnitHeader<Slice<'a>>| header.debug_info_offset().map_or(usize::MAX, |offset| offset.0);
        self.headers.partition_point(|header| start(header) <= offset).checked_sub(1)
    }

    /// The split compile unit with this id, for a set that came from a `.dwo` file.
    pub(crate) fn split_unit(&self, id: gimli::DwoId) -> Option<Arc<LoadedUnit<'a>>> {
        (0..self.len()).filter_map(|index| self.unit(index)).find(|unit| unit.unit.dwo_id == Some(id))
    }

    /// The root DIE of the `index`-th unit.
    pub(crate) fn root(self: &Arc<Self>, index: usize) -> Option<Die<'a>> {
        let unit = self.unit(index)?;
        let offset = unit.unit.header.root_offset();
        Some(Die { set: self.clone(), unit, offset })
    }

    /// The units of the file that this one shares debug info with.
    pub(crate) fn supplementary(&self) -> Option<Arc<UnitSet<'a>>> {
        self.supplementary.get_or_init(|| Some(Arc::new(UnitSet::new(self.dwarf.sup.clone()?, None)))).clone()
    }

    fn by_signature(&self, signature: DebugTypeSignature) -> Option<(Arc<LoadedUnit<'a>>, UnitOffset)> {
        let type_headers = self.type_headers.get_or_init(|| {
            let mut headers = Vec::new();
            let mut units = self.dwarf.type_units();
            while let Ok(Some(header)) = units.next() {
                headers.push(header);
            }
            headers
        });
        let signatures = self.signatures.get_or_init(|| {
            let info = self.headers.iter().enumerate().map(|(at, header)| (SignatureIn::Info(at), header));
            let types = type_headers.iter().enumerate().map(|(at, header)| (SignatureIn::Types(at), header));
            info.chain(types)
                .filter_map(|(place, header)| match header.type_() {
                    UnitType::Type { type_signature, type_offset }
                    | UnitType::SplitType { type_signature, type_offset } => {
                        Some((type_signature, (place, type_offset)))
                    }
                    _ => None,
                })
                .collect()
        });
        let (place, offset) = *signatures.get(&signature)?;
        let unit = match place {
            SignatureIn::Info(index) => self.unit(index),
            SignatureIn::Types(index) => self.type_units.get(index, || self.parse(*type_headers.get(index)?)),
        };
        Some((unit?, offset))
    }
}

/// One DIE: the set, the unit and the offset in it.
#[derive(Clone)]
pub(crate) struct Die<'a> {
    /// The file's units.
    pub(crate) set: Arc<UnitSet<'a>>,
    /// The unit it is in.
    pub(crate) unit: Arc<LoadedUnit<'a>>,
    /// Where in the unit.
    pub(crate) offset: UnitOffset,
}

impl<'a> Die<'a> {
    /// The unit with its sections.
    pub(crate) fn unit_ref(&self) -> UnitRef<'_, Slice<'a>> {
        UnitRef::new(&self.set.dwarf, &self.unit.unit)
    }

    /// The DIE's tag and attributes.
    pub(crate) fn entry(&self) -> Option<Entry<'a>> {
        self.unit.unit.entry(self.offset).ok()
    }

    /// Another DIE of the same unit.
    pub(crate) fn at(&self, offset: UnitOffset) -> Die<'a> {
        Die { set: self.set.clone(), unit: self.unit.clone(), offset }
    }

    /// The DIE an attribute of this one refers to.
    pub(crate) fn follow(&self, value: AttributeValue<Slice<'a>>) -> Option<Die<'a>> {
        match value {
            AttributeValue::UnitRef(offset) => Some(self.at(offset)),
            AttributeValue::DebugInfoRef(offset) => in_set(&self.set, offset),
            AttributeValue::DebugInfoRefSup(offset) => in_set(&self.set.supplementary()?, offset),
            AttributeValue::DebugTypesRef(signature) => {
                let (unit, offset) = self.set.by_signature(signature)?;
                Some(Die { set: self.set.clone(), unit, offset })
            }
            _ => None,
        }
    }

    /// The DIE an attribute of `entry`, which is this DIE, refers to.
    pub(crate) fn reference(&self, entry: &Entry<'a>, name: gimli::DwAt) -> Option<Die<'a>> {
        self.follow(entry.attr_value(name)?)
    }

    /// A string attribute.
    pub(crate) fn string(&self, entry: &Entry<'a>, name: gimli::DwAt) -> Option<Slice<'a>> {
        self.unit_ref().attr_string(entry.attr_value(name)?).ok()
    }

    /// Scopes and variables of the DIE's unit.
    pub(crate) fn scan(&self) -> &UnitScan<'a> {
        self.unit.scan.get_or_init(|| UnitScan::of(self.unit_ref()))
    }

    /// The children, in order.
    pub(crate) fn children(&self) -> Vec<(Die<'a>, Entry<'a>)> {
        let mut children = Vec::new();
        let Ok(mut tree) = self.unit.unit.entries_tree(Some(self.offset)) else { return children };
        let Ok(root) = tree.root() else { return children };
        let mut iter = root.children();
        while let Ok(Some(child)) = iter.next() {
            let entry = child.entry().clone();
            children.push((self.at(entry.offset()), entry));
        }
        children
    }

    /// The source file a `DW_AT_decl_file` of this DIE names.
    pub(crate) fn decl_file(&self, index: u64) -> Option<PathBuf> {
        let line_unit = match (&self.unit.unit.line_program, &self.set.skeleton) {
            (None, Some(skeleton)) => skeleton.unit_ref(),
            _ => self.unit_ref(),
        };
        let header = line_unit.line_program.as_ref()?.header();
        let file = header.file(index)?;
        let text = |value| Some(line_unit.attr_string(value).ok()?.to_string_lossy().into_owned());
        let mut path = PathBuf::new();
        let folder = self.unit.unit.comp_dir.or_else(|| self.set.skeleton.as_ref()?.unit.unit.comp_dir);
        if let Some(folder) = folder {
            path.push(&*folder.to_string_lossy());
        }
        if file.directory_index() != 0
            && let Some(directory) = file.directory(header)
        {
            path.push(text(directory)?);
        }
        path.push(text(file.path_name())?);
        Some(path)
    }
}

fn in_set<'a>(set: &Arc<UnitSet<'a>>, offset: DebugInfoOffset) -> Option<Die<'a>> {
    let unit = set.unit(set.index_at(offset.0)?)?;
    let offset = offset.to_unit_offset(&unit.unit.header)?;
    Some(Die { set: set.clone(), unit, offset })
}
