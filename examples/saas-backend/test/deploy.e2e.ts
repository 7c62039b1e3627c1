import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../../e2e/free-port.ts'
import { ownServer as ownPostgres } from '../../../packages/store-postgres/test/server.ts'
import { demoKeys } from '../src/demo-keys.ts'
import {
  type Ask,
  answerIn,
  ask,
  type Env,
  folder,
  imageCommand,
  lastEventId,
  readDeploy,
  root,
  runToEnd,
  services,
  start,
} from './deploy-kit.ts'

type Postgres = NonNullable<Awaited<ReturnType<typeof ownPostgres>>>
let postgres: Postgres
const { app, migrate, redis } = services() as Required<ReturnType<typeof services>>
const question = 'Explain the returns policy.'

beforeAll(async () => {
  const server = await ownPostgres()
  if (server === undefined) throw new Error('Postgres is not installed here.')
  postgres = server
})
afterAll(() => postgres.end())

test('the app does not start before the migration', async () => {
  // A database without tables.
  const database_url = postgres.url.replace(/postgres$/, 'template1')
  const env = { ...(await containerEnv()), DATABASE_URL_FILE: join(folder({ database_url }), 'database_url') }
  const { code, output } = await runToEnd(imageCommand(), env)
  expect([code, output]).toEqual([1, expect.stringContaining('could not start')])
})

test('the migration ends, and can be repeated', async () => {
  for (const _ of ['first', 'again'])
    expect(await runMigration()).toEqual({ code: 0, output: expect.stringContaining('current') })
})

describe('the container', { timeout: 120_000 }, () => {
  test('is ready only while its store answers', async () => {
    const { env } = await startApp()
    const health = () => runToEnd(app?.healthcheck?.test.slice(1) ?? [], env)
    expect((await health()).code).toBe(0)
    await postgres.crash()
    await expect.poll(async () => (await health()).code, { timeout: 15_000 }).toBe(1)
    await postgres.start()
    await expect.poll(async () => (await health()).code, { timeout: 30_000 }).toBe(0)
  })

  test('answers with a stream, and finishes the answer after SIGTERM', async () => {
    const { child, send } = await startApp()
    const pieces: string[] = []
    const answer = await send('/api/sessions/a/runs', {
      body: { input: question },
      onPiece: (text) => {
        if (pieces.push(text) === 5) child.kill('SIGTERM')
      },
    })
    expect(answer.text).toContain('"type":"turn:end"')
    expect(answer.text).toContain('"status":"completed"')
    expect(pieces.length).toBeGreaterThan(10)
    if (child.exitCode === null) await once(child, 'exit')
    expect(child.exitCode).toBe(0)
  })

  test('tells readers of a killed process that the run was interrupted, and continues the session', async () => {
    const first = await startApp()
    const cut = await first.send('/api/sessions/b/runs', {
      body: { input: question },
      onPiece: (text) => answerIn(text).length > 100 && first.child.kill('SIGKILL'),
    })
    expect(cut.text).not.toContain('turn:end')
    const second = await startApp(first.env)
    const rest = await second.send('/api/sessions/b/events', { lastEventId: lastEventId(cut.text) })
    expect(rest.text).toContain('run.interrupted')
    const next = await second.send('/api/sessions/b/runs', { body: { input: question } })
    expect(next.text).toContain('"status":"completed"')
  })
})

test('the unit of systemd migrates, starts again after a kill in mid-answer, and ends on SIGTERM', async () => {
  const unit = readDeploy('allium-saas.service')
  const settings = [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line = '']) => line.split(' '))
  const credentials = await secretFiles()
  const declared = Object.fromEntries(settings.map((setting) => setting.replace('%d', credentials).split(/=(.*)/s)))
  const env = { ...declared, PORT: `${await freePort()}`, REDIS_URL: await startRedis() } as Env
  const command = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1]?.split(' ') ?? []
  expect((await runToEnd(command('ExecStartPre'), env)).code).toBe(0)
  const first = await startApp(env, command('ExecStart'))
  const cut = await during(first, '/api/sessions/c/runs', 'SIGKILL')
  expect(cut.text).not.toContain('turn:end')
  expect(unit).toContain('\nRestart=on-failure\n')
  const again = await startApp(env, command('ExecStart'))
  const rest = await again.send('/api/sessions/c/events', { lastEventId: lastEventId(cut.text) })
  expect(rest.text).toContain('run.interrupted')
  const exited = once(again.child, 'exit')
  expect((await during(again, '/api/sessions/c/runs', 'SIGTERM')).text).toContain('"status":"completed"')
  expect(await exited).toEqual([0, null])
})

describe('behind nginx', () => {
  test('answers are streamed piece by piece, and a reader reconnects with Last-Event-ID', async () => {
    const { env, cookie } = await startApp({ ...(await containerEnv()), PUBLIC_URL: 'https://support.example.com' })
    const port = await startNginx(env)
    const send = (path: string, more: Partial<Ask> = {}) =>
      ask({ port, host: 'support.example.com', path, cookie, ...more })
    const pieces: string[] = []
    const run = await send('/api/sessions/d/runs', { body: { input: question }, onPiece: (text) => pieces.push(text) })
    expect(pieces.length).toBeGreaterThan(10)
    const tenth = lastEventId(pieces[9] ?? '')
    const rest = await send('/api/sessions/d/events', { lastEventId: tenth })
    expect(answerIn(pieces[9] ?? '') + answerIn(rest.text)).toBe(answerIn(run.text))
  })

  test('a body that is too large is rejected by the server, and a huge one by nginx', async () => {
    const { env, cookie } = await startApp({ ...(await containerEnv()), PUBLIC_URL: 'https://support.example.com' })
    const port = await startNginx(env)
    const send = (bytes: number) =>
      ask({
        port,
        host: 'support.example.com',
        path: '/api/sessions/e/runs',
        cookie,
        body: { input: 'x'.repeat(bytes) },
      })
    expect(await send(8.5 * 2 ** 20)).toMatchObject({ status: 413, text: expect.stringContaining('request.too_large') })
    expect(await send(10 * 2 ** 20)).toMatchObject({ status: 413, text: expect.stringContaining('nginx') })
  })
})

/** Starts a run, and sends a signal in mid-answer. */
function during({ child, send }: Awaited<ReturnType<typeof startApp>>, path: string, signal: NodeJS.Signals) {
  const onPiece = (text: string) => void (answerIn(text).length > 100 && !child.killed && child.kill(signal))
  return send(path, { body: { input: question }, onPiece })
}

async function runMigration() {
  return runToEnd(migrate?.command ?? [], await containerEnv(migrate?.environment))
}

/** The environment of a service, with files and addresses of this test. */
async function containerEnv(declared: Env = app?.environment ?? {}): Promise<Env> {
  const secrets = await secretFiles()
  const env = Object.entries(declared).map(([name, value]) => [name, value.replace('/run/secrets', secrets)])
  return { ...Object.fromEntries(env), HOST: '127.0.0.1', PORT: `${await freePort()}`, REDIS_URL: await startRedis() }
}

async function secretFiles(): Promise<string> {
  const accounts = readFileSync(join(root, 'data/accounts.json'), 'utf8')
  const secret = 'a secret of thirty-two characters'
  const shared = { saas_secret: secret, 'saas-secret': secret, accounts, 'accounts.json': accounts }
  return folder({ ...shared, database_url: `${postgres.url}\n`, 'database-url': postgres.url })
}

/** Redis by the command of compose.yaml, on a free port. */
async function startRedis(): Promise<string> {
  const port = await freePort()
  const dir = folder()
  start([...(redis?.command ?? []), '--port', `${port}`, '--bind', '127.0.0.1', '--dir', dir], {})
  return `redis://127.0.0.1:${port}`
}

/** Starts the app, and signs in. */
async function startApp(given?: Env, command = imageCommand()) {
  const env = given ?? (await containerEnv())
  await runMigration()
  const child = start(command, env)
  const host = new URL(env.PUBLIC_URL ?? '').host
  const port = Number(env.PORT)
  const ready = async () => {
    if (child.exitCode !== null) throw new Error(`The app ended: ${child.output()}`)
    const { status } = await ask({ port, host, path: '/api/readyz' }).catch(() => ({ status: 0 }))
    return status
  }
  await expect.poll(ready, { timeout: 60_000 }).toBe(200)
  const { cookie } = await ask({ port, host, path: '/sign-in', body: { key: demoKeys[0]?.key } })
  const send = (path: string, more: Partial<Ask> = {}) => ask({ port, host, path, cookie, ...more })
  return { child, env, cookie, send }
}

/** nginx with the file of the recipe, on a free port. */
async function startNginx(env: Env): Promise<number> {
  const port = await freePort()
  const site = readDeploy('nginx.conf')
    .replace('127.0.0.1:3000', `127.0.0.1:${env.PORT}`)
    .replace('listen 80;', `listen 127.0.0.1:${port};`)
  const dir = folder()
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${dir}/${name};`)
  // The worker has to reach the folders of this test.
  const main = `user root; error_log stderr; pid ${dir}/pid; daemon off; events {}`
  const file = join(
    folder({ 'nginx.conf': `${main} http { access_log off; ${paths.join(' ')} ${site} }` }),
    'nginx.conf',
  )
  const child = start(['nginx', '-c', file, '-e', 'stderr'], {})
  onTestFinished(() => void child.kill('SIGQUIT'))
  const up = () =>
    ask({ port, host: 'support.example.com', path: '/' }).then(
      ({ status }) => status,
      () => 0,
    )
  await expect.poll(up).toBe(200)
  return port
}
