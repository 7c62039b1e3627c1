// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a config holds ${NAME}
import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { main } from '../src/index.ts'

/** A config in TypeScript whose model answers with a number of its call, and what it was asked. */
const config = (more = '', answer = '`${calls++}: ${messages.at(-1).content}`') => `let calls = 1
export default {
  agent: {
    model: { id: 'echo/model', async *stream({ messages, signal }: any) {
      ${answer === 'hang' ? "setInterval(() => {}, 1000); yield { type: 'text-delta', delta: 'Hm ' }; await new Promise((_, no) => signal.addEventListener('abort', () => no(signal.reason)))" : `yield { type: 'text-delta', delta: ${answer} }`}
      yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 2 } }
    } },
    ${more}
  },
}`

interface Around {
  files?: Record<string, string>
  stdin?: string
  isTTY?: boolean
  root?: string
}

function folder(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'allium-cli-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  return root
}

/** The command in a folder with this config; what is on stdin is given at once. */
async function allium(argv: string[], { files = {}, stdin = '', isTTY = false, root = folder() }: Around = {}) {
  for (const [name, content] of Object.entries(files)) writeFileSync(join(root, name), content)
  const streams = {
    stdin: Object.assign(new PassThrough(), { isTTY }),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
  }
  const around = Object.assign(new EventEmitter(), streams, { env: { PATH: process.env.PATH }, cwd: () => root })
  streams.stdin.end(stdin)
  const begun = main(argv, around)
  const out = text(streams.stdout)
  const err = text(streams.stderr)
  const code = await begun
  streams.stdout.end()
  streams.stderr.end()
  return { code, out: await out, err: (await err).replaceAll(`${root}/`, '') }
}

const files = { 'allium.config.ts': config() }

describe('allium run', () => {
  test('streams the answer of one turn', async () => {
    expect(await allium(['run', 'Hi'], { files })).toEqual({ code: 0, out: '1: Hi\n', err: '' })
  })

  test('takes a config by its name, and the prompt from stdin', async () => {
    const other = { 'other.ts': config() }
    expect((await allium(['run', 'other.ts', 'Hi'], { files: other })).out).toBe('1: Hi\n')
    expect((await allium(['run', 'other.ts'], { files: other, stdin: 'Hi there\n' })).out).toBe('1: Hi there\n')
    expect((await allium(['run'], { files, stdin: 'Hi you\n' })).out).toBe('1: Hi you\n')
  })

  test('escapes terminal control and bidi characters in JSON', async () => {
    const hostile = 'a\u202e\u009b31m\u2028\u{e0001}b'
    const { out } = await allium(['run', '--json', hostile], { files })
    expect(out).not.toMatch(/[^\P{C}\n]|\p{Zl}|\p{Zp}/u)
    expect(JSON.parse(out.trim().split('\n').at(-1) ?? '')).toMatchObject({ text: `1: ${hostile}` })
  })

  test('shows events as JSON, and the result last', async () => {
    const { out } = await allium(['run', '--json', 'Hi'], { files })
    const events = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(events.map(({ type }) => type)).toEqual([
      'turn:start',
      'step:start',
      'text-delta',
      'finish',
      'step:end',
      'turn:end',
      'result',
    ])
    expect(events.at(-1)).toMatchObject({
      status: 'completed',
      text: '1: Hi',
      usage: { inputTokens: 1, outputTokens: 2 },
    })
  })

  test('shows the onion on stderr', async () => {
    const { out, err } = await allium(['run', '--trace', 'Hi'], { files })
    expect(out).toBe('1: Hi\n')
    expect(err).toContain('model · echo/model')
  })

  test('lets no control characters of an answer reach the terminal', async () => {
    const hostile = { 'allium.config.ts': config('', '"\\u001b]0;owned\\u0007Hi\\u001b[2J"') }
    expect((await allium(['run', 'Hi'], { files: hostile })).out).toBe(']0;ownedHi[2J\n')
  })

  test('ends with 3 where the turn was blocked, and says why', async () => {
    const blocked = { 'allium.config.ts': config("middleware: { beforeModelCall: ['() => { throw new Error() }'] }") }
    const { code, err } = await allium(['run', 'Hi'], { files: blocked })
    expect(code).toBe(3)
    expect(err).toContain('The turn was blocked: The hook "beforeModelCall" failed.')
  })

  test('ends with 1 where the turn failed, as JSON where that is asked for', async () => {
    const failing = { 'allium.config.ts': config('', '(() => { throw new Error("no network") })()') }
    expect(await allium(['run', 'Hi'], { files: failing })).toMatchObject({ code: 1, err: 'no network\n' })
    const { code, out } = await allium(['run', 'Hi', '--json'], { files: failing })
    expect(code).toBe(1)
    expect(JSON.parse(out.trim().split('\n').at(-1) as string)).toEqual({ type: 'error', message: 'no network' })
  })

  test.each([
    [
      'a config with a mistake',
      ['run', 'Hi'],
      { 'allium.config.yml': 'agent:\n  modle: x\n' },
      'allium.config.yml:2:3: agent.modle is not known',
    ],
    ['no config', ['run', 'Hi'], {}, 'There is no allium.config.yml in'],
    ['no prompt', ['run'], files, 'No prompt was given'],
    ['an unknown command', ['rum'], files, 'Unknown command "rum"'],
    ['an unknown option', ['run', '--jsn', 'Hi'], files, "Unknown option '--jsn'"],
    ['too many words', ['run', 'Hi', 'you', 'there'], files, 'Put the prompt in quotes'],
  ])('ends with 2 for %s', async (_what, argv, files, message) => {
    const { code, err } = await allium(argv, { files })
    expect(code).toBe(2)
    expect(err).toContain(message)
  })
})

describe('allium chat', () => {
  test('answers line by line in one session, until the end of stdin', async () => {
    const { code, out } = await allium(['chat'], { files, stdin: 'Hi\n\nYou\n' })
    expect({ code, out }).toEqual({ code: 0, out: '1: Hi\n2: You\n' })
  })

  test('ends with /exit', async () => {
    expect((await allium(['chat'], { files, stdin: 'Hi\n/exit\nYou\n' })).out).toBe('1: Hi\n')
  })

  test('goes on after a turn that failed', async () => {
    const answer = 'calls++ === 1 ? (() => { throw new Error("no network") })() : "Fine."'
    const { code, out, err } = await allium(['chat'], {
      files: { 'allium.config.ts': config('', answer) },
      stdin: 'a\nb\n',
    })
    expect({ code, out }).toEqual({ code: 0, out: 'Fine.\n' })
    expect(err).toContain('no network')
  })
})

/** A model that calls the tool `pay`, which waits for approval, and then says what came of it. */
const paying = (args = "{ to: 'jane' }", more = '') => ({
  'allium.config.ts': `export default {
  agent: {
    model: { id: 'pay/model', async *stream({ messages }: any) {
      const usage = { inputTokens: 1, outputTokens: 2 }
      const result = messages.at(-1).role === 'tool' ? messages.at(-1).content[0].content : undefined
      if (result === undefined) {
        yield { type: 'tool-input-start', callId: 'c1', name: 'pay' }
        yield { type: 'tool-input-delta', callId: 'c1', delta: JSON.stringify(${args}) }
        yield { type: 'tool-input-end', callId: 'c1' }
      } else yield { type: 'text-delta', delta: result }
      yield { type: 'finish', reason: 'stop', usage }
    } },
    tools: [{ name: 'pay', description: 'Pays', jsonSchema: { type: 'object' }, requireApproval: true, execute: () => 'paid' }],
    ${more}
  },
}`,
})

describe('a call that waits for approval', () => {
  test.each([
    ['y', 'paid'],
    [' YES ', 'paid'],
    ['n', 'The user said no.'],
    ['', 'The user said no.'],
    ['what\nyep\ny', 'paid'],
    ['what\nno', 'The user said no.'],
  ])('is decided in allium chat by %j', async (said, out) => {
    const ran = await allium(['chat'], { files: paying(), stdin: `Pay\n${said}\n`, isTTY: true })
    expect([ran.code, ran.out]).toEqual([0, `${out}\n`])
    expect(ran.err.match(/Run pay/g)).toHaveLength(said.split('\n').length)
    expect(ran.err).not.toContain('The turn was suspended')
  })

  test('is shown with every character that could hide something', async () => {
    const files = paying("{ to: 'a\\u202eb\\u200bc\\u2028\\u{e0041}', '\\u2066k': 1 }")
    const { err } = await allium(['chat'], { files, stdin: 'Pay\nn\n', isTTY: true })
    expect(err).toContain(String.raw`Run pay {"to":"a\u{202e}b\u{200b}c\u{2028}\u{e0041}","\u{2066}k":1}? [y/N]`)
  })

  test('that nobody decided of ends allium chat with 4', async () => {
    expect((await allium(['chat'], { files: paying(), stdin: 'Pay\n' })).code).toBe(4)
  })

  test('ends allium run with 4, and says where it can be decided', async () => {
    const { code, err } = await allium(['run', 'Pay'], { files: paying() })
    expect(code).toBe(4)
    expect(err).toBe(
      'The turn is waiting for approval: pay (c1). Use allium chat, which asks you. Or store the session with --store and --session, and decide with allium resume.\n',
    )
  })
})

describe('allium resume', () => {
  const kept = ['--store', 'chats.db', '--principal', 'jane']

  test.each([
    ['y', 'paid'],
    ['n', 'The user said no.'],
  ])('decides by %j a call that waits since another process', async (said, out) => {
    const root = folder()
    const ran = await allium(['run', '--session', 'rent', ...kept, 'Pay'], { files: paying(), root })
    expect([ran.code, ran.err]).toEqual([
      4,
      'The turn is waiting for approval: pay (c1). Decide it: allium resume rent\n',
    ])
    const resumed = await allium(['resume', 'rent', ...kept], { root, stdin: `${said}\n`, isTTY: true })
    expect([resumed.code, resumed.out]).toEqual([0, `${out}\n`])
    expect(resumed.err).toBe('Run pay {"to":"jane"}? [y/N] ')
  })

  test('leaves what nobody decided of as it waits', async () => {
    const root = folder()
    await allium(['run', '--session', 'rent', ...kept, 'Pay'], { files: paying(), root })
    expect((await allium(['resume', 'rent', ...kept], { root })).code).toBe(4)
    expect((await allium(['resume', 'rent', ...kept], { root, stdin: 'y\n' })).out).toBe('paid\n')
  })

  test('goes on with a prompt where nothing waits', async () => {
    const root = folder()
    await allium(['run', '--session', 'talk', ...kept, 'Hi'], { files: { 'allium.config.ts': config() }, root })
    expect((await allium(['resume', 'talk', ...kept, 'And you?'], { root })).out).toBe('1: And you?\n')
    const { code, err } = await allium(['resume', 'talk', ...kept], { root })
    expect([code, err]).toEqual([2, expect.stringContaining('The session "talk" has no pending calls.')])
  })

  test('does not find what another user has', async () => {
    const root = folder()
    await allium(['run', '--session', 'rent', ...kept, 'Pay'], { files: paying(), root })
    const { code, err } = await allium(['resume', 'rent', '--store', 'chats.db', '--principal', 'joe'], { root })
    expect([code, err]).toEqual([1, expect.stringContaining('The store has no session "rent" of this principal.')])
  })

  test('ends with 2 without a session, or without a store', async () => {
    expect((await allium(['resume'], { files: paying() })).err).toContain('No session was given. Name it')
    expect((await allium(['resume', 'rent'], { files: paying() })).err).toContain('No store was given.')
  })
})

describe('--principal', () => {
  const more =
    "middleware: { beforeModelCall: [] }, use: [{ name: 'who', turn(ctx: any, next: any) { ctx.output = JSON.stringify(ctx.principal) } }],"
  const who = { 'allium.config.ts': config(more) }

  test.each([
    ['jane', '{"userId":"jane"}'],
    ['{"userId":"jane","tenantId":"acme"}', '{"userId":"jane","tenantId":"acme"}'],
  ])('says who asks: %s', async (given, principal) => {
    for (const argv of [['run', 'Hi'], ['chat']])
      expect((await allium([...argv, '--principal', given], { files: who, stdin: 'Hi\n' })).out).toBe(`${principal}\n`)
  })

  test.each(['{"userId":', '[1]', ''])('that is neither an id nor an object is a mistake: %s', async (given) => {
    const { code, err } = await allium(['run', 'Hi', '--principal', given], { files: who })
    expect([code, err]).toEqual([2, expect.stringContaining('--principal')])
  })

  test('gives budgets per tenant their tenant', async () => {
    const files = { 'allium.config.ts': config("use: [{ 'guard.budget': { limit: 1, per: 'tenant' } }],") }
    expect((await allium(['run', 'Hi'], { files })).code).toBe(1)
    const argv = ['run', 'Hi', '--principal', '{"tenantId":"acme"}']
    expect(await allium(argv, { files })).toMatchObject({ code: 0, out: '1: Hi\n' })
  })
})

describe('allium', () => {
  test('ends with 1 where a layer aborts, or an error looks like an abort: 130 is Ctrl-C alone', async () => {
    const aborts = "use: [{ name: 'stop', turn: (ctx: any) => ctx.abort('no more') }],"
    const throws = '(() => { throw Object.assign(new Error("hung up"), { name: "AbortError" }) })()'
    expect(await allium(['run', 'Hi'], { files: { 'allium.config.ts': config(aborts) } })).toMatchObject({
      code: 1,
      err: 'The run was aborted: no more\n',
    })
    expect(await allium(['run', 'Hi'], { files: { 'allium.config.ts': config('', throws) } })).toMatchObject({
      code: 1,
      err: 'hung up\n',
    })
  })

  test('shows the onion of a config that keeps one too', async () => {
    const { code, err } = await allium(['run', '--trace', 'Hi'], {
      files: { 'allium.config.ts': config("use: ['observe.onion'],") },
    })
    expect([code, err]).toEqual([0, expect.stringContaining('model · echo/model')])
  })

  test('lets no change of direction of an answer reach the terminal', async () => {
    const hostile = { 'allium.config.ts': config('', '"a\\u202eb\\u2066c\\u200fd"') }
    expect((await allium(['run', 'Hi'], { files: hostile })).out).toBe('abc\u200fd\n')
  })

  test('tells how it is used, and its version', async () => {
    expect((await allium([])).out).toContain('allium run [config] "prompt"')
    expect((await allium(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  test('aborts the turn at Ctrl-C, and ends with 130', async () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'allium-cli-')))
    onTestFinished(() => rmSync(root, { recursive: true, force: true }))
    writeFileSync(join(root, 'allium.config.ts'), config('', 'hang'))
    const bin = fileURLToPath(new URL('../src/bin.ts', import.meta.url))
    const tsx = import.meta.resolve('tsx')
    const child = spawn(process.execPath, ['--conditions=@allium/source', `--import=${tsx}`, bin, 'run', 'Hi'], {
      cwd: root,
    })
    await once(child.stdout, 'data')
    child.kill('SIGINT')
    const [code] = await once(child, 'exit')
    expect(code).toBe(130)
  }, 20_000)
})
