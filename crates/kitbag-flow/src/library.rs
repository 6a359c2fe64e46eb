//! The components there are, by the library and name a drawing has of them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::component::{Component, Shape};
use crate::components;

/// A set of components.
#[derive(Clone)]
pub struct Palette(BTreeMap<(String, String), Arc<dyn Component>>);

impl Palette {
    /// All that run natively.
    pub fn native() -> Self {
        let mut this = Self(BTreeMap::new());
        for component in components::all() {
            this.add(component);
        }
        this
    }

    /// With one more, in place of one of the same library and name.
    #[must_use]
    pub fn with(mut self, component: impl Component) -> Self {
        self.add(Arc::new(component));
        self
    }

    fn add(&mut self, component: Arc<dyn Component>) {
        let face = component.face();
        self.0.insert((face.library().to_owned(), face.name.to_owned()), component);
    }

    pub(crate) fn find(&self, library: &str, name: &str) -> Option<&Arc<dyn Component>> {
        self.0.get(&(library.to_owned(), name.to_owned()))
    }

    pub(crate) fn by_name(&self, name: &str) -> Option<&Arc<dyn Component>> {
        self.all().find(|component| component.face().name == name)
    }

    /// The kind of port an input is that takes several values.
    pub(crate) fn many(&self, name: &str, input: &str) -> Option<&'static str> {
        let face = self.by_name(name)?.face();
        match face.inputs.iter().find(|own| own.name == input)?.shape {
            Shape::One => None,
            Shape::List => Some("dynalist"),
            Shape::Tuple => Some("dynatuple"),
        }
    }

    /// All of them, by library and name.
    pub fn all(&self) -> impl Iterator<Item = &Arc<dyn Component>> {
        self.0.values()
    }
}

impl fmt::Debug for Palette {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
