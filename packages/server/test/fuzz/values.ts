import type { Random } from './random.ts'

type Json = Readonly<Record<string, unknown>>

/** What strings are drawn from, by the name of the field that they stand in. */
export interface Dictionary {
  readonly ids: readonly string[]
  readonly tokens: readonly string[]
  readonly calls: readonly string[]
  readonly runs: readonly string[]
  readonly cursors: readonly string[]
  readonly responses: readonly string[]
  readonly texts: readonly string[]
}

/** Makes values that fit a JSON Schema, as the document of the server has it. */
export class Values {
  readonly #random: Random
  readonly #schemas: Readonly<Record<string, Json>>
  readonly #words: Dictionary

  constructor(random: Random, schemas: Readonly<Record<string, Json>>, words: Dictionary) {
    this.#random = random
    this.#schemas = schemas
    this.#words = words
  }

  of(schema: Json, name = '', depth = 0): unknown {
    const { $ref, oneOf, anyOf, type } = schema as { $ref?: string; oneOf?: Json[]; anyOf?: Json[]; type?: string }
    if ($ref !== undefined) return this.of(this.#schemas[$ref.split('/').at(-1) as string] as Json, name, depth)
    if ('const' in schema) return schema.const
    if (Array.isArray(schema.enum)) return this.#random.pick(schema.enum)
    const choices = oneOf ?? anyOf
    if (choices !== undefined) return this.of(this.#random.pick(choices), name, depth)
    if (type === 'string') return this.#text(schema, name)
    if (type === 'integer') return (schema.minimum as number) + this.#random.below(5)
    if (type === 'boolean') return this.#random.chance(0.5)
    if (type === 'null') return null
    if (type === 'array') return this.#list(schema, name, depth)
    return type === 'object' ? this.#object(schema, depth) : this.#random.pick<unknown>([{}, 'x', 1, null, [1]])
  }

  #list({ items = {}, minItems = 0, maxItems = 3 }: Json, name: string, depth: number): unknown[] {
    const most = Math.min(maxItems as number, 3)
    const length = Math.max(minItems as number, depth > 6 ? 0 : this.#random.below(most + 1))
    return Array.from({ length }, () => this.of(items as Json, name, depth + 1))
  }

  #object({ properties = {}, required = [], additionalProperties }: Json, depth: number): object {
    const names = Object.keys(properties as Json).filter(
      (name) => (required as string[]).includes(name) || (depth < 6 && this.#random.chance(0.4)),
    )
    const entries = names.map((name) => [
      name,
      this.of((properties as Record<string, Json>)[name] as Json, name, depth + 1),
    ])
    if (typeof additionalProperties === 'object')
      entries.push([this.#random.pick(this.#words.calls), this.of(additionalProperties as Json, '', depth + 1)])
    return Object.fromEntries(entries)
  }

  #text({ contentEncoding, pattern }: Json, name: string): string {
    if (contentEncoding === 'base64') return 'aGk='
    if (pattern === '^data:') return 'data:image/png;base64,aGk='
    if (typeof pattern === 'string')
      return pattern.includes('/') ? 'image/png' : this.#random.pick(['locate', 'wait', 'answer'])
    const words = this.#words
    const of: Record<string, readonly string[]> = {
      model: ['agent', 'agent', 'agent', 'none'],
      agent: ['agent', 'agent', 'agent', 'none'],
      id: [...words.ids, ...words.tokens],
      threadId: words.ids,
      'x-session-id': words.ids,
      at: words.runs,
      token: words.tokens,
      interruptId: words.tokens,
      toolCallId: words.calls,
      tool_call_id: words.calls,
      call_id: words.calls,
      cursor: words.cursors,
      owner: ['ann', 'bob', 'eve'],
      previous_response_id: words.responses,
      'last-event-id': words.runs.map((run) => `${this.#random.below(4)}.${run}`),
      'idempotency-key': ['k1', 'k2', 'k3'],
      arguments: ['{}', '{"a":1}', '{', '['.repeat(200)],
    }
    return this.#random.pick(of[name] ?? words.texts)
  }
}
