import { Agent } from '@allium/core'
import { persist } from '@allium/memory'
import type { RunStore } from '@allium/store'
import { sqlite } from '@allium/store-sqlite'
import { scriptedModel } from '@allium/testing'
import { expect, it, onTestFinished } from 'vitest'
import { durable } from '../src/index.ts'

const principal = { tenantId: 'acme', userId: 'ann' }

/** A store that lists the calls of its runs. */
function watched() {
  const store = sqlite(':memory:')
  const calls: string[] = []
  const runs = new Proxy(store.runs, {
    get(target, name: keyof RunStore & string) {
      if (typeof target[name] === 'function') calls.push(name)
      return target[name]
    },
  })
  return { store: { ...store, runs }, calls }
}

it('a run that starts here never reads itself from the store, once another one was found there', async () => {
  const { store, calls } = watched()
  const agent = new Agent({ version: '1', model: scriptedModel(['Hi.', 'Hello.']) }).use(
    persist({ store: store.sessions }),
  )
  const runs = durable(agent, { store })
  onTestFinished(() => runs.drain())
  const runOne = async () => {
    calls.length = 0
    const { run } = await runs.start({ principal, sessionId: 'chat', input: 'Hi' })
    for await (const _ of runs.attach(run, { principal }));
    return [...calls]
  }
  expect(await runOne()).toEqual(['add', 'record', 'get'])
  expect(await runOne()).toEqual(['add', 'record'])
})

it('shows a run that this process executes to its owner alone', async () => {
  const { store } = watched()
  const model = scriptedModel([{ stall: true }])
  const runs = durable(new Agent({ version: '1', model }).use(persist({ store: store.sessions })), { store })
  onTestFinished(() => runs.drain({ timeout: 0 }))
  const { run } = await runs.start({ principal, sessionId: 'chat', input: 'Hi' })
  await expect.poll(() => model.requests.length).toBe(1)
  for (const other of [
    { tenantId: 'acme', userId: 'bob' },
    { tenantId: 'globex', userId: 'ann' },
  ])
    await expect(runs.attach(run, { principal: other }).next()).rejects.toMatchObject({ code: 'session.not_found' })
  expect((await runs.attach(run, { principal }).next()).value).toMatchObject({ seq: 1 })
})
