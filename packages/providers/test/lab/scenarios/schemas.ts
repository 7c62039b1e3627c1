import { z } from 'zod'
import type { Json } from '../format.ts'
import { describe } from '../outcome.ts'
import { listOf } from '../rules.ts'
import { firstOf, type Scenario } from '../scenario.ts'
import { done, isDone } from './done.ts'

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })

/** Schemas and names. */
export const schemas: readonly Scenario[] = [
  {
    name: 'schemas of tools',
    promise: 'Tools with a union at the root, without properties, with a draft-07 tuple or with strict are accepted.',
    async run(lab) {
      const schemas: Record<string, object> = {
        'no properties': { type: 'object' },
        'a union at the root': { anyOf: [object({ a: { type: 'string' } }), object({ b: { type: 'number' } })] },
        'a tuple of draft-07': object({ at: { type: 'array', items: [{ type: 'number' }, { type: 'number' }] } }),
        'a reference': object({ at: { $ref: '#/$defs/at' } }, { $defs: { at: { type: 'string' } } }),
      }
      for (const [what, jsonSchema] of Object.entries(schemas)) {
        const tools = [{ name: 'look', description: 'Looks', jsonSchema: jsonSchema as never, execute: () => 'ok' }]
        const fault = firstOf(isDone(await lab.ask([done], { tools })))
        if (fault !== undefined) return `${what}: ${fault}`
      }
      const strict = object({ a: { type: 'string' }, b: { type: 'string' } }, { required: ['a'] })
      const tools = [
        { name: 'look', description: 'Looks', jsonSchema: strict as never, strict: true, execute: () => 'ok' },
      ]
      return firstOf(isDone(await lab.ask([done], { tools })))
    },
  },
  {
    name: 'names of tools',
    promise: 'A tool whose name the provider does not take is refused by name, or renamed in both directions.',
    async run(lab) {
      for (const name of ['files.read', `mcp_${'a'.repeat(66)}`]) {
        const outcome = await lab.ask([done], {
          tools: [{ name, description: 'Looks', jsonSchema: object({}), execute: () => 'ok' }],
        })
        const isNamed =
          outcome.error !== undefined &&
          outcome.script.requests.length === 0 &&
          outcome.error.message.includes(name.slice(0, 40))
        if (!isNamed && outcome.status !== 'completed') return `${name.slice(0, 12)}: ${describe(outcome)}`
      }
    },
  },
  {
    name: 'output',
    promise: 'An answer that fits a schema with an optional key is asked for in a way that the provider accepts.',
    async run(lab) {
      const output = z.object({ name: z.string(), note: z.string().optional() })
      // Some packages ask with a tool of their own.
      const reply = (body: Json) => {
        // Strict mode asks for every key, and for null in place of an optional one.
        const args = JSON.stringify(body).includes('"null"') ? '{"name":"Ann","note":null}' : '{"name":"Ann"}'
        const [tool] = listOf(body.tools)
        const answer =
          tool === undefined
            ? { text: args }
            : { calls: [{ id: lab.format.callId?.(1) ?? '', name: String(tool.name), args }] }
        return { events: lab.format.events(answer) }
      }
      const outcome = await lab.ask([reply], { tools: [], options: { output } as never })
      return firstOf([(outcome.output as { name?: string } | undefined)?.name !== 'Ann', describe(outcome)])
    },
  },
]
