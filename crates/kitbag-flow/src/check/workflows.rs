//! Drawings that are nodes of another one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Checker, check_within};
use crate::drawing::{Drawing, Node as Drawn};
use crate::graph::Graph;

impl Checker<'_> {
    /// The drawing that a node stands for.
    pub(super) fn workflow(
        &mut self,
        node: &Drawn,
        path: &str,
        open: &mut Vec<PathBuf>,
    ) -> Option<Arc<Graph>> {
        let places = places(self.drawing.file(), open.first().map_or(Path::new(""), PathBuf::as_path), path);
        let found = places.iter().find_map(|place| Some((place, (self.rules.files)(place).ok()?)));
        let Some((place, text)) = found else {
            let tried = places.first().map(|place| place.display().to_string()).unwrap_or_default();
            let what = format!("the drawing it stands for was not found: {tried}");
            self.wrong(node, what, "put that file there, or correct the path of the node");
            return None;
        };
        if open.contains(place) {
            let what = format!("{} contains itself", place.display());
            self.wrong(node, what, "remove the node: such a flow has no end");
            return None;
        }
        let drawing = match Drawing::read(place, text) {
            Ok(drawing) => drawing,
            Err(problem) => {
                self.problem(problem);
                return None;
            }
        };
        open.push(place.clone());
        let checked = check_within(&drawing, self.rules, open);
        open.pop();
        self.problems.extend(checked.problems);
        checked.graph
    }
}

/// Where a drawing is looked for: beside the file that names it, beside the outermost one, and by its bare name.
fn places(file: &Path, outermost: &Path, path: &str) -> Vec<PathBuf> {
    let path = path.replace('\\', "/");
    let named = match path.strip_suffix(".py") {
        Some(stem) => format!("{stem}.xircuits"),
        None => path,
    };
    let folder = |file: &Path| file.parent().map(Path::to_owned).unwrap_or_default();
    let bare = Path::new(&named).file_name().map(PathBuf::from).unwrap_or_default();
    let mut places = vec![folder(file).join(&named), folder(outermost).join(&named), folder(file).join(bare)];
    places.dedup();
    places
}
