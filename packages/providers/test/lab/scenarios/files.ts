import type { AnyTool, Part } from '@allium/core'
import { firstOf, type Scenario } from '../scenario.ts'
import { done, isDone } from './done.ts'
import { base64At, pdf, png } from './media.ts'

const noArguments = { type: 'object', properties: {} }

/** Files of the user, and content of tools. */
export const files: readonly Scenario[] = [
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
        jsonSchema: noArguments,
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
      const tool: AnyTool = { name: 'add', description: 'Looks', jsonSchema: noArguments, execute: () => content }
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
]

const image: Part = { type: 'image', data: Buffer.from(png, 'base64'), mediaType: 'image/png' }
const file: Part = { type: 'file', data: Buffer.from(pdf, 'base64'), mediaType: 'application/pdf', filename: 'one.pdf' }
