import { EventEmitter } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { sqlite } from '@allium/store-sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { main } from '../src/index.ts'

const nextAt = Date.parse('2099-01-01T08:00:00Z')

/** A file with the schedules "report" of two tenants. */
async function filled(): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), 'allium-schedules-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const store = sqlite(join(root, 'runs.db'))
  for (const tenant of ['acme', 'globex'])
    await store.schedules.put(
      {
        ...{ tenant, owner: 'ann', id: 'report', agent: 'support', cron: '0 8 * * *', tz: 'UTC', missed: 'latest' },
        ...{ request: { input: 'my secret plan' }, nextAt },
      },
      { agents: ['support'], perOwner: 9 },
    )
  store.close()
  return root
}

async function allium(root: string, ...argv: string[]) {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  const env = { ALLIUM_STORE: 'runs.db' }
  const around = Object.assign(new EventEmitter(), streams, { env, cwd: () => root })
  const code = await main(['schedules', ...argv], around as unknown as Parameters<typeof main>[1])
  for (const stream of [streams.stdout, streams.stderr]) stream.end()
  return { code, out: await text(streams.stdout), err: await text(streams.stderr) }
}

it('lists schedules without their requests', async () => {
  const { code, out } = await allium(await filled(), 'list')
  expect([code, out.includes('secret')]).toEqual([0, false])
  expect(out.split('\n')[1]).toMatch(
    /^report +acme +ann +support +0 8 \* \* \* +UTC +active +2099-01-01T08:00:00\.000Z +- +-$/,
  )
})

it('pauses, resumes and runs a schedule, and records the operator', async () => {
  const root = await filled()
  const of = ['report', '--tenant', 'acme', '--operator', 'dana', '--reason', 'ticket 7']
  for (const command of ['pause', 'resume', 'run'])
    expect(await allium(root, command, ...of)).toMatchObject({ code: 0, out: expect.stringMatching(/^The schedule/) })
  const store = sqlite(join(root, 'runs.db'))
  const types: string[] = []
  for await (const line of store.audit.chainOf('acme').lines()) types.push(JSON.parse(line).type)
  expect(types).toEqual(['operator:schedule_pause', 'operator:schedule_resume', 'operator:schedule_run'])
  store.close()
  const page = JSON.parse((await allium(root, 'list', '--tenant', 'acme', '--json')).out)
  expect(page.items[0].nextAt).toBeLessThan(nextAt)
})

it.each([
  [['drop', 'report'], 'takes list, pause'],
  [['pause'], 'the id of one schedule'],
  [['list', 'report'], 'no schedule'],
  [['pause', 'report', '--paused'], '--paused'],
  [['pause', 'report'], 'ann (tenant acme), ann (tenant globex)'],
  [['list', '--limit', '0'], 'limit'],
])('reports a mistake in %j with its own help', async (argv, message) => {
  const { code, err } = await allium(await filled(), ...argv)
  expect([code, err.split('\n')[0]]).toEqual([2, expect.stringContaining(message)])
  expect([err.includes('Usage: allium schedules'), err.includes('allium chat')]).toEqual([true, false])
})

it('prints its help', async () => {
  for (const argv of [[], ['--help'], ['list', '-h']])
    expect(await allium(await filled(), ...argv)).toMatchObject({
      code: 0,
      out: expect.stringContaining('resume <id>'),
    })
})
