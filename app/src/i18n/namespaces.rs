//! What the page of the namespaces says.

use super::grouped;

pub(crate) struct Namespaces {
    pub(crate) title: &'static str,
    pub(crate) lead: &'static str,
    /// The number of memories in one.
    pub(crate) memories: fn(u64) -> String,
    /// The number of memories that others correct.
    pub(crate) superseded: fn(u64) -> String,
    /// The number of memories in the trash.
    pub(crate) forgotten: fn(u64) -> String,
    pub(crate) default: &'static str,
    pub(crate) private: &'static str,
    pub(crate) shared: &'static str,
    pub(crate) show_memories: &'static str,
    pub(crate) new_name: &'static str,
    pub(crate) rename: &'static str,
    /// What else a new name means.
    pub(crate) rename_hint: &'static str,
    pub(crate) name_rule: &'static str,
    /// Where the service refuses a name; its own words, where there are none here.
    pub(crate) name_refused: Option<&'static str>,
    pub(crate) make_default: &'static str,
    pub(crate) make_default_hint: &'static str,
    pub(crate) is_default: &'static str,
    /// Why one that is shared can't be the default.
    pub(crate) no_default: &'static str,
    pub(crate) sharing: &'static str,
    /// What sharing means, said before it is switched on.
    pub(crate) share_means: &'static str,
    pub(crate) share: &'static str,
    /// What sharing means while it is on.
    pub(crate) shared_means: &'static str,
    pub(crate) stop_sharing: &'static str,
    pub(crate) shared_by_setting: &'static str,
    pub(crate) delete: &'static str,
    pub(crate) delete_means: &'static str,
    pub(crate) delete_refused: Option<&'static str>,
    pub(crate) create: &'static str,
    pub(crate) create_hint: &'static str,
    pub(crate) name: &'static str,
    pub(crate) create_button: &'static str,
    pub(crate) of_others: &'static str,
    pub(crate) of_others_hint: &'static str,
}

pub(super) const ENGLISH: Namespaces = Namespaces {
    title: "Namespaces",
    lead: "A namespace keeps memories apart: work from home, one project from another. Clients store in the default \
           one unless they are told a name.",
    memories: |count| match count {
        0 => "no memories".to_owned(),
        1 => "1 memory".to_owned(),
        count => format!("{} memories", grouped(count)),
    },
    superseded: |count| format!("{} corrected", grouped(count)),
    forgotten: |count| format!("{} in the trash", grouped(count)),
    default: "Default",
    private: "Private",
    shared: "Shared with everyone",
    show_memories: "Show its memories",
    new_name: "New name",
    rename: "Rename",
    rename_hint: "Its memories stay in it. A client that was told the old name makes a new, empty namespace of that name \
                  when it next stores something.",
    name_rule: "1 to 64 letters, digits, spaces or the characters - _ . : / @ +",
    name_refused: None,
    make_default: "Make it the default",
    make_default_hint: "Clients that name no namespace store in the default one.",
    no_default: "It is shared, so it can’t be the default: what a client stores without naming a namespace stays private.",
    is_default: "Clients that name no namespace store here.",
    sharing: "Sharing",
    share_means: "Only you can read this namespace. If you share it, everyone who can sign in to this server, and every \
                  client of theirs, can read all of its memories: those in it now and those to come. Only you can add, \
                  change and forget. You can stop sharing at any time, but what someone has read by then stays read.",
    share: "Share with everyone",
    shared_means: "Everyone who can sign in to this server, and every client of theirs, can read all memories in this \
                   namespace. Only you can add, change and forget.",
    stop_sharing: "Make it private again",
    shared_by_setting: "The server’s settings share every namespace of this name. Whoever runs the server can change that \
                        with `POLYMNEMO_SHARED_NAMESPACES`.",
    delete: "Delete",
    delete_means: "It is empty, so nothing is lost with it.",
    delete_refused: None,
    create: "New namespace",
    create_hint: "You can also just tell a client to store something in a namespace: it is made on the way.",
    name: "Name",
    create_button: "Create",
    of_others: "Shared by others",
    of_others_hint: "You and your clients can read these. Only their owners can add to them.",
};

pub(super) const CHINESE: Namespaces = Namespaces {
    title: "命名空间",
    lead: "命名空间把记忆分开存放：工作和生活，或者不同的项目。客户端没有指定名称时，内容会存入默认的命名空间。",
    memories: |count| match count {
        0 => "没有记忆".to_owned(),
        count => format!("{} 条记忆", grouped(count)),
    },
    superseded: |count| format!("{} 条已被更正", grouped(count)),
    forgotten: |count| format!("{} 条在回收站", grouped(count)),
    default: "默认",
    private: "私有",
    shared: "与所有人共享",
    show_memories: "查看其中的记忆",
    new_name: "新名称",
    rename: "重命名",
    rename_hint: "其中的记忆不变。仍在使用旧名称的客户端，下次存入时会新建一个同名的空命名空间。",
    name_rule: "1 到 64 个字符，可以使用文字、数字、空格和 - _ . : / @ +",
    name_refused: Some(
        "这个名称不能用：它可能不符合规则、已被你的另一个命名空间使用，或者被服务器设置为共享。请换一个。",
    ),
    make_default: "设为默认",
    make_default_hint: "没有指定命名空间的客户端会存到默认的命名空间。",
    no_default: "它是共享的，不能设为默认：客户端未指定命名空间时存入的内容应保持私有。",
    is_default: "没有指定命名空间的客户端会存到这里。",
    sharing: "共享",
    share_means: "现在只有你能读取这个命名空间。共享之后，所有能登录这台服务器的人以及他们的客户端，都能读取其中的全部记忆，\
                  包括现有的和以后存入的。只有你能添加、修改和忘记。你可以随时停止共享，但别人已经读过的内容无法收回。",
    share: "与所有人共享",
    shared_means: "所有能登录这台服务器的人以及他们的客户端，都能读取这个命名空间里的全部记忆。只有你能添加、修改和忘记。",
    stop_sharing: "恢复为私有",
    shared_by_setting: "服务器设置共享了所有使用这个名称的命名空间。服务器管理员可以通过 `POLYMNEMO_SHARED_NAMESPACES` 更改。",
    delete: "删除",
    delete_means: "它是空的，删除后不会丢失任何内容。",
    delete_refused: Some("只能删除空的、非默认的命名空间。"),
    create: "新建命名空间",
    create_hint: "也可以直接让客户端存入某个命名空间，不存在时会自动创建。",
    name: "名称",
    create_button: "新建",
    of_others: "他人共享的",
    of_others_hint: "你和你的客户端可以读取，只有所有者能添加。",
};
