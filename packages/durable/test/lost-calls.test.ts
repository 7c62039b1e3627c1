import { Agent, type Model } from '@allium/core'
import { persist } from '@allium/memory'
import { sqlite } from '@allium/store-sqlite'
import { manualClock, scriptedModel } from '@allium/testing'
import { agent as agentTool } from '@allium/tools'
import { afterEach, describe, expect, it } from 'vitest'
import { type Durable, durable } from '../src/index.ts'

const principal = { tenantId: 'acme', userId: 'ann' }
const logger = { warn() {}, error() {} }
const open: Durable[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.drain()))
})

interface Build {
  version: string
  accepts?: string[]
  /** The name of the tool that pays. */
  tool?: string
  description?: string
  needsArgs?: boolean
  /** The script of the sub-agent that pays instead. */
  helper?: Parameters<typeof scriptedModel>[0]
}
const refuses = { '~standard': { version: 1, vendor: 'test', validate: () => ({ issues: [{ message: 'No "to".' }] }) } }
type Script = Parameters<typeof scriptedModel>[0]
const charges = (name = 'charge') => ({ toolCalls: [{ name, callId: 'c1', args: {} }] })
const asks = { toolCalls: [{ name: 'ask', callId: 'a1', args: { task: 'Pay.' } }] }

/** Processes on one store. The clock of a lost one stands still. */
function world() {
  const clock = manualClock()
  const store = sqlite(':memory:', { clock })
  const paid: string[] = []
  let hangs = true
  let model = scriptedModel([])

  function process(script: Script, build: Build, own = clock) {
    model = scriptedModel(script)
    const { version, accepts, tool: name = 'charge', needsArgs, description = 'Charges', helper } = build
    const execute = () => {
      paid.push(version)
      return hangs ? new Promise(() => {}) : 'paid'
    }
    const given = needsArgs === true ? { schema: refuses, jsonSchema: { required: ['to'] } } : { jsonSchema: {} }
    const tools = [{ name, description, ...given, execute } as never]
    const agentOf = (model: Model, of: object) => new Agent({ model, clock: own, logger, ...of })
    const agent = agentOf(model, { version, tools: helper === undefined ? tools : [] })
    agent.use(persist({ store: store.sessions }))
    if (helper !== undefined) {
      const inner = agentOf(scriptedModel(helper), { name: 'helper', tools })
      agent.use(agentTool({ agent: inner, name: 'ask', description: 'asks' } as never) as never)
    }
    const runs = durable(agent as never, { store, accepts, lease: 1000, clock: own, logger })
    if (own === clock) open.push(runs)
    return runs
  }

  /** A run whose process is lost inside of the tool, after its effect, or where the script stalls. */
  async function lostRun(script: Script, build: Omit<Build, 'version'> = {}) {
    const dead = process(script, { ...build, version: '1' }, manualClock())
    const { run } = await dead.start({ principal, sessionId: 'chat', input: 'Pay.' })
    await expect.poll(() => paid.length + model.requests.length).toBe(2)
    await clock.advance(1500)
    hangs = false
    return run
  }
  async function ended(runs: Durable, run: string) {
    await runs.recover()
    await expect.poll(async () => (await runs.get(run, { principal })).status).not.toMatch(/running|queued/)
    return runs.get(run, { principal })
  }
  return { paid, process, lostRun, ended }
}

describe('a process that was lost inside of a tool, after its effect', () => {
  it('keeps its run from code that has no such tool: migrate() names the call and the tool', async () => {
    const { lostRun, process, paid, ended } = world()
    const run = await lostRun([charges()])
    const next = process([], { version: '2', tool: 'bill' })
    const { fits, moved, reason } = await next.migrate(run, { principal, to: '2' })
    expect([fits, moved]).toEqual([false, false])
    expect(reason).toContain('The call "c1" of the tool "charge" has no recorded result, so it may have run')
    const former = process(['Paid.'], { version: '1' })
    expect(await ended(former, run)).toMatchObject({ status: 'completed', text: 'Paid.' })
    expect(paid).toEqual(['1', '1'])
  })

  it('keeps its run from code whose schema no longer takes the arguments', async () => {
    const { lostRun, process } = world()
    const run = await lostRun([charges()])
    const next = process([], { version: '2', needsArgs: true })
    const { fits, reason } = await next.migrate(run, { principal, to: '2' })
    expect([fits, reason]).toEqual([false, expect.stringContaining('The call "c1" of the tool "charge"')])
  })

  it.each([
    ['accepts its version', { version: '2', accepts: ['1'] }],
    ['has the same version by mistake', { version: '1' }],
  ])('stops a takeover by code that %s, where only a sub-agent has lost the tool', async (_, build) => {
    const { lostRun, process, paid, ended } = world()
    const run = await lostRun([asks], { helper: [charges()] })
    const next = process(['Done.'], { ...build, tool: 'bill', helper: ['Sorry.'] })
    expect(await next.migrate(run, { principal, to: build.version, dryRun: true })).toMatchObject({ fits: false })
    const { status, code, reason } = await ended(next, run)
    expect([status, code, paid]).toEqual(['failed', 'journal.diverged', ['1']])
    expect(reason).toContain('The call "c1" of the tool "charge"')
  })

  it('runs the tool again where the code still has it', async () => {
    const { lostRun, process, paid, ended } = world()
    const run = await lostRun([asks], { helper: [charges()] })
    const next = process(['Paid.'], { version: '2', description: 'Charges a card', helper: ['Charged.'] })
    expect(await next.migrate(run, { principal, to: '2' })).toMatchObject({ fits: true, moved: true })
    expect(await ended(next, run)).toMatchObject({ status: 'completed', text: 'Paid.' })
    expect(paid).toEqual(['1', '2'])
  })
})

it.each([
  ['the same tools', {}],
  ['another description', { description: 'Charges a card' }],
])('a call of a tool that neither code has does not stop a run: the new code has %s', async (_, build) => {
  const { lostRun, process, ended } = world()
  const script = [charges('invented'), { stall: true as const }]
  const run = await lostRun(script)
  const next = process(['Sorry.'], { version: '2', ...build })
  expect(await next.migrate(run, { principal, to: '2' })).toMatchObject({ fits: true, moved: true })
  expect(await ended(next, run)).toMatchObject({ status: 'completed', text: 'Sorry.' })
})
