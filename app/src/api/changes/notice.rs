use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::api::WebError;

/// Something that was done to memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    /// A new one was stored.
    Remembered,
    /// It was there already.
    Known,
    /// It was edited.
    Saved,
    /// It was as asked already.
    Unchanged,
    /// They were labelled or moved.
    Changed,
    /// They are in the trash.
    Forgotten,
    /// They are no longer in the trash.
    Restored,
    /// They are nowhere any more.
    Erased,
    /// It is in an earlier state again.
    Reverted,
    /// What was done before is undone.
    Undone,
    /// The session has another title.
    SessionRenamed,
    /// The session is in another namespace.
    SessionMoved,
    /// The session is in the trash.
    SessionForgotten,
    /// An upload was given up.
    UploadCancelled,
}

/// What a change did, to be told to the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// What was done.
    pub deed: Deed,
    /// To how many memories.
    pub memories: u32,
    /// How many it could not be done to.
    #[serde(default)]
    pub skipped: u32,
    /// What undoes it, for [`undo_change`](super::undo_change).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
}

/// Gives what the form that led to this page did, once.
///
/// # Errors
///
/// Only those of the way to the server.
#[server(endpoint = "take_notice")]
pub async fn take_notice() -> Result<Option<Notice>, WebError> {
    Ok(cookie::take())
}

#[cfg(feature = "ssr")]
pub(crate) use cookie::leave;
#[cfg(feature = "ssr")]
pub(super) use undo::read as read_undo;

#[cfg(feature = "ssr")]
mod making {
    use polymnemo_types::BulkReport;

    use super::{Deed, Notice, undo};

    impl Notice {
        /// What was done to one memory.
        pub(crate) fn of(deed: Deed) -> Self {
            Self { deed, memories: 1, skipped: 0, undo: None }
        }

        /// What was done to this many memories.
        pub(crate) fn of_count(deed: Deed, memories: usize) -> Self {
            Self { memories: count(memories), ..Self::of(deed) }
        }

        /// What was done to several memories at once.
        pub(crate) fn of_report(deed: Deed, report: BulkReport) -> Self {
            let memories = count(report.changed.len());
            let deed = if memories == 0 && report.skipped.is_empty() { Deed::Unchanged } else { deed };
            let undo = report.undo.map(|undo| undo::write(&undo));
            Self { deed, memories, skipped: count(report.skipped.len()), undo }
        }
    }

    fn count(number: usize) -> u32 {
        u32::try_from(number).unwrap_or(u32::MAX)
    }
}

/// A notice on its way from the form that made it to the next page.
#[cfg(feature = "ssr")]
mod cookie {
    use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
    use http::{HeaderMap, HeaderValue, header, request::Parts};
    use leptos::prelude::use_context;
    use leptos_axum::ResponseOptions;

    use super::Notice;

    const NAME: &str = "polymnemo_notice";

    /// The header that lets the next page find the notice. It holds no secret, and is gone in a minute.
    pub(crate) fn leave(notice: &Notice) -> Option<HeaderValue> {
        let value = URL_SAFE_NO_PAD.encode(serde_json::to_vec(notice).ok()?);
        HeaderValue::try_from(format!("{NAME}={value}; Path=/; Max-Age=60; SameSite=Lax; HttpOnly")).ok()
    }

    pub(super) fn take() -> Option<Notice> {
        let notice = read(&use_context::<Parts>()?.headers)?;
        let gone = HeaderValue::from_static("polymnemo_notice=; Path=/; Max-Age=0; SameSite=Lax; HttpOnly");
        use_context::<ResponseOptions>()?.append_header(header::SET_COOKIE, gone);
        Some(notice)
    }

    fn read(headers: &HeaderMap) -> Option<Notice> {
        let value = headers
            .get_all(header::COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .find_map(|pair| pair.trim().strip_prefix(NAME)?.strip_prefix('='))?;
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(value).ok()?).ok()
    }

    #[cfg(test)]
    mod tests {
        use http::{HeaderMap, HeaderValue, header};
        use polymnemo_types::{BulkReport, BulkUndo, MemoryId, RevertChange, limits};
        use uuid::Uuid;

        use super::*;
        use crate::api::changes::Deed;

        #[test]
        fn the_longest_notice_reaches_the_next_page() {
            let ids: Vec<MemoryId> = (0..limits::IDS).map(|_| MemoryId(Uuid::now_v7())).collect();
            let revert = ids.iter().map(|&id| RevertChange { id, revision: 1_234 }).collect();
            let undo = Some(BulkUndo { restore: Vec::new(), revert });
            let notice = Notice::of_report(Deed::Changed, BulkReport { changed: ids, undo, ..BulkReport::default() });

            let header = leave(&notice).expect("a valid header");
            let cookie = header.to_str().expect("visible characters").split(';').next().expect("a first part");
            assert!(cookie.len() < 4096, "browsers keep no cookie of {} bytes", cookie.len());
            let mut headers = HeaderMap::new();
            headers.insert(header::COOKIE, HeaderValue::from_str(&format!("a=b; {cookie}; c=d")).expect("valid"));
            assert_eq!(read(&headers), Some(notice));
        }

        #[test]
        fn anything_else_is_no_notice() {
            for cookie in ["", "polymnemo_notice=", "polymnemo_notice=AAAA", "polymnemo_notice_2=e30"] {
                let mut headers = HeaderMap::new();
                headers.insert(header::COOKIE, HeaderValue::from_static(cookie));
                assert_eq!(read(&headers), None, "{cookie}");
            }
        }
    }
}

/// What undoes a change, in few enough characters for a cookie.
#[cfg(feature = "ssr")]
mod undo {
    use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
    use polymnemo_types::{ApiError, BulkUndo, ErrorCode, MemoryId, RevertChange};
    use uuid::Uuid;

    /// Each memory is its id in 22 characters, followed by the revision where it is to be reverted;
    /// a dot ends it.
    pub(super) fn write(undo: &BulkUndo) -> String {
        let mut text = String::new();
        for id in &undo.restore {
            URL_SAFE_NO_PAD.encode_string(id.0.as_bytes(), &mut text);
            text.push('.');
        }
        for change in &undo.revert {
            URL_SAFE_NO_PAD.encode_string(change.id.0.as_bytes(), &mut text);
            text.push_str(&change.revision.to_string());
            text.push('.');
        }
        text
    }

    pub(in crate::api::changes) fn read(text: &str) -> Result<BulkUndo, ApiError> {
        let mut undo = BulkUndo::default();
        for memory in text.split_terminator('.') {
            let (id, revision) = memory.split_at_checked(22).ok_or_else(invalid)?;
            let id =
                URL_SAFE_NO_PAD.decode(id).ok().and_then(|bytes| Uuid::from_slice(&bytes).ok()).ok_or_else(invalid)?;
            let id = MemoryId(id);
            if revision.is_empty() {
                undo.restore.push(id);
            } else {
                undo.revert.push(RevertChange { id, revision: revision.parse().map_err(|_| invalid())? });
            }
        }
        Ok(undo)
    }

    fn invalid() -> ApiError {
        ApiError {
            code: ErrorCode::InvalidInput,
            message: "`undo` is not what the change gave. Open the memories and change them by hand.".to_owned(),
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn it_reads_back() {
            let id = || MemoryId(Uuid::now_v7());
            for undo in [
                BulkUndo::default(),
                BulkUndo { restore: vec![id(), id()], revert: Vec::new() },
                BulkUndo { restore: vec![id()], revert: vec![RevertChange { id: id(), revision: u32::MAX }] },
            ] {
                assert_eq!(read(&write(&undo)).expect("its own text"), undo);
            }
        }

        #[test]
        fn anything_else_is_refused() {
            for text in ["x", "AAAA.", "é.", "AAAAAAAAAAAAAAAAAAAAAAx.", "*AAAAAAAAAAAAAAAAAAAAA.", "."] {
                read(text).expect_err(text);
            }
        }
    }
}
