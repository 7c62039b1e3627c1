import { describe, expect, it } from 'vitest'
import { type PostgresPool, postgres } from '../src/index.ts'
import { versions } from '../src/schema/versions.ts'
import { postgresSql } from '../src/sql.ts'

const pool: PostgresPool = { connect: () => Promise.reject(new Error('Nothing is asked here.')) }

describe('postgres()', () => {
  it('takes either a URL or a pool', () => {
    expect(() => postgres({})).toThrow('either "url" or "pool"')
    expect(() => postgres({ pool, url: 'postgres://127.0.0.1/x' })).toThrow('either "url" or "pool"')
  })

  it('refuses an option that it does not have', () => {
    expect(() => postgres({ pool, migrat: 'check' } as never)).toThrow('Did you mean "migrate"?')
    expect(() => postgresSql({ shema: 'a' } as never)).toThrow('Did you mean "schema"?')
  })

  it.each(['', 'a"b', "a'; drop table x; --", 'a b', '1a', 'pg_mine', 'a\0', 'x'.repeat(64)])(
    'refuses the schema %j',
    (schema) => {
      expect(() => postgres({ pool, schema })).toThrow('is not a valid name')
      expect(() => postgresSql({ schema })).toThrow('is not a valid name')
    },
  )

  it('prints its SQL as one transaction with every name in the quoted schema', () => {
    const text = postgresSql({ schema: 'Agents' })
    expect(text.startsWith('begin;') && text.trimEnd().endsWith('commit;')).toBe(true)
    expect(text).toContain('create table "Agents".sessions')
    expect(text).not.toContain('{s}')
    expect(() => postgresSql({ from: versions.length + 1 })).toThrow(`from 0 to ${versions.length}`)
  })

  it('asks once for what it cannot know to be undone, and gives errors that are not of the connection as they are', async () => {
    const store = postgres({ pool })
    await expect(store.sessions.load({ tenant: '', owner: '', agent: 'agent', sessionId: 'x' })).rejects.toThrow(
      'Nothing is asked here.',
    )
  })
})
