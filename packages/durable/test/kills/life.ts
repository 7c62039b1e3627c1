import { appendFileSync, readFileSync } from 'node:fs'
import { Agent, defineTool, type Model } from '@allium/core'
import { record } from '@allium/core/context'
import { persist } from '@allium/memory'
import type { EventLog, RunStore, SessionStore } from '@allium/store'
import { sqlite } from '@allium/store-sqlite'
import { scriptedModel } from '@allium/testing'
import { postgres } from '../../../store-postgres/src/index.ts'
import { durable } from '../../src/index.ts'

/** A commit of a run: the one that adds, claims and begins it, a recorded step, its turn, or the end of its events. */
export type Commit = 'add' | 'record' | 'append' | 'end'

/** What a process is to do, and on which side of a commit it is killed. */
export interface Life {
  readonly kind: 'sqlite' | 'postgres'
  /** The file, or the URL. */
  readonly at: string
  readonly schema: string
  readonly session: string
  /** A file with a line for each thing that has happened, in its order. */
  readonly noted: string
  readonly kill?: { readonly commit: Commit; readonly nth: number; readonly when: 'before' | 'after' } | undefined
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
  const watchedStore = watched(store, life, note)
  const agent = new Agent({ version: '1', name: 'journey', model: notedModel(note), tools: [book] })
    .use(persist({ store: watchedStore.sessions, lease }))
    .use({
      name: 'books',
      async turn(ctx, next) {
        record(ctx, 'asked', { text: ctx.sessionId })
        await next()
      },
    })
  const logger = { ...console, warn() {}, error() {} }
  return durable(agent, { store: watchedStore, lease, logger })
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

/** Ends the process before a commit, or as soon as it is there. */
function watched(
  { sessions, runs, events }: ReturnType<typeof open>,
  { kill }: Life,
  note: (what: Noted['what'], id: string) => void,
) {
  let count = 0
  const commit = async <T>(name: Commit, work: () => Promise<T>): Promise<T> => {
    const isIt = kill?.commit === name && ++count === kill.nth
    if (isIt && kill.when === 'before') process.kill(process.pid, 'SIGKILL')
    const done = await work()
    if (isIt) process.kill(process.pid, 'SIGKILL')
    return done
  }
  return {
    sessions: {
      ...sessions,
      append: (...args) => commit('append', () => sessions.append(...args)),
    } satisfies SessionStore,
    events: {
      ...events,
      append: (...args) => {
        const append = () => events.append(...args)
        return args[3]?.end === true ? commit('end', append) : append()
      },
    } satisfies EventLog,
    runs: {
      ...runs,
      add: (...args) => commit('add', () => runs.add(...args)),
      record: (held, run, step) =>
        commit('record', async () => {
          await runs.record(held, run, step)
          note('recorded', step.id)
        }),
    } satisfies RunStore,
  }
}

export function notedIn(file: string): Noted[] {
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Noted)
}
