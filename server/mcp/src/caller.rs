use polymnemo_memory::Ctx;
use rmcp::{ErrorData, RoleServer, service::RequestContext};

/// How a server knows who asks.
///
/// Identity belongs to a request, never to an MCP session or connection: a session id is not a
/// proof of identity, and the same connection can carry the requests of several users.
#[derive(Debug, Clone)]
pub enum Caller {
    /// Over HTTP: the router's authentication puts a [`Ctx`] into the extensions of each request.
    FromRequest,
    /// Over stdio: the process belongs to one user.
    Fixed(Ctx),
}

impl Caller {
    /// Who sent this request.
    ///
    /// # Errors
    ///
    /// An internal error where the router let a request through without authenticating it: better
    /// no answer than one from the wrong store.
    pub(crate) fn of(&self, context: &RequestContext<RoleServer>) -> Result<Ctx, ErrorData> {
        let (mut ctx, client) = match self {
            // Over stdio a client that speaks an older revision names itself once, at the start.
            Self::Fixed(ctx) => (ctx.clone(), context.client_info()),
            Self::FromRequest => {
                let parts = context.extensions.get::<http::request::Parts>();
                let Some(ctx) = parts.and_then(|parts| parts.extensions.get::<Ctx>()) else {
                    tracing::error!("a request reached the MCP handler without authentication");
                    return Err(ErrorData::internal_error("the request was not authenticated", None));
                };
                // Requests are stateless, so only those that carry the client's name know it.
                (ctx.clone(), context.meta.client_info())
            }
        };
        if ctx.client.is_none() {
            ctx.client = client.and_then(|client| client_name(&client.name));
        }
        Ok(ctx)
    }
}

/// A client's own name for itself, made harmless: short, on one line, without control characters.
fn client_name(given: &str) -> Option<String> {
    let name: String = given.chars().filter(|char| !char.is_control()).take(100).collect();
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_name_is_made_harmless() {
        assert_eq!(client_name(" claude-code\n\u{0}").as_deref(), Some("claude-code"));
        assert_eq!(client_name(&"x".repeat(10_000)).map(|name| name.len()), Some(100));
        assert_eq!(client_name(" \t"), None);
    }
}
