//! Made-up memories: always the same ones, with words as unevenly used as in any language.

use std::collections::HashSet;

use jiff::{SignedDuration, Timestamp};
use polymnemo_types::RememberRequest;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};

/// The number of words in the language.
const WORDS: u32 = 20_000;
/// How unevenly they are used (the parameters of the Zipf–Mandelbrot law): with these, each of the first eight is in
/// 30 to 60 % of all memories, and each of the last in a few of 100,000.
const EXPONENT: f64 = 1.3;
const OFFSET: f64 = 6.0;
/// How many words of a text, of 100, are function words.
const FUNCTION_WORDS: u32 = 25;

/// How many memories are written in one sitting, some minutes apart.
pub(crate) const SITTING: u32 = 8;
/// The days over which the memories are spread, more of them towards the end.
const DAYS: f64 = 1_095.0;

/// Content words of English, which take the first ranks.
const COMMON: &str = "\
time work home day people project week meeting friend plan idea house team book food family car city morning \
evening coffee music phone office garden school money trip doctor train water letter paper market kitchen window \
street birthday dinner lunch breakfast recipe server deadline budget review customer version problem answer question \
reason result number list note photo film song game sport bicycle walk river mountain beach summer winter spring \
autumn weather rain snow light table chair door room wall floor bed clock shirt shoe coat bag key box bottle glass \
plate knife bread cheese apple tea milk sugar salt butter rice soup fish chicken egg potato tomato onion lemon cake \
chocolate wine beer mother father sister brother daughter son uncle aunt cousin neighbour teacher student engineer \
nurse lawyer artist writer singer farmer driver baker hotel airport station bridge tower church museum library shop \
bank hospital university village island forest lake field road map ticket passport flight luggage holiday weekend \
month century minute hour history language story poem picture colour green blue yellow black white small large old \
young early late quick slow cheap clean warm cold happy quiet strong simple important public private local foreign \
different similar possible ready certain buy sell write read speak listen learn teach build repair cook travel visit \
invite promise forget remember decide choose prefer enjoy suggest finish begin change move rent order pay borrow \
return open close call send answer explain practise";

const FUNCTION: &[&str] = &["the", "of", "and", "to", "in", "with", "for", "that", "on", "was", "is", "from"];

const TAGS: &[&str] = &[
    "work", "family", "health", "travel", "recipes", "books", "music", "garden", "money", "school", "house", "sport",
    "friends", "ideas", "code", "films", "language", "gifts", "car", "events", "quotes", "dreams", "tax", "birds",
];

const SOURCES: &[&str] = &["Anna", "Ben", "Clara", "David", "a book", "the weekly call"];

const NAMESPACES: &[&str] = &["work", "recipes"];

/// The language that the memories are written in.
pub(crate) struct Language {
    /// The words, the most used first.
    words: Vec<String>,
    /// For each word the share of all words up to it, from 0 to 1.
    up_to: Vec<f64>,
}

/// One memory, and the words that it is made of.
pub(crate) struct MadeUp {
    pub(crate) request: RememberRequest,
    /// Its content words, as their ranks from 0.
    pub(crate) ranks: Vec<usize>,
}

impl Language {
    pub(crate) fn new() -> Self {
        let mut seen = HashSet::new();
        let mut words: Vec<String> =
            COMMON.split_whitespace().filter(|word| seen.insert((*word).to_owned())).map(str::to_owned).collect();
        let mut random = StdRng::seed_from_u64(1);
        while words.len() < WORDS as usize {
            let word: String = (0..random.random_range(2..=4)).map(|_| syllable(&mut random)).collect();
            if seen.insert(word.clone()) {
                words.push(word);
            }
        }
        let mut up_to = Vec::with_capacity(words.len());
        let mut sum = 0.0;
        for rank in 1..=WORDS {
            sum += (f64::from(rank) + OFFSET).powf(-EXPONENT);
            up_to.push(sum);
        }
        up_to.iter_mut().for_each(|share| *share /= sum);
        Self { words, up_to }
    }

    pub(crate) fn word(&self, rank: usize) -> &str {
        self.words.get(rank).map(String::as_str).unwrap_or_default()
    }

    /// A text with this number of words, and the ranks of its content words.
    fn text(&self, words: u32, random: &mut StdRng) -> (String, Vec<usize>) {
        let mut text = String::new();
        let mut ranks = Vec::new();
        let mut in_sentence = 0;
        for place in 0..words {
            let word = if random.random_ratio(FUNCTION_WORDS, 100) {
                pick(FUNCTION, random)
            } else {
                let share: f64 = random.random();
                let rank = self.up_to.partition_point(|up_to| *up_to < share).min(self.words.len() - 1);
                ranks.push(rank);
                self.word(rank)
            };
            if in_sentence == 0 {
                text.extend(word.chars().take(1).map(|first| first.to_ascii_uppercase()).chain(word.chars().skip(1)));
            } else {
                text.push_str(word);
            }
            in_sentence += 1;
            if place + 1 == words || in_sentence > 6 && random.random_ratio(1, 6) {
                text.push('.');
                in_sentence = 0;
            }
            if place + 1 < words {
                text.push(' ');
            }
        }
        (text, ranks)
    }

    /// The memory of this number: 12 to 40 words, some labels, some sources, three namespaces.
    pub(crate) fn memory(&self, number: u32) -> MadeUp {
        let mut random = StdRng::seed_from_u64(u64::from(number));
        let words = random.random_range(12..=40);
        let (content, ranks) = self.text(words, &mut random);
        let mut tags: Vec<String> = Vec::new();
        if random.random_ratio(3, 10) {
            // The square makes the first labels the most used.
            let share: f64 = random.random();
            tags.extend(TAGS.get((share * share * TAGS.len() as f64) as usize).map(|tag| (*tag).to_owned()));
        }
        let source = random.random_ratio(1, 5).then(|| pick(SOURCES, &mut random).to_owned());

        let mut sitting = StdRng::seed_from_u64(u64::from(number / SITTING) | 1 << 40);
        let namespace = match sitting.random_range(0..20) {
            0 => NAMESPACES.get(1),
            1..=5 => NAMESPACES.first(),
            _ => None,
        };
        let share: f64 = sitting.random();
        let ago = SignedDuration::from_secs_f64(share * share * DAYS * 86_400.0);
        let occurred_at = NEWEST - ago + SignedDuration::from_secs(90 * i64::from(number % SITTING));
        let request = RememberRequest {
            content,
            namespace: namespace.map(|name| (*name).to_owned()),
            tags,
            source,
            occurred_at: Some(occurred_at.to_string()),
            ..RememberRequest::default()
        };
        MadeUp { request, ranks }
    }

    /// The text of this number of a series of mixed length: most are a sentence or two, every fiftieth is some
    /// pages long. A series has no text in common with another one.
    pub(crate) fn mixed(&self, series: u32, number: u32) -> String {
        let mut random = StdRng::seed_from_u64(u64::from(series) << 32 | u64::from(number) | 1 << 50);
        let words = match number % 50 {
            49 => random.random_range(400..=2_000),
            place if place % 8 == 3 => random.random_range(120..=400),
            place if place % 4 == 1 => random.random_range(40..=120),
            _ => random.random_range(12..=40),
        };
        self.text(words, &mut random).0
    }
}

/// The time of the last memories, the noon of 30 November 2026. Fixed, so that a database can be used again another day.
pub(crate) const NEWEST: Timestamp = Timestamp::constant(1_796_040_000, 0);

fn syllable(random: &mut StdRng) -> String {
    const ONSETS: &[&str] = &[
        "b", "br", "c", "ch", "cl", "d", "dr", "f", "fl", "g", "gr", "h", "j", "k", "l", "m", "n", "p", "pl", "pr",
        "r", "s", "sh", "sp", "st", "t", "th", "tr", "v", "w",
    ];
    const NUCLEI: &[&str] = &["a", "e", "i", "o", "u", "ai", "ea", "ou"];
    const CODAS: &[&str] = &["", "", "", "l", "m", "n", "nd", "r", "rt", "ck", "t"];
    format!("{}{}{}", pick(ONSETS, random), pick(NUCLEI, random), pick(CODAS, random))
}

/// One of these; nothing where there is none.
pub(crate) fn pick<T: Copy + Default>(from: &[T], random: &mut StdRng) -> T {
    from.get(random.random_range(0..from.len().max(1))).copied().unwrap_or_default()
}
