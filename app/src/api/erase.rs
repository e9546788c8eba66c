//! Erasing with proof: what it would take, how far it is, and what the receipt says.

use leptos::{prelude::*, server_fn::codec::GetUrl};
use polymnemo_types::{ErasePreview, Erasure, ErasureId, Page, ReceiptDocument};
use serde::{Deserialize, Serialize};

use super::WebError;

/// The page of an erasure, which shows its receipt in the end.
#[cfg(feature = "ssr")]
pub(crate) fn erasure_path(id: ErasureId) -> String {
    format!("/erase/{id}")
}

/// The page that shows what erasing this memory, session or file would take.
#[cfg(feature = "ssr")]
pub(crate) fn erase_link(id: polymnemo_types::MemoryId) -> String {
    format!("/erase?memory={id}")
}

/// An erasure, with what its receipt says once it is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErasurePage {
    /// The erasure.
    pub erasure: Erasure,
    /// What the receipt says.
    pub receipt: Option<ReceiptDocument>,
    /// Whether whoever looks at it is its owner, and not someone who knows the address.
    pub own: bool,
}

/// What is to be erased, as forms and addresses say it: `what` is `memories`, `namespace`, `app`, `import` or `account`, and `which`
/// its ids (comma separated), its name or its id.
#[cfg(feature = "ssr")]
fn target(what: &str, which: &str) -> Result<polymnemo_types::EraseTarget, WebError> {
    use polymnemo_types::{ApiError, EraseTarget, ErrorCode};

    let malformed = || {
        let message = crate::i18n::messages().errors.malformed.to_owned();
        WebError::from(ApiError { code: ErrorCode::InvalidInput, message })
    };
    Ok(match what {
        "memories" => {
            let ids = which.split(',').map(str::trim).filter(|id| !id.is_empty());
            EraseTarget::Memories(ids.map(|id| id.parse().map_err(|_| malformed())).collect::<Result<_, _>>()?)
        }
        "namespace" => EraseTarget::Namespace(which.to_owned()),
        "app" => EraseTarget::App(which.parse().map_err(|_| malformed())?),
        "import" => EraseTarget::Import(which.parse().map_err(|_| malformed())?),
        "account" => EraseTarget::Account,
        _ => return Err(malformed()),
    })
}

/// What erasing would take.
///
/// # Errors
///
/// Those of the service.
#[server(endpoint = "preview_erasure", input = GetUrl)]
pub async fn preview_erasure(
    /// What kind of thing: `memories`, `namespace`, `app` or `account`.
    what: String,
    /// Which one.
    #[server(default)]
    which: String,
) -> Result<ErasePreview, WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    Ok(service.preview_erasure(&ctx, target(&what, &which)?).await?)
}

/// Begins to erase, and leads to the page that tells how far it is.
///
/// # Errors
///
/// Those of the service: something else was typed than what confirms it.
#[server(endpoint = "erase")]
pub async fn erase(
    /// What kind of thing: `memories`, `namespace`, `app` or `account`.
    what: String,
    /// Which one.
    #[server(default)]
    which: String,
    /// What was typed to confirm.
    #[server(default)]
    confirm: String,
) -> Result<(), WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    let erasure = service.begin_erasure(&ctx, target(&what, &which)?, Some(&confirm)).await?;
    leptos_axum::redirect(&erasure_path(erasure.id));
    Ok(())
}

/// A page of the caller's erasures, the newest first.
///
/// # Errors
///
/// Those of the service.
#[server(endpoint = "erasures", input = GetUrl)]
pub async fn erasures(
    /// From the page before.
    #[server(default)]
    cursor: Option<String>,
) -> Result<Page<Erasure>, WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    Ok(service.list_erasures(&ctx, cursor.as_deref(), None).await?)
}

/// How far an erasure is. That of an account is for whoever knows its address: nobody can sign in to it any more.
///
/// # Errors
///
/// Those of the service.
#[server(endpoint = "read_erasure", input = GetUrl)]
pub async fn read_erasure(
    /// Its id.
    id: ErasureId,
) -> Result<ErasurePage, WebError> {
    use polymnemo_types::ErasureState;

    let service = expect_context::<crate::WebContext>().service;
    let of_caller = match super::signed_in() {
        Some(ctx) => service.erasure(&ctx, id).await.ok(),
        None => None,
    };
    let own = of_caller.is_some();
    let erasure = match of_caller {
        Some(erasure) => erasure,
        None => service.account_erasure(id).await?,
    };
    let receipt = match erasure.state {
        ErasureState::Done => serde_json::from_str(&service.receipt(id).await?.document).ok(),
        ErasureState::Running => None,
    };
    Ok(ErasurePage { erasure, receipt, own })
}
