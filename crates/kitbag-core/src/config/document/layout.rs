//! Where a file keeps its entries, as the reader found them: whoever changes one changes it there.

use super::super::dialect::ContainerShape;

/// What holds entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContainerKind {
    /// A map; the keys are the names.
    Map,
    /// A list; each entry has its name inside.
    List,
    /// The value itself is the one entry.
    Single,
}

/// One value of a file that holds entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container {
    /// The keys that lead to it from the root; none when it is the root.
    pub way: Vec<String>,
    /// How it holds them.
    pub kind: ContainerKind,
    /// Whether the program whose file it is looks there; otherwise only Kitbag does.
    pub is_expected: bool,
}

/// Where one entry stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The entry's name.
    pub name: String,
    /// Which container.
    pub container: usize,
    /// Which member of the container, from 0; members that are no entries count.
    pub index: usize,
}

/// Every container and entry of a file, in order. An entry that another of its name overrules is there too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The containers.
    pub containers: Vec<Container>,
    /// The entries.
    pub spots: Vec<Spot>,
    /// Why nobody knows what stands in the file, if it could not be read.
    pub unread: Option<String>,
}

impl ContainerShape {
    /// How a container of this shape holds its entries.
    pub(super) fn kind(self) -> ContainerKind {
        match self {
            Self::Map(_) | Self::Bare => ContainerKind::Map,
            Self::List(_) => ContainerKind::List,
            Self::Single => ContainerKind::Single,
        }
    }
}
