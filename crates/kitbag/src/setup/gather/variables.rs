//! Servers that variables give, instead of files or besides them.

use super::*;

impl<'a> Gathered<'a> {
    /// `MCP_URL` and `MCP_HUB_URL`; the hub replaces all files. Token and headers are meant for one server:
    /// with both addresses set they go with `MCP_URL`.
    pub(super) fn variables(&mut self) {
        let (token, headers) = (self.env.get("MCP_TOKEN"), self.env.get("MCP_HEADERS"));
        let url = self.env.filled("MCP_URL");
        if let Some(hub) = self.env.filled("MCP_HUB_URL") {
            self.documents.clear();
            self.lost.clear();
            self.hub = true;
            let alone = |value: Option<&'a str>| value.filter(|_| url.is_none());
            self.variable(Layer::Env, of_variable("MCP_HUB_URL", hub, alone(token), alone(headers)));
        }
        if let Some(url) = url {
            self.variable(Layer::Env, of_variable("MCP_URL", url, token, headers));
        } else if self.env.get("MCP_URL").is_none() && !self.hub {
            // A file of the project says so: it is that folder's server, and waits for approval.
            let said = self.project.nearest_first().find(|(_, given)| given.contains_key("MCP_URL"));
            let Some((folder, variables)) = said else { return };
            let given = |name: &str| variables.get(name).map(String::as_str);
            let file: Arc<Path> = Arc::from(folder.join(".env").as_path());
            let url = given("MCP_URL").unwrap_or_default();
            let document = of_variable("MCP_URL", url, given("MCP_TOKEN"), given("MCP_HEADERS"));
            self.variable(Layer::Project, document.map(|document| moved(document, &file)));
        }
    }

    fn variable(&mut self, layer: Layer, document: Option<Document>) {
        self.documents.extend(document.map(|document| Layered { layer, used: true, user: None, document }));
    }
}

/// A document with the one server a variable gives.
fn of_variable(variable: &str, url: &str, token: Option<&str>, headers: Option<&str>) -> Option<Document> {
    let (spec, faults) = env_servers::server(variable, url, token, headers);
    let spec = spec?;
    let place = spec.origin.place.clone();
    let loaded = Loaded { name: spec.name.to_string(), place: place.clone(), spec: Some(spec), faults };
    Some(Document {
        file: place.file,
        dialect: Dialect::by_id("env")?,
        servers: vec![loaded],
        toggles: Vec::new(),
        faults: Vec::new(),
    })
}

/// The same document as if it stood in a file.
fn moved(mut document: Document, file: &Arc<Path>) -> Document {
    document.file = file.clone();
    for loaded in &mut document.servers {
        loaded.place.file = file.clone();
        if let Some(spec) = &mut loaded.spec {
            spec.origin.place.file = file.clone();
        }
    }
    document
}
