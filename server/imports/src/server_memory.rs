//! The graph of the official MCP server `server-memory`: entities with observations, and relations between them.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use crate::{Source, json::text, memory::Draft};

/// The graph, as it is read line by line.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    entities: Vec<Entity>,
    places: HashMap<String, usize>,
    relations: Vec<Relation>,
    observed: HashSet<(usize, String)>,
}

#[derive(Debug)]
struct Entity {
    name: String,
    kind: Option<String>,
    lines: Vec<String>,
}

#[derive(Debug)]
struct Relation {
    from: String,
    to: String,
    kind: String,
}

impl Graph {
    /// Adds a line; false where it is neither.
    pub(crate) fn add(&mut self, row: &Map<String, Value>) -> bool {
        let kind = row.get("type").and_then(Value::as_str);
        match (text(row, "name"), text(row, "from"), text(row, "to")) {
            (Some(name), _, _) if kind != Some("relation") => self.add_entity(name, row),
            (_, Some(from), Some(to)) => {
                let kind = text(row, "relationType").unwrap_or("is related to").to_owned();
                self.relations.push(Relation { from: from.to_owned(), to: to.to_owned(), kind });
            }
            _ => return false,
        }
        true
    }

    /// An entity that comes twice has the observations of both.
    fn add_entity(&mut self, name: &str, row: &Map<String, Value>) {
        let place = *self.places.entry(name.to_owned()).or_insert_with(|| {
            self.entities.push(Entity { name: name.to_owned(), kind: None, lines: Vec::new() });
            self.entities.len() - 1
        });
        let Some(entity) = self.entities.get_mut(place) else { return };
        entity.kind = entity.kind.take().or_else(|| text(row, "entityType").map(str::to_owned));
        for observation in crate::json::list(row, "observations") {
            let said = match observation {
                Value::String(said) => Some(said.as_str()),
                Value::Object(members) => text(members, "content").or_else(|| text(members, "text")),
                _ => None,
            };
            let said = said.map(str::trim).filter(|said| !said.is_empty()).map(str::to_owned);
            entity.lines.extend(said.filter(|said| self.observed.insert((place, said.clone()))));
        }
    }

    /// One memory for each entity, with what is known of it and how it is related; and the relations between things that are
    /// not there.
    pub(crate) fn finish(self) -> (Vec<Draft>, Vec<String>) {
        let mut related: Vec<Vec<String>> = vec![Vec::new(); self.entities.len()];
        let mut lost = Vec::new();
        let mut told = HashSet::new();
        for Relation { from, to, kind } in &self.relations {
            let said = format!("{from} {kind} {to}");
            let mut places = [from, to].map(|name| self.places.get(name).copied());
            if places.iter().all(Option::is_none) {
                lost.push(said);
                continue;
            }
            if from == to {
                places[1] = None;
            }
            for place in places.into_iter().flatten() {
                if let Some(related) = related.get_mut(place).filter(|_| told.insert((place, said.clone()))) {
                    related.push(said.clone());
                }
            }
        }
        let memory = |(entity, related): (Entity, Vec<String>)| {
            let first =
                entity.kind.as_ref().map_or_else(|| entity.name.clone(), |kind| format!("{} ({kind})", entity.name));
            let lines = entity.lines.into_iter().chain(related).map(|line| format!("\n- {line}"));
            let content = lines.fold(first, |content, line| content + &line);
            let mut memory = Draft::new(Source::ServerMemory, &entity.name, content);
            memory.tags = entity.kind.into_iter().collect();
            memory.title = Some(entity.name);
            memory
        };
        (self.entities.into_iter().zip(related).map(memory).collect(), lost)
    }
}
