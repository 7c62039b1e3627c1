import type { Settings } from '@allium/core'
import type { Models, Version } from './packages.ts'

/** A tool as every version of the AI SDK has it: a function with a schema, or one that the provider defines. */
export interface SdkTool {
  type?: string | undefined
  id?: string
  args?: object
  description?: string
  inputSchema?: object
  jsonSchema?: object
  execute?: unknown
  providerOptions?: Record<string, Record<string, unknown>>
  strict?: boolean
}

/** What a provider has sent, in its own wire format, and what it was asked. */
export interface Recording {
  name: string
  models: Models
  /** The bytes of one answer after the other, event by event; what is asked beyond them gets the last one. */
  answers: readonly (readonly (string | Uint8Array)[])[]
  /** So many events of the first answer tell all of it: a cut behind them is none. */
  enough?: number
  /** The tools of the agent, by name, in the words of each version. */
  tools?: (version: Version) => Record<string, SdkTool | undefined>
  settings?: Settings
  /** `streamText` sends an item of this answer twice, once for a preview: the provider refuses that. */
  sentTwice?: boolean
  /** The status of the failure that the first answer tells of. */
  fails?: { status?: number; message: string }
}

/** The bytes of an answer. */
export function bytesOf(answer: readonly (string | Uint8Array)[]): Uint8Array {
  return Buffer.concat(answer.map((event) => Buffer.from(event as string)))
}

/** A `fetch` that plays answers, and keeps what each request said. */
export function replay(answers: readonly Uint8Array[], contentType: string) {
  const bodies: unknown[] = []
  const fetch = (async (_url: unknown, init?: { body?: unknown }) => {
    bodies.push(JSON.parse(String(init?.body)))
    const answer = answers[Math.min(bodies.length, answers.length) - 1] as Uint8Array
    return new Response(answer as never, { headers: { 'content-type': contentType } })
  }) as typeof globalThis.fetch
  return { fetch, bodies }
}

export function contentTypeOf({ answers }: Recording): string {
  return typeof answers[0]?.[0] === 'string' ? 'text/event-stream' : 'application/vnd.amazon.eventstream'
}

/** A tool of ours: its schema in the two forms. */
export function ours(execute: (args: never) => unknown, more: Partial<SdkTool> = {}): SdkTool {
  const jsonSchema = { type: 'object', properties: { city: { type: 'string' } }, additionalProperties: false }
  return { description: 'Looks up the weather', jsonSchema, execute, ...more }
}
