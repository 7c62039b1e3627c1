// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a config holds ${NAME}
import { join } from 'node:path'
import { inspect } from 'node:util'
import { AlliumError } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createLoader, type LoadOptions, loadConfig } from '../src/index.ts'
import { type Files, hooks, project, turn, turnIn, write } from './kit.ts'

/** What loading this config fails with; its place is told without the folder. */
async function failure(
  text: string,
  { name = 'allium.config.yml', files = {}, ...options }: LoadOptions & { name?: string; files?: Files } = {},
) {
  const root = project({ [name]: text, ...files })
  const error = (await loadConfig(join(root, name), { model: scriptedModel([]), ...options }).catch(
    (thrown) => thrown,
  )) as AlliumError
  return { code: error.code, message: error.message.replaceAll(`${root}/`, ''), details: error.details }
}

describe('a mistake in a config gets file, line and column', () => {
  test.each([
    ['an unknown key', 'agent:\n  modle: openai/gpt-5\n', '2:3: agent.modle is not known. Did you mean "model"?'],
    ['an unknown key at the top', 'toolTimeout: 5\nagents: {}\n', '2:1: agents is not known'],
    ['an unknown hook', 'agent:\n  middleware:\n    beforeTool: []\n', '3:5: agent.middleware.beforeTool is not known'],
    [
      'a value of another type',
      'agent:\n  maxIterations: five\n',
      '2:18: agent.maxIterations is "five": expected number',
    ],
    ['a value that is too small', 'agent: { maxIterations: 0 }', '1:25: agent.maxIterations is 0: Too small'],
    [
      'a value of no such choice',
      'agent:\n  thinking: deep\n',
      '2:13: agent.thinking is "deep": expected one of "low"|"medium"|"high"',
    ],
    [
      'a hook that is no list',
      'agent:\n  middleware:\n    onError: ./a.ts\n',
      '3:14: agent.middleware.onError is "./a.ts": expected array',
    ],
    [
      'an entry that is nothing known',
      'agent:\n  middleware:\n    onError:\n      - 5\n',
      '4:9: agent.middleware.onError[0] is 5: expected object',
    ],
    [
      'an entry with an unknown key',
      'agent:\n  middleware:\n    onError:\n      - run: "() => {}"\n        polcy: true\n',
      '5:9: agent.middleware.onError[0].polcy is not known',
    ],
    [
      'an entry without run',
      'agent:\n  middleware:\n    onError:\n      - policy: true\n',
      '4:9: agent.middleware.onError[0].run is missing: expected the text of an entry',
    ],
    [
      'an unknown pack',
      'agent:\n  use:\n    - guard.budgt\n',
      '3:7: agent.use[0] names the pack "guard.budgt", which is not known. There are none.',
    ],
    [
      'a server that may ask in an unknown way',
      'agent:\n  mcp:\n    files: { command: x, sampling: { most: 1 } }\n',
      'agent.mcp.files.sampling.most',
    ],
    ['a server of an unknown form', 'agent:\n  mcp:\n    files: { comand: x }\n', 'agent.mcp.files'],
    ['YAML that cannot be read', 'agent:\n  name: "x\n', 'the config cannot be read: Missing closing "quote'],
    [
      'a key that stands twice',
      'agent:\n  name: a\n  name: b\n',
      '3:3: the config cannot be read: Map keys must be unique',
    ],
  ])('%s', async (_what, text, message) => {
    const error = await failure(text)
    expect(error.code).toBe('config.invalid')
    expect(error.message).toContain('allium.config.yml:')
    expect(error.message).toContain(message)
  })

  test.each([
    [
      'a pack and its options in one map',
      'agent:\n  use: [{ name: guard.budget, limit: 1 }]\n',
      '2:9: agent.use[0] is not a pack',
    ],
    [
      'two packs in one map',
      'agent:\n  use: [{ guard.budget: { limit: 1 }, model.retry: }]\n',
      '2:9: agent.use[0] is not a pack',
    ],
    ['a pack in a list', 'agent:\n  use: [[guard.budget]]\n', '2:9: agent.use[0] is not a pack'],
    ['an empty map', 'agent:\n  use: [{}]\n', '2:9: agent.use[0] is not a pack'],
    ['a tool as data', 'agent:\n  tools: [{ name: search }]\n', '2:11: agent.tools[0] is not a tool'],
  ])('where it has %s', async (_what, text, message) => {
    const { code, message: told } = await failure(text)
    expect([code, told]).toEqual(['config.invalid', expect.stringContaining(message)])
  })

  test('and how a pack is written, where its name stands in the wrong place', async () => {
    const root = project({ 'allium.config.yml': 'agent:\n  use: [{ name: guard.none, limit: 1 }]\n' })
    const loadConfig = createLoader({ packs: { 'guard.none': { create: () => ({ name: 'none' }) } } })
    await expect(loadConfig(join(root, 'allium.config.yml'), { model: scriptedModel([]) })).rejects.toThrow(
      'Write "guard.none: { limit: … }"',
    )
  })

  test('and what is known, the nearest first', async () => {
    const { message, details } = await failure('agent:\n  modle: x\n')
    expect(message).toContain('Did you mean "model"?')
    expect(details?.expected).toMatch(/^one of model, /)
  })

  test.each([
    ['${SECRET}', 'is ${SECRET}: expected number'],
    ['Bearer ${SECRET}', 'is Bearer ${SECRET}: expected number'],
    [`${'x'.repeat(50)}\${SECRET}`, 'expected number'],
  ])('without a value that came from the environment: %s', async (written, message) => {
    const env = { SECRET: 'sk-12345678' }
    const { message: told } = await failure(`agent:\n  maxIterations: "${written}"\n`, { env })
    expect(told).toContain(message)
    expect(told).not.toContain('sk-1')
    const program = await failure(`export default { agent: { maxIterations: '${written}' } }`, { name: 'c.ts', env })
    expect(program.message).toContain('expected number')
    expect(program.message).not.toContain('sk-1')
  })

  test('nor one that a pack repeats', async () => {
    const create = ({ key }: { key: string }) => {
      throw new AlliumError('layer.config', `"own" needs a key that begins with k, but ${key} was given.`)
    }
    const loadConfig = createLoader({ packs: { 'own.pack': { create, options: z.object({ key: z.string() }) } } })
    const root = project({ 'allium.config.yml': 'agent: { use: [{ own.pack: { key: "${SECRET}" } }] }' })
    const env = { SECRET: 'sk-12345678' }
    const error = await loadConfig(join(root, 'allium.config.yml'), { model: scriptedModel([]), env }).catch((e) => e)
    expect(error.message).toContain('but ${SECRET} was given')
    expect(inspect(error, { depth: 9 })).not.toContain('sk-1')
  })

  test('in JSON too, and in details for programs', async () => {
    const { message, details } = await failure('{\n  "agent": {\n    "name": 5\n  }\n}', { name: 'allium.config.json' })
    expect(message).toContain('allium.config.json:3:13: agent.name is 5: expected string')
    expect(details).toMatchObject({
      line: 3,
      column: 13,
      path: 'agent.name',
      expected: expect.stringContaining('string'),
    })
  })

  test('in TypeScript the file and the key', async () => {
    const { message } = await failure('export default { agent: { name: 5 as number } }', { name: 'allium.config.ts' })
    expect(message).toContain('allium.config.ts: agent.name is 5: expected string')
  })

  test.each([
    ['is no function', '"5 + 5"', 'is not a function. Expected "(ctx) => {…}"'],
    ['does not compile', '"(ctx => {"', 'is not a valid TypeScript expression: ParseError'],
    ['names a file that exports none', './none.ts', 'names the file ./none.ts, whose default export is not a function'],
    ['names a file that cannot be loaded', './broken.ts', 'names the file ./broken.ts, which cannot be loaded'],
    ['names a file with an unknown extension', './hook.exe', 'Write "shell: ./hook.exe" to run a program'],
    ['names no command', '"shell: "', 'names no command'],
    ['has an open quote', `"shell: echo 'a"`, 'has an unclosed quote'],
  ])('a hook that %s', async (_what, entry, message) => {
    const files = { 'none.ts': 'export const a = 1', 'broken.ts': 'throw new Error("no")', 'hook.exe': '' }
    const error = await failure(`agent:\n  middleware:\n    onError:\n      - ${entry}\n`, { files })
    expect(error.code).toBe('config.hook')
    expect(error.message).toContain('allium.config.yml:4:9: agent.middleware.onError[0] ')
    expect(error.message).toContain(message)
  })

  test('a file that is not there', async () => {
    expect(await failure('agent:\n  middleware:\n    onError: [./gone.ts]\n')).toMatchObject({
      code: 'config.not_found',
      message: expect.stringContaining('names the file ./gone.ts, which cannot be read'),
    })
    const missing = await loadConfig('/no/such/allium.config.yml').catch((error) => error)
    expect(missing).toMatchObject({
      code: 'config.not_found',
      message: expect.stringContaining('/no/such/allium.config.yml'),
    })
  })

  test('a config without a model', async () => {
    const root = project({ 'allium.config.yml': 'agent:\n  name: a\n' })
    await expect(loadConfig(join(root, 'allium.config.yml'))).rejects.toThrow(
      'agent names no model. Expected agent.model',
    )
  })
})

describe('a config that is to break its reader', () => {
  const levels = (open: string, n = 60) => open.repeat(n)
  const bomb = 'abcdefghi'.split('').map((name, i) => `${name}: &${name} [${`*${'_abcdefgh'[i]},`.repeat(9)}]`)
  test.each([
    ['brackets, which are not closed', levels('[', 100_000)],
    ['brackets', `${levels('[')}${levels(']')}`],
    ['maps in one line', levels('{a: ', 50_000)],
    ['dashes', levels('- ', 100_000)],
    ['question marks', levels('? ', 100_000)],
    ['indentation', Array.from({ length: 300 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
    [
      'dashes below keys',
      levels('a:\n- ', 1) +
        Array.from({ length: 200 }, (_, i) => `${'  '.repeat(i + 1)}a:\n${'  '.repeat(i + 1)}- `).join(''),
    ],
  ])('by nesting of %s is refused before it is parsed', async (_what, text) => {
    expect(await failure(text)).toMatchObject({
      code: 'config.invalid',
      message: expect.stringMatching(/:\d+:\d+: .*nested/),
    })
  })

  test('by its size is refused', async () => {
    const { code, message } = await failure(`agent: { instructions: "${'a'.repeat(300_000)}" }`)
    expect([code, message]).toEqual(['config.invalid', expect.stringContaining('256 KiB')])
  })

  test.each([
    ['an alias to nothing', 'agent:\n  name: *nobody\n', '2:9: the config cannot be read: .*nobody'],
    ['an alias that multiplies', `_: &_ [1]\n${bomb.join('\n')}`, '1?\\d:\\d+: the config cannot be read: .*alias'],
    ['an alias to itself', 'agent: &a\n  use: [*a]\n', ':\\d+:\\d+: .*nested'],
  ])('by %s gets file and line', async (_what, text, message) => {
    expect(await failure(text)).toMatchObject({
      code: 'config.invalid',
      message: expect.stringMatching(new RegExp(`allium.config.yml:.*${message}|allium.config.yml${message}`)),
    })
  })

  test('may be as long as prompts are, and as deep as options are', async () => {
    const text = `agent:\n  instructions: |\n${`    ${'['.repeat(500)}\n`.repeat(50)}  use: [${'['.repeat(20)}${']'.repeat(20)}]\n`
    expect((await failure(text)).message).toContain('agent.use[0] is not a pack')
  })
})

describe('${NAME} in a config', () => {
  const load = async (text: string, env: Record<string, string>) => {
    const { model } = await turn(text, {}, { env })
    return model.requests[0]?.messages[0]?.content
  }

  test.each([
    ['is the variable', '${PLACE}', { PLACE: 'Oslo' }, 'In Oslo.'],
    ['takes the default where it is not set', '${PLACE:-Rome}', {}, 'In Rome.'],
    ['takes the default where it is empty', '${PLACE:-Rome}', { PLACE: '' }, 'In Rome.'],
    ['takes the default of a single dash only where it is not set', '${PLACE-Rome}', { PLACE: '' }, 'In .'],
    ['is text after a second dollar', '$${PLACE}', {}, 'In ${PLACE}.'],
  ])('%s', async (_what, text, env, content) => {
    expect(await load(`agent:\n  instructions: "In ${text}."\n`, env as Record<string, string>)).toBe(content)
  })

  test('that is not set and has no default is a mistake with its place', async () => {
    const error = await failure('agent:\n  name: ${NOBODY}\n', { env: {} })
    expect(error.code).toBe('config.env')
    expect(error.message).toBe(
      'allium.config.yml:2:9: agent.name names the variable NOBODY, which is not set. Set it, or give a default: ${NOBODY:-…}.',
    )
  })

  test('without quotes may be a number, and never a map', async () => {
    const yaml = 'agent:\n  maxIterations: ${STEPS}\n  instructions: ${TEXT}\n'
    const { model } = await turn(yaml, {}, { env: { STEPS: '3', TEXT: '{a: b}' } })
    expect(model.requests[0]?.messages[0]?.content).toBe('{a: b}')
  })

  test('is left alone in hook entries, which hold template literals', async () => {
    const entry = '"(ctx) => { ctx.request.messages[0].content = `${ctx.request.model}!` }"'
    const { model } = await turn(
      `agent:\n  middleware:\n    beforeModelCall:\n      - ${entry}\n      - run: ${entry}\n`,
      {},
      { env: {} },
    )
    expect(model.requests[0]?.messages[0]?.content).toBe('scripted/model!')
  })
})

describe('a config', () => {
  test('sets name, instructions, thinking and the steps of a turn', async () => {
    const yaml = 'agent:\n  name: helper\n  instructions: Be brief.\n  thinking: high\n  maxIterations: 1\n'
    const call = { toolCalls: [{ name: 'bash', args: {} }] }
    const { agent, model, result } = await turn(yaml, {}, { steps: [call, call] })
    expect(agent.name).toBe('helper')
    expect(model.requests[0]).toMatchObject({
      messages: [{ role: 'system', content: 'Be brief.' }, {}],
      settings: { reasoning: 'high' },
    })
    expect(result).toMatchObject({ status: 'stopped', reason: 'max_steps' })
  })

  test('may leave keys empty', async () => {
    const { result } = await turn('agent:\n  middleware:\n    onError:\n  tools:\n')
    expect(result?.status).toBe('completed')
  })

  test('brings tools from files, beside those of the caller', async () => {
    const tool =
      "export default [{ name: 'now', description: 'Time', jsonSchema: { type: 'object' }, execute: () => 'noon' }]"
    const { model } = await turn('agent:\n  tools: [./now.ts]\n', { 'now.ts': tool })
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['now', 'bash'])
  })

  test('gives way to the options of the caller', async () => {
    const { agent } = await turn('agent:\n  name: a\n  model: openai/gpt-5\n', {}, { name: 'b' })
    expect(agent.name).toBe('b')
  })

  test('gives an agent that has not begun, so that use() adds layers inside', async () => {
    const root = project({ 'allium.config.yml': '{}' })
    const agent = await loadConfig(join(root, 'allium.config.yml'), { model: scriptedModel(['Hello.']) })
    const order: string[] = []
    await agent.use({ name: 'mine', model: (_, next) => next().finally(() => order.push('mine')) }).run('Hi')
    expect(order).toEqual(['mine'])
  })

  test('in TypeScript holds functions, tools, layers and a model', async () => {
    const config = `export default {
  agent: {
    model: { id: 'echo', async *stream({ messages }: { messages: { content: string }[] }) {
      yield { type: 'text-delta', delta: messages.at(-1)?.content ?? '' }
      yield { type: 'finish', reason: 'stop', usage: {} }
    } },
    use: [{ name: 'shout', async turn(ctx: any, next: () => Promise<void>) { ctx.hold(); await next(); ctx.output = ctx.output.toUpperCase() } }],
    middleware: { beforeModelCall: [(ctx: any) => { ctx.request.messages[0].content += '!' }] },
  },
}`
    const root = project({ 'allium.config.ts': config })
    const agent = await loadConfig(join(root, 'allium.config.ts'))
    expect((await agent.run('hi')).text).toBe('HI!')
  })

  test('may have types in its inline hooks', async () => {
    const { model } = await turn(
      hooks({
        beforeModelCall: [
          '// adds\n(ctx: any): void => { ctx.request.messages.push({ role: "user" as const, content: "x" }) };',
        ],
      }),
    )
    expect(model.requests[0]?.messages).toHaveLength(2)
  })

  test('shares one copy of what its files import, tools and inline hooks too', async () => {
    const count = "import { seen } from './seen.ts'\nexport default () => { seen.push(1) }"
    const files = {
      'seen.ts': 'export const seen: number[] = []',
      'a.ts': count,
      'b.mjs': count,
      'tool.ts':
        "import { seen } from './seen.ts'\nexport default { name: 'seen', description: 'Counts', jsonSchema: { type: 'object' }, execute: () => seen.length }",
    }
    const yaml =
      'agent: { tools: [./tool.ts], middleware: { beforeLoopBegin: [./a.ts, ./b.mjs, "async () => { (await import(`./seen.ts`)).seen.push(1) }"] } }'
    const { result } = await turn(yaml, files, { steps: [{ toolCalls: [{ name: 'seen' }] }, 'Done.'] })
    expect(result?.toolCalls[0]?.result.content).toBe('3')
  })

  test('connects its MCP servers by the pack tools.mcp', async () => {
    const made: unknown[] = []
    const create = (options: { name: string }) => {
      made.push(options)
      return { name: options.name }
    }
    const load = createLoader({ packs: { 'tools.mcp': { create, options: z.looseObject({}) } } })
    const asks = { elicitation: { expiresIn: 1000 }, sampling: { maxOutputTokens: 100 } }
    const files = { command: 'files', args: ['--ro'], ...asks }
    const headers = { Authorization: 'Bearer x' }
    const desk = {
      url: 'https://desk.acme.com/mcp',
      headers,
      perPrincipal: true,
      listWith: { headers },
      sampling: false,
    }
    await load({ agent: { mcp: { files, desk } } }, { trusted: true, model: scriptedModel([]) })
    expect(made).toEqual([
      { name: 'files', ...files },
      { name: 'desk', ...desk },
    ])
  })

  test('is found by URL too', async () => {
    const root = project()
    const file = write(root, 'allium.config.yml', '{}')
    await expect(loadConfig(new URL(`file://${file}`), { model: scriptedModel([]) })).resolves.toBeDefined()
  })

  test('names its hooks by a path that is relative, absolute, in the home folder, or a bare name', async () => {
    const note = (name: string) => `export default () => { (globalThis.paths ??= []).push('${name}') }`
    const root = project({ 'a.ts': note('a'), 'b.mjs': note('b'), 'sub dir/c.js': note('c') })
    const entries = ['./a.ts', join(root, 'b.mjs'), 'a.ts', './sub dir/c.js']
    write(root, 'allium.config.yml', JSON.stringify({ agent: { middleware: { afterLoopComplete: entries } } }))
    await turnIn(root)
    expect((globalThis as { paths?: string[] }).paths).toEqual(['a', 'b', 'a', 'c'])
  })
})
