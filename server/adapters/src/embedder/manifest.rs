//! The manifest of a model: the file `manifest.json` beside the model's own files.

use std::{collections::BTreeMap, fs, path::Path};

use polymnemo_memory::{
    Error, Result,
    ports::{Calibration, Model},
};
use serde::Deserialize;

/// The files that a model consists of.
pub(super) const FILES: [&str; 5] =
    ["model.onnx", "tokenizer.json", "config.json", "special_tokens_map.json", "tokenizer_config.json"];

/// What a model's directory says about the model. Fields that are of no use here may be there as well.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Manifest {
    name: String,
    /// The length of its vectors.
    pub(super) dimension: u32,
    /// How one vector is made of the network's output.
    pub(super) pooling: Pooling,
    /// The name of the output to take; may be left out where there is just one.
    #[serde(default)]
    pub(super) output: Option<String>,
    /// What the model wants before a query.
    #[serde(default)]
    pub(super) query_prefix: String,
    /// What the model wants before a passage.
    #[serde(default)]
    pub(super) passage_prefix: String,
    /// The most tokens that it reads, prefix and special tokens included.
    pub(super) max_tokens: u32,
    #[serde(default)]
    calibration: CalibrationEntry,
    /// SHA-256 of each file, in hexadecimal.
    pub(super) files: BTreeMap<String, String>,
}

/// How one vector is made of the network's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Pooling {
    /// The mean over the tokens.
    Mean,
    /// The vector of the first token.
    Cls,
    /// The network gives one vector by itself.
    None,
}

/// [`Calibration`] as it is written; a model that nobody has measured yet gets along with the defaults.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(default)]
struct CalibrationEntry {
    low: f32,
    high: f32,
    gate_base: f32,
    gate_slope: f32,
    gate_most: f32,
    similar_low: f32,
    similar_least: f32,
}

impl Default for CalibrationEntry {
    fn default() -> Self {
        Self {
            low: -0.25,
            high: 0.55,
            gate_base: 0.3,
            gate_slope: 0.05,
            gate_most: 0.5,
            similar_low: 0.5,
            similar_least: 1.0,
        }
    }
}

impl From<CalibrationEntry> for Calibration {
    fn from(entry: CalibrationEntry) -> Self {
        let CalibrationEntry { low, high, gate_base, gate_slope, gate_most, similar_low, similar_least } = entry;
        Self { low, high, gate_base, gate_slope, gate_most, similar_low, similar_least }
    }
}

impl Manifest {
    /// Reads and checks the manifest in a directory.
    pub(super) fn read(directory: &Path) -> Result<Self> {
        let path = directory.join("manifest.json");
        let text = fs::read_to_string(&path).map_err(|error| {
            Error::Model(format!(
                "{} can't be read ({error}). Run `polymnemo setup`, which fetches it.",
                path.display()
            ))
        })?;
        let wrong =
            |what: String| Error::Model(format!("{} is damaged: {what}. Run `polymnemo setup`.", path.display()));
        let manifest: Self = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        manifest.check().map_err(wrong)?;
        Ok(manifest)
    }

    fn check(&self) -> Result<(), String> {
        if self.name.is_empty() || self.name.len() > 100 || self.name.contains(|c: char| c.is_control() || c == ':') {
            return Err("`name` must have 1 to 100 characters and no colon".into());
        }
        if !(1..=8_192).contains(&self.dimension) {
            return Err("`dimension` must be from 1 to 8192".into());
        }
        if !(32..=1 << 20).contains(&self.max_tokens) {
            return Err("`max_tokens` must be 32 or more".into());
        }
        for file in FILES {
            let hash = self.files.get(file).ok_or_else(|| format!("`files` lacks {file}"))?;
            if hash.len() != 64 || !hash.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)) {
                return Err(format!("the SHA-256 of {file} must be 64 digits, 0 to 9 and a to f"));
            }
        }
        let Calibration { low, high, gate_base, gate_slope, gate_most, similar_low, similar_least } =
            self.calibration.into();
        if [low, high, gate_base, gate_slope, gate_most, similar_low, similar_least]
            .iter()
            .any(|value| !value.is_finite())
        {
            return Err("`calibration` must hold numbers".into());
        }
        if low >= high || similar_low >= 1.0 {
            return Err("in `calibration`, `low` must be below `high` and `similar_low` below 1".into());
        }
        Ok(())
    }

    /// The model as the service sees it. Its id holds part of the network's hash: the same network at another
    /// precision gives other vectors.
    pub(super) fn model(&self) -> Model {
        let hash = self.files.get("model.onnx").and_then(|hash| hash.get(..8)).unwrap_or_default();
        Model {
            id: format!("{}:{hash}", self.name),
            dimension: self.dimension,
            max_tokens: self.max_tokens,
            calibration: self.calibration.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(change: impl FnOnce(&mut serde_json::Value)) -> Result<Manifest> {
        let files: BTreeMap<_, _> = FILES.iter().map(|file| (*file, "0123456789abcdef".repeat(4))).collect();
        let mut manifest = serde_json::json!({
            "name": "tiny", "dimension": 8, "pooling": "mean", "max_tokens": 64, "languages": "English", "files": files,
        });
        change(&mut manifest);
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("manifest.json"), manifest.to_string()).expect("a manifest");
        Manifest::read(directory.path())
    }

    #[test]
    fn what_may_be_left_out_has_defaults() {
        let manifest = read(|_| {}).expect("it is valid");
        assert_eq!((manifest.output.as_deref(), manifest.query_prefix.as_str()), (None, ""));
        let model = manifest.model();
        assert_eq!((model.id.as_str(), model.dimension, model.max_tokens), ("tiny:01234567", 8, 64));
        assert!(model.calibration.low < model.calibration.high);
    }

    #[test]
    fn what_is_wrong_is_said_with_the_way_out() {
        type Change = fn(&mut serde_json::Value);
        let wrong: [(&str, Change); 7] = [
            ("dimension", |manifest| manifest["dimension"] = 0.into()),
            ("max_tokens", |manifest| manifest["max_tokens"] = 3.into()),
            ("name", |manifest| manifest["name"] = "".into()),
            ("median", |manifest| manifest["pooling"] = "median".into()),
            ("tokenizer.json", |manifest| {
                drop(manifest["files"].as_object_mut().map(|files| files.remove("tokenizer.json")))
            }),
            ("SHA-256", |manifest| manifest["files"]["model.onnx"] = "../../etc".into()),
            ("low", |manifest| manifest["calibration"] = serde_json::json!({"low": 0.9, "high": 0.1})),
        ];
        for (part, change) in wrong {
            let error = read(change).expect_err(part).to_string();
            assert!(error.contains(part) && error.contains("polymnemo setup"), "{error}");
        }
        let missing = Manifest::read(Path::new("/nonexistent")).expect_err("there is none").to_string();
        assert!(missing.contains("polymnemo setup"), "{missing}");
    }
}
