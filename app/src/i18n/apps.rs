//! What the pages of the apps say.

use polymnemo_types::NamespaceChoice;

use super::grouped;

/// The list of all that was let in, and what each of it saw.
pub(crate) struct Apps {
    pub(crate) title: &'static str,
    pub(crate) lead: &'static str,
    pub(crate) active: &'static str,
    pub(crate) inactive: &'static str,
    pub(crate) unverified: &'static str,
    /// What is no app, and may have no other name.
    pub(crate) api_token: &'static str,
    pub(crate) static_key: &'static str,
    pub(crate) capability_path: &'static str,
    pub(crate) stdio: &'static str,
    pub(crate) reads: &'static str,
    pub(crate) writes: &'static str,
    pub(crate) reads_and_writes: &'static str,
    pub(crate) namespaces: Namespaces,
    pub(crate) used: &'static str,
    pub(crate) never_used: &'static str,
    pub(crate) calls: fn(u64) -> String,
    pub(crate) state: State,
    pub(crate) facts: Facts,
    pub(crate) never: &'static str,
    pub(crate) what_it_saw: &'static str,
    pub(crate) pause: &'static str,
    pub(crate) pause_means: &'static str,
    pub(crate) go_on: &'static str,
    pub(crate) go_on_means: &'static str,
    pub(crate) change: &'static str,
    pub(crate) change_button: &'static str,
    /// Besides the namespaces that are chosen.
    pub(crate) later_too: &'static str,
    pub(crate) no_namespace: &'static str,
    pub(crate) token_is_fixed: &'static str,
    pub(crate) end: &'static str,
    pub(crate) end_means: &'static str,
    pub(crate) key_ends: &'static str,
    pub(crate) refused: Option<&'static str>,
    pub(crate) none_title: &'static str,
    pub(crate) none_text: &'static str,
    pub(crate) none_link: &'static str,
    pub(crate) saw: Saw,
}

/// How a choice of namespaces is said.
pub(crate) struct Namespaces {
    all: &'static str,
    all_but: fn(&str) -> String,
    /// Names, of which not all are said.
    and_more: fn(&str, usize) -> String,
    between: &'static str,
}

/// How many names a line has room for.
const FEW: usize = 3;

impl Namespaces {
    /// A choice in a few words.
    pub(crate) fn briefly(&self, choice: &NamespaceChoice) -> String {
        self.say(choice, FEW)
    }

    /// All of a choice.
    pub(crate) fn fully(&self, choice: &NamespaceChoice) -> String {
        self.say(choice, usize::MAX)
    }

    fn say(&self, choice: &NamespaceChoice, most: usize) -> String {
        match choice {
            NamespaceChoice::All => self.all.to_owned(),
            NamespaceChoice::AllBut(names) if names.is_empty() => self.all.to_owned(),
            NamespaceChoice::AllBut(names) => (self.all_but)(&self.list(names, most)),
            NamespaceChoice::Only(names) => self.list(names, most),
        }
    }

    fn list(&self, names: &[String], most: usize) -> String {
        // To leave out a single one would save nothing.
        match names.get(..most).filter(|some| names.len() - some.len() > 1) {
            Some(some) => (self.and_more)(&some.join(self.between), names.len() - some.len()),
            None => names.join(self.between),
        }
    }
}

/// Whether an app can do anything.
pub(crate) struct State {
    pub(crate) active: &'static str,
    pub(crate) paused: &'static str,
    pub(crate) expired: &'static str,
    pub(crate) ended: &'static str,
}

/// The names of what is known about an app.
pub(crate) struct Facts {
    pub(crate) state: &'static str,
    pub(crate) domain: &'static str,
    /// In its place, of what is no app.
    pub(crate) kind: &'static str,
    pub(crate) led_back_to: &'static str,
    pub(crate) namespaces: &'static str,
    pub(crate) granted: &'static str,
    pub(crate) expires: &'static str,
    pub(crate) last_used: &'static str,
    pub(crate) calls: &'static str,
}

/// The page of what one app saw.
pub(crate) struct Saw {
    pub(crate) lead: &'static str,
    pub(crate) all_apps: &'static str,
    /// Before and after what was searched for.
    pub(crate) searched_for: [&'static str; 2],
    pub(crate) searched: &'static str,
    pub(crate) listed: &'static str,
    pub(crate) read: &'static str,
    pub(crate) stored: &'static str,
    pub(crate) changed: &'static str,
    pub(crate) forgot: &'static str,
    pub(crate) uploaded: &'static str,
    pub(crate) downloaded: &'static str,
    pub(crate) namespaces: &'static str,
    pub(crate) saved_session: &'static str,
    pub(crate) read_session: &'static str,
    pub(crate) listed_sessions: &'static str,
    /// The memories of an answer, where they are many.
    pub(crate) memories: fn(u64) -> String,
    /// Those of them that are gone.
    pub(crate) gone: fn(u64) -> String,
    pub(crate) nothing: &'static str,
    pub(crate) nothing_text: &'static str,
    pub(crate) missing: &'static str,
    pub(crate) missing_text: &'static str,
}

pub(super) const ENGLISH: Apps = Apps {
    title: "Apps",
    lead: "Everything besides you that reaches your memories: apps that you let in, your tokens, and keys of the server’s \
           settings. What you decide here holds from the very next call on.",
    active: "Let in",
    inactive: "Ended or expired",
    unverified: "unverified",
    api_token: "API token",
    static_key: "Key of the server’s settings",
    capability_path: "Secret address of the server’s settings",
    stdio: "Program on the server’s machine",
    reads: "reads",
    writes: "writes",
    reads_and_writes: "reads and writes",
    namespaces: Namespaces {
        all: "all namespaces",
        all_but: |names| format!("all but {names}"),
        and_more: |names, more| format!("{names} and {more} more"),
        between: ", ",
    },
    used: "used",
    never_used: "never used",
    calls: |calls| if calls == 1 { "1 call".to_owned() } else { format!("{} calls", grouped(calls)) },
    state: State { active: "active", paused: "paused", expired: "expired", ended: "ended" },
    facts: Facts {
        state: "State",
        domain: "Domain",
        kind: "Kind",
        led_back_to: "Led back to",
        namespaces: "In",
        granted: "Let in",
        expires: "Expires",
        last_used: "Last used",
        calls: "Calls",
    },
    never: "never",
    what_it_saw: "What it saw and did",
    pause: "Pause",
    pause_means: "While it is paused, every call is refused. It needs no new letting in afterwards.",
    go_on: "Let it go on",
    go_on_means: "Every call is refused since then. Let it go on, and it may do what it could before.",
    change: "Change what it may do",
    change_button: "Save",
    later_too: "and those that are made later",
    no_namespace: "Choose at least one namespace, or all of them.",
    token_is_fixed: "What a token may do is fixed when it is made. For anything else, make another one and end this.",
    end: "End access",
    end_means: "Every call is refused from then on. What it stored stays. To come back, it has to ask you again.",
    key_ends: "The server’s settings let it in, so it is taken away there. Here it can be paused.",
    refused: None,
    none_title: "Nothing but you has been here yet",
    none_text: "An app that you connect asks you first, on a page of this server. Then it is listed here, with all it saw; a \
                key of the settings is, too, from its first call on.",
    none_link: "Connect an app",
    saw: Saw {
        lead: "What it did and which memories it was given, the latest first. Kept for 90 days.",
        all_apps: "All apps",
        searched_for: ["searched for “", "”"],
        searched: "searched",
        listed: "listed",
        read: "read",
        stored: "stored",
        changed: "changed",
        forgot: "put into the trash",
        uploaded: "announced or stored a file",
        downloaded: "asked for a file",
        namespaces: "looked at the namespaces",
        saved_session: "saved a session",
        read_session: "read a session",
        listed_sessions: "listed sessions",
        memories: |count| if count == 1 { "1 memory".to_owned() } else { format!("{} memories", grouped(count)) },
        gone: |count| if count == 1 { "no longer there".to_owned() } else { format!("{count} no longer there") },
        nothing: "Nothing yet",
        nothing_text: "It has neither seen nor changed anything.",
        missing: "There is no such app",
        missing_text: "The address may have a typing mistake, or it belongs to someone else’s app.",
    },
};

pub(super) const CHINESE: Apps = Apps {
    title: "应用",
    lead: "除你之外能访问你的记忆的一切：你允许的应用、你的令牌，以及服务器设置中的密钥。在这里作出的决定从下一次调用起生效。",
    active: "已允许",
    inactive: "已终止或已过期",
    unverified: "未验证",
    api_token: "API 令牌",
    static_key: "服务器设置中的密钥",
    capability_path: "服务器设置中的秘密地址",
    stdio: "服务器本机上的程序",
    reads: "只读",
    writes: "只写",
    reads_and_writes: "读写",
    namespaces: Namespaces {
        all: "所有命名空间",
        all_but: |names| format!("除 {names} 外的所有命名空间"),
        and_more: |names, more| format!("{names}等（另有 {more} 个）"),
        between: "、",
    },
    used: "最近使用：",
    never_used: "从未使用",
    calls: |calls| format!("{} 次调用", grouped(calls)),
    state: State { active: "使用中", paused: "已暂停", expired: "已过期", ended: "已终止" },
    facts: Facts {
        state: "状态",
        domain: "域名",
        kind: "类型",
        led_back_to: "返回地址",
        namespaces: "范围",
        granted: "允许",
        expires: "过期",
        last_used: "最近使用",
        calls: "调用",
    },
    never: "从不",
    what_it_saw: "它看到和做过什么",
    pause: "暂停",
    pause_means: "暂停期间，它的每次调用都会被拒绝。恢复时无需重新允许。",
    go_on: "恢复",
    go_on_means: "暂停以来，它的每次调用都会被拒绝。恢复后，它的权限与之前相同。",
    change: "修改权限",
    change_button: "保存",
    later_too: "以及以后新建的",
    no_namespace: "请至少选择一个命名空间，或选择全部。",
    token_is_fixed: "令牌的权限在创建时就已确定。需要其他权限时，请新建一个令牌，再终止这个。",
    end: "终止访问",
    end_means: "此后它的每次调用都会被拒绝，它存入的内容会保留。要再次使用，必须重新请求你的允许。",
    key_ends: "它由服务器设置允许，要移除请修改服务器设置；在这里可以暂停。",
    refused: Some("没有作出更改。它可能已经终止，请重新加载页面查看。"),
    none_title: "除你之外，还没有谁来过",
    none_text: "你连接的应用会先在本服务器的页面上征求你的同意，然后列在这里，并记下它看到的一切。设置中的密钥从第一次调用起也会列出。",
    none_link: "连接应用",
    saw: Saw {
        lead: "它做过什么、得到过哪些记忆，最近的在前。保留 90 天。",
        all_apps: "所有应用",
        searched_for: ["搜索“", "”"],
        searched: "搜索",
        listed: "列出记忆",
        read: "读取",
        stored: "存入",
        changed: "修改",
        forgot: "移入回收站",
        uploaded: "登记或保存文件",
        downloaded: "获取文件",
        namespaces: "查看命名空间",
        saved_session: "保存会话",
        read_session: "读取会话",
        listed_sessions: "列出会话",
        memories: |count| format!("{} 条记忆", grouped(count)),
        gone: |count| if count == 1 { "已不存在".to_owned() } else { format!("{count} 条已不存在") },
        nothing: "还没有记录",
        nothing_text: "它还没有看到或改动任何内容。",
        missing: "没有这个应用",
        missing_text: "地址可能有误，或者它属于别人的应用。",
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_choice_of_namespaces_is_said_in_a_few_words() {
        let [english, chinese] = [&ENGLISH.namespaces, &CHINESE.namespaces];
        for (choice, in_english, in_chinese) in [
            (NamespaceChoice::All, "all namespaces", "所有命名空间"),
            (NamespaceChoice::AllBut(Vec::new()), "all namespaces", "所有命名空间"),
            (NamespaceChoice::Only(names(&["work", "home"])), "work, home", "work、home"),
            (NamespaceChoice::AllBut(names(&["finance"])), "all but finance", "除 finance 外的所有命名空间"),
            (NamespaceChoice::Only(names(&["a", "b", "c", "d"])), "a, b, c, d", "a、b、c、d"),
            (NamespaceChoice::Only(names(&["a", "b", "c", "d", "e"])), "a, b, c and 2 more", "a、b、c等（另有 2 个）"),
        ] {
            assert_eq!(english.briefly(&choice), in_english);
            assert_eq!(chinese.briefly(&choice), in_chinese);
        }
    }

    #[test]
    fn no_namespace_is_left_out_where_there_is_room() {
        let many = NamespaceChoice::AllBut(names(&["a", "b", "c", "d", "e", "f"]));
        assert_eq!(ENGLISH.namespaces.fully(&many), "all but a, b, c, d, e, f");
    }
}
