// Calls the plugin that `memorist connect opencode` has written as opencode does: a session, a message, and its end.
//
//     node opencode_plugin.mjs PLUGIN.mjs
//
// Prints what was added to the message and to the system prompt.
const { Memorist } = await import(process.argv[2])
const hooks = await Memorist({ directory: "/" })
// A subagent gets nothing.
const given = [{ type: "text", text: "When does the harbour office open in the morning?" }]
await hooks.event({ event: { type: "session.created", properties: { info: { id: "ses_sub", parentID: "ses_plugin" } } } })
await hooks["chat.message"]({ sessionID: "ses_sub", messageID: "M" }, { message: { id: "M" }, parts: given })
if (given.length > 1) throw new Error(JSON.stringify(given))
const parts = [{ type: "text", text: "When does the harbour office open in the morning?" }]
await hooks["chat.message"]({ sessionID: "ses_plugin", messageID: "M" }, { message: { id: "M" }, parts })
const system = []
await hooks["experimental.chat.system.transform"]({ sessionID: "ses_plugin" }, { system })
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "ses_plugin" } } })
console.log(JSON.stringify({ parts: parts.slice(1), system }))
