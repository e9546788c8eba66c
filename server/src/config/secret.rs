use std::fmt;

/// A text that must not be printed: a key, or a URL that may hold a password.
///
/// Neither `Debug` nor `Display` shows it, so that it can't reach a log, an error or a page by
/// accident; whoever needs the text asks for it by name with [`Secret::expose`].
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(hidden)")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[hidden]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_way_of_printing_shows_the_text() {
        let secret = Secret::new("open sesame");
        assert!(!format!("{secret} {secret:?} {:?}", Some(&secret)).contains("sesame"));
        assert_eq!(secret.expose(), "open sesame");
    }
}
