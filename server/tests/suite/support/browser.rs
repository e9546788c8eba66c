use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard},
};

use reqwest::{Method, RequestBuilder, Response, StatusCode, header};
use serde_json::Value;
use url::Url;

use super::TestApp;

/// What a browser does with the server, as far as headers and cookies go. It follows no redirect on
/// its own.
pub struct Browser {
    client: reqwest::Client,
    base: String,
    /// The origin of the pages, as this browser knows it.
    origin: String,
    cookies: Mutex<BTreeMap<String, String>>,
}

impl Browser {
    pub(super) fn new(client: reqwest::Client, base: &str) -> Self {
        Self { client, base: base.to_owned(), origin: base.to_owned(), cookies: Mutex::default() }
    }

    /// A browser without any cookies, for the server at this address. It keeps no connection, so the server may end between
    /// any two requests.
    pub fn at(base: &str) -> Self {
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
        let client = client.pool_max_idle_per_host(0).build().unwrap();
        Self::new(client, base)
    }

    /// The same, behind a proxy that ends TLS for this public origin.
    pub fn behind(mut self, origin: &str) -> Self {
        origin.clone_into(&mut self.origin);
        self
    }

    /// The same, with its next requests answered by another server at the same origin.
    pub fn served_by(mut self, app: &TestApp) -> Self {
        app.base().clone_into(&mut self.base);
        self
    }

    /// The origin of the pages.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Visits an address of the server: a path, or a URL that begins with the origin.
    pub async fn get(&self, address: &str) -> Response {
        let request = self.request(Method::GET, address).header(header::ACCEPT, "text/html,*/*;q=0.8");
        self.send(request.header("sec-fetch-site", "none")).await
    }

    /// Sends a form of one of the server's own pages.
    pub async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Response {
        let request = self.form(path, fields);
        self.send(request.header(header::ORIGIN, &self.origin).header("sec-fetch-site", "same-origin")).await
    }

    /// A form that does not say yet where it comes from.
    pub fn form(&self, path: &str, fields: &[(&str, &str)]) -> RequestBuilder {
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = self.request(Method::POST, path).header(header::ACCEPT, "text/html,*/*;q=0.8");
        request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded").body(body)
    }

    /// A request with the cookies and the name that the browser knows the server by.
    pub fn request(&self, method: Method, address: &str) -> RequestBuilder {
        let path = address.strip_prefix(&self.origin).unwrap_or(address);
        let host = self.origin.split_once("://").unwrap().1;
        let mut request = self.client.request(method, format!("{}{path}", self.base)).header(header::HOST, host);
        let cookies: Vec<String> = self.cookies().iter().map(|(name, value)| format!("{name}={value}")).collect();
        if !cookies.is_empty() {
            request = request.header(header::COOKIE, cookies.join("; "));
        }
        request
    }

    /// Sends a request and keeps the cookies of the answer.
    pub async fn send(&self, request: RequestBuilder) -> Response {
        let response = request.send().await.unwrap();
        for cookie in set_cookies(&response) {
            let (pair, attributes) = cookie.split_once(';').unwrap_or((&cookie, ""));
            let (name, value) = pair.split_once('=').unwrap();
            // Otherwise a browser would not take it.
            assert!(!name.starts_with("__Host-") || attributes.contains("Secure"), "{cookie}");
            if attributes.contains("Max-Age=0") {
                self.cookies().remove(name);
            } else {
                self.cookies().insert(name.to_owned(), value.to_owned());
            }
        }
        response
    }

    /// The value of the session's cookie.
    pub fn session(&self) -> Option<String> {
        self.cookies().iter().find(|(name, _)| name.contains("polymnemo_session")).map(|(_, value)| value.clone())
    }

    /// Puts this value into the session's cookie, as someone does who got hold of it.
    pub fn plant_session(&self, name: &str, value: &str) {
        self.cookies().insert(name.to_owned(), value.to_owned());
    }

    /// The names of the cookies.
    pub fn cookie_names(&self) -> Vec<String> {
        self.cookies().keys().cloned().collect()
    }

    /// The name of whoever is signed in.
    pub async fn viewer(&self) -> Option<String> {
        let response = self.send(self.request(Method::GET, "/api/current_viewer")).await;
        assert_eq!(response.status(), StatusCode::OK);
        let viewer: Value = response.json().await.unwrap();
        viewer["name"].as_str().map(str::to_owned)
    }

    /// Begins to sign in with GitHub, and is sent back by it; gives the address it is sent to.
    pub async fn come_back_from_github(&self, next: &str) -> String {
        self.come_back_from("/sign-in/github", "/login/oauth/authorize?", next).await
    }

    /// Begins to sign in at the issuer, and is sent back by it; gives the address it is sent to.
    pub async fn come_back_from_issuer(&self, next: &str) -> String {
        self.come_back_from("/sign-in/oidc", "/authorize?", next).await
    }

    async fn come_back_from(&self, entrance: &str, provider: &str, next: &str) -> String {
        let begun = self.get(&format!("{entrance}?next={next}")).await;
        let address = location(&begun);
        assert!(address.contains(provider), "{address}");
        let answer = self.client.get(&address).send().await.unwrap();
        assert!(answer.status().is_redirection(), "{}", answer.text().await.unwrap());
        location(&answer)
    }

    /// Signs in at the issuer; gives the address where that ends.
    pub async fn sign_in_at_issuer(&self, next: &str) -> String {
        let back = self.come_back_from_issuer(next).await;
        location(&self.get(&back).await)
    }

    /// Signs in with GitHub; gives the address where that ends.
    pub async fn sign_in_with_github(&self, next: &str) -> String {
        let back = self.come_back_from_github(next).await;
        location(&self.get(&back).await)
    }

    fn cookies(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.cookies.lock().unwrap()
    }
}

impl TestApp {
    /// A browser without any cookies.
    pub fn browser(&self) -> Browser {
        Browser::new(self.client().clone(), self.base())
    }
}

/// Where a response leads.
pub fn location(response: &Response) -> String {
    assert!(response.status().is_redirection(), "{} is no redirect", response.status());
    response.headers()[header::LOCATION].to_str().unwrap().to_owned()
}

/// The cookies that a response sets, as it writes them.
pub fn set_cookies(response: &Response) -> Vec<String> {
    let cookies = response.headers().get_all(header::SET_COOKIE);
    cookies.iter().map(|cookie| cookie.to_str().unwrap().to_owned()).collect()
}

/// One parameter of an address.
pub fn parameter(address: &str, name: &str) -> Option<String> {
    let url = Url::parse("http://base").unwrap().join(address).unwrap();
    url.query_pairs().find(|(given, _)| given == name).map(|(_, value)| value.into_owned())
}
