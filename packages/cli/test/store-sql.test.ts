import { expect, it } from 'vitest'
import { allium } from './allium.ts'

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
  [['store', 'tables'], 'allium store sql postgres|sqlite'],
  [['store', 'sql', 'oracle'], 'allium store sql postgres|sqlite'],
  [['store', 'sql', 'sqlite', '--from', '99'], 'There is no schema version 99'],
  [['store', 'sql', 'postgres', '--schema', 'a b'], '"a b" is not a valid name'],
])('tells a mistake in %j', async (argv, told) => {
  const { code, err } = await allium(...argv)
  expect([code, err.includes(told)]).toEqual([2, true])
})
