import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { main } from '../src/index.ts'

async function allium(...argv: string[]) {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  const around = Object.assign(new EventEmitter(), streams, { env: {}, cwd: () => '/' })
  const code = await main(argv, around as unknown as Parameters<typeof main>[1])
  for (const stream of [streams.stdout, streams.stderr]) stream.end()
  return { code, out: await text(streams.stdout), err: await text(streams.stderr) }
}

it('prints the SQL of a store, in the schema and from the version that it is told', async () => {
  const { code, out } = await allium('store', 'sql', 'postgres', '--schema', 'agents')
  expect([code, out.includes('create table "agents".sessions')]).toEqual([0, true])
  const { out: fromVersion } = await allium('store', 'sql', 'postgres', '--schema', 'agents', '--from', '1')
  expect([fromVersion.includes('"agents".schema_version'), fromVersion.includes('create table')]).toEqual([true, false])
  expect((await allium('store', 'sql', 'sqlite')).out).toMatch(
    /^begin immediate;[\s\S]*create table sessions[\s\S]*commit;\n$/,
  )
})

it.each([
  [['store'], 'allium store sql postgres|sqlite'],
  [['store', 'sql', 'oracle'], 'allium store sql postgres|sqlite'],
  [['store', 'sql', 'sqlite', '--from', '99'], 'There is no schema version 99'],
  [['store', 'sql', 'postgres', '--schema', 'a b'], '"a b" is not a valid name'],
])('tells a mistake in %j', async (argv, told) => {
  const { code, err } = await allium(...argv)
  expect([code, err.includes(told)]).toEqual([2, true])
})
