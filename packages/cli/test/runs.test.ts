import { EventEmitter } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { sqlite } from '@allium/store-sqlite'
import { manualClock } from 'allium/testing'
import { expect, it, onTestFinished } from 'vitest'
import { main } from '../src/index.ts'
import { listTables } from '../src/runs/run-tables.ts'

const hostile = 'a\u001b[2J\u202eb\nSTATUS'

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'allium-runs-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** A file with a queued run of globex, and a failed one of acme whose agent has a hostile name. */
async function filled(root = folder()): Promise<string> {
  const store = sqlite(join(root, 'runs.db'))
  const key = (tenant: string) => ({ tenant, owner: 'ann', agent: 'support', sessionId: tenant })
  const task = { input: 'my secret plan' }
  await store.runs.add({ run: 'queued-1', key: key('globex'), agent: 'support', version: '1.4', task })
  const failing = { run: 'failed-1', key: key('acme'), agent: hostile, version: '', task }
  const { lease } = await store.runs.add(failing, { claim: 60_000 })
  if (lease === undefined) return expect.fail('It was not claimed.')
  await store.runs.record(lease, 'failed-1', { id: 'failed-1:tool:c1:1', body: `result ${hostile}` })
  await store.runs.giveUp(lease, 'failed-1', { status: 'failed', code: 'run.attempts', reason: 'secret reason' })
  store.close()
  return root
}

async function allium(root: string, ...argv: string[]) {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  const env = { ALLIUM_STORE: 'runs.db' }
  const around = Object.assign(new EventEmitter(), streams, { env, cwd: () => root })
  const code = await main(['runs', ...argv], around as unknown as Parameters<typeof main>[1])
  for (const stream of [streams.stdout, streams.stderr]) stream.end()
  return { code, out: await text(streams.stdout), err: await text(streams.stderr) }
}

/** The records of the audit of acme. */
async function audited(root: string): Promise<object[]> {
  const store = sqlite(join(root, 'runs.db'))
  const records: object[] = []
  for await (const line of store.audit.chainOf('acme').lines()) records.push(JSON.parse(line))
  store.close()
  return records
}

it('lists the runs of all tenants as a table, with hostile names escaped', async () => {
  const { code, out } = await allium(await filled(), 'list')
  const [head = '', failed = '', queued = '', ...rest] = out.split('\n')
  expect([code, rest]).toEqual([0, ['']])
  expect(head.split(/ +/)).toEqual(
    'RUN TENANT OWNER SESSION AGENT VERSION QUEUE STATUS CODE ATTEMPTS AGE CHANGED HOLDER LEASE'.split(' '),
  )
  expect(failed).toContain('a\\u{1b}[2J\\u{202e}b\\u{a}STATUS')
  expect(queued).toMatch(
    /^queued-1 +globex +ann +globex +support +1\.4 +default +queued +- +0 +\d+m?s +\d+m?s ago +- +-$/,
  )
})

it('lists runs by their fields as JSON, page after page', async () => {
  const root = await filled()
  const ids = async (...argv: string[]) => {
    const page = JSON.parse((await allium(root, 'list', '--json', ...argv)).out)
    return { ids: page.items.map(({ run }: { run: string }) => run), cursor: page.cursor }
  }
  expect((await ids('--status', 'failed', '--code', 'run.attempts')).ids).toEqual(['failed-1'])
  expect((await ids('--tenant', 'globex', '--agent', 'support', '--version', '1.4')).ids).toEqual(['queued-1'])
  expect((await ids('--older-than', '1h')).ids).toEqual([])
  const { cursor } = await ids('--limit', '1')
  expect((await ids('--cursor', cursor)).ids).toEqual(['queued-1'])
})

it('shows a run with its steps, without content', async () => {
  const { code, out } = await allium(await filled(), 'show', 'failed-1')
  expect([code, out.includes('secret')]).toEqual([0, false])
  expect(out).toMatch(/status +failed \(run\.attempts\)/)
  expect(out).toMatch(/claimed, attempt 1\n.*step tool:c1:1 +1\n.*failed \(run\.attempts\)\n$/)
})

it('summarizes runs, and failures by code', async () => {
  const { out } = await allium(await filled(), 'summary')
  expect(out).toMatch(/queued +support +1\.4 +default +1 +\d+m?s\n/)
  expect(out).toMatch(/FAILURE +RUNS\nrun\.attempts +1\n$/)
})

it('stops and retries a run, and records the operator', async () => {
  const root = await filled()
  const by = ['--operator', 'dana', '--reason', 'ticket 7']
  expect(await allium(root, 'retry', 'failed-1', ...by)).toMatchObject({
    code: 0,
    out: expect.stringContaining('queued'),
  })
  expect((await allium(root, 'stop', 'failed-1', '--json')).out).toBe('{"run":"failed-1","stopping":true}\n')
  expect((await allium(root, 'retry', 'queued-1')).code).toBe(1)
  expect(await audited(root)).toMatchObject([{ type: 'operator:retry', operator: 'dana', reason: 'ticket 7' }])
})

it('exports content only to a named operator with a reason, and records that', async () => {
  const root = await filled()
  const withoutContent = await allium(root, 'export', 'failed-1')
  expect([withoutContent.out.includes('secret'), await audited(root)]).toEqual([false, []])
  const { out } = await allium(root, 'export', 'failed-1', '--content', '--operator', 'dana', '--reason', 'ticket 7')
  expect(JSON.parse(out)).toMatchObject({ task: { input: 'my secret plan' }, reason: 'secret reason' })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that must not be there
  expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/)
  expect(await audited(root)).toMatchObject([{ type: 'operator:content', turn: 'failed-1', operator: 'dana' }])
})

it('takes a store from a module, which may encrypt', async () => {
  const root = await filled()
  const url = JSON.stringify(import.meta.resolve('@allium/store-sqlite'))
  writeFileSync(
    join(root, 'store.mjs'),
    `import { sqlite } from ${url}\nexport const store = sqlite(${JSON.stringify(join(root, 'runs.db'))})`,
  )
  expect((await allium(root, 'show', 'queued-1', '--store', 'store.mjs')).out).toMatch(/tenant +globex/)
  writeFileSync(join(root, 'none.mjs'), 'export default 1')
  expect(await allium(root, 'list', '--store', 'none.mjs')).toMatchObject({ code: 2 })
})

it('never creates a store', async () => {
  const root = folder()
  const { code, err } = await allium(root, 'list', '--store', 'typo.db')
  expect([code, err.includes('typo.db'), existsSync(join(root, 'typo.db'))]).toEqual([2, true, false])
})

it.each([
  [['list', 'x'], 'takes no run'],
  [['show'], 'the id of one run'],
  [['drop', 'x'], 'takes list, summary'],
  [['list', '--limit', '0'], 'limit'],
  [['list', '--status', 'gone'], 'status'],
  [['list', '--where', 'status'], '--where'],
  [['list', '--where', 'name=x'], '--where'],
  [['list', '--where', 'code=x', '--code', 'y'], 'twice'],
  [['show', 'failed-1', '--status', 'failed'], 'no option --status'],
  [['stop', 'failed-1', '--where', 'status=queued'], 'not both'],
  [['retry'], 'or --where'],
  [['export', '--where', 'status=failed'], 'no option --where'],
  [['deny', 'failed-1'], '--operator'],
  [['deny', 'failed-1', '--operator', 'a', '--reason', 'b'], 'no call'],
  [['stop', 'queued-1', '--operator', 'a\u202eb'], 'control characters'],
  [['list', '--older-than', '3 weeks'], '--older-than'],
  [['list', '--cursor', 'x'], 'cursor'],
  [['show', 'failed-1', '--content', '--operator', 'a', '--reason', 'b'], '--content'],
  [['export', 'failed-1', '--content', '--operator', 'a'], '--reason'],
])('reports a mistake in %j', async (argv, message) => {
  const { code, err } = await allium(await filled(), ...argv)
  expect([code, err.split('\n')[0]]).toEqual([2, expect.stringContaining(message)])
})

it('fails for a run that does not exist', async () => {
  const { code, err } = await allium(await filled(), 'show', 'nothing\u001b[2J')
  expect([code, err.includes('There is no run'), err.includes('\u001b')]).toEqual([1, true, false])
})

it('prints its help without a command, and after a mistake', async () => {
  for (const argv of [[], ['--help'], ['list', '-h'], ['help']])
    expect(await allium(folder(), ...argv)).toMatchObject({ code: 0, out: expect.stringContaining('--older-than') })
  const { code, err } = await allium(folder(), 'drop')
  expect([code, err.includes('Usage: allium runs <command>'), err.includes('allium chat')]).toEqual([2, true, false])
})

it('says who holds a run and until when, and which runs are lost', async () => {
  const clock = manualClock()
  const store = sqlite(':memory:', { clock })
  const key = { tenant: 'acme', owner: 'ann', agent: 'support', sessionId: 'chat' }
  await store.runs.add({ run: 'held-1', key, agent: 'support', version: '1', task: {} })
  const agents = [{ name: 'support', version: '1' }]
  await store.runs.claim({ agents, limit: 1, ms: 60_000, alone: true, worker: 'host-a:7' })
  const rows = async () => listTables(await store.operations.list({ limit: 1 }), clock.now())[0]?.[1]?.slice(7)
  expect(await rows()).toEqual(['running', '-', '1', '0ms', '0ms ago', 'host-a:7', '60s left'])
  await clock.advance(60_000)
  expect(await rows()).toEqual(['lost', '-', '1', '60s', '60s ago', 'host-a:7', 'ended'])
  store.close()
})

it('shortens ids, and accepts their first characters', async () => {
  const root = folder()
  const store = sqlite(join(root, 'runs.db'))
  const key = { tenant: 'acme', owner: 'ann', agent: 'support', sessionId: 'chat' }
  for (const run of ['0b6f1111-aaaa', '0b6f1111-bbbb', '7c0e2222-cccc'])
    await store.runs.add({ run, key, agent: 'support', version: '1', task: {} })
  store.close()
  const { out } = await allium(root, 'list')
  const ids = ['RUN', '7c0e2222-ccc', '0b6f1111-bbb', '0b6f1111-aaa', '']
  expect(out.split('\n').map((line) => line.split(' ')[0])).toEqual(ids)
  expect((await allium(root, 'show', '7c0e')).out).toMatch(/^run +7c0e2222-cccc/)
  const { code, err } = await allium(root, 'stop', '0b6f')
  expect([code, err.includes('0b6f1111-bbbb (tenant acme), 0b6f1111-aaaa (tenant acme)')]).toEqual([2, true])
})

it('changes many runs only after their number was confirmed', async () => {
  const root = await filled()
  const by = ['--operator', 'dana', '--reason', 'ticket 7']
  const first = await allium(root, 'retry', '--where', 'status=failed', '--where', 'code=run.attempts', ...by)
  expect(first).toMatchObject({ code: 1, out: expect.stringMatching(/^Found 1 run\. Nothing was changed\..*--yes/) })
  expect(await audited(root)).toEqual([])
  const second = await allium(root, 'retry', '--where', 'status=failed', ...by, '--yes')
  expect(second).toMatchObject({ code: 0, out: 'Queued again: 1 of 1 run.\n' })
  expect(await audited(root)).toMatchObject([{ type: 'operator:retry', turn: 'failed-1', operator: 'dana' }])
  const ended = JSON.parse((await allium(root, 'force-stop', '--where', 'agent=support', '--yes', '--json')).out)
  expect(ended).toMatchObject({ matched: 1, changed: 1, refused: [] })
})

it('says why a run is not retried, and starts it again as a new one', async () => {
  const root = await filled()
  const store = sqlite(join(root, 'runs.db'))
  const key = { tenant: 'acme', owner: 'ann', agent: 'support', sessionId: 'acme' }
  await store.runs.add({ run: 'later-1', key, agent: 'support', version: '1', task: {} })
  store.close()
  expect(await allium(root, 'retry', 'later-1')).toMatchObject({ code: 1, out: expect.stringContaining('is queued') })
  expect(await allium(root, 'retry', 'failed-1')).toMatchObject({ code: 1, out: expect.stringContaining('later run') })
  const refused = { code: 2, err: expect.stringContaining('--repeat-effects') }
  expect(await allium(root, 'start-again', 'failed-1')).toMatchObject(refused)
  const again = await allium(root, 'start-again', 'failed-1', '--repeat-effects')
  expect(again).toMatchObject({ code: 0, out: expect.stringContaining('was queued with the same request') })
})

it('ends a run whose process hangs', async () => {
  const root = await filled()
  expect(await allium(root, 'force-stop', 'queued-1')).toMatchObject({ code: 0 })
  expect((await allium(root, 'show', 'queued-1')).out).toMatch(/status +aborted \(run\.force_stopped\)/)
  expect(await allium(root, 'force-stop', 'queued-1')).toMatchObject({ code: 1 })
})

it('shows the queues, with the limits that the module of the agent exports', async () => {
  const root = await filled()
  expect((await allium(root, 'queues')).out).toMatch(/\ndefault +1 +\d+m?s +0 +0 +- +- +- +-\n$/)
  const limits = '{ default: { concurrency: 4, rateLimit: { limit: 9, period: 60000 } } }'
  const url = JSON.stringify(import.meta.resolve('allium'))
  writeFileSync(
    join(root, 'agent.mjs'),
    `import { Agent } from ${url}\nexport const agent = new Agent({ version: '1', model: 'openai/x' })\nexport const queues = ${limits}`,
  )
  const { out, err } = await allium(root, 'queues', '--module', 'agent.mjs')
  expect(out + err).toMatch(/\ndefault +1 +\d+m?s +0 +0 +4 +- +- +9 in 60s\n$/)
})
