//! The bytes of a file on their way: counted, bounded, unpacked, as UTF-8.

use std::{
    cell::Cell,
    io::{self, BufReader, Read},
};

use crate::Reason;

/// How much any file may unpack to, however small it is packed.
pub(crate) const ALWAYS: u64 = 1 << 20;

/// An error that says why a file is not read further.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Stopped(Reason);

/// Counts what is read, and stops where it is more than may be.
pub(crate) struct Guard<'a, R> {
    reader: R,
    count: &'a Cell<u64>,
    read: u64,
    most: u64,
    reason: Reason,
}

impl<'a, R: Read> Guard<'a, R> {
    pub(crate) fn new(reader: R, count: &'a Cell<u64>, most: u64, reason: Reason) -> Self {
        Self { reader, count, read: 0, most, reason }
    }
}

impl<R: Read> Read for Guard<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.read += read as u64;
        self.count.set(self.count.get() + read as u64);
        if self.read > self.most {
            return Err(stopped(self.reason.clone()));
        }
        Ok(read)
    }
}

/// An error of which [`reason`] gives this back.
pub(crate) fn stopped(reason: Reason) -> io::Error {
    io::Error::other(Stopped(reason))
}

/// Why reading failed.
pub(crate) fn reason(error: &io::Error) -> Reason {
    if let Some(Stopped(reason)) = error.get_ref().and_then(|inner| inner.downcast_ref()) {
        return reason.clone();
    }
    match error.kind() {
        io::ErrorKind::UnexpectedEof => Reason::CutOff,
        _ => Reason::Broken(error.to_string()),
    }
}

/// A file as UTF-8: without the mark at its beginning, and from UTF-16 where the mark says that it is.
pub(crate) fn decoded<'a>(reader: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    let mut reader = BufReader::with_capacity(64 << 10, reader);
    let mut head = Vec::new();
    (&mut reader).take(3).read_to_end(&mut head)?;
    let is_big = match head.as_slice() {
        [0xef, 0xbb, 0xbf] => return Ok(Box::new(reader)),
        [0xff, 0xfe, ..] => false,
        [0xfe, 0xff, ..] => true,
        _ => return Ok(Box::new(io::Cursor::new(head).chain(reader))),
    };
    let rest = head.get(2..).unwrap_or_default().to_vec();
    let reader = Box::new(io::Cursor::new(rest).chain(reader));
    Ok(Box::new(Utf16 { reader, is_big, odd: None, half: None, text: Vec::new(), place: 0 }))
}

/// UTF-8 of UTF-16. What is half a pair becomes U+FFFD.
struct Utf16<'a> {
    reader: Box<dyn Read + 'a>,
    is_big: bool,
    /// The first byte of a unit of which the second was not read yet.
    odd: Option<u8>,
    /// The first unit of a pair of which the second was not read yet.
    half: Option<u16>,
    text: Vec<u8>,
    place: usize,
}

impl Utf16<'_> {
    fn fill(&mut self) -> io::Result<()> {
        let mut bytes = Vec::from_iter(self.odd.take());
        let read = (&mut self.reader).take(32 << 10).read_to_end(&mut bytes)?;
        let mut units = Vec::from_iter(self.half.take());
        let pairs = bytes.chunks_exact(2);
        self.odd = pairs.remainder().first().copied().filter(|_| read > 0);
        units.extend(pairs.filter_map(|pair| {
            let pair: [u8; 2] = pair.try_into().ok()?;
            Some(if self.is_big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) })
        }));
        if read > 0 && units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) {
            self.half = units.pop();
        }
        self.text = String::from_utf16_lossy(&units).into_bytes();
        self.place = 0;
        if self.text.is_empty() && read > 0 { self.fill() } else { Ok(()) }
    }
}

impl Read for Utf16<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.place >= self.text.len() {
            self.fill()?;
        }
        let mut rest = self.text.get(self.place..).unwrap_or_default();
        let read = rest.read(buffer)?;
        self.place += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> String {
        let mut text = String::new();
        decoded(bytes).unwrap().read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn files_of_other_editors_are_read() {
        assert_eq!(read(b"\xef\xbb\xbf[1]"), "[1]");
        assert_eq!(read(b""), "");
        assert_eq!(read(b"["), "[");
        let text = "[\"naïve 中文 😀\"]".repeat(10_000);
        let little: Vec<u8> = [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
        assert!(read(&little) == text);
        let big: Vec<u8> = [0xfe, 0xff].into_iter().chain(text.encode_utf16().flat_map(u16::to_be_bytes)).collect();
        assert!(read(&big) == text);
        assert_eq!(read(b"\xff\xfe[\0]"), "[");
        assert_eq!(read(b"\xff\xfe[\0\x3d\xd8"), "[\u{fffd}");
    }

    #[test]
    fn what_is_more_than_may_be_stops() {
        let count = Cell::new(0);
        let mut guard = Guard::new(&b"0123456789"[..], &count, 5, Reason::Bomb);
        let error = guard.read_to_end(&mut Vec::new()).unwrap_err();
        assert_eq!(reason(&error), Reason::Bomb);
    }
}
