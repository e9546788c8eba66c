//! What the page of the settings says.

pub(crate) struct Settings {
    pub(crate) title: &'static str,
    pub(crate) saved: &'static str,
    pub(crate) save: &'static str,
    pub(crate) language: &'static str,
    pub(crate) language_of_browser: &'static str,
    pub(crate) theme: &'static str,
    pub(crate) theme_system: &'static str,
    pub(crate) theme_light: &'static str,
    pub(crate) theme_dark: &'static str,
    pub(crate) time_zone: &'static str,
    pub(crate) time_zone_hint: &'static str,
    /// Where the service refuses the settings; its own words, where there are none here.
    pub(crate) refused: Option<&'static str>,
    /// Before the zone that the browser is in.
    pub(crate) time_zone_of_browser: &'static str,
    pub(crate) default_namespace: &'static str,
    pub(crate) default_namespace_hint: &'static str,
    pub(crate) account: &'static str,
    pub(crate) signed_in_as: &'static str,
    pub(crate) sign_out: &'static str,
    pub(crate) sign_out_everywhere: &'static str,
    pub(crate) sign_out_everywhere_means: &'static str,
}

pub(super) const ENGLISH: Settings = Settings {
    title: "Settings",
    saved: "Saved.",
    save: "Save",
    language: "Language",
    language_of_browser: "As the browser asks",
    theme: "Appearance",
    theme_system: "As the system is set",
    theme_light: "Light",
    theme_dark: "Dark",
    time_zone: "Time zone",
    time_zone_hint: "Times are shown in it, and clients’ dates (“yesterday”, 2026-11-30) are read in it. Begin to type a \
                     city, such as Berlin or Shanghai.",
    refused: None,
    time_zone_of_browser: "Use this browser’s:",
    default_namespace: "Default namespace",
    default_namespace_hint: "Clients that name no namespace store here.",
    account: "Account",
    signed_in_as: "Signed in as",
    sign_out: "Sign out",
    sign_out_everywhere: "Sign out everywhere",
    sign_out_everywhere_means: "Ends your sessions in all browsers, this one included. Clients with a token stay \
                                connected; revoke their tokens to end that.",
};

pub(super) const CHINESE: Settings = Settings {
    title: "设置",
    saved: "已保存。",
    save: "保存",
    language: "语言",
    language_of_browser: "跟随浏览器",
    theme: "外观",
    theme_system: "跟随系统",
    theme_light: "浅色",
    theme_dark: "深色",
    time_zone: "时区",
    time_zone_hint: "时间按此时区显示，客户端给出的日期（“昨天”、2026-11-30）也按此时区理解。可以输入城市的英文名，例如 \
                     Berlin 或 Shanghai。",
    refused: Some("没有这个时区。请从列表中选择，例如 Europe/Berlin 或 Asia/Shanghai。"),
    time_zone_of_browser: "使用此浏览器的时区：",
    default_namespace: "默认命名空间",
    default_namespace_hint: "没有指定命名空间的客户端会存到这里。",
    account: "账户",
    signed_in_as: "当前登录：",
    sign_out: "退出登录",
    sign_out_everywhere: "在所有设备上退出登录",
    sign_out_everywhere_means: "结束你在所有浏览器中的登录，包括当前这个。使用令牌的客户端不受影响；如需断开，请撤销它们的令牌。",
};
