import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@allium/store-sqlite'
import { Agent } from 'allium'
import { persist, recall } from 'allium/memory'
import { scriptedModel } from 'allium/testing'
import { expect, it, onTestFinished } from 'vitest'
import { allium } from './allium.ts'

const scope = { tenant: 'acme', owner: 'ann', agent: 'support' }

/** A file with two conversations of Ann from before her agent had recall. */
async function fileOfAnn() {
  const folder = mkdtempSync(join(tmpdir(), 'allium-cli-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'store.db')
  const store = sqlite(path)
  const agent = new Agent({ name: 'support', model: scriptedModel(['One.', 'Two.']) }).use(
    persist({ store: store.sessions }),
  )
  for (const id of ['a', 'b'])
    await agent.session({ id, principal: { tenantId: 'acme', userId: 'ann' } }).run('My alpaca is called Pia.')
  store.close()
  return path
}

const reindex = (path: string, ...more: string[]) =>
  allium('store', 'reindex', '--store', path, '--tenant', 'acme', '--agent', 'support', ...more)

it('writes the passages of conversations from before recall, which it then finds', async () => {
  const path = await fileOfAnn()
  const { code, out } = await reindex(path)
  expect([code, out]).toEqual([0, 'Wrote 4 passages of 2 sessions.\n'])
  const store = sqlite(path)
  onTestFinished(() => store.close())
  const model = scriptedModel([{ toolCalls: [{ name: 'recall', args: { question: 'alpaca' } }] }, 'Pia.'])
  const agent = new Agent({ name: 'support', model, store }).use(recall())
  const { toolCalls } = await agent.session({ principal: { tenantId: 'acme', userId: 'ann' } }).run('Who?')
  expect(toolCalls[0]?.result.content).toContain('called Pia')
})

it('continues behind the session where it was stopped', async () => {
  const path = await fileOfAnn()
  const first = JSON.parse((await reindex(path, '--json')).out)
  expect(first).toMatchObject({ sessions: 2, isDone: true })
  const cursor = Buffer.from(JSON.stringify(['ann', 'support', 'a'])).toString('base64url')
  expect(JSON.parse((await reindex(path, '--json', '--cursor', cursor)).out)).toMatchObject({
    sessions: 1,
    passages: 2,
  })
  expect(JSON.parse((await reindex(path, '--json', '--cursor', first.cursor)).out)).toMatchObject({ sessions: 0 })
})

it('switches memory off for a tenant and for a person, and leaves their sessions out of the index', async () => {
  const path = await fileOfAnn()
  const memory = (...more: string[]) => allium('store', 'memory', '--store', path, '--tenant', 'acme', ...more)
  expect((await memory()).out).toBe('Memory is on.\n')
  expect((await memory('--off')).out).toMatch(/^Memory is off: by the tenant since 20\d\d-/)
  expect((await reindex(path)).out).toBe('Wrote 0 passages of 2 sessions. Left as they are: 2 off.\n')
  expect(JSON.parse((await memory('--owner', 'ann', '--off', '--json')).out)).toEqual({
    on: false,
    off: { tenant: expect.any(Number), person: expect.any(Number) },
  })
  await memory('--on')
  expect((await memory('--owner', 'ann')).out).toMatch(/^Memory is off: by the person since/)
  const store = sqlite(path)
  onTestFinished(() => store.close())
  expect((await store.passages.count(scope)).passages).toBe(0)
})

it.each([
  [['store', 'reindex', '--store', 'x'], '--agent'],
  [['store', 'reindex', '--store', '/nowhere.db', '--tenant', 'acme', '--agent', 'a'], 'There is no store /nowhere.db'],
  [['store', 'memory', '--store', 'x', '--tenant', 'acme', '--on', '--off'], '--on or --off'],
  [['store', 'memory', '--tenants', 'acme'], '--tenants'],
])('reports a mistake in %j', async (argv, told) => {
  const { code, out, err } = await allium(...argv)
  expect([code, (out + err).includes(told)]).toEqual([2, true])
})

it.each([
  ['--language', 'xx', 'Pass one of'],
  ['--cursor', 'x', 'Pass the "cursor"'],
])('reports %s %s', async (option, value, told) => {
  const { code, err, out } = await reindex(await fileOfAnn(), option, value)
  expect([code, (out + err).includes(told)]).toEqual([2, true])
})
