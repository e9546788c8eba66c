use polymnemo_memory::{Grants, NamespaceGrant};
use serde_json::Value;

use super::{Claims, Issuer, JwtProblem, Rejection, Subject, jwt::looks_like_jwt};

/// The types of access tokens (RFC 9068 section 2.1); issuers that are older than it say that it is a
/// JWT, or nothing.
const TYPES: &[&str] = &["at+jwt", "jwt"];
/// The greatest length of a client's name, in characters.
const CLIENT_CHARS: usize = 100;

const READ: &str = "memory:read";
const WRITE: &str = "memory:write";

/// Whose access token it is, and what it may do.
pub(crate) struct AccessToken {
    pub(crate) subject: Subject,
    /// The id of the client that it was given to.
    pub(crate) client: Option<String>,
    /// `None` where it may do nothing here.
    pub(crate) grants: Option<Grants>,
}

impl Issuer {
    /// Whether it can be an access token of an authorization server, be it a good one or not.
    pub(crate) fn may_be_token(credential: &str) -> bool {
        looks_like_jwt(credential)
    }

    /// Checks an access token.
    ///
    /// # Errors
    ///
    /// Where it isn't a good one for this server, or that can't be told now.
    pub(crate) async fn access_token(&self, token: &str) -> Result<AccessToken, Rejection> {
        let audiences: Vec<&str> = self.config.audiences.iter().map(String::as_str).collect();
        let claims = self.claims_of(token, &audiences, TYPES).await?;
        // Keycloak gives all its tokens one type in the header and tells them apart in here.
        if matches!(claims.get("typ").and_then(Value::as_str), Some("ID" | "Refresh" | "Offline" | "Logout")) {
            return Err(JwtProblem::Type.into());
        }
        Ok(AccessToken { subject: self.subject_of(&claims)?, client: client_of(&claims), grants: grants_of(&claims) })
    }
}

/// The client that a token was given to, made harmless.
fn client_of(claims: &Claims) -> Option<String> {
    let client = ["client_id", "azp"].into_iter().find_map(|name| claims.get(name)?.as_str())?;
    let client: String = client.chars().filter(|character| !character.is_control()).take(CLIENT_CHARS).collect();
    Some(client.trim().to_owned()).filter(|client| !client.is_empty())
}

/// What a token may do: what it says, and everything where it says nothing at all of scopes, as with
/// issuers that know none. To write includes to read.
fn grants_of(claims: &Claims) -> Option<Grants> {
    let mut given = ["scope", "scp"].into_iter().filter_map(|name| claims.get(name)).peekable();
    if given.peek().is_none() {
        return Some(Grants::full());
    }
    let (mut read, mut write) = (false, false);
    for scope in given.flat_map(scopes) {
        read |= scope == READ;
        write |= scope == WRITE;
    }
    (read || write).then_some(Grants { read: true, write, namespaces: NamespaceGrant::All })
}

/// The scopes of a claim, which is a text with spaces or a list.
fn scopes(claim: &Value) -> Vec<&str> {
    match claim {
        Value::String(text) => text.split(' ').collect(),
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn claims(claims: &Value) -> Claims {
        claims.as_object().unwrap().clone()
    }

    #[test]
    fn what_a_token_may_do_is_what_its_scopes_say() {
        for (given, expected) in [
            (json!({}), Some((true, true))),
            (json!({ "scope": "memory:read" }), Some((true, false))),
            (json!({ "scope": "memory:write" }), Some((true, true))),
            (json!({ "scope": "openid memory:read memory:write" }), Some((true, true))),
            (json!({ "scp": ["openid", "memory:read"] }), Some((true, false))),
            (json!({ "scp": "memory:write" }), Some((true, true))),
            (json!({ "scope": "openid", "scp": ["memory:read"] }), Some((true, false))),
            (json!({ "scope": ["memory:read"] }), Some((true, false))),
            (json!({ "scope": "" }), None),
            (json!({ "scope": null }), None),
            (json!({ "scope": 1 }), None),
            (json!({ "scp": [] }), None),
            (json!({ "scope": "openid profile" }), None),
            (json!({ "scope": "memory:reader memory" }), None),
        ] {
            let grants = grants_of(&claims(&given)).map(|grants| (grants.read, grants.write));
            assert_eq!(grants, expected, "{given}");
        }
    }

    #[test]
    fn the_client_is_who_the_token_was_given_to() {
        let client = |given: Value| client_of(&claims(&given));
        assert_eq!(client(json!({ "client_id": "cursor", "azp": "other" })).as_deref(), Some("cursor"));
        assert_eq!(client(json!({ "azp": " a\nb " })).as_deref(), Some("ab"));
        assert_eq!(client(json!({ "azp": "x".repeat(500) })).map(|name| name.len()), Some(CLIENT_CHARS));
        assert_eq!(client(json!({ "azp": "" })), None);
        assert_eq!(client(json!({ "client_id": 7 })), None);
    }
}
