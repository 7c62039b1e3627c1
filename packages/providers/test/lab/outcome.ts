import type { Message, ModelWarning, Usage } from '@allium/core'
import type { Script } from './server.ts'

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
export type Failure = Error & { code?: string; status?: number; partial?: { usage?: Usage } }

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
