import { inspect } from 'node:util'
import { AlliumError } from '@allium/core'
import { expect, it } from 'vitest'
import { Secrets } from '../src/mcp/secrets.ts'

const secrets = new Secrets({ url: 'https://tracker.example/mcp?key=sk-planted-4711' } as never)
const headers = new Headers({ authorization: 'Bearer sk-planted-4711' })
const raw = Object.assign(new Error('refused for sk-planted-4711'), {
  response: { headers },
  seen: new Map([['k', 'sk-planted-4711']]),
})
Object.defineProperty(raw, 'request', { value: { url: new URL('https://tracker.example/?key=sk-planted-4711') } })

it.each([
  ['an error', raw],
  ['an error of Allium with a cause', new AlliumError('http.failed', 'It failed.', { cause: raw })],
  ['a cause of a cause', new Error('outer', { cause: new AlliumError('http.failed', 'It failed.', { cause: raw }) })],
])('keeps the words of %s and no secret of its fields', (_, thrown) => {
  const shown = inspect(secrets.redactError(thrown), { showHidden: true, depth: 9 })
  expect(shown).toContain('refused for [secret]')
  expect(shown).not.toContain('sk-planted')
})
