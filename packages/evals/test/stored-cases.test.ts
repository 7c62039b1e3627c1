import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent } from '@allium/core'
import { persist } from '@allium/memory'
import { record } from '@allium/replay'
import { memoryStore } from '@allium/store'
import { expect, onTestFinished, test } from 'vitest'
import { readCases } from '../src/index.ts'
import {
  type CasesFromRecordings,
  casesFromRecordings,
  casesFromSessions,
  type FeedbackSource,
  writeCases,
} from '../src/stored/index.ts'
import { alwaysModel } from './kit.ts'

/** An agent with two tenants, whose sessions and recordings are in one store. */
async function stored() {
  const store = memoryStore()
  const agent = new Agent({ name: 'desk', model: alwaysModel('It arrives on Monday.') })
  agent.use(persist({ store })).use(record({ store: store.recordings }))
  const open = (id: string, tenantId = 'acme') => agent.session({ id, principal: { tenantId, userId: 'dana' } })
  const chat = open('s1')
  await chat.run('Where is order 17?')
  await chat.run('And order 18, for ann@acme.test?', { context: { plan: 'gold' } })
  await open('s2').run('Where is order 17?')
  await open('s3', 'other').run('Is the shop open?')
  const cases = (more: Partial<CasesFromRecordings> = {}) =>
    casesFromRecordings({ recordings: store.recordings, sessions: store, agent: 'desk', tenant: 'acme', ...more })
  return { store, cases }
}

/** Rates the runs of the second question. */
function rates(score: number): FeedbackSource {
  return {
    ofRuns: async (runs) =>
      runs.filter(({ turnId }) => turnId.endsWith(':1')).map((run) => ({ run, score, tags: ['late'] })),
  }
}

test('makes cases of the recorded turns of a tenant, with the conversation before, and one of equal inputs', async () => {
  const { cases } = await stored()
  const { cases: found, skipped } = await cases()
  expect(found.map(({ input }) => input)).toEqual([
    [
      { role: 'user', content: 'Where is order 17?' },
      expect.objectContaining({ role: 'assistant' }),
      { role: 'user', content: 'And order 18, for ann@acme.test?' },
    ],
    'Where is order 17?',
  ])
  expect(found[0]).toMatchObject({ principal: { tenantId: 'acme', userId: 'dana' }, context: { plan: 'gold' } })
  expect(found[0]).not.toHaveProperty('expected')
  expect(skipped).toEqual({ 'another turn has the same input': 1 })
})

test('takes the recorded answer as expected if asked to, and scrubs every text', async () => {
  const { cases } = await stored()
  const { cases: found } = await cases({
    expected: 'answer',
    scrub: (text) => text.replace(/\S+@\S+\.test/g, '[email]'),
  })
  expect(found[0]).toMatchObject({ expected: 'It arrives on Monday.' })
  expect(JSON.stringify(found)).toContain('And order 18, for [email]?')
})

test('adds tags of feedback, selects the turns that people rated badly, and expects no bad answer', async () => {
  const { cases } = await stored()
  const { cases: found, skipped } = await cases({ feedback: rates(0), rated: 'bad', expected: 'answer' })
  expect(found.map(({ tags, expected }) => [tags, expected])).toEqual([[['late', 'rated-bad'], undefined]])
  expect(skipped).toEqual({ 'it was not rated bad': 2 })
})

test('returns the newest turns if there are more than the limit', async () => {
  const { cases } = await stored()
  const { cases: found } = await cases({ limit: 1 })
  expect(found.map(({ input }) => input)).toEqual(['Where is order 17?'])
})

test('makes one case of the last question of each session of a store', async () => {
  const { store } = await stored()
  const { cases: found } = await casesFromSessions({
    sessions: store,
    agent: 'desk',
    tenant: 'acme',
    expected: 'answer',
  })
  // The sessions may have ended in the same millisecond.
  const questions = found.map(({ input }) => (Array.isArray(input) ? input.at(-1).content : input)).toSorted()
  expect(questions).toEqual(['And order 18, for ann@acme.test?', 'Where is order 17?'])
  const single = found.find(({ input }) => input === 'Where is order 17?')
  expect(single).toMatchObject({ expected: 'It arrives on Monday.', group: expect.any(String) })
})

test('writes cases that can be read again', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'allium-cases-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const { cases } = await stored()
  const { cases: found } = await cases()
  await writeCases(join(folder, 'evals/desk.cases.jsonl'), found)
  expect(await readCases(join(folder, 'evals/desk.cases.jsonl'))).toEqual(found)
})

test.each([
  [{ tenant: undefined }, 'needs tenant'],
  [{ limit: 0 }, 'takes a whole number from 1 to 10,000, not 0'],
  [{ rated: 'bad' }, 'needs feedback'],
  [{ expect: 'answer' }, 'does not know the option expect'],
])('explains the mistake in %j', async (options, message) => {
  const { cases } = await stored()
  await expect(cases(options as never)).rejects.toThrow(message)
})
