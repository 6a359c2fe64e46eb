//! `subscriptions/listen` of the newer era: a request that stays open, and on which a client is told what it asked for.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::answer::Incoming;
use crate::client::Client;
use crate::follow::Follows;
use crate::news::{LISTS, News, NewsSource, tag};
use crate::rpc::{self, RpcError, code, raw};

/// The request that opens one.
pub(crate) const METHOD: &str = "subscriptions/listen";

/// By which it asks for resources.
const RESOURCES: &str = "resourceSubscriptions";

/// One subscription.
pub(crate) struct Subscription {
    id: Box<RawValue>,
    filter: Filter,
    news: NewsSource,
    /// The first message of every subscription.
    acknowledgement: Option<String>,
    /// The resources it is about.
    _follows: Follows,
}

/// What a subscription tells of.
#[derive(Default)]
struct Filter {
    /// The lists, as the rows of [`LISTS`] name them.
    lists: Vec<&'static str>,
    /// The resources, as the client names them.
    resources: Vec<String>,
}

impl Filter {
    /// What is asked for of all that there is.
    fn read(request: &Incoming) -> Result<Self, RpcError> {
        #[derive(Deserialize)]
        struct Params {
            notifications: Map<String, Value>,
        }
        let wrong = |error: serde_json::Error| {
            let message = format!("params.notifications must say what to listen for: {error}");
            RpcError::new(code::INVALID_PARAMS, message)
        };
        let params: Params = serde_json::from_str(request.params.get()).map_err(wrong)?;
        let is_asked = |key: &str| params.notifications.get(key).is_some_and(|asked| *asked == true);
        let lists = LISTS.iter().map(|row| row.filter).filter(|key| is_asked(key)).collect();
        let resources = params.notifications.get(RESOURCES).cloned();
        let resources = resources.map(serde_json::from_value).transpose().map_err(wrong)?;
        Ok(Self { lists, resources: resources.unwrap_or_default() })
    }

    /// Follows the resources; those that cannot be are left out, and the acknowledgement says so.
    async fn follow(&mut self, client: &Client) -> Result<Follows, RpcError> {
        let (follows, most) = (Follows::default(), client.kit.limits().subscriptions);
        let asked = std::mem::take(&mut self.resources);
        if asked.is_empty() {
            return Ok(follows);
        }
        let (view, _) = client.view()?;
        for uri in asked.into_iter().take(most) {
            if !self.resources.contains(&uri) && follows.follow(&client.kit, &view, &uri).await.is_ok() {
                self.resources.push(uri);
            }
        }
        Ok(follows)
    }

    fn tells(&self, news: &News) -> bool {
        match LISTS.iter().find(|row| row.news == *news) {
            Some(row) => self.lists.contains(&row.filter),
            // Only what is followed is told of.
            None => true,
        }
    }

    fn shown(&self) -> Value {
        let lists = self.lists.iter().map(|key| ((*key).to_owned(), json!(true)));
        let resources = (!self.resources.is_empty()).then(|| (RESOURCES.to_owned(), json!(self.resources)));
        lists.chain(resources).collect::<Map<_, _>>().into()
    }
}

impl Subscription {
    /// Takes a request that was checked as one of the newer era.
    pub(crate) async fn open(client: &Arc<Client>, request: &Incoming) -> Result<Self, RpcError> {
        let mut filter = Filter::read(request)?;
        let follows = filter.follow(client).await?;
        let params = format!(r#"{{"_meta":{},"notifications":{}}}"#, tag(&request.id), filter.shown());
        let acknowledgement = Some(rpc::notification("notifications/subscriptions/acknowledged", &params));
        // From before the acknowledgement on: what changes after it is told.
        let news = NewsSource::from_now(client, follows.listeners(), filter.lists.clone()).await;
        Ok(Self { id: request.id.clone(), filter, news, acknowledgement, _follows: follows })
    }

    /// The next message; none when there will be nothing more. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Option<String> {
        if let Some(first) = self.acknowledgement.take() {
            return Some(first);
        }
        loop {
            let news = self.news.next().await?;
            if self.filter.tells(&news) {
                return Some(news.tagged(&self.id));
            }
        }
    }

    /// The answer to the request: the subscription ends because the endpoint does.
    pub(crate) fn end(&self) -> String {
        let result = format!(r#"{{"resultType":"complete","_meta":{}}}"#, tag(&self.id));
        rpc::answer(&self.id, &raw(result))
    }
}
