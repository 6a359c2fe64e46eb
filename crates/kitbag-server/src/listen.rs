//! `subscriptions/listen` of the newer era: a request that stays open, and on which a client is told what it asked for.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::answer::Incoming;
use crate::client::Client;
use crate::news::{LISTS, News, NewsSource, tag};
use crate::rpc::{self, RpcError, code, raw};

/// The request that opens one.
pub(crate) const METHOD: &str = "subscriptions/listen";

/// One subscription.
pub(crate) struct Subscription {
    id: Box<RawValue>,
    filter: Filter,
    news: NewsSource,
    /// The first message of every subscription.
    acknowledgement: Option<String>,
}

/// What a subscription tells of.
#[derive(Default)]
struct Filter {
    /// The lists, as the rows of [`LISTS`] name them.
    lists: Vec<&'static str>,
}

impl Filter {
    /// Of what is asked for all that there is; the rest is left out, and the acknowledgement says so.
    fn accepted(request: &Incoming) -> Result<Self, RpcError> {
        #[derive(Deserialize)]
        struct Params {
            notifications: Map<String, Value>,
        }
        let params: Params = serde_json::from_str(request.params.get()).map_err(|error| {
            let message = format!("params.notifications must say what to listen for: {error}");
            RpcError::new(code::INVALID_PARAMS, message)
        })?;
        let is_asked = |key: &str| params.notifications.get(key).is_some_and(|asked| *asked == true);
        let lists = LISTS.iter().map(|row| row.filter).filter(|key| is_asked(key)).collect();
        Ok(Self { lists })
    }

    fn tells(&self, news: &News) -> bool {
        let row = LISTS.iter().find(|row| row.news == *news);
        row.is_some_and(|row| self.lists.contains(&row.filter))
    }

    fn shown(&self) -> Value {
        self.lists.iter().map(|key| ((*key).to_owned(), json!(true))).collect::<Map<_, _>>().into()
    }
}

impl Subscription {
    /// Takes a request that was checked as one of the newer era.
    pub(crate) fn open(client: &Arc<Client>, request: &Incoming) -> Result<Self, RpcError> {
        let filter = Filter::accepted(request)?;
        let params = format!(r#"{{"_meta":{},"notifications":{}}}"#, tag(&request.id), filter.shown());
        let acknowledgement = Some(rpc::notification("notifications/subscriptions/acknowledged", &params));
        // From before the acknowledgement on: what changes after it is told.
        let news = NewsSource::new(client);
        Ok(Self { id: request.id.clone(), filter, news, acknowledgement })
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
