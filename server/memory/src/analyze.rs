//! Keyword analysis: how a text becomes the terms that the keyword index holds.
//!
//! Text is brought to NFKC and lower case. Words of letters and digits become one term each:
//! English ones by their stem, others without diacritics where the script is Latin, Greek or
//! Cyrillic. Words joined by `-`, `_`, `.`, `/`, `@` or `:` (dates, names of files, identifiers,
//! addresses) are indexed as a whole too, so that an exact search for one finds it. Scripts that
//! are written without spaces become overlapping pairs of characters, the common way to search
//! Chinese and Japanese without a dictionary; the index holds each single character besides, for
//! queries of one character.

use std::{collections::HashMap, sync::LazyLock};

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

/// The longest term, in characters. What is longer is cut: it is a blob, not a word.
const TERM_CHARS: usize = 64;

/// Words that carry no meaning of their own. They are indexed, since a query may consist of
/// nothing else, but any other query goes without them.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because", "been",
    "before", "being", "but", "by", "can", "could", "did", "do", "does", "doing", "during", "for", "from", "had",
    "has", "have", "having", "he", "her", "hers", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its",
    "just", "may", "me", "might", "mine", "more", "most", "must", "my", "no", "nor", "not", "of", "off", "on", "once",
    "only", "or", "other", "our", "ours", "out", "over", "own", "same", "shall", "she", "should", "so", "some", "such",
    "than", "that", "the", "their", "theirs", "them", "then", "there", "these", "they", "this", "those", "through",
    "to", "too", "under", "until", "up", "us", "very", "was", "we", "were", "what", "when", "where", "which", "while",
    "who", "whom", "whose", "why", "will", "with", "would", "you", "your", "yours",
];

/// Characters, and pairs of them, that carry no meaning of their own in Chinese and Japanese queries.
const STOP_PAIRS: &[&str] = &[
    "的",
    "了",
    "是",
    "在",
    "我",
    "你",
    "他",
    "她",
    "它",
    "们",
    "吗",
    "呢",
    "吧",
    "啊",
    "什么",
    "怎么",
    "哪里",
    "哪个",
    "为什",
    "多少",
    "是什",
    "是谁",
    "の",
    "は",
    "が",
    "を",
    "に",
    "で",
    "と",
    "も",
    "です",
    "ます",
    "した",
    "って",
    "ですか",
];

static STEMMER: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));

/// The terms of a text to be indexed, each with its number of occurrences, and the number of
/// occurrences in all. Terms come in the order of their first occurrence.
#[must_use]
pub fn index_terms(text: &str) -> (Vec<(String, u16)>, u32) {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut terms: Vec<(String, u16)> = Vec::new();
    let mut length = 0;
    analyze(text, Side::Index, &mut |term, _| {
        length += 1;
        if let Some(&place) = places.get(&term) {
            if let Some((_, count)) = terms.get_mut(place) {
                *count = count.saturating_add(1);
            }
        } else {
            places.insert(term.clone(), terms.len());
            terms.push((term, 1));
        }
    });
    (terms, length)
}

/// The terms of a query, without repetitions and without stop words, unless it has no other.
#[must_use]
pub fn query_terms(text: &str) -> Vec<String> {
    query_words(text).into_iter().map(|(term, _)| term).collect()
}

/// The same, each with the word as it was asked for, in lower case.
#[must_use]
pub fn query_words(text: &str) -> Vec<(String, String)> {
    let mut words: Vec<(String, String)> = Vec::new();
    analyze(text, Side::Query, &mut |term, word| {
        if words.iter().all(|(other, _)| *other != term) {
            let word = word.map_or_else(|| term.clone(), cut);
            words.push((term, word));
        }
    });
    let meaningful: Vec<_> = words.iter().filter(|(term, _)| !is_stop_word(term)).cloned().collect();
    if meaningful.is_empty() { words } else { meaningful }
}

/// What a text has in it, in lower case, where it has a term of the query: for a search in texts that are not indexed yet.
#[must_use]
pub fn query_beginnings(text: &str) -> Vec<String> {
    // A stem may end in a letter that the word does not have: `hope` of hoping, `studi` of study.
    let beginning = |term: String| match term.strip_suffix(['e', 'i']) {
        Some(beginning) if beginning.len() > 2 => beginning.to_owned(),
        _ => term,
    };
    let mut beginnings: Vec<String> = query_terms(text).into_iter().map(beginning).collect();
    // Terms are without diacritics, texts are with them.
    let lower: String = normalized(text).collect();
    let decorated = lower.split(|character| class(character) != Class::Word).filter(|word| !word.is_ascii());
    beginnings.extend(decorated.map(cut));
    beginnings
}

fn is_stop_word(term: &str) -> bool {
    static STEMS: LazyLock<Vec<String>> =
        LazyLock::new(|| STOP_WORDS.iter().map(|word| STEMMER.stem(word).into_owned()).collect());
    STEMS.iter().any(|stop| stop == term) || STOP_PAIRS.contains(&term)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Index,
    Query,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// A letter or digit of a script that separates its words.
    Word,
    /// A character of a script that does not.
    Unspaced,
    /// Holds two words together when it stands between them without spaces.
    Joiner,
    /// Belongs to the word it stands in, but not to its term.
    Apostrophe,
    /// Ends a word.
    Other,
}

fn class(character: char) -> Class {
    match character {
        // Thai, Lao; Myanmar; Khmer.
        '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}'
        // Iteration marks, Hiragana, Katakana, Bopomofo.
        | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{3096}' | '\u{309D}'..='\u{309F}' | '\u{30A1}'..='\u{30FA}'
        | '\u{30FC}'..='\u{30FF}' | '\u{3105}'..='\u{312F}'
        // Han with its extensions, Hangul.
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}'
        | '\u{AC00}'..='\u{D7A3}' => Class::Unspaced,
        '-' | '_' | '.' | '/' | '@' | ':' | '+' | '#' | '\u{2010}' | '\u{2011}' => Class::Joiner,
        '\'' | '\u{2019}' | '\u{02BC}' => Class::Apostrophe,
        _ if character.is_alphanumeric() || is_combining_mark(character) => Class::Word,
        _ => Class::Other,
    }
}

fn normalized(text: &str) -> impl Iterator<Item = char> {
    text.nfkc().flat_map(char::to_lowercase)
}

/// Gives each term of a text, and the word that it stands for where that is another.
fn analyze(text: &str, side: Side, emit: &mut impl FnMut(String, Option<&str>)) {
    let text: Vec<char> = normalized(text).collect();
    let mut words = Words::default();
    let mut run: Vec<char> = Vec::new();
    for &character in &text {
        let class = class(character);
        if class != Class::Unspaced {
            emit_run(&mut run, side, emit);
        }
        match class {
            Class::Word => words.push(character),
            Class::Joiner => words.join(character),
            Class::Apostrophe => words.apostrophe(),
            Class::Unspaced => {
                words.finish(emit);
                run.push(character);
            }
            Class::Other => words.finish(emit),
        }
    }
    emit_run(&mut run, side, emit);
    words.finish(emit);
}

/// Emits the pairs of a run of unspaced script, and for the index its single characters.
fn emit_run(run: &mut Vec<char>, side: Side, emit: &mut impl FnMut(String, Option<&str>)) {
    if side == Side::Index || run.len() == 1 {
        run.iter().for_each(|&character| emit(character.to_string(), None));
    }
    run.windows(2).for_each(|pair| emit(pair.iter().collect(), None));
    run.clear();
}

/// The words being read: several where joiners hold them together.
#[derive(Default)]
struct Words {
    /// The words so far, each as it is written.
    parts: Vec<String>,
    /// All of them with their joiners.
    whole: String,
    /// The joiner after the last word, which counts once another word follows.
    joiner: Option<char>,
    /// Whether the last character was an apostrophe: what follows is a suffix.
    suffix: bool,
}

impl Words {
    fn push(&mut self, character: char) {
        if self.suffix {
            // `Anna's`, `don't`: the part behind the apostrophe says nothing of its own.
            return;
        }
        if let Some(joiner) = self.joiner.take() {
            self.whole.push(joiner);
            self.parts.push(String::new());
        } else if self.parts.is_empty() {
            self.parts.push(String::new());
        }
        self.whole.push(character);
        if let Some(part) = self.parts.last_mut() {
            part.push(character);
        }
    }

    fn join(&mut self, character: char) {
        self.suffix = false;
        if !self.parts.is_empty() && self.joiner.is_none() {
            self.joiner = Some(character);
        }
    }

    fn apostrophe(&mut self) {
        self.suffix = !self.parts.is_empty();
    }

    fn finish(&mut self, emit: &mut impl FnMut(String, Option<&str>)) {
        if self.parts.len() > 1 {
            emit(cut(&self.whole), None);
        }
        for part in self.parts.drain(..) {
            emit(term(&part), Some(&part));
        }
        self.whole.clear();
        self.joiner = None;
        self.suffix = false;
    }
}

/// The term of one word.
fn term(word: &str) -> String {
    if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return STEMMER.stem(&cut(word)).into_owned();
    }
    if word.is_ascii() {
        return cut(word);
    }
    // Without diacritics, but only where they decorate: in Indic scripts marks are vowels.
    let mut folded = String::with_capacity(word.len());
    let mut decorated = false;
    for character in word.nfd() {
        if is_combining_mark(character) {
            if !decorated {
                folded.push(character);
            }
        } else {
            decorated = character < '\u{0530}';
            folded.push(character);
        }
    }
    cut(&folded.nfc().collect::<String>())
}

fn cut(word: &str) -> String {
    word.chars().take(TERM_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<String> {
        index_terms(text).0.into_iter().map(|(term, _)| term).collect()
    }

    #[test]
    fn english_words_are_stemmed_and_counted() {
        let (terms, length) = index_terms("Running, she ran; they were RUNNING.");
        assert_eq!(terms.iter().find(|(term, _)| term == "run"), Some(&("run".to_owned(), 2)));
        assert_eq!(length, 6);
    }

    #[test]
    fn joined_words_are_found_whole_and_in_parts() {
        assert_eq!(terms("XK-4471"), ["xk-4471", "xk", "4471"]);
        assert_eq!(terms("2023-05-08."), ["2023-05-08", "2023", "05", "08"]);
        assert_eq!(query_terms("mail anna@example.com"), ["mail", "anna@example.com", "anna", "exampl", "com"]);
    }

    #[test]
    fn apostrophes_do_not_make_words() {
        assert_eq!(terms("Anna's cat don’t"), ["anna", "cat", "don"]);
    }

    #[test]
    fn chinese_is_found_by_pairs_and_single_characters() {
        assert_eq!(terms("我喜欢茶"), ["我", "喜", "欢", "茶", "我喜", "喜欢", "欢茶"]);
        assert_eq!(query_terms("喜欢茶"), ["喜欢", "欢茶"]);
        assert_eq!(query_terms("茶"), ["茶"]);
        assert_eq!(query_terms("用Rust写的"), ["用", "rust", "写的"]);
    }

    #[test]
    fn width_case_and_diacritics_do_not_matter() {
        assert_eq!(terms("Ｃａｆé"), terms("CAFE\u{301}"));
        assert_eq!(terms("café"), terms("cafe"));
        assert_eq!(terms("ｶﾀｶﾅ"), terms("カタカナ"));
    }

    #[test]
    fn stop_words_leave_a_query_unless_it_has_no_other() {
        assert_eq!(query_terms("What is the name of my dog?"), ["name", "dog"]);
        assert_eq!(query_terms("to be or not to be"), ["to", "be", "or", "not"]);
    }

    #[test]
    fn a_query_keeps_its_words_beside_their_terms() {
        let words: Vec<String> =
            query_words("Are the Meetings with Zoë at XK-4471 in 柏林?").into_iter().map(|(_, word)| word).collect();
        assert_eq!(words, ["meetings", "zoë", "xk-4471", "xk", "4471", "柏林"]);
    }

    #[test]
    fn what_a_query_looks_for_is_in_the_texts_that_it_finds() {
        for (query, text) in [
            ("hoping", "we hope"),
            ("hope", "hoping"),
            ("studies", "a study"),
            ("happiness", "happy"),
            ("running shoes", "he runs"),
            ("XK-4471", "no. xk-4471"),
            ("Café?", "im café"),
            ("喜欢茶", "他喜欢咖啡"),
            ("茶", "喝茶"),
        ] {
            assert!(query_beginnings(query).iter().any(|beginning| text.contains(beginning.as_str())), "{query}");
        }
        assert!(!query_beginnings("What is the tea?").iter().any(|beginning| "what is the coffee".contains(beginning)));
    }

    #[test]
    fn marks_that_are_vowels_stay() {
        assert_ne!(terms("की"), terms("का"));
    }

    #[test]
    fn nothing_upsets_it() {
        for text in ["", " ", "--", "'", "'s", "\u{0}", "a-", "-a", "\u{301}", "👩‍👩‍👧", "a''b"] {
            let _ = (index_terms(text), query_terms(text));
        }
        let long = "x".repeat(1_000);
        assert_eq!(terms(&long).first().map(|term| term.chars().count()), Some(TERM_CHARS));
    }
}
