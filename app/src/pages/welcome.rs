use leptos::{either::Either, prelude::*};
use leptos_meta::{Meta, Title};

use crate::{
    api::connection::connection_details,
    components::{CodeBlock, StatusLine, with_code},
    i18n,
};

/// The first page: what polymnemo is, whether it is ready, and how to connect a client to it.
#[component]
pub(crate) fn Welcome() -> impl IntoView {
    let text = &i18n::messages().welcome;
    let facts = text.facts.iter().map(|fact| {
        view! {
            <dt>{fact.title}</dt>
            <dd>{fact.text}</dd>
        }
    });

    view! {
        <Title text=text.title />
        <Meta name="description" content=text.lead />
        <div class="welcome">
            <section class="welcome-about">
                <h1>{text.title}</h1>
                <p class="lead">{text.lead}</p>
                <StatusLine />
                <dl class="facts">{facts.collect_view()}</dl>
            </section>
            <section class="welcome-connect" aria-labelledby="connect">
                <h2 id="connect">{text.connect}</h2>
                <ol class="steps">
                    <li>
                        <p>{text.step_settings}</p>
                        <Settings />
                    </li>
                    <li>
                        <p>{with_code(text.step_key)}</p>
                    </li>
                    <li>
                        <p>{text.step_try}</p>
                        <blockquote>{text.try_first}</blockquote>
                        <p>{text.try_then}</p>
                        <blockquote>{text.try_second}</blockquote>
                    </li>
                </ol>
            </section>
        </div>
    }
}

/// The entry for a client's settings file, with this server's real address and a placeholder for
/// the key: a page never shows a secret that was not made for the person who looks at it.
#[component]
fn Settings() -> impl IntoView {
    let connection = Resource::new(|| (), |()| connection_details());
    view! {
        <Suspense>
            {move || Suspend::new(async move {
                match connection.await {
                    Ok(connection) => Either::Left(view! { <CodeBlock label="mcp.json" text=settings(&connection.mcp_url) /> }),
                    Err(error) => Either::Right(view! { <p class="error">{error.0.message}</p> }),
                }
            })}
        </Suspense>
    }
}

/// The `mcpServers` entry that most clients read, as JSON.
fn settings(mcp_url: &str) -> String {
    // A JSON string is also what escapes the address.
    let url = serde_json::Value::from(mcp_url);
    format!(
        r#"{{
  "mcpServers": {{
    "polymnemo": {{
      "type": "http",
      "url": {url},
      "headers": {{
        "Authorization": "Bearer YOUR_KEY"
      }}
    }}
  }}
}}"#
    )
}

#[cfg(test)]
mod tests {
    use super::settings;

    #[test]
    fn the_settings_are_json_and_hold_the_address() -> Result<(), serde_json::Error> {
        for url in ["http://127.0.0.1:8000/mcp", "https://memory.example.org/mcp", "http://[::1]:8000/a\"b"] {
            let parsed: serde_json::Value = serde_json::from_str(&settings(url))?;
            assert_eq!(parsed["mcpServers"]["polymnemo"]["url"], url);
        }
        Ok(())
    }
}
