import type { AnyTool, Message, Part } from '@allium/core'
import { z } from 'zod'
import type { Json } from '../format.ts'
import { describe, type Outcome } from '../lab.ts'
import { listOf } from '../rules.ts'
import { firstOf, type Scenario } from '../scenario.ts'
import { foreignHistories } from './foreign.ts'
import { base64At, pdf, png } from './media.ts'

const done = { text: 'Done.' }

function isDone(outcome: Outcome): readonly [boolean, string] {
  return [outcome.status !== 'completed' || outcome.text !== 'Done.', describe(outcome)]
}

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })

/** What a provider is sent: histories, files, schemas. */
export const requests: readonly Scenario[] = [
  {
    name: 'history of another provider',
    promise:
      'Text, calls and results of any other provider are sent; its reasoning, parts and ids do not break the request.',
    async run(lab) {
      for (const { family, messages } of foreignHistories(lab.format)) {
        const outcome = await lab.ask([done], { input: messages })
        const sent = JSON.stringify(outcome.script.requests)
        const fault = firstOf(
          isDone(outcome),
          [!sent.includes('Half of it'), 'the text is lost'],
          [!sent.includes('three of them'), 'the result is lost'],
        )
        if (fault !== undefined) return `of ${family}: ${fault}`
      }
    },
  },
  {
    name: 'blank texts',
    promise: 'Texts of white space do not break a session.',
    async run(lab) {
      const input: Message[] = [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: ' \n' },
        { role: 'user', content: ' ' },
        { role: 'assistant', content: 'Yes? \n' },
        { role: 'user', content: 'Hello' },
      ]
      return firstOf(isDone(await lab.ask([{ ...done }], { input })))
    },
  },
  {
    name: 'files',
    promise:
      'An image and a PDF of the user arrive as files; one that the provider cannot take is a warning or an error.',
    async run(lab) {
      const files = { 'an image': { part: image, data: png }, 'a PDF': { part: file, data: pdf } }
      for (const [what, { part, data }] of Object.entries(files)) {
        const outcome = await lab.ask([done], {
          input: { role: 'user', content: [{ type: 'text', text: 'Look' }, part] },
        })
        const place = base64At(outcome.script.requests, data)
        const isRefused =
          outcome.error?.code === 'provider.unsupported' ||
          /not support|unsupported/i.test(outcome.error?.message ?? '')
        if (isRefused || outcome.warnings.length > 0) continue
        const fault = firstOf(
          isDone(outcome),
          [place === undefined, 'lost without a warning'],
          [place === 'text', 'sent as text'],
        )
        if (fault !== undefined) return `${what}: ${fault}`
      }
    },
  },
  {
    name: 'images of tools',
    promise:
      'An image that a tool returns arrives as an image, or the model reads that there was one; never base64 as text.',
    async run(lab) {
      const shot: AnyTool = {
        name: 'add',
        description: 'Looks',
        jsonSchema: object({}),
        execute: () => [{ type: 'text', text: 'A page' }, image],
      }
      const call = { id: lab.format.callId?.(1) ?? '', name: 'add', args: '{}' }
      const outcome = await lab.ask([{ calls: [call] }, done], { tools: [shot] })
      const place = base64At(outcome.script.requests, png)
      const sent = JSON.stringify(outcome.script.requests.at(-1))
      return firstOf(
        isDone(outcome),
        [place === 'text', 'base64 as text'],
        [place === undefined && !sent.includes('image/png') && outcome.warnings.length === 0, 'lost without a note'],
        [!sent.includes('A page'), 'the text beside it is lost'],
      )
    },
  },
  {
    name: 'texts of tools',
    promise: 'Two texts of one result stay apart.',
    async run(lab) {
      const content: Part[] = [
        { type: 'text', text: 'invoice 1' },
        { type: 'text', text: '2 items' },
      ]
      const tool: AnyTool = { name: 'add', description: 'Looks', jsonSchema: object({}), execute: () => content }
      const call = { id: lab.format.callId?.(1) ?? '', name: 'add', args: '{}' }
      const outcome = await lab.ask([{ calls: [call] }, done], { tools: [tool] })
      const sent = JSON.stringify(outcome.script.requests.at(-1))
      return firstOf(
        isDone(outcome),
        [sent.includes('invoice 12 items'), 'glued'],
        [!sent.includes('2 items'), 'the second one is lost'],
      )
    },
  },
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

const image: Part = { type: 'image', data: Buffer.from(png, 'base64'), mediaType: 'image/png' }
const file: Part = { type: 'file', data: Buffer.from(pdf, 'base64'), mediaType: 'application/pdf', filename: 'one.pdf' }
