import { durable } from '@allium/durable'
import { scriptedModel } from '@allium/testing'
import { Agent } from 'allium'
import { budget, pii, rateLimit } from 'allium/guard'
import { compact } from 'allium/memory'
import { retry } from 'allium/model'
import { usage } from 'allium/observe'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { counted } from '../../store-sqlite/test/counted.ts'
import { server } from '../src/index.ts'
import { mirrored, principal, silent } from './kit.ts'

// A store that waits a second syncs by itself, which a busy machine would count as well.
beforeAll(() => void vi.useFakeTimers({ toFake: ['setTimeout'] }))
afterAll(() => void vi.useRealTimers())

/** The layers of a backend for many tenants, as in `npm run bench -- request`. */
const layered = (agent: Agent) =>
  agent
    .use(rateLimit({ limit: 1e9, per: 'tenant', window: 'minute' }))
    .use(pii())
    .use(compact({ trigger: { tokens: 1e6 } }))
    .use(retry())
    .use(budget({ limit: 1e12, unit: 'tokens', per: 'tenant' }))
    .use(usage())

/** What one chat request of a new session costs, once its tenant has slots. A busy machine delays some writes, so the best of six counts. */
async function costOf({ layers = false, isDurable = false }) {
  const { store, countDuring } = counted(isDurable ? { encrypt: mirrored } : {})
  const agent = new Agent({ version: '1', model: scriptedModel(Array(9).fill('Yes.')), logger: silent, store })
  if (layers) layered(agent)
  const runs = isDurable ? durable(agent, { store, logger: silent }) : undefined
  onTestFinished(() => runs?.drain({ timeout: 0 }))
  const made = server(agent, { principal, logger: silent, ...(runs && { durable: runs }) })
  const headers = { authorization: 'acme/ann', 'content-type': 'application/json', accept: 'text/event-stream' }
  const ask = async (session: number) => {
    const request = { method: 'POST', headers, body: JSON.stringify({ input: 'What fits best?' }) }
    const response = await made.fetch(new Request(`http://127.0.0.1/sessions/s${session}/runs`, request))
    expect(await response.text()).toContain('turn:end')
  }
  const found: Awaited<ReturnType<typeof countDuring>>[] = []
  for (let session = 0; session < 9; session++) found.push(await countDuring(() => ask(session)))
  const least = (count: 'statements' | 'commits' | 'syncs') => Math.min(...found.slice(3).map((one) => one[count]))
  return { statements: least('statements'), commits: least('commits'), syncs: least('syncs') }
}

it.each([
  ['without layers', {}, { statements: 8, commits: 4, syncs: 2 }],
  ['with six layers', { layers: true }, { statements: 10, commits: 5, syncs: 3 }],
  ['as a durable run with six layers', { layers: true, isDurable: true }, { statements: 14, commits: 7, syncs: 5 }],
])('answers a chat request %s with no more than its statements and commits', async (_, setting, limits) => {
  const { statements, commits, syncs } = await costOf(setting)
  expect(statements).toBeLessThanOrEqual(limits.statements)
  expect(commits).toBeLessThanOrEqual(limits.commits)
  expect(syncs).toBeLessThanOrEqual(limits.syncs)
})
