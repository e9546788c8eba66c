//! Files of lines, each of them JSON.

use std::io::{self, BufRead};

/// A line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// It is in the buffer.
    Read,
    /// It is longer than may be read, and was passed over.
    TooLong,
    /// There are no more.
    End,
}

/// Reads the next line that is not blank into `line`, without its end. `number` counts the lines.
pub(crate) fn next(reader: &mut impl BufRead, line: &mut Vec<u8>, number: &mut u64, most: usize) -> io::Result<Line> {
    loop {
        line.clear();
        *number += 1;
        let mut is_too_long = false;
        let mut is_end = false;
        loop {
            let available = reader.fill_buf()?;
            if available.is_empty() {
                is_end = true;
                break;
            }
            let end = available.iter().position(|&byte| byte == b'\n');
            let taken = end.map_or(available, |end| available.get(..end).unwrap_or_default());
            is_too_long |= line.len() + taken.len() > most;
            if !is_too_long {
                line.extend_from_slice(taken);
            }
            let used = end.map_or(available.len(), |end| end + 1);
            reader.consume(used);
            if end.is_some() {
                break;
            }
        }
        if is_too_long {
            return Ok(Line::TooLong);
        }
        if !line.iter().all(u8::is_ascii_whitespace) {
            return Ok(Line::Read);
        }
        if is_end {
            return Ok(Line::End);
        }
    }
}
