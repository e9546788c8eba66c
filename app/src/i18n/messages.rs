#[cfg(feature = "ssr")]
use super::on_server::OnServer;
use super::{
    memories::{Bulk, Memories, Search, Why},
    notices::Notices,
    trouble::Trouble,
};

/// Everything the web app says, in one language. Text between backticks is shown as code.
pub(crate) struct Messages {
    pub(crate) frame: Frame,
    pub(crate) status: Status,
    pub(crate) copy: Copy,
    pub(crate) welcome: Welcome,
    #[cfg(feature = "ssr")]
    pub(crate) on_server: OnServer,
    pub(crate) search: Search,
    pub(crate) memories: Memories,
    pub(crate) why: Why,
    pub(crate) bulk: Bulk,
    pub(crate) notices: Notices,
    pub(crate) trouble: Trouble,
    pub(crate) not_found: NotFound,
    pub(crate) errors: Errors,
}

/// What surrounds every page.
pub(crate) struct Frame {
    /// The first thing a keyboard reaches.
    pub(crate) skip_to_content: &'static str,
    /// The label of the link to the first page.
    pub(crate) home: &'static str,
    pub(crate) licence: &'static str,
}

/// One line each on how the memory is doing.
pub(crate) struct Status {
    pub(crate) ready: &'static str,
    pub(crate) model_loading: &'static str,
    pub(crate) model_failed: &'static str,
    pub(crate) store_unavailable: &'static str,
    pub(crate) unreachable: &'static str,
}

/// The copy button.
pub(crate) struct Copy {
    pub(crate) copy: &'static str,
    #[cfg(not(feature = "ssr"))]
    pub(crate) copied: &'static str,
    #[cfg(not(feature = "ssr"))]
    pub(crate) failed: &'static str,
}

/// The first page.
pub(crate) struct Welcome {
    pub(crate) title: &'static str,
    pub(crate) lead: &'static str,
}

/// The page for an address that leads nowhere.
pub(crate) struct NotFound {
    pub(crate) title: &'static str,
    pub(crate) text: &'static str,
    pub(crate) home: &'static str,
}

/// Errors that come from the way to the server, not from the service.
pub(crate) struct Errors {
    pub(crate) no_connection: &'static str,
    pub(crate) malformed: &'static str,
    #[cfg(feature = "ssr")]
    pub(crate) not_signed_in: &'static str,
}
