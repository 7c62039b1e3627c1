import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { LLMock } from '@copilotkit/aimock'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { ownServer, type Server } from '../packages/store-postgres/test/server.ts'
import { copyOf, remove } from './app-copy.ts'
import { ask, askDuring, lastEventId, startIn } from './deployed.ts'
import { freePort } from './free-port.ts'
import { recipe, writeRecipe } from './recipes.ts'
import { commandOf } from './runtimes.ts'
import { bundleForWorkerd, workerdConfig } from './workerd-bundle.ts'

const answer = 'Good morning, Ann. I have looked at your order, and it is on its way. What else can I do for you today?'
const signedIn =
  "const signedIn = async (request) => ({ tenantId: 'acme', userId: String(request.headers.get('cookie')) })"
let app: string
let postgres: Server
let model: LLMock
let env: Record<string, string>

beforeAll(async () => {
  const server = await ownServer()
  if (server === undefined) throw new Error('Postgres is not installed here.')
  postgres = server
  model = new LLMock({ host: '127.0.0.1', port: 0, chunkSize: 4, latency: 150, logLevel: 'silent' })
  model.onMessage('Hi', { content: answer })
  await model.start()
  env = {
    DATABASE_URL: postgres.url,
    OPENAI_API_KEY: 'none needed',
    OPENAI_BASE_URL: `${model.url}/v1`,
    ALLIUM_SECRET: 'a secret of thirty-two characters',
  }
  app = copyOf(inject('app'), { '@ai-sdk/openai': 'providers' })
  await migrate()
})

afterAll(async () => {
  await model.stop()
  await postgres.end()
  remove(app)
})

/** Starts the recipe on a port. */
const platforms: Readonly<Record<string, (port: number) => Promise<ReturnType<typeof startIn>>>> = {
  async Deno(port) {
    const file = writeRecipe(app, 'other-runtimes', [signedIn, recipe('workers', 'Deno and Bun', 'ts')])
    const [deno = ''] = commandOf('Deno')
    return startIn(app, [deno, 'serve', '--allow-all', '--host', '127.0.0.1', '--port', `${port}`, file], env)
  },
  async Bun(port) {
    const file = writeRecipe(app, 'other-runtimes', [signedIn, recipe('workers', 'Deno and Bun', 'ts')])
    return startIn(app, [...commandOf('Bun'), file], { ...env, PORT: `${port}`, HOST: '127.0.0.1' })
  },
  async workerd(port) {
    const file = writeRecipe(app, 'cloudflare', [signedIn, recipe('workers', 'Cloudflare Workers', 'ts')])
    await bundleForWorkerd(join(app, file), join(app, 'cloudflare-bundle.js'))
    writeFileSync(join(app, 'cloudflare.capnp'), workerdConfig('cloudflare-bundle.js', port, env))
    return startIn(app, [...commandOf('workerd'), 'serve', 'cloudflare.capnp'], env)
  },
  async Lambda(port) {
    const file = writeRecipe(app, 'lambda', [signedIn, recipe('lambda', 'AWS Lambda', 'ts')])
    return startIn(app, [process.execPath, 'lambda-runtime.js', `./${file}`], { ...env, PORT: `${port}` })
  },
}

describe.each(Object.keys(platforms))('the recipe for %s', (platform) => {
  test('streams, tells readers of a killed process, and ends on SIGTERM', async () => {
    const path = `/sessions/${platform}`
    const first = await start(platform)
    const whole = await ask(first.port, `${path}/runs`, { input: 'Hi' })
    expect(whole.text()).toBe(answer)
    expect(whole.pieces.length).toBeGreaterThan(2)

    const cut = await askDuring(first.port, path, first.child, 'SIGKILL')
    expect(answer.startsWith(cut.text()) && cut.text() !== answer).toBe(true)
    const second = await start(platform)
    const rest = await ask(second.port, `${path}/events`, undefined, { lastEventId: lastEventId(cut) })
    expect(rest.pieces.join('')).toContain('run.interrupted')

    const last = await askDuring(second.port, path, second.child, 'SIGTERM')
    if (drains.includes(platform)) expect(last.text()).toBe(answer)
    await expect.poll(() => readiness(second.port)).toBe(0)
  })
})

/** The platforms that finish active runs after SIGTERM. */
const drains = ['Deno', 'Bun']

async function start(platform: string) {
  const port = await freePort()
  const child = await (platforms[platform] as NonNullable<(typeof platforms)[string]>)(port)
  await expect.poll(() => readiness(port), { timeout: 30_000 }).toBe(200)
  return { port, child }
}

/** Returns the status of the readiness probe, or 0 without a response. */
function readiness(port: number): Promise<number> {
  return ask(port, '/readyz').then(
    ({ status }) => status,
    () => 0,
  )
}

/** The step before a deploy, as docs/guide/deploy.md has it. */
async function migrate(): Promise<void> {
  const file = writeRecipe(app, 'migrate', [recipe('../deploy', 'Migrations', 'ts')])
  await promisify(execFile)(process.execPath, [file], { cwd: app, env: { ...process.env, ...env } })
}
