// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a config holds ${NAME}
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scriptedModel } from '@allium/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { loadConfig, packs, serverPacks } from '../src/config.ts'
import { factories } from './factories.ts'

/** What a file cannot say: they take functions, agents, or a part of a store. */
const forCode = [
  'guard.input',
  'guard.output',
  'memory.recall',
  'memory.working',
  'model.route',
  'tools.agent',
  'tools.function',
]
/** The least that a pack takes. */
const least: Record<string, object> = {
  'guard.budget': { limit: 1 },
  'guard.concurrency': { limit: 1 },
  'guard.content': { keywords: ['onion'] },
  'guard.files': { types: ['image/*'] },
  'guard.judge': { model: 'openai/gpt-5-mini', rubric: 'Be kind.' },
  'guard.maxModelCalls': { limit: 1 },
  'guard.maxToolCalls': { limit: 1 },
  'guard.policy': { deny: ['rm'] },
  'guard.rateLimit': { limit: 1 },
  'guard.timeout': { turn: 1_000 },
  'memory.truncate': { maxMessages: 10 },
  'model.fallback': { models: ['openai/gpt-5'] },
  'model.selectTools': { tools: ['a'] },
  'model.settings': { defaults: { temperature: 0 } },
  'model.structured': { schema: { type: 'object' } },
  'observe.audit': { sink: 'audit.jsonl' },
  'tools.cache': { tools: ['a'] },
  'tools.emulate': { model: 'openai/gpt-5-mini' },
  'tools.http': { hosts: ['example.com'] },
  'tools.mcp': { name: 'files', command: 'true' },
  'tools.retry': { tools: ['a'] },
}

function folder(config: object): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'allium-packs-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  writeFileSync(join(root, 'allium.config.yml'), JSON.stringify(config))
  return root
}

const load = (root: string, answers: Parameters<typeof scriptedModel>[0] = ['Hello.']) =>
  loadConfig(join(root, 'allium.config.yml'), { model: scriptedModel(answers) })

describe('a config', () => {
  test('knows every layer of the packs, but for those that take code', () => {
    const known = [...Object.keys(packs), ...Object.keys(serverPacks)]
    expect([...known, ...forCode].sort()).toEqual(Object.keys(factories).sort())
  })

  test.each(Object.keys({ ...packs, ...serverPacks }))('makes %s of what it takes at least', async (name) => {
    const agent = await load(folder({ agent: { use: [{ [name]: least[name] ?? null }] } }))
    const [first] = agent.inspect().layers
    expect(first?.name).toContain(name.replace('.', ':'))
  })

  test('keeps its audit beside it', async () => {
    const root = folder({ agent: { use: [{ 'observe.audit': { sink: 'audit.jsonl', secret: '${KEY:-s}' } }] } })
    const agent = await load(root)
    await agent.run('Hi')
    await agent.dispose()
    expect(readFileSync(join(root, 'audit.jsonl'), 'utf8')).toContain('"turn:start"')
  })

  test('hides personal data, and keeps sessions', async () => {
    const root = folder({ agent: { use: ['memory.persist', { 'guard.pii': { types: ['email'] } }] } })
    const model = scriptedModel(['Hello.', 'Hello again.'])
    const agent = await loadConfig(join(root, 'allium.config.yml'), { model })
    await agent.run('I am jane@example.com', { session: { id: 's' } })
    await agent.run('Who am I?', { session: { id: 's' } })
    expect(model.requests[1]?.messages[0]?.content).toBe('I am [EMAIL_1]')
  })

  test('asks again where an answer does not fit its JSON Schema', async () => {
    const schema = { type: 'object', required: ['city'], properties: { city: { type: 'string' } } }
    const agent = await load(folder({ agent: { use: [{ 'model.structured': { schema } }] } }), [
      '{}',
      '{"city":"Lisbon"}',
    ])
    expect((await agent.run('Where?')).text).toBe('{"city":"Lisbon"}')
  })

  test('that comes from elsewhere writes no audit', async () => {
    const config = { agent: { use: [{ 'observe.audit': { sink: '/tmp/owned' } }] } }
    await expect(loadConfig(config, { model: scriptedModel([]) })).rejects.toThrow(
      'names the pack "observe.audit", which is not known',
    )
  })
})
