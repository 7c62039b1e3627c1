import { expect, it } from 'vitest'
import { sqlite } from '../src/index.ts'
import { fileIn, raw } from './files.ts'

const note = '-- The schema of src/schema. Written by: vitest run packages/store-sqlite/test/current-schema.test.ts -u'
const statements = 'select sql from sqlite_master where sql is not null order by type desc, name'

it('sql/current.sql is the schema of a new file', async () => {
  const path = fileIn()
  const store = sqlite(path)
  await store.sessions.list({ tenant: 'acme', limit: 1 })
  await store.close()
  const made = raw(path, (db) => db.prepare(statements).all() as { sql: string }[])
  await expect(`${[note, ...made.map(({ sql }) => `${sql};`)].join('\n\n')}\n`).toMatchFileSnapshot(
    '../sql/current.sql',
  )
})
