//! Reading all files, one after the other.

use std::{
    cell::Cell,
    collections::HashMap,
    fs,
    io::{self, BufReader, Read},
    ops::ControlFlow,
};

use serde_json::{Map, Value};

use super::{
    Input, ReadError,
    archive::Archive,
    bytes,
    listing::{File, Place},
    winners::Winners,
};
use crate::{
    Conversation, Found, Item, Limits, Reason, Skipped, Source, chatgpt, claude,
    claude_code::Session,
    detect::Kind,
    digest::Digest,
    json::{
        lines::{self, Line},
        repair,
        splitter::{Layout, Piece, Splitter, has_too_many_values},
    },
    markdown, mem0, memory, paths,
    server_memory::Graph,
};

pub(super) fn read(input: &Input, each: &mut dyn FnMut(Found) -> ControlFlow<()>) -> Result<(), ReadError> {
    let count = Cell::new(0);
    let mut reading = Reading {
        input,
        limits: input.limits,
        each,
        is_over: false,
        done: 0,
        count: &count,
        winners: Winners::default(),
        given: HashMap::new(),
        file: 0,
        label: String::new(),
        source: None,
    };
    for skipped in &input.listing.skipped {
        reading.give(Item::Skipped(skipped.clone()));
    }
    for own in &input.listing.own {
        reading.give(Item::OwnExport(own.clone()));
    }
    let mut files = Files { input, archive: None };
    reading.find_winners(&mut files)?;
    for (number, file) in input.listing.files.iter().enumerate() {
        if reading.is_over {
            break;
        }
        reading.file(number, file, &mut files)?;
    }
    Ok(())
}

/// Opens files. The last archive stays open, because its directory can be long.
struct Files<'a> {
    input: &'a Input,
    archive: Option<(usize, Archive)>,
}

impl Files<'_> {
    /// What is in a file, as UTF-8; or why it can't be read.
    fn open<'a>(
        &'a mut self,
        file: &File,
        count: &'a Cell<u64>,
    ) -> Result<Result<Box<dyn Read + 'a>, Reason>, ReadError> {
        let Some(root) = self.input.listing.roots.get(file.root) else { return Ok(Err(Reason::NotRecognised)) };
        let gone = |reason: io::Error| ReadError::Gone { path: root.path.clone(), reason };
        let reader: Box<dyn Read + 'a> = match &file.place {
            Place::Path(path) => {
                let opened = match fs::File::open(path) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound && *path != root.path => {
                        return Ok(Err(super::unreadable(&error)));
                    }
                    opened => opened.map_err(gone)?,
                };
                Box::new(opened)
            }
            Place::Entry(place) => {
                if self.archive.as_ref().is_none_or(|(number, _)| *number != file.root) {
                    fs::metadata(&root.path).map_err(gone)?;
                    self.archive = match Archive::open(&root.path, usize::MAX) {
                        Ok(archive) => Some((file.root, archive)),
                        Err(reason) => return Ok(Err(reason)),
                    };
                }
                let Some((_, archive)) = &mut self.archive else { return Ok(Err(Reason::NotRecognised)) };
                match archive.file(*place) {
                    Ok(reader) => Box::new(reader),
                    Err(reason) => return Ok(Err(reason)),
                }
            }
        };
        let most = self.input.limits.total_bytes;
        let guarded = bytes::Guard::new(reader, count, file.most.min(most), Reason::Bomb);
        let unpacked: Box<dyn Read + 'a> =
            if file.is_gzip { Box::new(Gunzip::new(guarded, file, most)) } else { Box::new(guarded) };
        Ok(bytes::decoded(unpacked).map_err(|error| bytes::reason(&error)))
    }
}

/// Unpacks gzip, and no more than may be.
struct Gunzip<R> {
    reader: flate2::read::MultiGzDecoder<R>,
    left: u64,
}

impl<R: Read> Gunzip<R> {
    fn new(reader: R, file: &File, most: u64) -> Self {
        const RATIO: u64 = 400;
        let left = file.bytes.saturating_mul(RATIO).saturating_add(bytes::ALWAYS).min(most);
        Self { reader: flate2::read::MultiGzDecoder::new(reader), left }
    }
}

impl<R: Read> Read for Gunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| bytes::stopped(Reason::Bomb))?;
        Ok(read)
    }
}

/// Where the reading is.
struct Reading<'a> {
    input: &'a Input,
    limits: Limits,
    each: &'a mut dyn FnMut(Found) -> ControlFlow<()>,
    /// Whether nothing more is wanted.
    is_over: bool,
    /// The bytes of all files before this one.
    done: u64,
    /// The bytes read of this one.
    count: &'a Cell<u64>,
    winners: Winners,
    /// What was given: what it says, by its id.
    given: HashMap<[u8; 32], [u8; 32]>,
    file: usize,
    label: String,
    source: Option<Source>,
}

impl Reading<'_> {
    fn give(&mut self, item: Item) {
        if !self.is_over {
            let bytes_read = (self.done + self.count.get()).min(self.input.total_bytes);
            self.is_over = (self.each)(Found { item, bytes_read }).is_break();
        }
    }

    fn skip(&mut self, item: Option<String>, reason: Reason) {
        let (source, file) = (self.source, self.label.clone());
        self.give(Item::Skipped(Skipped { source, file, item, reason }));
    }

    /// Whether something of this id that says this was not given yet.
    fn is_new(&mut self, kind: &str, source: Source, id: &str, says: [u8; 32]) -> bool {
        let mut digest = Digest::default();
        digest.add_all([kind, source.as_str(), id]);
        self.given.insert(digest.finish(), says) != Some(says)
    }

    fn give_conversation(&mut self, conversation: Result<Conversation, Reason>, name: Option<String>) {
        match conversation {
            Ok(conversation) => {
                let (source, id) = (conversation.source, &conversation.source_id);
                if self.is_new("conversation", source, id, conversation.digest) {
                    self.give(Item::Conversation(conversation));
                } else {
                    self.skip(Some(conversation.source_id), Reason::Double);
                }
            }
            Err(reason) => self.skip(name, reason),
        }
    }

    fn give_memory(&mut self, draft: memory::Draft) {
        if draft.is_blank() {
            return self.skip(draft.title.or(Some(draft.source_id)), Reason::NothingInIt);
        }
        for memory in draft.finish(self.limits.memory_bytes) {
            let mut says = Digest::default();
            says.add(&memory.content);
            // The same memory comes again and again: in every conversation, in two files of one backup.
            if self.is_new("memory", memory.source, &memory.source_id, says.finish()) {
                self.give(Item::Memory(memory));
            }
        }
    }

    /// Finds the newest one of each conversation. This goes through all conversations another time, which is a fraction of
    /// what reading them takes.
    fn find_winners(&mut self, files: &mut Files<'_>) -> Result<(), ReadError> {
        let ignored = Cell::new(0);
        for (number, file) in self.input.listing.files.iter().enumerate() {
            if let Kind::ClaudeConversations(layout) | Kind::ChatGpt(layout) = &file.kind
                && let Some(source) = file.kind.source()
                && let Ok(reader) = files.open(file, &ignored)?
            {
                self.winners.add(source, number, reader, layout.clone(), self.limits.element_bytes);
            }
        }
        Ok(())
    }

    fn file(&mut self, number: usize, file: &File, files: &mut Files<'_>) -> Result<(), ReadError> {
        self.file = number;
        self.label = self.input.listing.label(file.root, &file.name);
        self.source = file.kind.source();
        match &file.kind {
            Kind::ClaudeDownloads => self.downloads(file, files)?,
            Kind::Aside(_, what) => self.skip(None, Reason::NotForImport((*what).to_owned())),
            Kind::Empty => self.skip(None, Reason::NothingInIt),
            Kind::Unknown | Kind::Own => self.skip(None, Reason::NotRecognised),
            _ => {
                self.count.set(0);
                let count = self.count;
                match files.open(file, count)? {
                    Ok(reader) => self.content(file, reader),
                    Err(reason) => self.skip(None, reason),
                }
                self.count.set(0);
                self.done += file.bytes;
            }
        }
        Ok(())
    }

    fn downloads(&mut self, file: &File, files: &mut Files<'_>) -> Result<(), ReadError> {
        const MOST: u64 = 1 << 20;
        let ignored = Cell::new(0);
        let mut json = Vec::new();
        if let Ok(reader) = files.open(file, &ignored)? {
            // What can't be read of it is not named.
            let _ = reader.take(MOST).read_to_end(&mut json);
        }
        let list = repair::parse::<Value>(&json).unwrap_or_default();
        let names = list.as_object().map(claude::downloads).unwrap_or_default();
        self.skip(None, Reason::DownloadList(names));
        Ok(())
    }

    fn content(&mut self, file: &File, reader: Box<dyn Read + '_>) {
        match &file.kind {
            Kind::ClaudeConversations(layout) => self.rows(reader, layout, |reading, row, place| {
                let name = crate::json::id(row, "uuid");
                if let Some(id) = name.as_deref().filter(|id| !reading.winners.is_one(Source::Claude, id, place)) {
                    return reading.skip(Some(id.to_owned()), Reason::Double);
                }
                let conversation = claude::conversation(row);
                reading.give_conversation(conversation, crate::json::text(row, "name").map(str::to_owned).or(name));
            }),
            Kind::ChatGpt(layout) => self.rows(reader, layout, |reading, row, place| {
                let name = crate::json::id(row, "conversation_id").or_else(|| crate::json::id(row, "id"));
                let (conversation, memories) = chatgpt::conversation(row);
                match name.as_deref().filter(|id| !reading.winners.is_one(Source::ChatGpt, id, place)) {
                    Some(id) => reading.skip(Some(id.to_owned()), Reason::Double),
                    None => {
                        let title = crate::json::text(row, "title").map(str::to_owned);
                        reading.give_conversation(conversation, title.or(name));
                    }
                }
                memories.into_iter().for_each(|memory| reading.give_memory(memory));
            }),
            Kind::ClaudeProjects(layout) => self.rows(reader, layout, |reading, row, _| {
                reading.give_all(claude::project(row), crate::json::text(row, "name").map(str::to_owned));
            }),
            Kind::ClaudeMemories(layout) => {
                self.rows(reader, layout, |reading, row, _| reading.give_all(claude::memories(row), None));
            }
            Kind::Mem0(layout) => self.rows(reader, layout, |reading, row, _| reading.give_mem0(row, &HashMap::new())),
            Kind::OpenMemory => self.rows(reader, &Layout::Single, |reading, document, _| {
                let categories = mem0::categories(document);
                for row in crate::json::list(document, "memories").iter().filter_map(Value::as_object) {
                    reading.give_mem0(row, &categories);
                }
            }),
            Kind::Mem0Lines => self.lines(reader, |reading, row| reading.give_mem0(row, &HashMap::new())),
            Kind::ClaudeCode => {
                let mut session = Session::default();
                self.lines(reader, |_, line| session.add(line));
                let conversation = session.finish();
                self.give_conversation(conversation, None);
            }
            Kind::GraphLines => {
                let mut graph = Graph::default();
                self.lines(reader, |reading, line| {
                    if !graph.add(line) {
                        reading.skip(None, Reason::Broken("a line is neither an entity nor a relation".to_owned()));
                    }
                });
                self.give_graph(graph);
            }
            Kind::Graph => self.rows(reader, &Layout::Single, |reading, document, _| {
                let mut graph = Graph::default();
                for member in ["entities", "relations"] {
                    for row in crate::json::list(document, member).iter().filter_map(Value::as_object) {
                        graph.add(row);
                    }
                }
                reading.give_graph(graph);
            }),
            Kind::Note => self.note(file, reader),
            Kind::ClaudeDownloads | Kind::Own | Kind::Aside(..) | Kind::Empty | Kind::Unknown => {}
        }
    }

    fn give_all(&mut self, memories: Vec<memory::Draft>, name: Option<String>) {
        if memories.is_empty() {
            self.skip(name, Reason::NothingInIt);
        }
        memories.into_iter().for_each(|memory| self.give_memory(memory));
    }

    fn give_mem0(&mut self, row: &Map<String, Value>, categories: &HashMap<String, String>) {
        match mem0::memory(row, categories) {
            Ok(memory) => self.give_memory(memory),
            Err(reason) => self.skip(crate::json::id(row, "id"), reason),
        }
    }

    fn give_graph(&mut self, graph: Graph) {
        let (memories, lost) = graph.finish();
        memories.into_iter().for_each(|memory| self.give_memory(memory));
        for relation in lost {
            self.skip(Some(relation), Reason::Broken("a relation of things that are not there".to_owned()));
        }
    }

    fn note(&mut self, file: &File, reader: Box<dyn Read + '_>) {
        let most = self.limits.element_bytes as u64;
        let mut bytes = Vec::new();
        if let Err(error) = reader.take(most + 1).read_to_end(&mut bytes) {
            return self.skip(None, bytes::reason(&error));
        }
        if bytes.len() as u64 > most {
            return self.skip(None, Reason::TooLarge(most));
        }
        let text = String::from_utf8_lossy(&bytes);
        let root = self.input.listing.roots.get(file.root);
        let label = root.map(|root| root.label.as_str()).unwrap_or_default();
        let label = paths::shown(label).rsplit('/').next().unwrap_or_default().to_owned();
        let name = if file.name.is_empty() { &label } else { &file.name };
        // An archive is called differently each time it is downloaded; the folder in it is not.
        let is_archive = root.is_some_and(|root| root.is_archive);
        let source_id = if file.name.is_empty() || (is_archive && file.name.contains('/')) {
            name.clone()
        } else if is_archive {
            format!("{}/{name}", paths::stem(&label))
        } else {
            format!("{}/{name}", self.input.listing.label(file.root, ""))
        };
        let note = markdown::note(&text, name, source_id, file.modified);
        self.source = Some(note.source);
        self.give_memory(note);
    }

    /// Gives `each` one row after the other, with its place.
    fn rows(
        &mut self,
        reader: impl Read,
        layout: &Layout,
        mut each: impl FnMut(&mut Self, &Map<String, Value>, (usize, u64)),
    ) {
        let most = self.limits.element_bytes;
        let mut splitter = Splitter::new(reader, layout.clone(), most);
        let mut is_empty = true;
        while !self.is_over {
            let piece = splitter.next();
            is_empty &= piece == Piece::End;
            match piece {
                Piece::Row => match repair::parse::<Value>(splitter.row()) {
                    Ok(Value::Object(row)) => {
                        splitter.accept();
                        each(self, &row, (self.file, splitter.offset()));
                    }
                    Ok(Value::Null) => self.skip(None, Reason::NothingInIt),
                    Ok(_) => {
                        splitter.reject(true);
                        self.skip(None, Reason::Broken("something else stands where a row should be".to_owned()));
                    }
                    Err(error) => {
                        let name = label(splitter.row());
                        splitter.reject(false);
                        self.skip(name, Reason::Broken(error.to_string()));
                    }
                },
                Piece::Broken => {
                    self.skip(None, Reason::Broken("something is missing or too much between two rows".to_owned()))
                }
                Piece::TooLarge => self.skip(None, Reason::TooLarge(most as u64)),
                Piece::CutOff => match splitter.take_error() {
                    Some(error) => self.skip(None, bytes::reason(&error)),
                    None => self.skip(None, Reason::CutOff),
                },
                Piece::End => {
                    match splitter.take_error() {
                        Some(error) => self.skip(None, bytes::reason(&error)),
                        None if is_empty => self.skip(None, Reason::NothingInIt),
                        None => {}
                    }
                    return;
                }
            }
        }
    }

    /// Gives `each` one line after the other.
    fn lines(&mut self, reader: impl Read, mut each: impl FnMut(&mut Self, &Map<String, Value>)) {
        let most = self.limits.element_bytes;
        // What is made of lines is held until its end, so all of them together have a bound as well.
        let mut left = most.saturating_mul(2);
        let mut reader = BufReader::with_capacity(64 << 10, reader);
        let (mut line, mut number) = (Vec::new(), 0);
        let mut broken: Option<u64> = None;
        while !self.is_over {
            let read = match lines::next(&mut reader, &mut line, &mut number, most) {
                Ok(read) => read,
                Err(error) => return self.skip(None, bytes::reason(&error)),
            };
            // Of a line that is broken it is known only at the next one whether it was the last.
            if let Some(number) = broken.take() {
                let reason =
                    if read == Line::End { Reason::CutOff } else { Reason::Broken("it is not JSON".to_owned()) };
                self.skip(Some(format!("line {number}")), reason);
            }
            match read {
                Line::End => return,
                Line::Read if has_too_many_values(&line, most) => {
                    self.skip(Some(format!("line {number}")), Reason::TooLarge(most as u64));
                }
                Line::TooLong => self.skip(Some(format!("line {number}")), Reason::TooLarge(most as u64)),
                Line::Read => {
                    left = match left.checked_sub(line.len()) {
                        Some(left) => left,
                        None => {
                            return self
                                .skip(Some(format!("all from line {number}")), Reason::TooLarge(most as u64 * 2));
                        }
                    };
                    match repair::parse::<Value>(&line) {
                        Ok(Value::Object(row)) => each(self, &row),
                        Ok(_) => {
                            self.skip(Some(format!("line {number}")), Reason::Broken("it is no object".to_owned()))
                        }
                        Err(_) => broken = Some(number),
                    }
                }
            }
        }
    }
}

/// What a row is called that can't be parsed, for whoever looks for it.
fn label(row: &[u8]) -> Option<String> {
    const HEAD: usize = 2 << 10;
    let head = String::from_utf8_lossy(row.get(..HEAD).unwrap_or(row));
    ["\"title\"", "\"name\""].iter().find_map(|name| {
        let (_, rest) = head.split_once(name)?;
        let (title, _) = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?.split_once('"')?;
        Some(title.to_owned()).filter(|title| !title.is_empty() && !title.contains(['\n', '{']))
    })
}
