//! What the server mounts: the pages, the server functions and the files they load.

mod dead_ends;
mod forms;
mod policy;

use std::{
    convert::Infallible,
    fs, io,
    path::{Path, PathBuf},
    pin::Pin,
    sync::Arc,
};

use axum::{
    Router,
    body::Body,
    extract::Request,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use leptos::{config::LeptosOptions, nonce::use_nonce, prelude::*, server_fn::ServerFn};
use leptos_axum::{LeptosRoutes, ResponseOptions};
use leptos_meta::MetaTags;
use polymnemo_memory::{Ctx, MemoryService};
use polymnemo_types::{ConnectionReport, Theme};
use sha2::{Digest, Sha256};
use tower_http::{services::ServeDir, set_header::SetResponseHeaderLayer};

use crate::{
    App,
    api::{
        connection::ConnectionDetails,
        erase::ReadErasure,
        language::ChooseLanguage,
        media::{ConfirmLinkUpload, NextLinkParts},
        sign_in::{CurrentViewer, OfferedSignIn, SignInOffer, SignInProblem},
        status::ServerStatus,
    },
    components::time_zone,
    i18n::Language,
    paths,
};

pub(crate) use self::policy::{lead_forms_to, show_documents};
pub use self::{
    dead_ends::{AppProblem, app_problem_page, explain_errors},
    forms::LONGEST_FORM,
};

/// What pages and server functions need of the server. Cheap enough to clone for every request.
#[derive(Clone)]
pub struct WebContext {
    /// Where browsers reach the app: scheme, host and port, without a slash at the end.
    pub public_url: String,
    /// Where clients reach the MCP endpoint, in full.
    pub mcp_url: String,
    /// The memory service.
    pub service: MemoryService,
    /// How a person signs in.
    pub sign_in: SignInOffer,
    /// The files that the pages load.
    pub site: Site,
    /// Tests the connection as clients make it.
    pub connection_test: ConnectionTest,
}

/// Tests the connection on behalf of someone, as AI apps make it; nothing where too many tests run already.
#[derive(Clone)]
pub struct ConnectionTest(Arc<RunTest>);

type RunTest = dyn Fn(Ctx) -> Pin<Box<dyn Future<Output = Option<Vec<ConnectionReport>>> + Send>> + Send + Sync;

impl ConnectionTest {
    /// A test that does this.
    pub fn new(
        run: impl Fn(Ctx) -> Pin<Box<dyn Future<Output = Option<Vec<ConnectionReport>>> + Send>> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(run))
    }

    /// Runs it.
    pub async fn run(&self, ctx: Ctx) -> Option<Vec<ConnectionReport>> {
        (self.0)(ctx).await
    }
}

/// What a browser shows for the requests of apps that it brought here (see `MemoryService::begin_authorization`). The server
/// puts it into the extensions of each request that has it.
#[derive(Clone)]
pub struct BrowserKey(pub String);

/// The files that pages load: the style sheet, and the script and wasm that bring them to life.
#[derive(Debug, Clone)]
pub struct Site {
    directory: PathBuf,
    /// A fingerprint of all files; it is part of their URLs, so that these can be kept for ever.
    build: String,
    styled: bool,
    hydrates: bool,
}

impl Site {
    const STYLES: &str = "polymnemo.css";
    const SCRIPT: &str = "polymnemo.js";
    const WASM: &str = "polymnemo.wasm";

    /// Looks into a directory for the files that the web build made; the crate's documentation
    /// lists them. A file that is not there is no error: the pages work without.
    ///
    /// # Errors
    ///
    /// A file is there but can't be read.
    pub fn load(directory: &Path) -> io::Result<Self> {
        let directory = directory.join("pkg");
        let mut hash = Sha256::new();
        let mut found = |name: &str| match fs::read(directory.join(name)) {
            Ok(content) => {
                hash.update(name);
                hash.update(content.len().to_be_bytes());
                hash.update(&content);
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        };
        let styled = found(Self::STYLES)?;
        let script = found(Self::SCRIPT)?;
        let wasm = found(Self::WASM)?;
        let build = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { directory, build, styled, hydrates: script && wasm })
    }

    /// Whether the style sheet is there.
    #[must_use]
    pub fn styled(&self) -> bool {
        self.styled
    }

    /// Whether the script and the wasm are there.
    #[must_use]
    pub fn hydrates(&self) -> bool {
        self.hydrates
    }

    /// The path below which the files are served.
    fn path(&self) -> String {
        format!("/pkg/{}", self.build)
    }

    fn url(&self, file: &str) -> String {
        format!("/pkg/{}/{file}", self.build)
    }
}

/// The pages and server functions, 404 pages included; the crate's documentation has the table.
///
/// The router brings the fallback, so it is merged into one that has none. Who is signed in, the
/// pages and server functions learn from the request's extensions (see [`caller`](crate::api::caller)).
pub fn routes(web: WebContext) -> Router {
    let options = LeptosOptions::builder().output_name("polymnemo").build();
    let context = move || provide(&web);
    let (pages, _) = leptos_axum::generate_route_list_with_exclusions_and_ssg_and_context(App, None, context.clone());
    let render = leptos_axum::render_app_async_with_context(context.clone(), shell);
    let forms = {
        let (context, render) = (context.clone(), render.clone());
        move |request: Request| forms::take(context, render, request)
    };
    let not_found = move |request: Request| not_found(render, request);

    // Each page takes its own forms.
    let mut router = Router::new();
    for page in &pages {
        router = router.route(page.path(), post(forms.clone()));
    }
    router.leptos_routes_with_context(&options, pages, context, shell).fallback(not_found).with_state(options)
}

/// The sign-in page, telling of a problem, in answer to a request for something else. It has no
/// scripts: they would look at the address and take it for another page.
pub async fn sign_in_page(web: &WebContext, problem: SignInProblem, headers: &HeaderMap) -> Response {
    let mut web = web.clone();
    web.site.hydrates = false;
    let mut request = Request::new(Body::empty());
    // Made of constants, so it is always an address.
    *request.uri_mut() = paths::sign_in_problem_path(problem, "/").parse().unwrap_or_default();
    *request.headers_mut() = headers.clone();
    leptos_axum::render_app_async_with_context(move || provide(&web), shell)(request).await
}

/// The files that pages load. They are the same for everyone.
pub fn files(site: &Site) -> Router {
    let files = tower::ServiceBuilder::new()
        .layer(SetResponseHeaderLayer::overriding(header::CACHE_CONTROL, |response: &Response<_>| {
            response.status().is_success().then(|| HeaderValue::from_static("public, max-age=31536000, immutable"))
        }))
        .layer(SetResponseHeaderLayer::overriding(header::VARY, HeaderValue::from_static("Accept-Encoding")))
        .service(ServeDir::new(&site.directory).precompressed_br().precompressed_gzip());
    let (worker, offline) = (service_worker(site), site.clone());
    Router::new()
        .route("/favicon.svg", get(favicon))
        .route("/offline", get(move |headers: HeaderMap| dead_ends::offline(offline, headers)))
        .route("/service-worker.js", get(move || async move { (SERVICE_WORKER_HEADERS, worker) }))
        .nest_service(&site.path(), files)
}

/// The routes that are there for people who are not signed in. Every other one is not: a new page
/// or server function is private unless it is named here.
const PUBLIC: &[&str] = &[
    "/",
    paths::SIGN_IN,
    "/upload/{secret}",
    // Whoever erased their account can't sign in to see that it is done; the address can't be guessed.
    "/erase/{id}",
    ChooseLanguage::PATH,
    ConfirmLinkUpload::PATH,
    ConnectionDetails::PATH,
    CurrentViewer::PATH,
    ReadErasure::PATH,
    NextLinkParts::PATH,
    OfferedSignIn::PATH,
    ServerStatus::PATH,
];

/// Whether a route (the pattern, not the path of a request) is there for people who are not signed in.
#[must_use]
pub fn is_public(route: &str) -> bool {
    PUBLIC.contains(&route)
}

/// The policy of a service worker is its own, not that of the page; it has to ask the server for
/// what it passes on.
const SERVICE_WORKER_HEADERS: [(HeaderName, &str); 2] = [
    (header::CONTENT_TYPE, "text/javascript"),
    (header::CONTENT_SECURITY_POLICY, "default-src 'none'; connect-src 'self'; frame-ancestors 'none'"),
];

/// The script that shows a page when the server can't be reached. It changes with the style sheet
/// that the page needs, and only then do browsers take the new one.
fn service_worker(site: &Site) -> String {
    include_str!("service_worker.js").replace("BUILD", &site.build).replace("STYLE_SHEET", &site.url(Site::STYLES))
}

/// Gives the pages and server functions of one request their context, and pages the headers that
/// all of them have. What a page shows depends on who reads it, so no one else may keep it.
fn provide(web: &WebContext) {
    provide_context(web.clone());
    if let (Some(response), Some(nonce)) = (use_context::<ResponseOptions>(), use_nonce()) {
        response.insert_header(header::CONTENT_SECURITY_POLICY, policy::of_any_page(web, &nonce));
        response.insert_header(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
        response.insert_header(header::VARY, HeaderValue::from_static("Accept-Language, Cookie"));
    }
}

/// The document around the [`App`].
#[must_use]
pub fn shell() -> impl IntoView {
    let site = expect_context::<WebContext>().site;
    let language = Language::of_page();
    let styles = site.styled.then(|| view! { <link rel="stylesheet" href=site.url(Site::STYLES) /> });
    let scripts = site.hydrates.then(|| hydration(&site));

    view! {
        <!DOCTYPE html>
        <html
            lang=language.tag()
            data-theme=theme_of_page()
            data-time-zone=time_zone().iana_name().map(str::to_owned)
        >
            <head>
                <meta charset="utf-8" />
                <meta name="viewport" content="width=device-width, initial-scale=1" />
                <meta name="color-scheme" content="light dark" />
                <link rel="icon" type="image/svg+xml" href="/favicon.svg" />
                {styles}
                {scripts}
                <MetaTags />
            </head>
            <body>
                <App />
            </body>
        </html>
    }
}

/// Light or dark, where the person who is signed in wants one of them always.
fn theme_of_page() -> Option<&'static str> {
    let parts = use_context::<http::request::Parts>()?;
    match parts.extensions.get::<polymnemo_memory::Account>()?.theme {
        Theme::System => None,
        Theme::Light => Some("light"),
        Theme::Dark => Some("dark"),
    }
}

/// Loads the wasm and lets it take over the page. The URLs hold nothing but a fingerprint and
/// names of ours, so they can stand in a script as they are.
fn hydration(site: &Site) -> impl IntoView + use<> {
    let script = site.url(Site::SCRIPT);
    let wasm = site.url(Site::WASM);
    let start = format!(
        "import start, {{ hydrate }} from '{script}';\n\
         await start({{ module_or_path: '{wasm}' }});\n\
         hydrate();\n\
         navigator.serviceWorker?.register('/service-worker.js');"
    );
    view! {
        <link rel="modulepreload" href=script />
        <link rel="preload" href=wasm r#as="fetch" r#type="application/wasm" crossorigin="anonymous" />
        <script type="module" nonce=use_nonce()>
            {start}
        </script>
    }
}

/// The icon, compiled in, so that it is there whatever the site directory holds.
async fn favicon() -> impl IntoResponse {
    const HEADERS: [(HeaderName, &str); 2] =
        [(header::CONTENT_TYPE, "image/svg+xml"), (header::CACHE_CONTROL, "public, max-age=86400")];
    (HEADERS, include_str!("favicon.svg"))
}

/// Answers what no route does: with a page for who reads one, in one line for programs.
async fn not_found<Render, Page>(render: Render, request: Request) -> Result<Response, Infallible>
where
    Render: Fn(Request<Body>) -> Page,
    Page: Future<Output = Response>,
{
    let reads = matches!(*request.method(), Method::GET | Method::HEAD) && request.uri().path_and_query().is_some();
    if reads {
        return Ok(render(request).await);
    }
    Ok((StatusCode::NOT_FOUND, "There is nothing at this address.\n").into_response())
}

#[cfg(test)]
mod tests {
    use std::{fs, io};

    use super::Site;

    #[test]
    fn a_site_knows_what_it_has() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let empty = Site::load(folder.path())?;
        assert!(!empty.styled() && !empty.hydrates());

        let pkg = folder.path().join("pkg");
        fs::create_dir(&pkg)?;
        fs::write(pkg.join(Site::STYLES), "a {}")?;
        fs::write(pkg.join(Site::SCRIPT), "1")?;
        let half = Site::load(folder.path())?;
        assert!(half.styled() && !half.hydrates(), "a script without its wasm brings nothing to life");

        fs::write(pkg.join(Site::WASM), "2")?;
        assert!(Site::load(folder.path())?.hydrates());
        Ok(())
    }

    #[test]
    fn the_urls_change_with_any_file_and_with_nothing_else() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let pkg = folder.path().join("pkg");
        fs::create_dir(&pkg)?;
        let mut seen = Vec::new();
        for (file, content) in
            [(Site::STYLES, "ab"), (Site::SCRIPT, "c"), (Site::WASM, "d"), (Site::STYLES, "a"), (Site::SCRIPT, "bc")]
        {
            fs::write(pkg.join(file), content)?;
            let path = Site::load(folder.path())?.path();
            assert!(!seen.contains(&path), "{path} came twice");
            assert_eq!(Site::load(folder.path())?.path(), path);
            seen.push(path);
        }
        Ok(())
    }
}
