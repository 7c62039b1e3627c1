import { appendFileSync } from 'node:fs'
import { Agent, defineTool, type Ledger, type SessionStore } from '@allium/core'
import { budget } from '@allium/guard'
import { persist } from '@allium/memory'
import { sqlite } from '@allium/store-sqlite'
import { scriptedModel } from '@allium/testing'
import { postgres } from '../../src/index.ts'

/** Where a process may be killed, in the order of a turn. */
export const labels = [
  'turn open',
  'input kept',
  'record',
  'model result',
  'tool start',
  'tool end',
  'approval used',
  'renew',
  'commit',
  'release',
  'acknowledge',
  'migrate',
] as const
export type Label = (typeof labels)[number]

/** What a process is to do. */
export interface Job {
  readonly kind: 'sqlite' | 'postgres'
  /** The file, or the URL. */
  readonly at: string
  readonly schema: string
  /** A file with a line for each time that a tool ran. */
  readonly effects: string
  readonly session: string
  readonly key: string
  readonly label: Label | undefined
  readonly signal: 'SIGKILL' | 'SIGSTOP'
}

export const lease = 600
/** What all turns are charged to. */
export const account = 'chaos'
export const principal = { tenantId: 'acme', userId: 'ann' }

export interface Opened {
  sessions: SessionStore
  ledger: Ledger
  close(): unknown
}

export function open({ kind, at, schema }: Pick<Job, 'kind' | 'at' | 'schema'>): Opened {
  return kind === 'sqlite' ? sqlite(at, { synchronous: 'normal' }) : postgres({ url: at, schema })
}

/** An agent that pays once a turn, on a store that ends the process at a place. */
export function agentOn(store: Opened, job: Job, reach: (label: Label) => void | Promise<void> = () => {}): Agent {
  const pay = defineTool({
    name: 'pay',
    description: 'Pays',
    jsonSchema: { type: 'object', properties: {} },
    requireApproval: job.label === 'approval used',
    async execute() {
      await reach('tool start')
      appendFileSync(job.effects, `${job.key}\n`)
      if (job.label === 'renew') await new Promise((resolve) => setTimeout(resolve, lease * 2))
      return 'paid'
    },
  })
  const model = scriptedModel([{ toolCalls: [{ name: 'pay', args: {} }] }, `Paid ${job.key}.`])
  return new Agent({ model, tools: [pay], approvals: { secret: 'chaos' } })
    .use(persist({ store: watched(store.sessions, reach, job), lease }))
    .use(budget({ limit: 1e9, unit: 'tokens', account: () => account, ledger: store.ledger }))
    .use({
      name: 'chaos',
      async turn(ctx, next) {
        await reach('turn open')
        ctx.record('paid', { key: job.key })
        await reach('record')
        await next()
      },
      async model(_, next) {
        const response = await next()
        await reach('model result')
        return response
      },
      async tool(_, next) {
        const result = await next()
        await reach('tool end')
        return result
      },
    }) as Agent
}

function watched(sessions: SessionStore, reach: (label: Label) => void | Promise<void>, job: Job): SessionStore {
  let resumed = false
  return {
    ...sessions,
    async checkpoint(heldLease, version, turn) {
      await sessions.checkpoint(heldLease, version, turn)
      resumed ||= turn.resumes !== undefined
      await reach(resumed ? 'approval used' : 'input kept')
    },
    async renew(heldLease, ms) {
      await reach('renew')
      return sessions.renew(heldLease, ms)
    },
    async append(heldLease, version, turn, options) {
      if (job.label !== 'approval used') await reach('commit')
      await sessions.append(heldLease, version, turn, options)
      if (job.label !== 'approval used') await reach('release')
    },
  }
}
