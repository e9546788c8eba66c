//! The network and its tokenizer, loaded.

use std::{
    fs::File,
    io::{self, Read as _},
    ops::Range,
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use fastembed::{
    InitOptionsUserDefined, OutputKey, QuantizationMode, TextEmbedding, TokenizerFiles, UserDefinedEmbeddingModel,
};
use ort::{environment::Environment, session::builder::AutoDevicePolicy};
use polymnemo_memory::{Error, Result};
use sha2::{Digest as _, Sha256};
use tokenizers::{AddedToken, PaddingParams, Tokenizer};

use super::manifest::{Manifest, Pooling};

/// What is embedded: the model may want to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// What someone looks for.
    Query,
    /// What may be found.
    Passage,
}

/// The network and its tokenizer.
pub(super) struct Network {
    text: TextEmbedding,
    query_prefix: String,
    passage_prefix: String,
    max_tokens: usize,
}

impl Network {
    /// Loads a model: a second or two, so not on a thread that others wait for. Gives up with an error soon after nobody
    /// wants it any more.
    pub(super) fn load(
        directory: &Path,
        manifest: &Manifest,
        onnxruntime_library: &Path,
        unwanted: &AtomicBool,
    ) -> Result<Self> {
        let files = Files { directory, manifest, unwanted };
        // The tokenizer takes as long as the network, and is taken care of beside it.
        thread::scope(|scope| {
            let tokenizer = scope.spawn(|| load_tokenizer(&files.verified("tokenizer.json")?));
            let text = Self::load_network(&files, manifest, onnxruntime_library);
            let tokenizer = tokenizer.join().map_err(|_| Error::Model(format!("its tokenizer is broken. {SETUP}")))?;
            let (text, tokenizer) = (text?, tokenizer?);
            files.check_wanted()?;
            Self::assemble(manifest, text, tokenizer)
        })
    }

    fn load_network(files: &Files<'_>, manifest: &Manifest, onnxruntime_library: &Path) -> Result<TextEmbedding> {
        let environment = environment(onnxruntime_library)?;
        let file = |name| files.verified(name);
        let model = UserDefinedEmbeddingModel {
            onnx_file: file("model.onnx")?,
            external_initializers: Vec::new(),
            tokenizer_files: TokenizerFiles {
                tokenizer_file: NO_TOKENIZER.to_vec(),
                config_file: file("config.json")?,
                special_tokens_map_file: file("special_tokens_map.json")?,
                tokenizer_config_file: file("tokenizer_config.json")?,
            },
            pooling: Some(match manifest.pooling {
                Pooling::Mean => fastembed::Pooling::Mean,
                // Of an output that is one vector for each text already, the library takes that vector as it is.
                Pooling::Cls | Pooling::None => fastembed::Pooling::Cls,
            }),
            quantization: QuantizationMode::None,
            output_key: Some(match &manifest.output {
                // The library wants a name that lives for ever. It is a few bytes, once for each model that is loaded.
                Some(name) => OutputKey::ByName(name.clone().leak()),
                None => OutputKey::OnlyOne,
            }),
        };
        let options = InitOptionsUserDefined::new()
            .with_environment(environment)
            .with_max_length(manifest.max_tokens as usize)
            .with_intra_threads(thread::available_parallelism().map_or(1, Into::into))
            // Threads that spin while they wait for each other take the time of the database beside them, and
            // halve the throughput on a machine that is busy.
            .with_session_config("session.intra_op.allow_spinning", "0")
            // The same vectors on every machine.
            .with_auto_device(AutoDevicePolicy::PreferCPU);
        TextEmbedding::try_new_from_user_defined(model, options)
            .map_err(|error| Error::Model(format!("it can't be loaded ({error}). {SETUP}")))
    }

    fn assemble(manifest: &Manifest, mut text: TextEmbedding, mut tokenizer: Tokenizer) -> Result<Self> {
        // What the library read in the small files and gave to its own tokenizer.
        let mut special: Vec<(u32, AddedToken)> = text.tokenizer.get_added_tokens_decoder().into_iter().collect();
        special.sort_unstable_by_key(|(id, _)| *id);
        tokenizer.add_special_tokens(special.into_iter().map(|(_, token)| token)).map_err(broken_tokenizer)?;
        let padding = text.tokenizer.get_padding().cloned().map(|padding| PaddingParams {
            pad_id: tokenizer.token_to_id(&padding.pad_token).unwrap_or(padding.pad_id),
            ..padding
        });
        tokenizer.with_padding(padding);
        text.tokenizer = tokenizer;
        // The library cuts long texts without a word. We count first and never let it come to that.
        text.tokenizer.with_truncation(None).map_err(broken_tokenizer)?;

        let mut network = Self {
            text,
            query_prefix: manifest.query_prefix.clone(),
            passage_prefix: manifest.passage_prefix.clone(),
            max_tokens: manifest.max_tokens as usize,
        };
        let dimension = network.embed(Role::Query, &["a first text"])?.first().map_or(0, Vec::len);
        if dimension != manifest.dimension as usize {
            return Err(Error::Model(format!(
                "its manifest promises vectors of length {}, but they have {dimension}. {SETUP}",
                manifest.dimension
            )));
        }
        Ok(network)
    }

    /// The number of tokens that the network would read, prefix and special tokens included.
    ///
    /// An error where that is more than it can.
    pub(super) fn measure(&self, role: Role, text: &str) -> Result<usize> {
        let tokens = self.text.tokenizer.encode_fast(self.prefixed(role, text), true).map_err(broken_tokenizer)?.len();
        if tokens > self.max_tokens {
            return Err(Error::Model(format!(
                "a text of {tokens} tokens was to be embedded at once, and it reads at most {}",
                self.max_tokens
            )));
        }
        Ok(tokens)
    }

    /// Embeds texts in one run of the network, which pads them to the longest. Each must have been measured.
    pub(super) fn embed(&mut self, role: Role, texts: &[impl AsRef<str>]) -> Result<Vec<Vec<f32>>> {
        let texts: Vec<String> = texts.iter().map(|text| self.prefixed(role, text.as_ref())).collect();
        let vectors = self
            .text
            .embed(&texts, Some(texts.len()))
            .map_err(|error| Error::Model(format!("it failed on a text ({error})")))?;
        if vectors.len() != texts.len() || vectors.iter().flatten().any(|value| !value.is_finite()) {
            return Err(Error::Model(format!("it gave no usable vectors. {SETUP}")));
        }
        Ok(vectors)
    }

    /// The tokens of a piece of text, as byte ranges within it, in ascending order, without special tokens.
    pub(super) fn tokens(&self, piece: &str) -> Result<Vec<Range<usize>>> {
        let encoding = self.text.tokenizer.encode(piece, false).map_err(broken_tokenizer)?;
        let mut last_start = 0;
        Ok(encoding
            .get_offsets()
            .iter()
            .map(|&(start, end)| {
                // Characters that the tokenizer rewrites may give several tokens the same place, but never an earlier one.
                let start = piece.floor_char_boundary(start).max(last_start);
                last_start = start;
                start..piece.ceil_char_boundary(end).max(start)
            })
            .collect())
    }

    fn prefixed(&self, role: Role, text: &str) -> String {
        let prefix = match role {
            Role::Query => &self.query_prefix,
            Role::Passage => &self.passage_prefix,
        };
        format!("{prefix}{text}")
    }
}

/// A tokenizer without a vocabulary, which the library loads in place of ours. Its own way takes twice as long and
/// twice the memory: it loads a tokenizer and makes a copy of it.
const NO_TOKENIZER: &[u8] =
    br#"{"version": "1.0", "added_tokens": [], "model": {"type": "WordLevel", "vocab": {}, "unk_token": ""}}"#;

fn load_tokenizer(content: &[u8]) -> Result<Tokenizer> {
    Tokenizer::from_bytes(content).map_err(broken_tokenizer)
}

/// The way out of most troubles with a model.
const SETUP: &str = "Run `polymnemo setup`, which fetches it again.";

fn broken_tokenizer(error: tokenizers::Error) -> Error {
    Error::Model(format!("its tokenizer failed ({error})"))
}

/// The files of a model that is being loaded.
struct Files<'a> {
    directory: &'a Path,
    manifest: &'a Manifest,
    unwanted: &'a AtomicBool,
}

impl Files<'_> {
    fn check_wanted(&self) -> Result<()> {
        match self.unwanted.load(Ordering::Relaxed) {
            true => Err(Error::Model("it is not wanted any more".to_owned())),
            false => Ok(()),
        }
    }

    /// The content of a file, if it is what the manifest says.
    fn verified(&self, name: &str) -> Result<Vec<u8>> {
        /// How much is read before somebody may have lost interest: some milliseconds' worth.
        const PIECE: u64 = 8 << 20;
        let unreadable = |error: io::Error| Error::Model(format!("its file {name} can't be read ({error}). {SETUP}"));
        let mut file = File::open(self.directory.join(name)).map_err(unreadable)?;
        let length = file.metadata().map_err(unreadable)?.len();
        let mut content = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
        let mut digest = Sha256::new();
        loop {
            self.check_wanted()?;
            let before = content.len();
            (&mut file).take(PIECE).read_to_end(&mut content).map_err(unreadable)?;
            let Some(piece) = content.get(before..).filter(|piece| !piece.is_empty()) else { break };
            digest.update(piece);
        }
        let hash = self.manifest.files.get(name).map(String::as_str).unwrap_or_default();
        // Compared as text, digit by digit, which spares decoding.
        let found = hex::encode(digest.finalize());
        if found != hash {
            return Err(Error::Model(format!("its file {name} is damaged. {SETUP}")));
        }
        Ok(content)
    }
}

/// ONNX Runtime, of which there is one in a process.
fn environment(library: &Path) -> Result<Environment> {
    static ENVIRONMENT: Mutex<Option<Environment>> = Mutex::new(None);
    let mut environment = ENVIRONMENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(environment) = &*environment {
        return Ok(environment.clone());
    }
    let missing = |reason: String| {
        Error::Model(format!("ONNX Runtime can't be loaded ({reason}). Run `polymnemo setup`, which fetches it."))
    };
    let new = ort::init_from(library)
        .map_err(|error| missing(error.to_string()))?
        .with_telemetry(false)
        .build()
        .map_err(|error| missing(error.to_string()))?;
    *environment = Some(new.clone());
    Ok(new)
}
