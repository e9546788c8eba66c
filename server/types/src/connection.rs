use serde::{Deserialize, Serialize};

/// One step of a test of the connection, in the order in which clients take them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionStep {
    /// The endpoint is there, and asks for a token.
    Endpoint,
    /// It says where to find out more.
    Challenge,
    /// What it says of itself there.
    ResourceMetadata,
    /// What the authorization server says of itself.
    ServerMetadata,
    /// What is not there is not there.
    NoOpenId,
    /// A stream that clients try to open is refused in the way they understand.
    Get,
    /// Clients that run in a browser may call.
    Preflight,
    /// A client registers itself.
    Register,
    /// A client is known by its document.
    Document,
    /// A client sends a person to let it in.
    Authorize,
    /// The person does.
    Consent,
    /// The client gets tokens.
    Token,
    /// Two of its processes refresh them at once.
    Refresh,
    /// The endpoint takes the token, and lists its tools.
    Tools,
    /// One of them works.
    Recall,
    /// The client is turned away, and can do nothing any more.
    Revoke,
}

/// What became of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionOutcome {
    /// It works.
    Passed,
    /// It can't be tried from here, or an earlier one failed.
    Skipped,
    /// It does not work.
    Failed {
        /// What is wrong.
        problem: ConnectionProblem,
        /// What was seen, in a few words.
        seen: String,
    },
}

/// A step with what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionReport {
    /// The step.
    pub step: ConnectionStep,
    /// What became of it.
    pub outcome: ConnectionOutcome,
}

/// What can be wrong with a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionProblem {
    /// Nothing answers at the address, or its certificate is not good.
    Unreachable,
    /// The answer took longer than clients wait.
    TooSlow,
    /// Something in front answers with a redirect.
    Redirected,
    /// The server does not take the name that it is called by.
    HostRefused,
    /// Something else than the server answers at a path.
    NotRouted,
    /// The endpoint lets everyone in.
    Open,
    /// The header that tells where to go does not arrive.
    ChallengeDropped,
    /// It leads elsewhere.
    ChallengeElsewhere,
    /// The server calls itself by another address.
    ResourceDiffers,
    /// The server has no way to let an app in.
    NobodyLetsIn,
    /// The two documents name different issuers.
    IssuerDiffers,
    /// A document lacks what clients look for.
    MetadataIncomplete,
    /// A page stands where nothing should be.
    PageInPlace,
    /// A request is answered in a way that clients don't understand.
    WrongAnswer,
    /// The server does not read documents, or not this one.
    DocumentRefused,
    /// The person did not let the test in, or not in time.
    NotLetIn,
    /// The token does not arrive at the endpoint.
    TokenDropped,
    /// Two refreshes at once don't get along.
    RefreshRace,
    /// A token works that should not.
    NotRevoked,
}

impl ConnectionStep {
    /// All of them, in their order.
    pub const ALL: [Self; 16] = [
        Self::Endpoint,
        Self::Challenge,
        Self::ResourceMetadata,
        Self::ServerMetadata,
        Self::NoOpenId,
        Self::Get,
        Self::Preflight,
        Self::Register,
        Self::Document,
        Self::Authorize,
        Self::Consent,
        Self::Token,
        Self::Refresh,
        Self::Tools,
        Self::Recall,
        Self::Revoke,
    ];
}
