import { Agent } from '@allium/core'
import { persist } from '@allium/memory'
import { scriptedModel } from '@allium/testing'
import { expect, it, onTestFinished } from 'vitest'
import { sqlite } from '../src/index.ts'
import { beforeStatementOfNext } from './before-statement.ts'
import { fileIn, raw } from './files.ts'

const key = { tenant: '', owner: '', agent: 'agent', sessionId: 'chat' }
const tools = [{ name: 'work', description: 'Works', jsonSchema: { type: 'object' }, execute: () => 'x'.repeat(50) }]

/** Runs a turn of so many steps, and returns its parts in the file as the last step sees them. */
async function partsOf(steps: number) {
  const path = fileIn()
  const store = sqlite(path)
  onTestFinished(() => store.close())
  let parts: { place: number; bytes: number }[] = []
  const select = 'select place, length(body) as bytes from turn_parts order by place'
  const last = () => {
    parts = raw(path, (db) => db.prepare(select).all()) as typeof parts
    return 'done'
  }
  const calls = Array.from({ length: steps - 1 }, (_, i) => ({ toolCalls: [{ name: 'work', callId: `c${100 + i}` }] }))
  const agent = new Agent({ model: scriptedModel([...calls, last]), tools, maxSteps: steps }).use(
    persist({ store: store.sessions }),
  )
  const { messages } = await agent.session({ id: 'chat' }).run('Hi')
  expect((await store.sessions.load(key))?.history).toEqual(messages)
  expect(raw(path, (db) => db.prepare(select).all())).toEqual([])
  return parts.map(({ bytes }) => bytes)
}

it('writes as much for the last step of a turn as for its second one, and keeps nothing of it after the turn', async () => {
  const parts = await partsOf(60)
  expect(parts).toHaveLength(59)
  // The usage of the turn has more digits.
  expect(Math.max(...parts) - Math.min(...parts)).toBeLessThan(10)
})

it('does not read parts between two writes of another process', async () => {
  const path = fileIn()
  const store = sqlite(path)
  onTestFinished(() => store.close())
  const scripts: string[] = []
  onTestFinished(beforeStatementOfNext((sql) => scripts.push(sql)))
  await store.sessions.find(key, { turnId: 't' })
  await store.sessions.history(key, { before: 1, limit: 1 })
  expect(scripts.filter((sql) => /^(begin|commit)$/.test(sql))).toEqual(['begin', 'commit', 'begin', 'commit'])
})
