import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from 'vitest'
import { ownServer } from '../packages/store-postgres/test/server.ts'
import { copyOf, remove } from './app-copy.ts'

const folder = copyOf(inject('app'), {})
const project = join(folder, 'my-app')
const postgres = await ownServer()
const headers = { 'content-type': 'application/json', accept: 'text/event-stream' }

/** The steps of "From demo to production": the project, its layers, its store. */
beforeAll(() => {
  const create = [resolve('packages/create-allium/dist/bin.js'), project, '--template', 'saas', '--no-install', '--yes']
  execFileSync(process.execPath, create, { stdio: 'ignore' })
  const page = readFileSync('docs/guide/tutorial-production.md', 'utf8').replace(/<!-- setup[\s\S]*?-->/g, '')
  const [, imports = '', plans = '', layers = ''] =
    /these layers, from[\s\S]*?```ts\n((?:import .*\n)+)\n([\s\S]*?)\nconst agent = .*\n([\s\S]*?)console/.exec(page) ??
    []
  edit('agent.ts', (code) =>
    code.replace(/( {4}\.use\(.*\n)+/, layers).replace('/** One agent', `${plans}\n/** One agent`),
  )
  edit('agent.ts', (code) => {
    const missing = imports.split('\n').filter((line) => !code.includes(line))
    return `${missing.join('\n')}\n${code}`
  })
  writeFileSync(
    join(project, 'src/store.ts'),
    /Replace `src\/store.ts`:\n\n```ts no-run\n([\s\S]*?)```/.exec(page)?.[1] ?? '',
  )
  // An answer that lasts long enough to stop its process in the middle.
  edit('model.ts', (code) =>
    code.replace(
      /stream: \(request\) => (.*),/,
      'async *stream(request) { for await (const chunk of $1) { await new Promise((done) => setTimeout(done, 100)); yield chunk } },',
    ),
  )
})

afterAll(async () => {
  await postgres?.end()
  remove(folder)
})

it.skipIf(postgres === undefined)(
  'two processes on Postgres: the answer of a stopped process ends, and the other one continues the session',
  async () => {
    const first = await start()
    const second = await start()
    const account = JSON.stringify({ email: 'ann@acme.test', password: 'correct horse' })
    const signedUp = await fetch(`${first.url}/sign-up`, { method: 'POST', headers, body: account })
    const cookie = signedUp.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    const post = (url: string, path: string, body: object) =>
      fetch(`${url}/api/sessions/a/${path}`, {
        method: 'POST',
        headers: { ...headers, cookie },
        body: JSON.stringify(body),
      })

    const run = await post(first.url, 'runs', { input: 'Refund order 7.' }) // the run has begun
    const exited = once(first.child, 'exit')
    first.child.kill('SIGTERM')
    const { status, pending } = turnEnd(await run.text())
    expect([status, pending.map(({ name }) => name)]).toEqual(['suspended', ['refund']])
    expect(await exited).toEqual([0, null])

    expect((await fetch(`${second.url}/api/readyz`)).status).toBe(200)
    const decisions = Object.fromEntries(pending.map(({ callId, token }) => [callId, { approve: true, token }]))
    const resumed = await post(second.url, 'decisions', { decisions })
    expect(turnEnd(await resumed.text()).status).toBe('completed')
  },
  240_000,
)

interface TurnEnd {
  status: string
  pending: { callId: string; name: string; token: string }[]
}

function turnEnd(stream: string): TurnEnd {
  return JSON.parse(/^event: turn:end\n(?:id: .*\n)?data: (.*)$/m.exec(stream)?.[1] ?? stream)
}

function edit(file: string, change: (code: string) => string): void {
  const path = join(project, 'src', file)
  const code = readFileSync(path, 'utf8')
  const changed = change(code)
  if (changed === code) throw new Error(`The page no longer fits src/${file} of the template.`)
  writeFileSync(path, changed)
}

/** Starts a process as the page does, and returns it with its URL. */
async function start() {
  const env = {
    ...process.env,
    NODE_OPTIONS: '',
    OPENAI_API_KEY: '',
    PORT: '0',
    DATABASE_URL: postgres?.url,
    SECRET: 'a secret for tests, 32 characters',
  }
  const child = spawn(process.execPath, ['--import=tsx', 'src/index.ts'], {
    cwd: project,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  for await (const line of createInterface({ input: child.stdout })) {
    const [url] = /http:\S+/.exec(line) ?? []
    if (url !== undefined) return { child, url }
  }
  throw new Error('The process ended before it listened.')
}
