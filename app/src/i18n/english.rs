#[cfg(feature = "ssr")]
use super::on_server;
use super::{
    memories,
    messages::{Copy, Errors, Frame, Messages, NotFound, Status, Welcome},
    notices, trouble,
};

pub(super) static MESSAGES: Messages = Messages {
    frame: Frame { skip_to_content: "Skip to content", home: "polymnemo, first page", licence: "MIT licence" },
    status: Status {
        ready: "The memory is ready.",
        model_loading: "The language model is loading. Storing and recalling start in a moment.",
        model_failed: "The language model could not be loaded. Run `polymnemo doctor` on the server to see why.",
        store_unavailable: "The database does not answer. Run `polymnemo doctor` on the server to see why.",
        unreachable: "The server does not answer. This page keeps trying.",
    },
    copy: Copy {
        copy: "Copy",
        #[cfg(not(feature = "ssr"))]
        copied: "Copied",
        #[cfg(not(feature = "ssr"))]
        failed: "Not allowed: select and copy",
    },
    welcome: Welcome {
        title: "One memory for every AI you use",
        lead: "Tell one assistant, and the others know it too. polymnemo keeps what you ask it to remember, \
               and hands it to any client that speaks MCP.",
    },
    #[cfg(feature = "ssr")]
    on_server: on_server::ENGLISH,
    search: memories::ENGLISH_SEARCH,
    memories: memories::ENGLISH,
    why: memories::ENGLISH_WHY,
    bulk: memories::ENGLISH_BULK,
    notices: notices::ENGLISH,
    trouble: trouble::ENGLISH,
    not_found: NotFound {
        title: "There is no page here",
        text: "The address may have a typing mistake, or what it pointed to is gone.",
        home: "Go to the first page",
    },
    errors: Errors {
        malformed: "The form could not be read: a field is missing or holds something else than it should. Reload the page \
                    and try again.",
        no_connection: "The server could not be reached. Check the connection and try again.",
        #[cfg(feature = "ssr")]
        not_signed_in: "You are not signed in any more. Sign in at /sign-in and try again.",
    },
};
