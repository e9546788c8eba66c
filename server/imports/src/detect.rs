//! Which product wrote a file, known by what is in it.

use crate::{
    Source,
    json::{head::Head, splitter::Layout},
    paths,
};

/// What a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    ClaudeConversations(Layout),
    ClaudeProjects(Layout),
    ClaudeMemories(Layout),
    /// The list of downloads that the mail of Claude leads to.
    ClaudeDownloads,
    ClaudeCode,
    ChatGpt(Layout),
    Mem0(Layout),
    /// All tables of OpenMemory in one object.
    OpenMemory,
    Mem0Lines,
    /// The graph of server-memory, line by line.
    GraphLines,
    /// The same as one object, as its tool gives it.
    Graph,
    Note,
    /// The manifest of an export of our own.
    Own,
    /// Part of an export, and nothing to import.
    Aside(Option<Source>, &'static str),
    Empty,
    Unknown,
}

impl Kind {
    /// Whose it is.
    pub(crate) fn source(&self) -> Option<Source> {
        match self {
            Self::ClaudeConversations(_)
            | Self::ClaudeProjects(_)
            | Self::ClaudeMemories(_)
            | Self::ClaudeDownloads => Some(Source::Claude),
            Self::ClaudeCode => Some(Source::ClaudeCode),
            Self::ChatGpt(_) => Some(Source::ChatGpt),
            Self::Mem0(_) | Self::OpenMemory | Self::Mem0Lines => Some(Source::Mem0),
            Self::GraphLines | Self::Graph => Some(Source::ServerMemory),
            Self::Own => Some(Source::Polymnemo),
            Self::Aside(source, _) => *source,
            Self::Note | Self::Empty | Self::Unknown => None,
        }
    }

    /// Whether there is anything to read in it.
    pub(crate) fn is_read(&self) -> bool {
        !matches!(self, Self::ClaudeDownloads | Self::Own | Self::Aside(..) | Self::Empty | Self::Unknown)
    }
}

/// Extensions of files that hold text.
const NOTES: [&str; 7] = ["md", "markdown", "mdx", "txt", "text", "org", "rst"];

/// Extensions of files in which nothing is looked for: pictures, sounds, and whatever else people keep beside their notes.
pub(crate) fn is_media(name: &str) -> bool {
    const MEDIA: [&str; 38] = [
        "png", "jpg", "jpeg", "webp", "gif", "heic", "bmp", "tiff", "svg", "ico", "mp3", "mp4", "m4a", "wav", "ogg",
        "opus", "webm", "mov", "avi", "mkv", "flac", "aac", "pdf", "docx", "xlsx", "pptx", "doc", "xls", "ppt", "odt",
        "dat", "bin", "exe", "dll", "so", "ttf", "woff", "woff2",
    ];
    MEDIA.contains(&paths::extension(name).as_str())
}

/// Whether the extension says that a file is a note.
pub(crate) fn is_note(name: &str) -> bool {
    NOTES.contains(&paths::extension(name).as_str())
}

/// What a file is that begins like this. `is_named` is whether the person named this very file.
pub(crate) fn kind(head: &[u8], name: &str, is_named: bool) -> Kind {
    let first = head.trim_ascii_start().first().copied();
    let found = match first {
        Some(b'{' | b'[') => of_json(head),
        Some(b'<') if contains(head, b"jsonData") && contains(head, b"\"mapping\"") => Kind::ChatGpt(Layout::Script),
        Some(b'<') if !is_note(name) => Kind::Aside(None, "a page"),
        None => Kind::Empty,
        _ => Kind::Unknown,
    };
    let is_text = || !head.contains(&0) && is_utf8(head);
    match found {
        Kind::Unknown | Kind::Empty if is_note(name) => {
            if first.is_none() {
                Kind::Empty
            } else if is_text() {
                Kind::Note
            } else {
                Kind::Unknown
            }
        }
        // A name without an extension says nothing; the person does.
        Kind::Unknown if is_named && paths::extension(name).is_empty() && is_text() => Kind::Note,
        found => found,
    }
}

/// Whether nearly all of it is UTF-8; the head may end within a character.
fn is_utf8(head: &[u8]) -> bool {
    match std::str::from_utf8(head) {
        Ok(_) => true,
        Err(error) => {
            let broken = String::from_utf8_lossy(head).matches('\u{fffd}').count();
            error.error_len().is_none() || broken * 100 < head.len()
        }
    }
}

fn of_json(bytes: &[u8]) -> Kind {
    let head = Head::read(bytes);
    if head.is_empty {
        return Kind::Empty;
    }
    if head.values.get(".format").map(String::as_str) == Some("polymnemo-export") {
        return Kind::Own;
    }
    let by_name = by_names(&head);
    if by_name != Kind::Unknown {
        return by_name;
    }
    // A quotation mark that is missing turns names into texts and texts into names. The rows behind it are still rows.
    let layout = if head.first == b'[' { Layout::Array } else { Layout::Single };
    let has = |name: &str| contains(bytes, format!("\"{name}\"").as_bytes());
    if has("chat_messages") {
        Kind::ClaudeConversations(layout)
    } else if has("mapping") && (has("current_node") || has("create_time") || has("parent")) {
        Kind::ChatGpt(layout)
    } else if has("parentUuid") && has("sessionId") {
        Kind::ClaudeCode
    } else {
        Kind::Unknown
    }
}

fn by_names(head: &Head) -> Kind {
    let places = [
        ("[]", Layout::Array),
        ("", Layout::Single),
        (".conversations[]", Layout::Member("conversations")),
        (".chats[]", Layout::Member("chats")),
        (".data[]", Layout::Member("data")),
        (".projects[]", Layout::Member("projects")),
        (".memories[]", Layout::Member("memories")),
        (".results[]", Layout::Member("results")),
        (".items[]", Layout::Member("items")),
    ];
    // Lines, not one object: what stands beside what in one of them is not known.
    let is_lines = head.first == b'{' && head.values_at_top > 1;
    if head.first == b'{' {
        let is_session = head.has(".sessionId") && (head.has(".parentUuid") || head.has(".type"));
        if is_session || head.has(".leafUuid") || (head.has(".snapshot") && head.has(".messageId")) {
            return Kind::ClaudeCode;
        }
        if head.has(".display") && head.has(".pastedContents") {
            return Kind::Aside(Some(Source::ClaudeCode), "what was typed on the command line");
        }
        if head.has(".entityType") || (head.has(".relationType") && head.has(".from")) {
            return Kind::GraphLines;
        }
        if head.has(".entities") && (head.has(".relations") || head.has(".entities[].entityType")) {
            return Kind::Graph;
        }
        if head.has(".data_files[].export_url") || (head.has(".data_files") && head.has(".total_files")) {
            return Kind::ClaudeDownloads;
        }
        if head.has(".memories[].content") && (head.has(".memory_categories") || head.has(".memories[].category_ids")) {
            return Kind::OpenMemory;
        }
    }
    for (place, layout) in places {
        let has = |name| head.has_in(place, name);
        if has("chat_messages") {
            return Kind::ClaudeConversations(layout);
        }
        if has("mapping") {
            return Kind::ChatGpt(layout);
        }
        if has("conversations_memory") || has("project_memories") || has("memory_files") {
            return Kind::ClaudeMemories(layout);
        }
        if has("prompt_template") || has("is_starter_project") || (has("docs") && has("uuid")) {
            return Kind::ClaudeProjects(layout);
        }
        let is_mem0 = has("memory") && (has("id") || has("user_id") || has("hash") || has("created_at"));
        let is_open_memory = has("content")
            && (has("categories")
                || has("user_id")
                || has("app_id")
                || has("app")
                || has("app_name")
                || has("metadata_"));
        if is_mem0 || is_open_memory {
            return if is_lines { Kind::Mem0Lines } else { Kind::Mem0(layout) };
        }
    }
    aside(head)
}

/// Files that come with exports and hold nothing to import.
fn aside(head: &Head) -> Kind {
    let claude = |what| Kind::Aside(Some(Source::Claude), what);
    let chatgpt = |what| Kind::Aside(Some(Source::ChatGpt), what);
    let has = |name| head.has(name);
    if has("[].email_address") || (has("[].full_name") && has("[].uuid")) {
        claude("the account")
    } else if has(".logins") {
        claude("when the account signed in")
    } else if has(".active_version") && has(".versions") {
        claude("a published artifact, of which the conversation has the text")
    } else if has(".chatgpt_plus_user") || (has(".email") && has(".phone_number")) {
        chatgpt("the account")
    } else if has("[].is_anonymous") && has("[].conversation_id") {
        chatgpt("which conversations are shared")
    } else if has("[].rating") && has("[].conversation_id") {
        chatgpt("feedback on answers")
    } else if has(".files") || has(".export_files") || has("[].conversation_id") || has("[].file_id") {
        chatgpt("a list that comes with the export")
    } else {
        Kind::Unknown
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
