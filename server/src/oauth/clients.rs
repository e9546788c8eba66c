use jiff::{SignedDuration, Timestamp};
use polymnemo_memory::{MemoryService, OauthClient};

use super::documents::{Documents, Unread, is_document};

/// For how long a copy of a document is used that can't be read anew.
const STALE: SignedDuration = SignedDuration::from_hours(30 * 24);
/// The longest id of a client, in bytes.
const ID_BYTES: usize = 1_000;

/// Knows clients: those that registered, and those with a document.
pub(super) struct Clients {
    service: MemoryService,
    documents: Documents,
}

/// Why there is no such client.
#[derive(Debug)]
pub(super) enum NoClient {
    /// None registered under this id, or it was never used and is gone.
    Unknown,
    /// Its document does not tell of it.
    Document,
    /// The database can't be reached.
    Unavailable(polymnemo_memory::Error),
}

impl Clients {
    pub(super) fn new(service: MemoryService, documents: Documents) -> Self {
        Self { service, documents }
    }

    /// The client of this id. Its document is read anew when the copy is old; where it can't be, the last good copy stands.
    pub(super) async fn find(&self, id: &str) -> Result<OauthClient, NoClient> {
        if !is_id(id) {
            return Err(NoClient::Unknown);
        }
        let known = self.service.oauth_client(id).await.map_err(NoClient::Unavailable)?;
        if !is_document(id) {
            return known.ok_or(NoClient::Unknown);
        }
        let now = Timestamp::now();
        let copy = known.filter(|client| client.fresh_until.is_some_and(|until| now < until + STALE));
        if let Some(fresh) = copy.as_ref().filter(|client| client.fresh_until.is_some_and(|until| now < until)) {
            return Ok(fresh.clone());
        }
        match self.documents.read(id).await {
            Ok(document) => {
                let fresh_for = SignedDuration::try_from(document.fresh_for).unwrap_or_default();
                let client = OauthClient {
                    id: id.to_owned(),
                    name: document.name,
                    redirect_uris: document.redirect_uris,
                    domain: Some(document.domain),
                    fresh_until: Some(now + fresh_for),
                };
                self.service.save_client(&client).await.map_err(NoClient::Unavailable)?;
                Ok(client)
            }
            Err(Unread::Now(problem)) => {
                tracing::info!(problem, "the document of a client could not be read now");
                copy.ok_or(NoClient::Document)
            }
            Err(Unread::Gone(problem)) => {
                tracing::info!(problem, "a client has no document (any more)");
                Err(NoClient::Document)
            }
        }
    }

    /// The client of this id as far as it is known already.
    pub(super) async fn known(&self, id: &str) -> Result<Option<OauthClient>, polymnemo_memory::Error> {
        if is_id(id) { self.service.oauth_client(id).await } else { Ok(None) }
    }

    pub(super) async fn save(&self, client: &OauthClient) -> Result<(), polymnemo_memory::Error> {
        self.service.save_client(client).await
    }
}

/// Whether it is worth asking the database.
fn is_id(text: &str) -> bool {
    (1..=ID_BYTES).contains(&text.len()) && !text.contains('\0')
}
