//! What a test of the connection says, on the page and in the terminal. Text between backticks is code.

use polymnemo_types::{ConnectionProblem as Problem, ConnectionStep as Step};

use super::Language;

/// What a step is.
#[must_use]
pub fn step(language: Language, step: Step) -> &'static str {
    let (english, chinese) = match step {
        Step::Endpoint => ("the endpoint asks for a token", "端点要求令牌"),
        Step::Challenge => ("it says where to look", "它说明去哪里查找"),
        Step::ResourceMetadata => ("it describes itself there", "它在那里介绍自己"),
        Step::ServerMetadata => ("so does the authorization server", "授权服务器也介绍自己"),
        Step::NoOpenId => ("nothing stands where nothing should", "不该有的地方没有东西"),
        Step::Get => ("a stream is refused", "拒绝打开事件流"),
        Step::Preflight => ("apps in a browser may call", "浏览器里的应用可以调用"),
        Step::Register => ("an app registers", "应用可以注册"),
        Step::Document => ("an app is known by its document", "应用可以用文档介绍自己"),
        Step::Authorize => ("an app sends a person to let it in", "应用把人带来授权"),
        Step::Consent => ("the person lets it in", "本人允许"),
        Step::Token => ("it gets tokens", "应用拿到令牌"),
        Step::Refresh => ("two of its processes refresh them at once", "它的两个进程同时刷新令牌"),
        Step::Tools => ("it lists the tools", "它列出工具"),
        Step::Recall => ("it recalls", "它可以搜索"),
        Step::Revoke => ("it is turned away again", "收回之后它不能再做任何事"),
    };
    match language {
        Language::English => english,
        Language::Chinese => chinese,
    }
}

/// What to do about a problem.
#[must_use]
pub fn fix(language: Language, problem: Problem) -> &'static str {
    let (english, chinese) = match problem {
        Problem::Unreachable => (
            "nothing answers there, or its certificate is not good; check the address, DNS and the proxy",
            "那里没有响应，或者证书有问题；请检查地址、DNS 和代理",
        ),
        Problem::TooSlow => (
            "the answer takes longer than the 10 seconds that clients wait; look what is slow in front of the server",
            "响应超过了客户端等待的 10 秒；请看看服务器前面是什么在拖慢",
        ),
        Problem::Redirected => (
            "something answers with a redirect, and clients lose the token on it; give them the address that it leads to, or end the redirect",
            "有东西用重定向来回答，客户端会因此丢掉令牌；请把重定向后的地址交给客户端，或者去掉重定向",
        ),
        Problem::HostRefused => (
            "the server does not take this name; set `POLYMNEMO_PUBLIC_URL` to the address that clients use",
            "服务器不接受这个名字；请把 `POLYMNEMO_PUBLIC_URL` 设为客户端使用的地址",
        ),
        Problem::NotRouted => (
            "something else than polymnemo answers; have the proxy pass all paths on, `/.well-known/` and the endpoint's among them",
            "回答的不是 polymnemo；请让代理转发所有路径，包括 `/.well-known/` 和端点的路径",
        ),
        Problem::Open => {
            ("the endpoint answers without a token; look who answers there", "端点没有令牌也会回答；请看看是谁在回答")
        }
        Problem::ChallengeDropped => (
            "the header `WWW-Authenticate` does not arrive; have the proxy pass it on",
            "`WWW-Authenticate` 头没有送达；请让代理转发它",
        ),
        Problem::ChallengeElsewhere => (
            "the server names another address than this one; set `POLYMNEMO_PUBLIC_URL` to the address that clients use",
            "服务器说的是另一个地址；请把 `POLYMNEMO_PUBLIC_URL` 设为客户端使用的地址",
        ),
        Problem::ResourceDiffers => (
            "the server calls itself by another address; set `POLYMNEMO_PUBLIC_URL`, and give clients exactly this address, without a slash at its end",
            "服务器自称是另一个地址；请设置 `POLYMNEMO_PUBLIC_URL`，并把完全相同的地址交给客户端，末尾不要斜杠",
        ),
        Problem::NobodyLetsIn => (
            "nobody can sign in, so no app can be let in; set `POLYMNEMO_GITHUB_CLIENT_ID`, or use a token",
            "没有人可以登录，所以无法允许任何应用；请设置 `POLYMNEMO_GITHUB_CLIENT_ID`，或者使用令牌",
        ),
        Problem::IssuerDiffers => (
            "the two documents name different issuers; set `POLYMNEMO_PUBLIC_URL`, and end what changes answers on the way",
            "两份文档里的签发者不一致；请设置 `POLYMNEMO_PUBLIC_URL`，并去掉途中改动响应的东西",
        ),
        Problem::MetadataIncomplete => (
            "the document lacks what clients look for; end what changes answers on the way",
            "文档缺少客户端要找的内容；请去掉途中改动响应的东西",
        ),
        Problem::PageInPlace => (
            "something answers where nothing is, and clients read that as a document; have the proxy pass `/.well-known/` on as it is",
            "本该什么都没有的地方有响应，客户端会把它当成文档；请让代理原样转发 `/.well-known/`",
        ),
        Problem::WrongAnswer => (
            "the answer is not what clients expect; the server's log tells more",
            "响应不是客户端期望的；详情见服务器日志",
        ),
        Problem::DocumentRefused => (
            "the server can't read the documents of apps; let it reach the internet by HTTPS. Apps that register are not affected",
            "服务器无法读取应用的文档；请允许它用 HTTPS 访问互联网。自行注册的应用不受影响",
        ),
        Problem::NotLetIn => {
            ("the person said no, or took too long; run the test again", "本人没有允许，或者等得太久；请重新测试")
        }
        Problem::TokenDropped => (
            "the header `Authorization` does not arrive; have the proxy pass it on",
            "`Authorization` 头没有送达；请让代理转发它",
        ),
        Problem::RefreshRace => (
            "one of two refreshes at the same time failed; the server's log tells more",
            "同时进行的两次刷新有一次失败了；详情见服务器日志",
        ),
        Problem::NotRevoked => (
            "a revoked token still works; something in front keeps answers, which it must not",
            "收回的令牌仍然有效；前面有东西缓存了响应，这是不允许的",
        ),
    };
    match language {
        Language::English => english,
        Language::Chinese => chinese,
    }
}
