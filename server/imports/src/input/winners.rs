//! Conversations that are there several times: exports overlap, and people import several at once.

use std::{collections::HashMap, io::Read};

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    Source,
    digest::Digest,
    json::{
        self, repair,
        splitter::{Layout, Piece, Splitter},
    },
    times,
};

/// Where a conversation is: the number of the file, and the place in it.
pub(crate) type Place = (usize, u64);

/// The newest one of each conversation. Only ids and times are held.
#[derive(Debug, Default)]
pub(crate) struct Winners(HashMap<[u8; 32], (Option<Timestamp>, Place)>);

/// What tells conversations apart, read without the rest.
#[derive(Deserialize)]
struct Row {
    #[serde(default)]
    uuid: Value,
    #[serde(default)]
    conversation_id: Value,
    #[serde(default)]
    id: Value,
    #[serde(default)]
    updated_at: Value,
    #[serde(default)]
    update_time: Value,
}

impl Winners {
    /// Goes through a file.
    pub(crate) fn add(&mut self, source: Source, file: usize, reader: impl Read, layout: Layout, most: usize) {
        let mut splitter = Splitter::new(reader, layout, most);
        loop {
            match splitter.next() {
                Piece::Row => match repair::parse::<Row>(splitter.row()) {
                    Ok(row) => {
                        splitter.accept();
                        let at = times::time(Some(&row.updated_at)).or_else(|| times::time(Some(&row.update_time)));
                        let ids = match source {
                            Source::Claude => [Some(&row.uuid), None],
                            _ => [Some(&row.conversation_id), Some(&row.id)],
                        };
                        let id = ids.into_iter().flatten().find_map(json::name);
                        if let Some(id) = id {
                            self.note(key(source, &id), at, (file, splitter.offset()));
                        }
                    }
                    Err(error) => splitter.reject(error.is_data()),
                },
                Piece::Broken | Piece::TooLarge | Piece::CutOff => {}
                Piece::End => return,
            }
        }
    }

    /// Of two of the same time the later one: files come in the order of their names.
    fn note(&mut self, key: [u8; 32], at: Option<Timestamp>, place: Place) {
        let known = self.0.entry(key).or_insert((at, place));
        if at >= known.0 {
            *known = (at, place);
        }
    }

    /// Whether the conversation at this place is the one to give.
    pub(crate) fn is_one(&self, source: Source, id: &str, place: Place) -> bool {
        self.0.get(&key(source, id)).is_none_or(|(_, known)| *known == place)
    }
}

fn key(source: Source, id: &str) -> [u8; 32] {
    let mut digest = Digest::default();
    digest.add(source.as_str()).add(id);
    digest.finish()
}
