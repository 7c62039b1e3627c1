import { Agent, type AnyTool, type Input, type RunOptions } from '@allium/core'
import { type AiSdkModel, fromAiSdk } from '@allium/providers'
import type { Answer, Format } from './format.ts'
import type { Failure, Outcome } from './outcome.ts'
import type { Reply, Script } from './server.ts'

export interface Question {
  input?: Input
  tools?: readonly AnyTool[]
  options?: RunOptions
  /** Called when the first request is at the server. */
  onRequest?(): void
  /** More inputs of the same session, one after the other. */
  more?: readonly Input[]
}

/** One package in one version, with a server to ask. */
export interface Lab {
  format: Format
  /** Runs an agent whose model gets these replies, one for each request. */
  ask(replies: readonly (Answer | Reply)[], question?: Question): Promise<Outcome>
}

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

export function createLab(
  format: Format,
  script: (...replies: Reply[]) => Script,
  model: (url: string) => AiSdkModel,
): Lab {
  return {
    format,
    async ask(replies, { input = 'Hello', tools, options = {}, more = [], onRequest } = {}) {
      const asked = script(...replies.map((reply) => toReply(reply, format)))
      asked.onRequest = onRequest
      const ran: Outcome['ran'] = []
      const outcome: Outcome = { script: asked, status: 'failed', text: '', warnings: [], history: [], ran }
      try {
        const agent = new Agent({
          model: fromAiSdk(model(asked.url)),
          tools: tools ?? defaultTools(ran),
          logger: quiet,
          maxSteps: 5,
        })
        const session = agent.session()
        outcome.history = session.history
        for (const each of [input, ...more]) {
          const result = await session.run(each, options as RunOptions)
          const { status, text, output, finishReason, usage, warnings = [] } = result
          Object.assign(outcome, { status, text, output, finishReason, usage, warnings })
        }
      } catch (error) {
        outcome.status = 'failed'
        outcome.error = error as Failure
      }
      return outcome
    },
  }
}

function toReply(reply: Answer | Reply, format: Format): Reply {
  if (typeof reply === 'function' || 'events' in reply || 'status' in reply) return reply
  return { events: format.events(reply) }
}

/** `add` takes numbers, `now` nothing. */
function defaultTools(ran: Outcome['ran']): AnyTool[] {
  const tool = (name: string, properties: object, result: string): AnyTool => ({
    name,
    description: name,
    jsonSchema: { type: 'object', properties, additionalProperties: false },
    execute: (args: unknown) => {
      ran.push({ name, args })
      return result
    },
  })
  return [tool('add', { a: { type: 'number' } }, 'three'), tool('now', {}, 'noon')]
}
