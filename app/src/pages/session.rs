//! A session, to be read: `/sessions/{id}`, from message 41 on with `?from=41`, at message 57 with `?message=57`, and what
//! in it fits some words with `?q=words`.
//!
//! The server makes the page with a part of the transcript and links to the others. On a living page the parts are loaded
//! as one scrolls, see `browser`.

#[cfg(not(feature = "ssr"))]
mod browser;

#[cfg(not(feature = "ssr"))]
pub(crate) use browser::SessionDetail;
#[cfg(feature = "ssr")]
pub(crate) use server::SessionDetail;

#[cfg(feature = "ssr")]
mod server {
    use leptos::{either::Either, prelude::*, server_fn::ServerFn};
    use leptos_meta::Title;
    use leptos_router::hooks::{use_params_map, use_query_map};
    use polymnemo_types::{ApiError, ErrorCode, MemoryId, Session, limits};
    use serde::{Deserialize, Serialize};

    use crate::{
        api::{
            WebError, caller,
            erase::erase_link,
            sessions::{
                FoundMessage, PART, SessionPlace, Transcript,
                changes::{ForgetSession, MoveSession, RenameSession},
                get_session, message_path, search_session, session_path, transcript,
            },
            signed_in,
        },
        components::{Foreign, LiveForm, Missing, Sending, Trouble, on_server, speaker, use_here},
        i18n,
        pages::sessions::{Facts, title_of},
    };

    /// One conversation.
    #[component]
    pub(crate) fn SessionDetail() -> impl IntoView {
        on_server(|| view! { <Page /> }.into_any())
    }

    /// What stands below the header.
    #[derive(Clone, Serialize, Deserialize)]
    enum Shown {
        Transcript(Transcript),
        Found(Vec<FoundMessage>),
        Trouble(ApiError),
    }

    /// What the address asks for.
    #[derive(Clone)]
    struct Wanted {
        place: SessionPlace,
        /// What is searched for.
        q: String,
    }

    #[component]
    fn Page() -> impl IntoView {
        let id =
            use_params_map().with_untracked(|params| params.get_str("id").and_then(|id| id.parse::<MemoryId>().ok()));
        let wanted = use_query_map().with_untracked(|query| Wanted {
            place: SessionPlace::of_query(query),
            q: query.get_str("q").unwrap_or_default().trim().to_owned(),
        });
        let page = {
            let wanted = wanted.clone();
            Resource::new(|| (), move |()| read(id, wanted.clone()))
        };
        view! {
            <Suspense>
                {move || {
                    let wanted = wanted.clone();
                    Suspend::new(async move {
                        match page.await {
                            Ok(Some((session, shown))) => view! { <Read session shown wanted /> }.into_any(),
                            Ok(None) => view! { <NoSuchSession /> }.into_any(),
                            Err(WebError(error)) => view! { <Unreadable error /> }.into_any(),
                        }
                    })
                }}
            </Suspense>
        }
        .into_any()
    }

    /// The session with what is shown of it; `None` where the caller can read none of this id.
    ///
    /// The transcript is not sent as data too, so it takes no server function.
    async fn read(id: Option<MemoryId>, wanted: Wanted) -> Result<Option<(Session, Shown)>, WebError> {
        let Some(id) = id else { return Ok(None) };
        let session = match get_session(id).await {
            Err(WebError(error)) if error.code == ErrorCode::NotFound => return Ok(None),
            session => session?,
        };
        let shown = if wanted.q.is_empty() {
            let ctx = caller()?;
            let service = expect_context::<crate::WebContext>().service;
            // Beyond the end is the end.
            let last_page = session.messages.saturating_sub(1) / PART * PART + 1;
            let place = SessionPlace { from: wanted.place.from.min(last_page), ..wanted.place };
            transcript::read(&service, &ctx, &session, place).await.map(Shown::Transcript).map_err(WebError::from)
        } else {
            search_session(id, wanted.q).await.map(Shown::Found)
        };
        Ok(Some((session, shown.unwrap_or_else(|WebError(error)| Shown::Trouble(error)))))
    }

    #[component]
    fn Read(session: Session, shown: Shown, wanted: Wanted) -> impl IntoView {
        let title = title_of(&session);
        let id = session.memory.id;
        let is_changing = !session.index.is_complete();
        let body = match shown {
            Shown::Transcript(transcript) => view! { <Messages session=session.clone() transcript /> }.into_any(),
            Shown::Found(found) => view! { <Found session=session.clone() found /> }.into_any(),
            Shown::Trouble(error) => view! { <Trouble error /> }.into_any(),
        };
        view! {
            <Title text=title.clone() />
            <div class="session">
                <header class="session-bar">
                    <Back />
                    <h1>
                        <Foreign text=title />
                    </h1>
                    {session.memory.own.then(|| view! { <Change session=session.clone() /> })}
                    <Search id q=wanted.q />
                </header>
                // How far it is in the index is kept true as long as that goes on.
                <div class="session-facts" id="session-facts" data-live=is_changing.then_some("")>
                    <Facts session />
                </div>
                {body}
            </div>
        }
        .into_any()
    }

    #[component]
    fn Back() -> impl IntoView {
        let text = &i18n::messages().on_server.sessions.transcript;
        view! {
            <a class="button-quiet back" href="/sessions" rel="external" data-key="Escape" aria-label=text.back title=text.back>
                "←"
            </a>
        }
    }

    #[component]
    fn Search(id: MemoryId, q: String) -> impl IntoView {
        let text = &i18n::messages().on_server.sessions.transcript;
        view! {
            <form class="session-search" role="search" method="get" action=session_path(id)>
                <input
                    class="input"
                    type="search"
                    name="q"
                    value=q
                    placeholder=text.placeholder
                    aria-label=text.placeholder
                    maxlength=limits::QUERY_CHARS
                    autocomplete="off"
                    data-key="/"
                />
                <button class="button-plain">{text.search}</button>
            </form>
        }
    }

    /// What can be done with the session.
    #[component]
    fn Change(session: Session) -> impl IntoView {
        let text = &i18n::messages().on_server.sessions.transcript;
        let sending = Sending::to(&[RenameSession::PATH, MoveSession::PATH, ForgetSession::PATH]);
        let id = session.memory.id;
        let hidden_id = move || view! { <input type="hidden" name="id" value=id.to_string() /> };
        let here = Signal::derive(use_here());
        let title = sending.typed("title").unwrap_or_else(|| session.title.clone());
        let namespace = sending.typed("namespace").unwrap_or_else(|| session.memory.namespace.clone());
        let fault = sending.error().map(|error| i18n::explain(&error, text.refused));
        let is_faulty = fault.is_some();
        view! {
            <details class="confirm session-change" open=is_faulty>
                <summary class="button-quiet">{text.change}</summary>
                <div class="confirm-box">
                    <LiveForm sending call=RenameSession::PATH then=here class="one-line">
                        {hidden_id()}
                        <div class="field">
                            <label for="session-title">{text.new_title}</label>
                            <input
                                class="input"
                                id="session-title"
                                name="title"
                                value=title
                                required
                                maxlength=limits::TITLE_CHARS
                                autocomplete="off"
                            />
                        </div>
                        <button class="button-plain">{text.rename}</button>
                    </LiveForm>
                    <LiveForm sending call=MoveSession::PATH then=here class="one-line">
                        {hidden_id()}
                        <div class="field">
                            <label for="session-namespace">{text.namespace}</label>
                            <input
                                class="input"
                                id="session-namespace"
                                name="namespace"
                                value=namespace
                                required
                                maxlength=limits::NAMESPACE_CHARS
                                autocomplete="off"
                            />
                        </div>
                        <button class="button-plain">{text.move_there}</button>
                    </LiveForm>
                    <LiveForm sending call=ForgetSession::PATH then="/sessions".to_owned() class="action">
                        {hidden_id()}
                        <p class="hint">{text.forget_means}</p>
                        <button class="button-danger">{text.forget}</button>
                    </LiveForm>
                    <p>
                        <a href=erase_link(id) rel="external">
                            {i18n::messages().on_server.erase.for_good}
                        </a>
                    </p>
                    {fault.map(|fault| view! { <p class="fault" role="alert">{fault}</p> })}
                </div>
            </details>
        }
    }

    /// A part of the transcript, and the way to the others.
    #[component]
    fn Messages(session: Session, transcript: Transcript) -> impl IntoView {
        let text = &i18n::messages().on_server.sessions.transcript;
        let id = session.memory.id;
        let Transcript { from, count, markup } = transcript;
        let whole = use_query_map().with_untracked(SessionPlace::of_query).whole;
        let drafts = signed_in().map(|ctx| format!("{}:passage:{id}", ctx.user.id));
        view! {
            {(count == 0).then(|| view! { <p class="quiet">{text.no_messages}</p> })}
            <div
                class="transcript"
                role="feed"
                aria-label=text.label
                data-session=id.to_string()
                data-messages=session.messages
                data-part=PART
                data-whole=whole
                data-drafts=drafts
                data-loading=text.loading
                data-failed=text.failed
            >
                <div class="transcript-part" data-from=from inner_html=markup.into_html()></div>
            </div>
            <Parts id from count messages=session.messages />
            // Comes up beside a passage that is selected.
            <a class="button-main remember-passage" href="" rel="external" hidden>
                {text.remember_passage}
            </a>
        }
    }

    /// The way to the other parts, where they are not loaded as one scrolls.
    #[component]
    fn Parts(id: MemoryId, from: u32, count: u32, messages: u32) -> impl IntoView {
        let text = &i18n::messages().on_server.sessions.transcript;
        let last = from + count.saturating_sub(1);
        let link = |from: u32, name: &'static str, rel: &'static str| {
            let href = if from == 1 { session_path(id) } else { format!("{}?from={from}", session_path(id)) };
            view! { <a class="button-plain" href=href rel=rel>{name}</a> }
        };
        let end = messages.saturating_sub(1) / PART * PART + 1;
        (from > 1 || last < messages).then(|| {
            let earlier = from.saturating_sub(PART).max(1);
            view! {
                <nav class="pager transcript-pager" aria-label=text.pages>
                    <p class="quiet">{(text.range)(from, last, messages)}</p>
                    {(from > 1).then(|| link(earlier, text.earlier, "external prev"))}
                    {(last < messages).then(|| link(from + PART, text.later, "external next"))}
                    {(earlier > 1).then(|| link(1, text.first, "external"))}
                    {(from + PART < end).then(|| link(end, text.last, "external"))}
                </nav>
            }
        })
    }

    /// What in the session fits the words that were searched for.
    #[component]
    fn Found(session: Session, found: Vec<FoundMessage>) -> impl IntoView {
        let text = &i18n::messages().on_server.sessions.transcript;
        let id = session.memory.id;
        let author = (!session.memory.own).then(|| session.memory.author.clone());
        let back = view! {
            <a class="button-plain" href=session_path(id) rel="external">
                {text.to_transcript}
            </a>
        };
        if found.is_empty() {
            return Either::Left(view! {
                <section class="empty">
                    <h2>{text.nothing_found}</h2>
                    <p>{text.nothing_found_text}</p>
                    <p class="buttons">{back}</p>
                </section>
            });
        }
        let count = found.len() as u64;
        let rows = found.into_iter().map(|found| {
            let FoundMessage { number, role, at, text: pieces } = found;
            let (_, name) = speaker(&role, author.as_deref());
            view! {
                <li class="memory-row">
                    <h3>
                        <a href=message_path(id, number) rel="external">
                            {pieces
                                .into_iter()
                                .map(|piece| {
                                    if piece.matched {
                                        Either::Left(view! { <mark>{piece.text}</mark> })
                                    } else {
                                        Either::Right(piece.text)
                                    }
                                })
                                .collect_view()}
                        </a>
                    </h3>
                    <p class="meta">
                        {(!name.is_empty()).then(|| view! { <span>{name}</span> })} <span>{(text.message)(number)}</span>
                        {at.map(|at| view! { <span class="at">{at.exact}</span> })}
                    </p>
                </li>
            }
        });
        Either::Right(view! {
            <section class="found-messages" aria-labelledby="found-messages">
                <h2 class="list-summary" id="found-messages">
                    {(text.found)(count)}
                </h2>
                <ol class="memory-list">{rows.collect_view()}</ol>
                <p class="buttons">{back}</p>
            </section>
        })
    }

    /// Stands where a session was to be read and there is none of this id, or it is someone else's: the two look the same.
    #[component]
    fn NoSuchSession() -> impl IntoView {
        let text = &i18n::messages().on_server.sessions.transcript;
        view! {
            <div class="page">
                <Missing title=text.none_title text=text.none_text />
                <p class="buttons">
                    <a class="button-plain" href="/sessions" rel="external">
                        {text.all_sessions}
                    </a>
                    <a class="button-plain" href="/trash" rel="external">
                        {text.open_trash}
                    </a>
                </p>
            </div>
        }
    }

    /// Stands where the server could not tell.
    #[component]
    fn Unreadable(error: ApiError) -> impl IntoView {
        let title = i18n::messages().on_server.sessions.title;
        view! {
            <Title text=title />
            <div class="page">
                <header>
                    <h1>{title}</h1>
                </header>
                <Trouble error />
            </div>
        }
    }
}
