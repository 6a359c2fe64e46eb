//! Every bound Kitbag keeps, in one table.

/// What a bound counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// Bytes; written `4MiB`.
    Bytes,
    /// Things.
    Items,
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its key in `[limits]`.
    pub name: &'static str,
    /// What it bounds.
    pub what: &'static str,
    /// What it counts.
    pub counts: Counts,
}

macro_rules! limits {
    ($($name:ident: $counts:ident = $default:expr, $what:literal;)*) => {
        /// The bounds. Each has a default that suits a person's machine and a row in `[limits]`.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Limits { $(#[doc = $what] pub $name: usize),* }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($name: $default),* }
            }
        }

        impl Limits {
            /// The table.
            pub const ROWS: &[Row] = &[$(Row { name: stringify!($name), what: $what, counts: Counts::$counts }),*];

            /// Sets one bound by its name; whether there is such a row.
            pub fn set(&mut self, name: &str, value: usize) -> bool {
                match name {
                    $(stringify!($name) => self.$name = value,)*
                    _ => return false,
                }
                true
            }
        }
    };
}

limits! {
    config_file: Bytes = 4 << 20, "one configuration file";
    config_depth: Items = 64, "levels of nesting in a configuration file";
    config_nodes: Items = 500_000, "values in a configuration file, aliases expanded";
    config_faults: Items = 200, "faults shown of one configuration file";
    config_files: Items = 20_000, "files read from one folder of servers";
}
