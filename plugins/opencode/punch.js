// Punchlist in OpenCode: every report goes to `punch hook --agent opencode EVENT` as JSON on its standard input; the
// answer says what to put before the model, what to refuse, and whether the session continues. Nothing in here decides
// anything about todos, and nothing in here throws into the host: without an answer everything continues as it was.
import { spawn } from "node:child_process"

const PROGRAM = process.env.PUNCH_PROGRAM || "punch"
const PATIENCE_MS = 10_000
const LARGEST_ANSWER = 64 * 1024
const LARGEST_OUTPUT = 256 * 1024
const SESSIONS = 1_000
const TURNS = 20

const OURS = /(^|[_.:-])punch.*(todo_write|todo_read|todo_claim|TodoWrite)$/
const TODOS = /^todowrite$|(^|[_.:-])punch.*(todo_write|todo_read|TodoWrite)$/

// Runs the hook; `{}` for whatever goes wrong.
const ask = (directory, event, report) =>
  new Promise((resolve) => {
    let done = false
    let timer
    const end = (answer) => {
      if (done) return
      done = true
      clearTimeout(timer)
      resolve(answer && typeof answer === "object" ? answer : {})
    }
    try {
      const child = spawn(PROGRAM, ["hook", "--agent", "opencode", event], {
        cwd: directory,
        stdio: ["pipe", "pipe", "ignore"],
      })
      timer = setTimeout(() => {
        child.kill()
        end()
      }, PATIENCE_MS)
      let text = ""
      child.on("error", () => end())
      child.stdin.on("error", () => {})
      child.stdout.on("data", (part) => {
        if (text.length < LARGEST_ANSWER) text += part
      })
      child.on("close", () => {
        try {
          end(text.trim() ? JSON.parse(text) : {})
        } catch {
          end()
        }
      })
      child.stdin.end(JSON.stringify(report))
    } catch {
      end()
    }
  })

const text = (value) => (typeof value === "string" && value ? value : undefined)

// The text of a message's parts.
const said = (parts) =>
  (Array.isArray(parts) ? parts : [])
    .map((part) => (part?.type === "text" && typeof part.text === "string" ? part.text : ""))
    .join("\n")
    .slice(-LARGEST_OUTPUT)

// Gives the model a text with the user's message. It stays in the conversation; a system text that comes and goes would
// cost the provider's cache of everything that follows it. False if the message has no text to put it after.
const attach = (output, given) => {
  const parts = Array.isArray(output?.parts) ? output.parts : []
  const last = parts.filter((part) => part?.type === "text" && text(part.id)).at(-1)
  if (!last) return false
  const { sessionID, messageID } = last
  // Parts are ordered by their ids.
  parts.push({ id: `${last.id}p`, sessionID, messageID, type: "text", synthetic: true, text: given })
  return true
}

export const Punch = async ({ client, directory, worktree }) => {
  const folder = directory || worktree
  // What is known about each session; the oldest is forgotten first.
  const sessions = new Map()
  const of = (id) => {
    let known = sessions.get(id)
    if (!known) {
      known = { started: false }
      sessions.set(id, known)
      if (sessions.size > SESSIONS) sessions.delete(sessions.keys().next().value)
    }
    return known
  }
  // A session inside another one is a subagent of that one.
  const who = (id) => {
    const parent = sessions.get(id)?.parent
    return parent ? { session_id: parent, agent_id: id } : { session_id: id }
  }
  const tell = (answer) => {
    const message = text(answer.tell)
    if (message) client.tui?.showToast?.({ body: { title: "punch", message, variant: "info" } })?.catch?.(() => {})
  }
  const report = async (id, event, more = {}) => {
    if (!id) return {}
    const answer = await ask(folder, event, { ...who(id), ...more })
    tell(answer)
    return answer
  }
  const start = async (id, source) => {
    const known = of(id)
    if (known.started) return
    known.started = true
    known.start = text((await report(id, "session.created", { source })).context)
  }

  const idle = async (id) => {
    const known = of(id)
    if (known.interrupted) {
      known.interrupted = false
      return
    }
    const answer = await report(id, "session.idle", {
      finish_reason: known.finish,
      context_tokens: known.used,
      context_limit: known.limit,
    })
    const go = text(answer.go_on)
    if (!go) return
    known.own = go
    const body = { parts: [{ type: "text", text: go }] }
    if (known.agent) body.agent = known.agent
    if (known.model) body.model = known.model
    // Not awaited: it lasts as long as the turn, and the next idle comes through here again.
    client.session.prompt({ path: { id }, body })?.catch?.(() => {})
  }

  const happened = async ({ type, properties }) => {
    const id = properties?.sessionID ?? properties?.info?.sessionID
    switch (type) {
      case "session.created": {
        const info = properties?.info
        if (!info?.id) return
        if (info.parentID) of(info.id).parent = info.parentID
        return start(info.id, "startup")
      }
      case "message.updated": {
        const info = properties?.info
        if (info?.role !== "assistant" || !id) return
        const tokens = info.tokens
        if (tokens) {
          const cache = tokens.cache ?? {}
          const sum = (tokens.input ?? 0) + (tokens.output ?? 0) + (cache.read ?? 0) + (cache.write ?? 0)
          if (sum > 0) of(id).used = sum
        }
        if (info.finish) of(id).finish = info.finish
        return
      }
      case "message.removed":
        // The user went back to before it.
        if (id && sessions.has(id)) of(id).turns = of(id).turns?.filter((turn) => turn !== properties.messageID)
        return
      case "session.idle":
        return id ? idle(id) : undefined
      case "session.compacted":
        if (id) of(id).start = text((await report(id, "session.compacted")).context) ?? of(id).start
        return
      case "session.error": {
        const error = properties?.error
        if (!id) return
        if (error?.name === "MessageAbortedError") {
          // The idle that follows is not the agent's wish.
          of(id).interrupted = true
          await report(id, "session.interrupted")
          return
        }
        await report(id, "session.error", { error: { name: error?.name, message: error?.data?.message } })
        return
      }
      case "permission.asked":
      case "permission.updated":
      case "question.asked":
        await report(id, "permission.asked")
        return
      case "session.deleted":
        await report(properties?.info?.id, "session.deleted")
        sessions.delete(properties?.info?.id)
        return
    }
  }

  // Nothing of ours may end a turn of the host.
  const safely = (body) => async (...given) => {
    try {
      await body(...given)
    } catch (error) {
      if (error?.punch) throw error
    }
  }

  return {
    event: safely(({ event }) => happened(event ?? {})),
    "chat.message": safely(async (input, output) => {
      const id = input?.sessionID
      if (!id) return
      await start(id, "resume")
      const known = of(id)
      const prompt = said(output?.parts)
      const byPerson = prompt !== known.own
      known.own = undefined
      known.interrupted = false
      if (input.agent) known.agent = input.agent
      if (input.model) known.model = input.model
      const turn = byPerson ? text(output?.message?.id ?? input.messageID) : undefined
      // Of what was before the first turn we saw nothing is known.
      const more = turn ? { turn_id: turn, turns_before: known.turns } : {}
      if (turn) known.turns = [...(known.turns ?? []).slice(1 - TURNS), turn]
      const context = text((await report(id, "chat.message", { prompt, by_person: byPerson, ...more })).context)
      const given = [known.start, context].filter(Boolean).join("\n\n")
      known.prompt = undefined
      if (!given) return
      if (attach(output, given)) known.start = undefined
      else known.prompt = context
    }),
    "chat.params": safely(async (input) => {
      const limit = input?.model?.limit?.context
      if (input?.sessionID && limit > 0) of(input.sessionID).limit = limit
    }),
    "experimental.chat.system.transform": safely(async (input, output) => {
      const known = sessions.get(input?.sessionID)
      if (!known || !Array.isArray(output?.system)) return
      // Only what could not be said with a message: the list after a compaction, until the user or a tool says more.
      // Said again with every request, because a system text is not part of the conversation.
      output.system.push(...[known.start, known.prompt].filter(Boolean))
    }),
    "experimental.session.compacting": safely(async (input) => {
      await report(input?.sessionID, "session.compacting")
    }),
    "tool.execute.before": safely(async (input, output) => {
      const id = input?.sessionID
      const answer = await report(id, "tool.execute.before", {
        tool: input?.tool,
        callID: input?.callID,
        args: output?.args,
      })
      const refuse = text(answer.refuse)
      if (refuse) throw Object.assign(new Error(refuse), { punch: true })
      // Our server cannot know which of the sessions behind it calls; here it is known.
      if (OURS.test(input?.tool ?? "") && output?.args) {
        const { session_id, agent_id } = who(id)
        output.args.session ??= session_id
        if (agent_id) output.args.subagent ??= agent_id
      }
    }),
    "tool.execute.after": safely(async (input, output) => {
      const id = input?.sessionID
      const answer = await report(id, "tool.execute.after", {
        tool: input?.tool,
        callID: input?.callID,
        args: input?.args,
        exit: output?.metadata?.exit,
        output: (typeof output?.output === "string" ? output.output : said(output?.content)).slice(-LARGEST_OUTPUT),
      })
      // From here on the conversation itself has the list, and newer than it was at the start.
      if (id && TODOS.test(input?.tool ?? "")) of(id).start = undefined
      const given = text(answer.context)
      if (!given) return
      // A tool of a server answers in parts.
      if (typeof output?.output === "string") output.output += `\n\n${given}`
      else if (Array.isArray(output?.content)) output.content.push({ type: "text", text: given })
    }),
  }
}
