import {
  Agent,
  type AnyTool,
  type Input,
  type Message,
  type ModelWarning,
  type RunOptions,
  textOf,
  type Usage,
} from '@allium/core'
import { type AiSdkModel, fromAiSdk } from '@allium/providers'
import type { Answer, Format } from './format.ts'
import type { Reply, Script } from './server.ts'

/** What came of one run against the server. */
export interface Outcome {
  script: Script
  /** `completed`, `stopped`, or `failed` with `error`. */
  status: string
  text: string
  output?: unknown
  finishReason?: string | undefined
  usage?: Usage
  warnings: readonly ModelWarning[]
  /** The messages of the session after the run. */
  history: readonly Message[]
  /** The arguments of every tool that ran, by its name. */
  ran: { name: string; args: unknown }[]
  error?: Failure
}
type Failure = Error & { code?: string; status?: number; partial?: { usage?: Usage } }

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
      const agent = new Agent({
        model: fromAiSdk(model(asked.url)),
        tools: tools ?? defaultTools(ran),
        logger: quiet,
        maxSteps: 5,
      })
      const session = agent.session()
      const outcome: Outcome = { script: asked, status: 'failed', text: '', warnings: [], history: [], ran }
      try {
        for (const each of [input, ...more]) {
          const result = await session.run(each, options as RunOptions)
          const { status, text, output, finishReason, usage, warnings = [] } = result
          Object.assign(outcome, { status, text, output, finishReason, usage, warnings })
        }
      } catch (error) {
        outcome.status = 'failed'
        outcome.error = error as Failure
      }
      outcome.history = [...session.history]
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

/** Returns the text of all reasoning in the messages. */
export function reasoningOf(history: readonly Message[]): string {
  return history
    .flatMap(({ content }) => (typeof content === 'string' ? [] : content))
    .map((part) => (part.type === 'reasoning' ? part.text : ''))
    .join('')
}

/** Says how a run ended, in the words of the table. */
export function describe({ status, error, script, text }: Outcome): string {
  if (script.problems.length > 0) return `refused: ${script.problems[0]}`
  if (error === undefined) return text === '' ? status : `${status} with ${JSON.stringify(text.slice(0, 40))}`
  const { code, name, status: http, message } = error
  return `${code ?? name}${http === undefined ? '' : ` ${http}`}: ${message.split('\n', 1)[0]?.slice(0, 90)}`
}

export { textOf }
