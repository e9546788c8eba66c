/// The page on which a person signs in.
pub(crate) struct SignIn {
    pub(crate) title: &'static str,
    pub(crate) github: &'static str,
    pub(crate) github_button: &'static str,
    pub(crate) oidc: &'static str,
    /// What stands before and after the host of the provider.
    pub(crate) oidc_button: (&'static str, &'static str),
    pub(crate) link: &'static str,
    pub(crate) link_label: &'static str,
    pub(crate) link_button: &'static str,
    pub(crate) closed: &'static str,
    pub(crate) denied: &'static str,
    pub(crate) expired: &'static str,
    pub(crate) not_allowed: &'static str,
    pub(crate) provider: &'static str,
    pub(crate) bad_link: &'static str,
    pub(crate) not_local: &'static str,
    pub(crate) too_many: &'static str,
    pub(crate) unavailable: &'static str,
}

pub(super) const ENGLISH: SignIn = SignIn {
    title: "Sign in",
    github: "GitHub tells this server who you are, and nothing else: it gets no access to your code.",
    github_button: "Sign in with GitHub",
    oidc: "You sign in there, and it tells this server who you are.",
    oidc_button: ("Sign in with ", ""),
    link: "Open the sign-in link that was printed in the terminal when polymnemo started. For a new one, run \
           `polymnemo sign-in-link` there, and open it or paste it here.",
    link_label: "Sign-in link",
    link_button: "Sign in",
    closed: "Nobody can sign in to this server, because no identity provider is set. Whoever runs it can set \
             `POLYMNEMO_GITHUB_CLIENT_ID` and `POLYMNEMO_GITHUB_CLIENT_SECRET`, or `POLYMNEMO_OIDC_ISSUER`; on a server for one machine only, \
             `POLYMNEMO_STDIO_USER` chooses whom a sign-in link is for.",
    denied: "The sign-in was cancelled. Nothing was changed.",
    expired: "This sign-in took too long, was completed already, or began in another browser. Please begin again.",
    not_allowed: "This GitHub account is not among those that may sign in here. Ask whoever runs the server to add it \
                  to `POLYMNEMO_ALLOWED_LOGINS`, or use another account.",
    provider: "The place where you sign in does not answer as it should. Try again in a minute; this server’s log tells more.",
    bad_link: "This link has been used, or is too old. Run `polymnemo sign-in-link` for a new one.",
    not_local: "A sign-in link works only on the machine where polymnemo runs, and not through a proxy.",
    too_many: "Too many attempts to sign in. Wait a minute, then try again.",
    unavailable: "The database does not answer. Try again in a minute; the server’s log tells more.",
};

pub(super) const CHINESE: SignIn = SignIn {
    title: "登录",
    github: "GitHub 只会告诉本服务器你是谁，不会让它访问你的代码。",
    github_button: "使用 GitHub 登录",
    oidc: "你在那里登录，它会告诉本服务器你是谁。",
    oidc_button: ("使用 ", " 登录"),
    link: "打开 polymnemo 启动时在终端中打印的登录链接。如需新链接，请在终端运行 `polymnemo sign-in-link`，\
           然后打开它，或粘贴到这里。",
    link_label: "登录链接",
    link_button: "登录",
    closed: "本服务器没有设置身份提供方，因此无法登录。服务器的管理者可以设置 `POLYMNEMO_GITHUB_CLIENT_ID` 和 \
             `POLYMNEMO_GITHUB_CLIENT_SECRET`，或 `POLYMNEMO_OIDC_ISSUER`；如果服务器只供本机使用，可用 `POLYMNEMO_STDIO_USER` 指定登录链接的用户。",
    denied: "登录已取消，没有任何改动。",
    expired: "这次登录耗时过长、已经完成，或者是在另一个浏览器中开始的。请重新登录。",
    not_allowed: "这个 GitHub 账号不在允许登录之列。请让服务器的管理者把它加入 `POLYMNEMO_ALLOWED_LOGINS`，或换一个账号。",
    provider: "身份提供方没有正常响应。请稍后再试，详情见服务器日志。",
    bad_link: "这个链接已经用过，或者已过期。请运行 `polymnemo sign-in-link` 获取新链接。",
    not_local: "登录链接只能在运行 polymnemo 的机器上使用，且不能经过代理。",
    too_many: "登录尝试过多。请等一分钟再试。",
    unavailable: "数据库没有响应。请稍后再试，详情见服务器日志。",
};
