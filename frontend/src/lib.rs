//! The browser's half of the web app: it takes over the page that the server rendered.

// A page is one type, of all the elements it is made of.
#![recursion_limit = "256"]

use wasm_bindgen::prelude::wasm_bindgen;

/// Brings the page to life. The script in the page's head calls it once the wasm is there.
#[wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    leptos::mount::hydrate_body(polymnemo_app::App);
}
