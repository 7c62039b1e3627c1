import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { exitCodes, main } from '../src/index.ts'

/** Runs a command line and returns its exit code and stderr. */
async function run(argv: readonly string[], env: Record<string, string> = {}) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const context = { stdin, stdout, stderr, env, cwd: () => import.meta.dirname, on: () => {}, off: () => {} }
  const code = await main(argv, context)
  stderr.end()
  return { code, stderr: await text(stderr) }
}

test.each([
  [['dev'], 'takes the module of one agent'],
  [['dev', 'a.ts', 'b.ts'], 'takes the module of one agent'],
  [['dev', 'agent.ts'], 'There is no file'],
  [['dev', 'dev.test.ts', '--port', '99999'], '--port is "99999"'],
])('reports a mistake in the command line: %j', async (argv, message) => {
  const { code, stderr } = await run(argv)
  expect(code).toBe(exitCodes.usage)
  expect(stderr).toContain(message)
})

test('allium dev does not start in production', async () => {
  const { code, stderr } = await run(['dev', 'dev.test.ts'], { NODE_ENV: 'production' })
  expect(code).toBe(exitCodes.usage)
  expect(stderr).toContain('for development only')
})

test('a port in use is one message, without the usage of all commands', async () => {
  const other = createServer()
  onTestFinished(() => void other.close())
  await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening))
  const { port } = other.address() as AddressInfo
  const { code, stderr } = await run(['dev', 'dev.test.ts', '--port', String(port), '--database', ':memory:'])
  expect(code).toBe(exitCodes.usage)
  expect(stderr).toBe(
    `Port ${port} is in use. Stop the other process, or choose another port with --port; 0 picks a free one. With npm: npm run dev -- --port 0\n`,
  )
})
