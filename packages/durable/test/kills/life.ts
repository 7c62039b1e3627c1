import { appendFileSync, readFileSync } from 'node:fs'
import { Agent, defineTool, type Model } from '@allium/core'
import { record } from '@allium/core/context'
import { persist } from '@allium/memory'
import type { RunStore } from '@allium/store'
import { sqlite } from '@allium/store-sqlite'
import { scriptedModel } from '@allium/testing'
import { postgres } from '../../../store-postgres/src/index.ts'
import { durable } from '../../src/index.ts'

/** What a process is to do, and at which record of a step it is killed. */
export interface Life {
  readonly kind: 'sqlite' | 'postgres'
  /** The file, or the URL. */
  readonly at: string
  readonly schema: string
  readonly session: string
  /** A file with a line for each thing that has happened, in its order. */
  readonly noted: string
  readonly kill?: { readonly record: number; readonly when: 'before' | 'after' } | undefined
}

/** What has happened: `id` is that of a step, or tells a model call by its session and the messages that it was asked. */
export interface Noted {
  readonly what: 'tool begun' | 'model asked' | 'model answered' | 'recorded'
  readonly id: string
}

export const principal = { tenantId: 'acme', userId: 'ann' }
export const lease = 600
export const answer = 'All four are booked. Have a good journey, and write when you are back.'
const tools = ['train', 'room', 'table', 'guide']

export function open({ kind, at, schema }: Pick<Life, 'kind' | 'at' | 'schema'>) {
  return kind === 'sqlite' ? sqlite(at, { synchronous: 'normal' }) : postgres({ url: at, schema })
}

/** Four tools at once, then an answer; what happens is noted. */
export function durableOn(store: ReturnType<typeof open>, life: Life) {
  const note = (what: Noted['what'], id: string) => appendFileSync(life.noted, `${JSON.stringify({ what, id })}\n`)
  const book = defineTool({
    name: 'book',
    description: 'Books something.',
    jsonSchema: { type: 'object', properties: { what: { type: 'string' } } },
    async execute({ what }: { what: string }, { stepId }: { stepId: string }) {
      note('tool begun', stepId)
      await new Promise((resolve) => setTimeout(resolve, 5 + 10 * tools.indexOf(what)))
      return `the ${what}`
    },
  } as never)
  const agent = new Agent({ version: '1', name: 'journey', model: notedModel(note), tools: [book] })
    .use(persist({ store: store.sessions, lease }))
    .use({
      name: 'books',
      async turn(ctx, next) {
        record(ctx, 'asked', { text: ctx.sessionId })
        await next()
      },
    })
  const runs = watched(store.runs, life, note)
  const logger = { ...console, warn() {}, error() {} }
  return durable(agent, { store: { sessions: store.sessions, events: store.events, runs }, lease, logger })
}

function notedModel(note: (what: Noted['what'], id: string) => void): Model {
  const toolCalls = tools.map((what) => ({ name: 'book', callId: what, args: { what } }))
  const model = scriptedModel(
    Array.from(
      { length: 9 },
      () =>
        ({ messages }) =>
          messages.at(-1)?.role === 'tool' ? answer : { toolCalls },
    ),
  )
  return {
    id: model.id,
    async *stream(request) {
      const id = `${request.messages[0]?.content} ${request.messages.length}`
      note('model asked', id)
      for await (const chunk of model.stream(request)) {
        await new Promise((resolve) => setTimeout(resolve, 2))
        if (chunk.type === 'finish') note('model answered', id)
        yield chunk
      }
    },
  }
}

/** Ends the process at a record of a step: before it, or as soon as it is there. */
function watched(runs: RunStore, { kill }: Life, note: (what: Noted['what'], id: string) => void): RunStore {
  let records = 0
  return {
    ...runs,
    async record(held, run, step) {
      const isIt = kill !== undefined && ++records === kill.record
      if (isIt && kill.when === 'before') process.kill(process.pid, 'SIGKILL')
      await runs.record(held, run, step)
      note('recorded', step.id)
      if (isIt) process.kill(process.pid, 'SIGKILL')
    },
  }
}

export function notedIn(file: string): Noted[] {
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Noted)
}
