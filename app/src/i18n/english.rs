use super::messages::{Copy, Errors, Fact, Frame, Messages, NotFound, Status, Welcome};

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
        facts: [
            Fact {
                title: "Yours",
                text: "Everything lies in your own database, and its meaning is computed on your own machine. \
                       Nothing is sent anywhere else.",
            },
            Fact {
                title: "Found again",
                text: "By meaning and by exact word, in English, 中文 and many other languages. \
                       When nothing fits, it says so.",
            },
            Fact {
                title: "Never lost by accident",
                text: "A change keeps the old text. What is forgotten stays in the trash for 30 days.",
            },
        ],
        connect: "Connect a client",
        step_settings: "Add this to the client’s MCP settings.",
        step_key: "Put your key in place of `YOUR_KEY`. It was printed in the terminal when polymnemo started; \
                   if you set `POLYMNEMO_API_KEYS` yourself, it is the part before the colon.",
        step_try: "Try it.",
        try_first: "Remember that I take my coffee black.",
        try_then: "Then, in another client:",
        try_second: "How do I take my coffee?",
    },
    not_found: NotFound {
        title: "There is no page here",
        text: "The address may have a typing mistake, or what it pointed to is gone.",
        home: "Go to the first page",
    },
    errors: Errors { no_connection: "The server could not be reached. Check the connection and try again." },
};
