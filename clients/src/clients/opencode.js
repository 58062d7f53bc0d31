// Written by `memorist connect`, removed by `memorist disconnect`.
import { spawn } from "node:child_process"

const HOOK = ["memorist", "hook", "opencode", "EVENT"]

/** What memorist says at an event; nothing when it fails or takes longer than a second. */
function ask(event, input) {
  return new Promise((resolve) => {
    const [command, ...words] = HOOK.map((word) => (word === "EVENT" ? event : word))
    const child = spawn(command, words, { stdio: ["pipe", "pipe", "ignore"], timeout: 1000 })
    let said = ""
    child.stdout.setEncoding("utf8")
    child.stdout.on("data", (text) => (said += text))
    child.on("error", () => resolve(""))
    child.on("close", (code) => resolve(code === 0 ? said.trim() : ""))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(input))
  })
}

export const Memorist = async ({ directory }) => {
  const started = new Map()
  const subagents = new Set()
  const start = async (session) => {
    if (!started.has(session)) started.set(session, ask("start", { session, cwd: directory }))
    const said = await started.get(session)
    // It may have taken too long: then it is asked again.
    if (said === "") started.delete(session)
    return said
  }
  return {
    "chat.message": async ({ sessionID, messageID }, { message, parts }) => {
      const typed = parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text)
      if (typed.length === 0 || subagents.has(sessionID)) return
      const said = await ask("prompt", { session: sessionID, cwd: directory, message: typed.join("\n") })
      if (said === "") return
      const id = `prt_memorist${Date.now().toString(36)}`
      parts.push({ id, sessionID, messageID: message.id ?? messageID, type: "text", text: said, synthetic: true })
    },
    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      if (!sessionID || subagents.has(sessionID)) return
      const said = await start(sessionID)
      if (said !== "") system.push(said)
    },
    "experimental.session.compacting": async ({ sessionID }) => {
      if (subagents.has(sessionID)) return
      await ask("compact", { session: sessionID, cwd: directory })
    },
    event: async ({ event }) => {
      const { info, sessionID } = event.properties ?? {}
      if (event.type === "session.created" && info?.parentID) subagents.add(info.id)
      if (event.type === "session.idle" && !subagents.has(sessionID)) await ask("stop", { session: sessionID, cwd: directory })
    },
  }
}
