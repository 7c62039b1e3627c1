import { describe, expect, it } from 'vitest'
import { checkArgs } from '../src/tool/check-args.ts'
import { tool } from './kit.ts'

const down = new Error('connect ECONNREFUSED db:5432')
const fails = {
  'a schema that throws': () => {
    throw down
  },
  'a schema that rejects': () => Promise.reject(down),
}

describe.each(Object.entries(fails))('%s', (_, validate) => {
  it('refuses the arguments, keeps what it threw for logs, and tells none of it', async () => {
    const schema = { '~standard': { version: 1, vendor: 'test', validate } } as never
    const asked = await checkArgs(tool('work', undefined, { schema }), {}, undefined)
    const { jsonSchema } = tool('work')
    const raw = await checkArgs(tool('work', undefined, { jsonSchema }), {}, validate as never)
    for (const checked of [asked, raw]) {
      expect(checked).toMatchObject({ cause: down, issues: [{ message: 'The arguments could not be checked.' }] })
      expect(JSON.stringify(checked.issues)).not.toContain('ECONNREFUSED')
    }
  })
})

it('arguments that do not fit have issues, and no cause', async () => {
  const refused = await checkArgs(tool('work'), {}, () => [{ message: 'a is missing' }])
  expect(refused).toEqual({ issues: [{ message: 'a is missing' }] })
})
