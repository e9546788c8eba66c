use polymnemo_types::{ApiToken, CreatedApiToken, NewApiToken, Page, TokenId, limits};
use rand::distr::{Alphanumeric, SampleString as _};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::{MemoryService, cursor, validate};
use crate::{
    API_TOKEN_PREFIX, Ctx, Error, Grants, NamespaceGrant, Result, TokenAccess, TokenRefusal, ports::TokenHash, when,
};

/// The number of random letters and digits in a token: 256 bits.
const RANDOM_CHARS: usize = 43;

/// How many of them are shown for as long as the token is there.
const HINT_CHARS: usize = 4;

/// Which list a cursor belongs to.
const LIST: char = 't';

impl MemoryService {
    /// Makes a token for a client without a browser. The answer is the only place that ever holds its secret.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a bad name, namespace or time, or where the user has too many tokens;
    /// [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn create_token(&self, ctx: &Ctx, new: NewApiToken) -> Result<CreatedApiToken> {
        ctx.check_person()?;
        let name = validate::token_name(&new.name)?;
        let namespaces = new.namespaces.as_deref().map(token_namespaces).transpose()?;
        let now = self.now();
        let expires_at = match new.expires_at.as_deref() {
            Some(text) => Some(when::parse("expires_at", text, &ctx.user.time_zone)?),
            None => None,
        };
        if expires_at.is_some_and(|expires_at| expires_at <= now) {
            return Err(Error::Invalid(
                "`expires_at` is over already. Give a later time, or none for a token that does not expire.".into(),
            ));
        }
        let random = Alphanumeric.sample_string(&mut rand::rng(), RANDOM_CHARS);
        let token = ApiToken {
            id: TokenId(Uuid::now_v7()),
            name,
            hint: format!("{API_TOKEN_PREFIX}{}", random.chars().take(HINT_CHARS).collect::<String>()),
            can_write: new.can_write,
            in_url: new.in_url,
            namespaces,
            created_at: now,
            expires_at,
            last_used_at: None,
            revoked_at: None,
            paused_at: None,
        };
        let secret = format!("{API_TOKEN_PREFIX}{random}");
        if self.store.create_token(ctx, &token, &hash(&secret), limits::TOKENS).await? {
            return Ok(CreatedApiToken { token, secret });
        }
        Err(Error::Invalid(format!(
            "You have {} tokens in use, more can't be made. Revoke those that are no longer needed first.",
            limits::TOKENS
        )))
    }

    /// A page of the caller's tokens, the newest first, revoked and expired ones included.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a bad limit or cursor; [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn list_tokens(&self, ctx: &Ctx, cursor: Option<&str>, limit: Option<u32>) -> Result<Page<ApiToken>> {
        ctx.check_person()?;
        let limit = validate::limit(limit)?;
        let after = cursor.map(|cursor| cursor::to_key(LIST, cursor)).transpose()?;
        let mut page = self.store.tokens(ctx, after, limit + 1).await?;
        page.next_cursor = cursor::next(LIST, &mut page.items, limit, |token| token.id);
        Ok(page)
    }

    /// Revokes a token: the very next request that presents it is refused. Revoking twice does no harm.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] where it is not the caller's; [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn revoke_token(&self, ctx: &Ctx, id: TokenId) -> Result<()> {
        ctx.check_person()?;
        if self.store.revoke_token(ctx, id, self.now()).await? {
            return Ok(());
        }
        Err(Error::Missing(format!("You have no token with the id {id}. Take it from the list of your tokens.")))
    }

    /// Whose token this is, and what it may do. It counts as used.
    ///
    /// It is looked up by its digest, so how long that takes tells nothing about the tokens there are.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`].
    pub async fn authenticate_token(&self, secret: &str) -> Result<Result<TokenAccess, TokenRefusal>> {
        if !looks_like_token(secret) {
            return Ok(Err(TokenRefusal::Unknown));
        }
        let now = self.now();
        let Some((token, user)) = self.store.use_token(&hash(secret), now).await? else {
            return Ok(Err(TokenRefusal::Unknown));
        };
        if token.revoked_at.is_some() {
            return Ok(Err(TokenRefusal::Revoked));
        }
        if !token.is_active(now) {
            return Ok(Err(TokenRefusal::Expired));
        }
        if token.paused_at.is_some() {
            return Ok(Err(TokenRefusal::Paused));
        }
        let namespaces = token.namespaces.map_or(NamespaceGrant::All, NamespaceGrant::Only);
        let grants = Grants { read: true, write: token.can_write, namespaces };
        Ok(Ok(TokenAccess { token: token.id, name: token.name, user, grants, in_url: token.in_url }))
    }
}

/// The namespaces of a new token, without repetitions.
fn token_namespaces(names: &[String]) -> Result<Vec<String>> {
    if names.is_empty() || names.len() > limits::IDS {
        return Err(Error::Invalid(format!(
            "`namespaces`: choose 1 to {} namespaces, or leave it out for a token that is good for all of them.",
            limits::IDS
        )));
    }
    validate::namespaces(names)
}

/// Whether it is worth asking the database.
fn looks_like_token(secret: &str) -> bool {
    secret
        .strip_prefix(API_TOKEN_PREFIX)
        .is_some_and(|random| random.len() == RANDOM_CHARS && random.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// All that is kept of a secret.
pub(super) fn hash(secret: &str) -> TokenHash {
    Sha256::digest(secret.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_looks_like_a_token_is_looked_up() {
        let random = "a".repeat(RANDOM_CHARS);
        assert!(looks_like_token(&format!("pmn_{random}")));
        for wrong in ["", "pmn_", &random, &format!("pmn_{random}a"), &format!("pmn_{}", "é".repeat(21)), "pmn_\0"] {
            assert!(!looks_like_token(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_token_for_no_namespace_is_refused() {
        token_namespaces(&[]).expect_err("none");
        assert_eq!(token_namespaces(&["work".into(), " work ".into()]).expect("valid"), ["work"]);
    }
}
