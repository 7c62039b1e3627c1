import { Agent } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { expect, test } from 'vitest'
import { createClient } from '../src/client.ts'
import { server } from '../src/index.ts'
import { serve } from '../src/node.ts'

const agent = () => new Agent({ model: scriptedModel([]) })
const principal = () => ({ userId: 'ann' })
const app = (more: object) => server(agent(), { principal, ...more } as never)
const client = () => createClient<Agent>({ url: 'http://a' })

test.each<[string, () => unknown, string]>([
  ['server()', () => app({ canUze: () => true }), 'Did you mean "canUse"?'],
  ['server(), of serve()', () => app({ port: 80 }), 'Pass it to serve(server, { port })'],
  ['mcp of server()', () => app({ mcp: { elicit: true } }), 'Available: elicitation.'],
  ['metrics of server()', () => app({ metrics: { tokn: 'a' } }), 'Did you mean "token"?'],
  ['drain()', () => app({}).drain({ timeoutMs: 1 } as never), 'Available: timeout.'],
  ['serve()', () => serve(app({}), { host: '0.0.0.0' } as never), 'It is called hostname.'],
  ['createClient()', () => createClient({ url: 'http://a', header: {} } as never), 'Available: url,'],
  [
    'a run of a client',
    () =>
      client()
        .session('a')
        .run('hi', { key: 'a' } as never),
    'Available: output,',
  ],
  ['a page of a client', () => client().list({ max: 5 } as never), 'Available: limit, cursor.'],
  [
    'a fork of a client',
    () =>
      client()
        .session('a')
        .fork({ to: 'a' } as never),
    'Available: id, at.',
  ],
])('an option that does not exist is refused: %s', async (_, make, message) => {
  const error = await Promise.resolve()
    .then(make)
    .catch((error: unknown) => error)
  expect(error).toMatchObject({ message: expect.stringContaining(message) })
  expect(['server.options', 'options.invalid']).toContain((error as { code: string }).code)
})
