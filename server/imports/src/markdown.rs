//! Notes: Markdown and text, of basic-memory and of anyone.

use jiff::Timestamp;

use crate::{Source, memory::Draft, paths, times};

/// The note in a file. Its text is kept as it is, with what stands before it.
pub(crate) fn note(text: &str, name: &str, source_id: String, modified: Option<Timestamp>) -> Draft {
    let matter = FrontMatter::of(text);
    let permalink = matter.text("permalink");
    let source = if permalink.is_some() { Source::BasicMemory } else { Source::Markdown };
    let mut note = Draft::new(source, permalink.map_or(source_id, str::to_owned), text);
    let heading = || {
        let mut is_code = false;
        let heading = text.lines().find_map(|line| {
            is_code ^= line.starts_with("```");
            line.strip_prefix("# ").filter(|_| !is_code)
        });
        heading.map(str::trim).filter(|heading| !heading.is_empty())
    };
    let title = matter.text("title").or_else(heading).unwrap_or_else(|| paths::stem(name));
    note.title = Some(crate::conversation::title(title));
    note.tags = matter.all("tags").into_iter().chain(matter.all("tag")).collect();
    if source == Source::BasicMemory {
        note.tags.extend(observed(text));
    }
    let time = |names: [&str; 3]| names.iter().find_map(|name| matter.text(name).and_then(times::parse));
    note.created_at = time(["created", "created_at", "date"]).or(modified);
    note.updated_at = time(["modified", "updated", "updated_at"]).or(modified);
    let path = paths::shown(name);
    note.namespace_hint = path.rsplit_once('/').and_then(|(folder, _)| folder.split('/').next()).map(str::to_owned);
    note.path = Some(path);
    note
}

/// The tags of observations: `- [category] what is known #tag (context)`.
fn observed(text: &str) -> Vec<String> {
    let observations = text.lines().filter(|line| line.trim_start().starts_with("- ["));
    let words = observations.filter(|line| !line.contains("[[")).flat_map(str::split_whitespace);
    let tags = words
        .filter_map(|word| word.strip_prefix('#'))
        .map(|tag| tag.trim_end_matches(|end: char| !end.is_alphanumeric()));
    tags.filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
}

/// What stands before a note between two lines of `---`: names and values. Of YAML only what notes have is read; what
/// is not understood stays in the text like everything else.
#[derive(Debug, Default)]
struct FrontMatter(Vec<(String, Vec<String>)>);

impl FrontMatter {
    fn of(text: &str) -> Self {
        let mut lines = text.lines();
        if lines.next().map(str::trim_end) != Some("---") {
            return Self::default();
        }
        let mut members: Vec<(String, Vec<String>)> = Vec::new();
        for line in lines {
            if matches!(line.trim_end(), "---" | "...") {
                return Self(members);
            }
            let item = line.trim_start().strip_prefix("- ").map(unquoted);
            if let (Some(item), Some((_, values))) = (item, members.last_mut()) {
                values.push(item.to_owned());
            } else if let Some((name, value)) = line.split_once(':')
                && !name.starts_with([' ', '\t', '#'])
            {
                let value = value.trim();
                let values = match value.strip_prefix('[').and_then(|value| value.strip_suffix(']')) {
                    Some(list) => list.split(',').map(unquoted).map(str::to_owned).collect(),
                    None => vec![unquoted(value).to_owned()],
                };
                members.push((name.trim().to_lowercase(), values));
            }
        }
        // Without an end it was a line, not a beginning.
        Self::default()
    }

    fn text(&self, name: &str) -> Option<&str> {
        let (_, values) = self.0.iter().find(|(known, _)| known == name)?;
        values.first().map(String::as_str).filter(|value| !value.is_empty())
    }

    /// All values; `tags: one, two` are two.
    fn all(&self, name: &str) -> Vec<String> {
        let values = self.0.iter().filter(|(known, _)| known == name).flat_map(|(_, values)| values);
        let parts = values.flat_map(|value| value.split(',')).map(str::trim);
        parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
    }
}

fn unquoted(value: &str) -> &str {
    let value = value.trim();
    ['"', '\''].into_iter().find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote)).unwrap_or(value)
}
