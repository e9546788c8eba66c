//! What pages say that are made on the server alone; the wasm has none of it.

use super::{
    connect::{self, Connect},
    first_steps::{self, FirstSteps},
    kept_form::{self, KeptForm},
    namespaces::{self, Namespaces},
    settings::{self, Settings},
    tokens::{self, Tokens},
};

pub(crate) struct OnServer {
    pub(crate) first_steps: FirstSteps,
    pub(crate) namespaces: Namespaces,
    pub(crate) tokens: Tokens,
    pub(crate) connect: Connect,
    pub(crate) settings: Settings,
    pub(crate) kept_form: KeptForm,
}

pub(super) const ENGLISH: OnServer = OnServer {
    first_steps: first_steps::ENGLISH,
    namespaces: namespaces::ENGLISH,
    tokens: tokens::ENGLISH,
    connect: connect::ENGLISH,
    settings: settings::ENGLISH,
    kept_form: kept_form::ENGLISH,
};

pub(super) const CHINESE: OnServer = OnServer {
    first_steps: first_steps::CHINESE,
    namespaces: namespaces::CHINESE,
    tokens: tokens::CHINESE,
    connect: connect::CHINESE,
    settings: settings::CHINESE,
    kept_form: kept_form::CHINESE,
};
