//! Cutting a file into the rows it is made of, however large it is.

use std::io::{self, Read};

/// Where the rows are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Layout {
    /// The file is an array of them.
    Array,
    /// The file is one of them.
    Single,
    /// The file is an object with an array of them under this name.
    Member(&'static str),
    /// They are an array in a script of a page.
    Script,
}

/// What comes next in a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A row: see [`Splitter::row`]. Say whether it could be read, by [`Splitter::accept`] or [`Splitter::reject`].
    Row,
    /// Something where a row should be, passed over.
    Broken,
    /// A row that is larger than may be, passed over.
    TooLarge,
    /// The file ends in the middle.
    CutOff,
    /// There is nothing more.
    End,
}

/// How much is read at once.
const CHUNK: usize = 64 << 10;

/// How far to look for the second name in a row.
const LOOK_AHEAD: usize = 4 << 10;

/// The first two names in a row of the products that are known, by which the beginning of a row is found again behind what is
/// broken. What the file itself has is learned.
const ROWS: [(&[u8], &[u8]); 3] = [(b"uuid", b"name"), (b"title", b"create_time"), (b"id", b"memory")];

/// Cuts a file into rows by counting brackets, without parsing them. One row is held at a time.
pub(crate) struct Splitter<R> {
    reader: R,
    buffer: Vec<u8>,
    /// Where in the buffer the current row begins.
    start: usize,
    /// How long it is.
    length: usize,
    /// How many bytes were dropped from the buffer.
    dropped: u64,
    is_at_end: bool,
    error: Option<io::Error>,
    layout: Layout,
    state: State,
    rows: Vec<(Vec<u8>, Vec<u8>)>,
    /// Whether what comes next may be within a broken row.
    is_lost: bool,
    most: usize,
    /// How many bytes may be looked at another time, so that a file that is broken all over takes no longer than others.
    patience: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Before,
    Within,
    After,
    Ended,
}

impl<R: Read> Splitter<R> {
    /// A splitter that holds rows of at most `most` bytes.
    pub(crate) fn new(reader: R, layout: Layout, most: usize) -> Self {
        Self {
            reader,
            buffer: Vec::new(),
            start: 0,
            length: 0,
            dropped: 0,
            is_at_end: false,
            error: None,
            layout,
            state: State::Before,
            rows: ROWS.iter().map(|(first, second)| (first.to_vec(), second.to_vec())).collect(),
            is_lost: false,
            most,
            patience: most.saturating_mul(4),
        }
    }

    /// The bytes of the current row.
    pub(crate) fn row(&self) -> &[u8] {
        self.rest().get(..self.length).unwrap_or_default()
    }

    /// Where in the file the current row is.
    pub(crate) fn offset(&self) -> u64 {
        self.dropped + self.start as u64
    }

    /// Why the file could not be read to its end.
    pub(crate) fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }

    /// The current row could be read: so begin rows in this file.
    pub(crate) fn accept(&mut self) {
        self.is_lost = false;
        if self.rows.len() < ROWS.len() + 4
            && let Some((first, second)) = first_names(self.row())
            && !self.is_row(first, second)
        {
            let names = (first.to_vec(), second.to_vec());
            self.rows.push(names);
        }
    }

    /// The current row could not be read. If another one begins within it, a bracket or a quotation mark is missing between
    /// them, and that one is next. `is_json` is whether it is JSON, and only not a row: then what follows may well be one.
    pub(crate) fn reject(&mut self, is_json: bool) {
        self.is_lost = !is_json;
        if let Some(place) = self.row_within(self.length) {
            self.length = place;
        }
    }

    /// Goes on to what comes next.
    pub(crate) fn next(&mut self) -> Piece {
        self.start += std::mem::take(&mut self.length);
        if self.state == State::Before {
            self.state = if self.begin() { State::Within } else { State::Ended };
            // Without the beginning of the list the rows may still be there.
            if self.state == State::Ended && matches!(self.layout, Layout::Array) && self.find_row() {
                self.state = State::Within;
                return Piece::Broken;
            }
        }
        loop {
            match self.state {
                State::Before | State::Ended => return Piece::End,
                State::After => {
                    self.state = State::Ended;
                    if matches!(self.layout, Layout::Array | Layout::Member(_)) && self.find_row() {
                        self.state = State::Within;
                        return Piece::Broken;
                    }
                    return Piece::End;
                }
                State::Within => {}
            }
            let Some(byte) = self.skip(|byte| byte.is_ascii_whitespace() || byte == b',') else {
                self.state = State::Ended;
                // One row has no end but its own.
                return if self.layout == Layout::Single { Piece::End } else { Piece::CutOff };
            };
            if byte == b']' && self.layout != Layout::Single && !self.is_lost {
                self.start += 1;
                self.state = State::After;
                continue;
            }
            if byte == b']' && self.is_lost {
                self.start += 1;
                self.is_lost = false;
                self.state = State::After;
                continue;
            }
            let is_value = matches!(byte, b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n' | b'N');
            if !is_value || (self.is_lost && byte != b'{') {
                let was_lost = std::mem::replace(&mut self.is_lost, false);
                if !self.find_row() {
                    self.state = State::Ended;
                }
                if was_lost {
                    continue;
                }
                return Piece::Broken;
            }
            return self.value();
        }
    }

    fn value(&mut self) -> Piece {
        let mut scanner = Scanner::default();
        let mut looked = 0;
        loop {
            if let Some(end) = scanner.feed(self.rest().get(looked..).unwrap_or_default()) {
                self.length = looked + end;
                if self.layout == Layout::Single {
                    self.state = State::After;
                }
                return if are_too_many(scanner.values, self.most) { Piece::TooLarge } else { Piece::Row };
            }
            looked = self.rest().len();
            if looked > self.most {
                if let Some(place) = self.row_within(looked) {
                    self.length = place;
                    return Piece::Broken;
                }
                self.pass_over(scanner);
                return Piece::TooLarge;
            }
            if !self.fill() {
                if let Some(place) = self.row_within(looked) {
                    self.length = place;
                    return Piece::Broken;
                }
                self.start += looked;
                self.state = State::Ended;
                return Piece::CutOff;
            }
        }
    }

    /// Goes to the end of a value without holding it.
    fn pass_over(&mut self, mut scanner: Scanner) {
        loop {
            self.start = self.buffer.len();
            if !self.fill() {
                return;
            }
            if let Some(end) = scanner.feed(self.rest()) {
                self.start += end;
                return;
            }
        }
    }

    /// Goes to where the rows begin.
    fn begin(&mut self) -> bool {
        match self.layout {
            Layout::Single => true,
            Layout::Array => self.take(b'['),
            Layout::Member(name) => self.begin_of_member(name),
            Layout::Script => self.begin_of_script(),
        }
    }

    fn begin_of_member(&mut self, name: &str) -> bool {
        if !self.take(b'{') {
            return false;
        }
        loop {
            let is_space = |byte: u8| byte.is_ascii_whitespace() || byte == b',';
            if self.skip(is_space) != Some(b'"') {
                return false;
            }
            let mut key = Vec::new();
            if !self.value_into(&mut key) || !self.take(b':') {
                return false;
            }
            let Some(byte) = self.skip(|byte| byte.is_ascii_whitespace()) else { return false };
            let is_name = key.strip_prefix(b"\"").and_then(|key| key.strip_suffix(b"\"")) == Some(name.as_bytes());
            if is_name && byte == b'[' {
                self.start += 1;
                return true;
            }
            let mut scanner = Scanner::default();
            if let Some(end) = scanner.feed(self.rest()) {
                self.start += end;
            } else {
                self.pass_over(scanner);
            }
        }
    }

    /// Takes a short value.
    fn value_into(&mut self, value: &mut Vec<u8>) -> bool {
        loop {
            if let Some(end) = Scanner::default().feed(self.rest()) {
                value.extend_from_slice(self.rest().get(..end).unwrap_or_default());
                self.start += end;
                return true;
            }
            if self.rest().len() > CHUNK || !self.fill() {
                return false;
            }
        }
    }

    fn begin_of_script(&mut self) -> bool {
        const NAME: &[u8] = b"jsonData";
        loop {
            if let Some(place) = self.rest().windows(NAME.len()).position(|window| window == NAME) {
                self.start += place + NAME.len();
                if self.take(b'=') && self.take(b'[') {
                    return true;
                }
            } else {
                self.start = self.buffer.len().saturating_sub(NAME.len()).max(self.start);
                if !self.fill() {
                    return false;
                }
            }
        }
    }

    /// Takes this byte, if it is the next one that is no space.
    fn take(&mut self, wanted: u8) -> bool {
        let is_next = self.skip(|byte| byte.is_ascii_whitespace()) == Some(wanted);
        self.start += usize::from(is_next);
        is_next
    }

    /// Passes over bytes; gives the one that comes then.
    fn skip(&mut self, is_passed: impl Fn(u8) -> bool) -> Option<u8> {
        loop {
            match self.rest().iter().position(|&byte| !is_passed(byte)) {
                Some(place) => {
                    self.start += place;
                    return self.rest().first().copied();
                }
                None => {
                    self.start = self.buffer.len();
                    if !self.fill() {
                        return None;
                    }
                }
            }
        }
    }

    /// Goes to the next beginning of a row.
    fn find_row(&mut self) -> bool {
        loop {
            let end = self.rest().len();
            let searched = if self.is_at_end { end } else { end.saturating_sub(LOOK_AHEAD) };
            if let Some(place) = self.search(0, searched) {
                self.start += place;
                return true;
            }
            self.start += searched;
            if !self.fill() {
                return match self.search(0, self.rest().len()) {
                    Some(place) => {
                        self.start += place;
                        true
                    }
                    None => {
                        self.start = self.buffer.len();
                        false
                    }
                };
            }
        }
    }

    /// Where another row begins within these bytes of the current one.
    fn row_within(&mut self, length: usize) -> Option<usize> {
        if self.layout == Layout::Single {
            return None;
        }
        let place = self.search(1, length)?;
        self.patience = self.patience.checked_sub(length - place)?;
        Some(place)
    }

    fn search(&self, from: usize, to: usize) -> Option<usize> {
        let rest = self.rest();
        let mut at = from;
        loop {
            at += rest.get(at..to)?.iter().position(|&byte| byte == b'{')?;
            if let Some((first, second)) = first_names(rest.get(at..)?)
                && self.is_row(first, second)
            {
                return Some(at);
            }
            at += 1;
        }
    }

    fn is_row(&self, first: &[u8], second: &[u8]) -> bool {
        self.rows.iter().any(|(one, other)| one == first && other == second)
    }

    fn rest(&self) -> &[u8] {
        self.buffer.get(self.start..).unwrap_or_default()
    }

    /// Reads more; false at the end.
    fn fill(&mut self) -> bool {
        if self.is_at_end {
            return false;
        }
        // Moving what is left costs as much as reading it, so it is done only where most of the buffer is behind.
        if self.start > CHUNK && self.start > self.buffer.len() / 2 {
            self.buffer.drain(..self.start);
            self.dropped += self.start as u64;
            self.start = 0;
        }
        let before = self.buffer.len();
        let read = (&mut self.reader).take(CHUNK as u64).read_to_end(&mut self.buffer);
        if let Err(error) = read {
            self.error = Some(error);
            self.is_at_end = true;
        }
        if self.buffer.len() - before < CHUNK {
            self.is_at_end = true;
        }
        self.buffer.len() > before
    }
}

/// Whether so many values take too much memory where `most` bytes may be read at once: each takes many times as much as a
/// byte, and only files that are made to do harm have that many.
fn are_too_many(values: usize, most: usize) -> bool {
    const AT_LEAST: usize = 1000;
    const BYTES: usize = 24;
    values > (most / BYTES).max(AT_LEAST)
}

/// Whether a line has more values than may be.
pub(crate) fn has_too_many_values(line: &[u8], most: usize) -> bool {
    let mut scanner = Scanner::default();
    scanner.feed(line);
    are_too_many(scanner.values, most)
}

/// Counts brackets.
#[derive(Debug, Default)]
struct Scanner {
    depth: usize,
    is_text: bool,
    is_escaped: bool,
    /// How many values there are in it, nearly.
    values: usize,
}

impl Scanner {
    /// Where the value ends, if it does within these bytes.
    fn feed(&mut self, bytes: &[u8]) -> Option<usize> {
        for (place, &byte) in bytes.iter().enumerate() {
            if self.is_text {
                match byte {
                    _ if self.is_escaped => self.is_escaped = false,
                    b'\\' => self.is_escaped = true,
                    b'"' => {
                        self.is_text = false;
                        if self.depth == 0 {
                            return Some(place + 1);
                        }
                    }
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.is_text = true,
                b'{' | b'[' => {
                    self.depth += 1;
                    self.values += 1;
                }
                b'}' | b']' if self.depth == 0 => return Some(place),
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(place + 1);
                    }
                }
                b',' | b' ' | b'\n' | b'\r' | b'\t' if self.depth == 0 => return Some(place),
                b',' => self.values += 1,
                _ => {}
            }
        }
        None
    }
}

/// The first two names of the object that begins here, where the first value is no list and no object.
fn first_names(object: &[u8]) -> Option<(&[u8], &[u8])> {
    let object = object.get(..object.len().min(LOOK_AHEAD))?;
    let (first, rest) = name(object.strip_prefix(b"{")?)?;
    let rest = rest.trim_ascii_start();
    let rest = match rest.first()? {
        b'"' => text(rest)?.1,
        b'{' | b'[' => return None,
        _ => rest.get(rest.iter().position(|byte| matches!(byte, b',' | b'}'))?..)?,
    };
    let (second, _) = name(rest.trim_ascii_start().strip_prefix(b",")?)?;
    Some((first, second))
}

fn name(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (name, rest) = text(bytes.trim_ascii_start())?;
    Some((name, rest.trim_ascii_start().strip_prefix(b":")?))
}

fn text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let bytes = bytes.strip_prefix(b"\"")?;
    let mut is_escaped = false;
    let end = bytes.iter().position(|&byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    })?;
    Some((bytes.get(..end)?, bytes.get(end + 1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a file is cut into: rows that are JSON as they stand, others in words.
    fn pieces(layout: Layout, file: &str, most: usize) -> Vec<String> {
        let mut splitter = Splitter::new(file.as_bytes(), layout, most);
        let mut pieces = Vec::new();
        loop {
            match splitter.next() {
                Piece::Row => {
                    let row = String::from_utf8_lossy(splitter.row()).into_owned();
                    // Whoever reads rows knows that text is none, as here.
                    if serde_json::from_str::<serde_json::Value>(&row).is_ok() && !row.starts_with("\",") {
                        splitter.accept();
                        pieces.push(row);
                    } else {
                        splitter.reject(false);
                        pieces.push("rejected".to_owned());
                    }
                }
                Piece::End => return pieces,
                piece => pieces.push(format!("{piece:?}")),
            }
            assert!(pieces.len() < 1000, "it goes on and on: {pieces:?}");
        }
    }

    #[test]
    fn rows_are_found_wherever_they_are() {
        let rows = [r#"{"a":"]} \" ["}"#, "null", "12", r#""x""#, "[1, [2]]", "{}"];
        let array = format!(" [ {} ] ", rows.join(" ,\n"));
        assert_eq!(pieces(Layout::Array, &array, 1000), rows);
        let object = format!(r#"{{"n": 1, "x": {{"rows": [0]}}, "rows": {array}, "m": [2]}}"#);
        assert_eq!(pieces(Layout::Member("rows"), &object, 1000), rows);
        let script = format!("<html>jsonData of <script>var jsonData = {array};\nvar more = {{}};</script>");
        assert_eq!(pieces(Layout::Script, &script, 1000), rows);
        assert_eq!(pieces(Layout::Single, " {\"a\": [1]}\n", 1000), [r#"{"a": [1]}"#]);
        assert_eq!(pieces(Layout::Array, "[]", 1000), [""; 0]);
        assert_eq!(pieces(Layout::Array, "", 1000), [""; 0]);
        assert_eq!(pieces(Layout::Script, "<html>jsonData jsonData =</html>", 1000), [""; 0]);
    }

    #[test]
    fn what_is_broken_costs_only_itself() {
        let row = |id: u32| format!(r#"{{"title": "t{id}", "create_time": {id}, "x": {{"y": ["z"]}}}}"#);
        let file = |broken: &str| format!("[{}, {broken}, {}]", row(1), row(3));
        let rest = |pieces: Vec<String>| pieces.into_iter().filter(|piece| piece.starts_with('{')).collect::<Vec<_>>();
        for broken in [
            r#"{"title": "t2", "create_time": 2, "x": {"y": ["z"]}"#,
            r#"{"title": "t2", "create_time": 2, "x": {"y": ["z}}"#,
            r#"{"title": "t2, "create_time": 2, "x": {"y": ["z"]}}"#,
            r#"{"title": "t2", "create_time": 2, "x": {"y": "z"]}}}}"#,
            r#""title": "t2", "create_time": 2, "x": {"y": ["z"]}}"#,
            r#"{"title": "t2", "create_time": 2, x": {"y": ["z"]}}"#,
            r#"{"title": "t2", "create_time": 2]"#,
            r#"{"title": "t2"}] "x""#,
            "?",
            "{",
            "\"",
        ] {
            let found = rest(pieces(Layout::Array, &file(broken), 10_000));
            let both = found.contains(&row(1)) && found.contains(&row(3));
            assert!(both, "{broken}: {found:?}");
        }
    }

    #[test]
    fn what_is_cut_off_is_said_to_be() {
        assert_eq!(pieces(Layout::Array, r#"[{"a":1},{"b":"#, 1000), [r#"{"a":1}"#, "CutOff"]);
        assert_eq!(pieces(Layout::Array, r#"[{"a":1},"#, 1000), [r#"{"a":1}"#, "CutOff"]);
        assert_eq!(pieces(Layout::Array, "[", 1000), ["CutOff"]);
        assert_eq!(pieces(Layout::Single, r#"{"a":1"#, 1000), ["CutOff"]);
        assert_eq!(pieces(Layout::Member("r"), r#"{"r": [1, 2"#, 1000), ["1", "CutOff"]);
    }

    #[test]
    fn rows_that_are_too_large_are_passed_over() {
        let large = format!(r#"{{"a": "{}"}}"#, "x".repeat(300_000));
        let file = format!(r#"[1, {large}, {{"b": 2}}]"#);
        assert_eq!(pieces(Layout::Array, &file, 1000), ["1", "TooLarge", r#"{"b": 2}"#]);
        let file = format!(r#"[1, {}"#, large.trim_end_matches(['"', '}']));
        assert_eq!(pieces(Layout::Array, &file, 1000), ["1", "TooLarge", "CutOff"]);
    }

    #[test]
    fn a_file_that_is_broken_all_over_takes_no_longer() {
        let file = format!("[{}", r#"{"uuid":"x","name":"#.repeat(50_000));
        assert!(pieces_counted(&file) < 100_000);
    }

    fn pieces_counted(file: &str) -> usize {
        let mut splitter = Splitter::new(file.as_bytes(), Layout::Array, 1 << 20);
        let mut count = 0;
        while splitter.next() != Piece::End {
            splitter.reject(false);
            count += 1;
        }
        count
    }
}
