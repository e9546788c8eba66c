//! The embedder, with the real models.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod support;

use std::{
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use polymnemo_adapters::embedder::FastEmbedder;
use polymnemo_memory::ports::Embedder;
use polymnemo_types::EmbedderStatus;

const E5: &str = "multilingual-e5-small";
const MINILM: &str = "all-MiniLM-L6-v2";
const USE: &str = "use-multilingual-v3";

fn library() -> std::path::PathBuf {
    let name = if cfg!(target_os = "macos") { "libonnxruntime.dylib" } else { "libonnxruntime.so" };
    support::runtime_dir().join("onnxruntime").join(name)
}

fn open(model_dir: &Path) -> Arc<FastEmbedder> {
    FastEmbedder::open(model_dir, &library()).expect("the manifest is read")
}

async fn model(name: &str) -> Arc<FastEmbedder> {
    let embedder = open(&support::runtime_dir().join("models").join(name));
    embedder.ready().await.expect("the model is loaded");
    embedder
}

fn cosine(left: &[f32], right: &[f32]) -> f32 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

/// How similar a query is to each of some passages.
async fn similarities(embedder: &FastEmbedder, query: &str, passages: &[&str]) -> Vec<f32> {
    let query = embedder.embed_query(query).await.expect("a vector");
    let passages = passages.iter().map(|&passage| passage.to_owned()).collect();
    embedder.embed_passages(passages).await.expect("vectors").iter().map(|passage| cosine(&query, passage)).collect()
}

/// Texts of mixed length and language.
fn mixed_texts(count: usize) -> Vec<String> {
    let sentences = [
        "The spare key is under the blue flower pot.",
        "我把备用钥匙放在蓝色花盆下面了。",
        "She moved to Lisbon in 2019 and works for a small publisher there.",
        "会议改到了下周三下午三点。",
    ];
    (0..count)
        .map(|number| {
            let length = 1 + number * 7 % 12;
            let text: Vec<&str> = (0..length).map(|part| sentences[(number + part) % sentences.len()]).collect();
            format!("{number}. {}", text.join(" "))
        })
        .collect()
}

/// A copy of a model's directory, with one of its files changed.
fn changed_copy(name: &str, file: &str, change: impl Fn(&mut Vec<u8>)) -> tempfile::TempDir {
    let original = support::runtime_dir().join("models").join(name);
    let copy = tempfile::tempdir().expect("a directory");
    for entry in fs::read_dir(&original).expect("the model's files") {
        let path = entry.expect("a file").path();
        let target = copy.path().join(path.file_name().expect("a name"));
        if target.ends_with(file) {
            let mut content = fs::read(&path).expect("its content");
            change(&mut content);
            fs::write(&target, content).expect("a copy");
        } else {
            std::os::unix::fs::symlink(&path, &target).expect("a link");
        }
    }
    copy
}

async fn failure(embedder: &FastEmbedder) -> String {
    let error = embedder.ready().await.expect_err("it can't be loaded").to_string();
    assert!(matches!(embedder.status(), EmbedderStatus::Failed(_)));
    assert_eq!(embedder.embed_query("anything").await.expect_err("nor used").to_string(), error);
    error
}

#[tokio::test]
async fn a_model_that_nobody_wants_any_more_is_not_loaded_to_the_end() {
    let begun = Instant::now();
    drop(model(E5).await);
    let loading = begun.elapsed();
    let begun = Instant::now();
    drop(open(&support::runtime_dir().join("models").join(E5)));
    let leaving = begun.elapsed();
    assert!(leaving < loading / 2, "{leaving:?} to leave, {loading:?} to load");
}

#[tokio::test]
async fn the_default_model_finds_paraphrases_in_english_and_chinese() {
    let embedder = model(E5).await;
    assert_eq!(embedder.model().dimension, 384);
    assert!(embedder.model().id.starts_with("multilingual-e5-small:"), "{}", embedder.model().id);

    let english = similarities(
        &embedder,
        "Where do I keep the spare key?",
        &["The extra house key lies below the blue plant pot.", "Our train to Vienna leaves at nine on Friday."],
    )
    .await;
    assert!(english[0] > english[1] + 0.03, "{english:?}");
    let chinese = similarities(
        &embedder,
        "备用钥匙放在哪里？",
        &["我把家里多余的钥匙藏在蓝色花盆底下。", "我们星期五九点坐火车去维也纳。"],
    )
    .await;
    assert!(chinese[0] > chinese[1] + 0.03, "{chinese:?}");
    let across = similarities(
        &embedder,
        "Where do I keep the spare key?",
        &["我把家里多余的钥匙藏在蓝色花盆底下。", "我们星期五九点坐火车去维也纳。"],
    )
    .await;
    assert!(across[0] > across[1] + 0.02, "{across:?}");
}

#[tokio::test]
async fn the_other_models_work_as_well() {
    for (name, dimension) in [(MINILM, 384), (USE, 512)] {
        let embedder = model(name).await;
        assert_eq!(embedder.model().dimension, dimension);
        let found = similarities(
            &embedder,
            "Where do I keep the spare key?",
            &["The extra house key lies below the blue plant pot.", "Our train to Vienna leaves at nine on Friday."],
        )
        .await;
        assert!(found[0] > found[1] + 0.1, "{name}: {found:?}");
        let vector = embedder.embed_query("one").await.expect("a vector");
        assert_eq!(vector.len(), dimension as usize);
        assert!((cosine(&vector, &vector) - 1.0).abs() < 1e-4);
    }
}

#[tokio::test]
async fn queries_and_passages_have_the_prefixes_that_the_model_wants() {
    let embedder = model(E5).await;
    let text = "The spare key is under the flower pot.";
    let query = embedder.embed_query(text).await.expect("a vector");
    let passage = embedder.embed_passages(vec![text.into()]).await.expect("a vector").remove(0);
    assert!(cosine(&query, &passage) < 0.9999, "query and passage look the same to the model");

    // Without prefixes of its own, the same network gives these vectors for texts that hold them.
    let bare = changed_copy(E5, "manifest.json", |manifest| {
        let text = String::from_utf8(manifest.clone()).expect("JSON");
        *manifest = text.replace("\"query: \"", "\"\"").replace("\"passage: \"", "\"\"").into_bytes();
    });
    let bare = open(bare.path());
    for (prefix, expected) in [("query: ", query), ("passage: ", passage)] {
        let vector = bare.embed_query(&format!("{prefix}{text}")).await.expect("a vector");
        assert!(cosine(&vector, &expected) > 0.9999, "{prefix}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn vectors_come_in_the_order_of_the_texts_and_do_not_depend_on_company() {
    let embedder = model(E5).await;
    let texts = mixed_texts(40);
    let together = embedder.embed_passages(texts.clone()).await.expect("vectors");
    assert_eq!(together.len(), texts.len());
    for (text, together) in texts.iter().zip(&together) {
        let alone = embedder.embed_passages(vec![text.clone()]).await.expect("a vector").remove(0);
        let difference = alone.iter().zip(together).map(|(left, right)| (left - right).abs()).fold(0.0, f32::max);
        assert!(difference < 1e-3, "{difference} for {text}");
        assert!((cosine(together, together) - 1.0).abs() < 1e-4);
    }
    assert!(embedder.embed_passages(Vec::new()).await.expect("nothing").is_empty());

    // Many callers at once share runs of the network, and each gets what is his.
    let callers = texts.into_iter().map(|text| {
        let embedder = Arc::clone(&embedder);
        tokio::spawn(async move { embedder.embed_passages(vec![text]).await })
    });
    for (caller, together) in callers.collect::<Vec<_>>().into_iter().zip(&together) {
        let vector = caller.await.expect("it ran").expect("a vector").remove(0);
        assert!(cosine(&vector, together) > 0.9999);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_does_not_wait_for_a_backlog_of_passages() {
    let embedder = model(MINILM).await;
    let started = Instant::now();
    let backlog = tokio::spawn({
        let embedder = Arc::clone(&embedder);
        async move { embedder.embed_passages(mixed_texts(300)).await }
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    embedder.embed_query("where is the key?").await.expect("a vector");
    let query_done = started.elapsed();
    assert!(!backlog.is_finished(), "the backlog was too short to tell");
    assert_eq!(backlog.await.expect("it ran").expect("vectors").len(), 300);
    assert!(query_done * 3 < started.elapsed(), "the query took {query_done:?} of {:?}", started.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_someone_waits_for_goes_before_what_nobody_waits_for() {
    let embedder = model(MINILM).await;
    let idle = tokio::spawn({
        let embedder = Arc::clone(&embedder);
        async move { embedder.embed_when_idle(mixed_texts(300)).await }
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    let vectors = embedder.embed_passages(vec!["The key is in the blue bowl.".into(); 20]).await.expect("vectors");
    assert_eq!(vectors.len(), 20);
    assert!(!idle.is_finished(), "there was too little of it to tell");
    assert_eq!(idle.await.expect("it ran").expect("vectors").len(), 300);
}

#[tokio::test]
async fn a_text_that_is_too_long_is_refused_and_never_cut() {
    let embedder = model(E5).await;
    let limit = embedder.model().max_tokens as usize;
    let long = "one two three four five six seven eight nine ten ".repeat(60);
    assert!(embedder.tokens(&long).await.expect("tokens").len() > limit);
    let error = embedder.embed_passages(vec!["short".into(), long.clone()]).await.expect_err("too long").to_string();
    assert!(error.contains("512"), "{error}");
    assert!(embedder.embed_query(&long).await.is_err());

    // Just within the limit every word counts, the last one as well.
    let tokens = embedder.tokens(&long).await.expect("tokens");
    let beginning = |count: usize| long.get(..tokens[count].start).expect("between characters").to_owned();
    let (fits, changed) = (beginning(limit - 10), beginning(limit - 12) + "volcano");
    let vectors = embedder.embed_passages(vec![fits, changed]).await.expect("both fit");
    assert!(cosine(&vectors[0], &vectors[1]) < 0.99999, "the end of the text was not read");
}

#[tokio::test]
async fn tokens_are_places_in_the_text_in_ascending_order() {
    for name in [E5, MINILM, USE] {
        let embedder = model(name).await;
        for text in [
            "The spare key, under the pot.",
            "我把备用钥匙放在花盆下面了。",
            "naïve café — Ｆｕｌｌ width ﷺ ligature ﬁ 👩‍👩‍👧 e\u{301}\u{301}\u{301}",
            "  leading and trailing \n\n\t space  ",
            "</s> [SEP] <pad> look like special tokens",
            "",
        ] {
            let tokens = embedder.tokens(text).await.expect("tokens");
            let mut last = 0;
            for token in &tokens {
                assert!(token.start >= last && token.end >= token.start, "{name}: {tokens:?} of {text:?}");
                assert!(text.get(token.clone()).is_some(), "{name}: {token:?} cuts a character of {text:?}");
                last = token.start;
            }
            assert_eq!(tokens.is_empty(), text.is_empty(), "{name}: {tokens:?} of {text:?}");
        }
        let words = embedder.tokens("spare key").await.expect("tokens");
        assert_eq!(words.last().map(|word| word.end), Some(9), "{name}: {words:?}");
        assert!(words.iter().any(|word| word.end == 5), "{name}: {words:?}");
    }
}

#[tokio::test]
async fn a_megabyte_is_tokenized_whole() {
    let embedder = model(E5).await;
    let sentence = "The spare key is under the blue flower pot, and 备用钥匙在花盆下面。\n";
    let text = sentence.repeat(1_000_000 / sentence.len());
    let started = Instant::now();
    let tokens = embedder.tokens(&text).await.expect("tokens");
    println!("{} tokens of {} bytes in {:?}", tokens.len(), text.len(), started.elapsed());
    assert!(tokens.last().is_some_and(|token| token.end + 2 >= text.len()));
    // Cutting the text into pieces for the tokenizer makes next to no difference.
    let one = embedder.tokens(sentence.trim_end()).await.expect("tokens").len() as f64;
    let many = tokens.len() as f64 / (text.len() / sentence.len()) as f64;
    assert!((one - many).abs() < 0.1, "{one} tokens alone, {many} in the long text");
}

#[tokio::test]
async fn what_is_wrong_with_the_files_is_said_with_the_way_out() {
    let damaged = changed_copy(MINILM, "model.onnx", |content| content[1_000] ^= 1);
    let error = failure(&open(damaged.path())).await;
    assert!(error.contains("model.onnx") && error.contains("polymnemo setup"), "{error}");

    let missing = changed_copy(MINILM, "model.onnx", |_| {});
    fs::remove_file(missing.path().join("tokenizer.json")).expect("it is there");
    let error = failure(&open(missing.path())).await;
    assert!(error.contains("tokenizer.json") && error.contains("polymnemo setup"), "{error}");

    let promising = changed_copy(MINILM, "manifest.json", |content| {
        *content = String::from_utf8(content.clone()).expect("JSON").replace(": 384", ": 100").into_bytes();
    });
    let error = failure(&open(promising.path())).await;
    assert!(error.contains("384") && error.contains("100"), "{error}");
}

#[tokio::test]
async fn a_missing_library_is_an_error_with_the_way_out() {
    // A process loads the library once, and each test here is one of its own under nextest; under `cargo test` another
    // test may have loaded it already, and then it is not missing.
    let model_dir = support::runtime_dir().join("models").join(MINILM);
    let embedder =
        FastEmbedder::open(&model_dir, Path::new("/nonexistent/libonnxruntime.so")).expect("the manifest is read");
    if std::env::var_os("NEXTEST").is_some() {
        let error = failure(&embedder).await;
        assert!(error.contains("ONNX Runtime") && error.contains("polymnemo setup"), "{error}");
        // Once the library is there, the same process can use it.
        open(&model_dir).ready().await.expect("the model is loaded");
    }
}

#[tokio::test]
async fn the_model_is_known_before_it_is_loaded() {
    let embedder = open(&support::runtime_dir().join("models").join(E5));
    assert_eq!(embedder.status(), EmbedderStatus::Loading);
    assert_eq!(embedder.model().dimension, 384);
    // Requests wait for it.
    assert_eq!(embedder.embed_query("where is the key?").await.expect("a vector").len(), 384);
    assert_eq!(embedder.status(), EmbedderStatus::Ready);
}
