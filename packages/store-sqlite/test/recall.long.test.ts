import { Agent, type RunResult, type SessionKey } from '@allium/core'
import { persist } from '@allium/memory'
import { recall } from '@allium/memory/recall'
import { manualClock, scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { type SqliteStore, sqlite } from '../src/index.ts'
import { fileIn } from './files.ts'

/** Questions that are more than words to some index or database. `{word}` is one that every tenant has said. */
const hostile = [
  '{word} OR 1=1',
  '"{word}" OR "vault"',
  "'; DROP TABLE passages; --{word}",
  "{word}' UNION SELECT * FROM turns --",
  'owner:bob {word}',
  'terms:{word}',
  'NEAR({word} vault, 5)',
  '{word}*',
  '^{word}',
  '- {word}',
  '{{word}}',
  '({word}',
  '{word} NOT vault',
  '{word}\0vault',
  'ｖａｕｌｔ {word}',
  '%{word}%',
  '_{word}_',
  '{word}\n\nvault',
  '\ud800{word}',
  '[EMAIL_1] {word}',
  '{word}:*',
  '__proto__ constructor {word}',
  '\u202e{word}',
  '{word} & vault | !x',
  '?1 ?2 :owner @tenant $1 {word}',
  '\\{word}\\',
  '"" {word}',
  '* {word}',
  '{word} {word} {word} {word}',
  '/*{word}*/ -- x',
]
const words = ['zebra', 'vault', 'alpaca', 'marmalade', 'glacier', 'cello', 'walnut', 'harbour', 'lantern', 'orchard']
const tenants = Array.from({ length: 50 }, (_, i) => `tenant${i}`)
const perTenant = 200

it('answers 10,000 questions of 50 tenants, half of them hostile, with text of the tenant alone', async () => {
  const store = sqlite(fileIn(), { clock: manualClock(), synchronous: 'normal' })
  const run = async (id: string, tenantId: string, input: string, steps: Parameters<typeof scriptedModel>[0]) => {
    const agent = new Agent({ name: 'helper', model: scriptedModel(steps) }).use([
      persist({ store: store.sessions }),
      recall({ store: store.passages, limit: 20 }),
    ])
    await using session = agent.session({ id, principal: { tenantId, userId: 'ada' } })
    return session.run(input)
  }
  for (const tenant of tenants)
    for (const [i, word] of words.entries())
      await run(`s${i}`, tenant, `The ${word} of ${tenant} is in the vault.`, ['Ok.'])

  const counts = { found: 0, foreign: 0, errors: 0 }
  for (const tenant of tenants) {
    const questions = Array.from({ length: perTenant }, (_, i) => questionOf(i))
    const calls = questions.map((question) => ({ name: 'recall', args: { question } }))
    const { toolCalls } = await run('questions', tenant, '?', [{ toolCalls: calls }, 'Ok.'])
    for (const { texts, isError } of toolCalls.map(answerOf)) {
      counts.errors += Number(isError)
      counts.found += texts.length
      counts.foreign += texts.filter((text) => text.startsWith('The ') && !text.includes(` ${tenant} `)).length
    }
    expect(toolCalls).toHaveLength(perTenant)
  }
  expect(counts).toEqual({ found: expect.any(Number), foreign: 0, errors: 0 })
  expect(counts.found).toBeGreaterThan(tenants.length * perTenant)
  await store.close()
})

/** Every second question is hostile. */
function questionOf(i: number): string {
  const word = words[i % words.length] as string
  if (i % 2 === 0) return `Where is the ${word} of ${tenants[i % tenants.length]}?`
  return (hostile[(i >> 1) % hostile.length] as string).replaceAll('{word}', word)
}

function answerOf({ result: { content, isError } }: RunResult['toolCalls'][number]) {
  const lines = String(content).startsWith('{') ? String(content).split('\n') : []
  return { texts: lines.map((line) => String(JSON.parse(line).text)), isError: isError === true }
}

const logger = { debug() {}, info() {}, warn() {}, error() {} }
type Removal = (store: SqliteStore, keys: readonly SessionKey[]) => Promise<unknown>
const removals: [string, Removal][] = [
  ['erased', ({ sessions }) => sessions.erase({ tenant: 'acme', owner: 'ada' })],
  ['deleted', ({ sessions }, keys) => Promise.all(keys.map((key) => sessions.delete(key)))],
]

it.each(removals)('leaves no passage of 100 sessions that are %s while they run', async (_, remove) => {
  const store = sqlite(fileIn(), { clock: manualClock(), synchronous: 'normal' })
  let [asked, answer] = [0, () => {}]
  const answered = new Promise<void>((resolve) => (answer = resolve))
  const noted = async () => {
    asked++
    await answered
    return 'Noted.'
  }
  const model = scriptedModel(Array(100).fill(noted))
  const agent = new Agent({ name: 'helper', model, logger }).use([
    persist({ store: store.sessions }),
    recall({ store: store.passages }),
  ])
  const sessions = Array.from({ length: 100 }, (_, i) =>
    agent.session({ id: `s${i}`, principal: { tenantId: 'acme', userId: 'ada' } }),
  )
  const runs = sessions.map((session, i) => session.run(`The zebra number ${i} is in the vault.`))
  const ended = Promise.allSettled(runs)
  await expect.poll(() => asked).toBe(100)
  await remove(
    store,
    sessions.map(({ key }) => key),
  )
  answer()
  await ended
  expect(await store.passages.count({ tenant: 'acme', owner: 'ada', agent: 'helper' })).toMatchObject({ passages: 0 })
  for (const session of sessions) await session.close().catch(() => {})
  await store.close()
})
