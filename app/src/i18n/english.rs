#[cfg(feature = "ssr")]
use super::on_server;
use super::{
    messages::{Copy, Errors, Frame, Messages, NotFound, Status, Welcome},
    pager, sign_in, trouble,
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
    copy: Copy { copy: "Copy", copied: "Copied", failed: "Not allowed: select and copy" },
    welcome: Welcome {
        title: "One memory for every AI you use",
        lead: "Tell one assistant, and the others know it too. polymnemo keeps what you ask it to remember, \
               and hands it to any client that speaks MCP.",
    },
    sign_in: sign_in::ENGLISH,
    #[cfg(feature = "ssr")]
    on_server: on_server::ENGLISH,
    pager: pager::ENGLISH,
    trouble: trouble::ENGLISH,
    not_found: NotFound {
        title: "There is no page here",
        text: "The address may have a typing mistake, or what it pointed to is gone.",
        home: "Go to the first page",
    },
    errors: Errors {
        no_connection: "The server could not be reached. Check the connection and try again.",
        not_signed_in: "You are not signed in any more. Sign in at /sign-in and try again.",
    },
};
