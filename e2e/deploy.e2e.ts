import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LLMock } from '@copilotkit/aimock'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { ownServer as ownPostgres, type Server } from '../packages/store-postgres/test/server.ts'
import { ownServer as ownRedis } from '../packages/store-redis/test/server.ts'
import { copyOf, remove } from './app-copy.ts'
import { ask, askDuring, lastEventId, startIn } from './deployed.ts'
import { freePort } from './free-port.ts'
import { recipe, writeRecipe } from './recipes.ts'
import { absent, commandOf, type Tool } from './runtimes.ts'

const answer = 'Good morning, Ann. What can I do for you today?'
/** What is installed from the tarballs, and the provider that the recipes name. */
let app: string
const nodes: readonly Tool[] = ['Node (this one)', 'Node 22', 'Node 24']
let postgres: Server
let redis: Server
let model: LLMock
let env: Record<string, string>

beforeAll(async () => {
  postgres = await there(ownPostgres(), 'Postgres')
  redis = await there(ownRedis(), 'redis-server')
  model = new LLMock({ host: '127.0.0.1', port: 0, chunkSize: 4, latency: 150, logLevel: 'silent' })
  model.onMessage('Hi', { content: answer })
  await model.start()
  env = {
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    OPENAI_API_KEY: 'none needed',
    OPENAI_BASE_URL: `${model.url}/v1`,
    ALLIUM_SECRET: 'a secret of thirty-two characters',
  }
  app = copyOf(inject('app'), { '@ai-sdk/openai': 'providers' })
})

afterAll(async () => {
  await model.stop()
  await Promise.all([postgres.end(), redis.end()])
  remove(app)
})

describe.each(nodes)('the recipe "Node behind nginx", on %s behind nginx', (tool) => {
  const on = absent(tool) === undefined ? it : it.skip

  on('streams without buffering, tells its health, and ends on SIGTERM', async () => {
    const proxy = await nginx(recipe('node', 'nginx', 'nginx'))
    const child = await behind(proxy)
    const run = await ask(proxy, '/sessions/a/runs', { input: 'Hi' })
    expect(run.text()).toBe(answer)
    // The first words came while the model was still speaking.
    expect(run.pieces.filter((piece) => !piece.includes('turn:end')).length).toBeGreaterThan(1)
    expect((await ask(proxy, '/healthz', undefined, { host: 'evil.example' })).status).toBe(421)

    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  on('tells readers of a killed process, and finishes the answer after SIGTERM', async () => {
    const proxy = await nginx(recipe('node', 'nginx', 'nginx'))
    const cut = await askDuring(proxy, '/sessions/b', await behind(proxy), 'SIGKILL')
    expect(answer.startsWith(cut.text()) && cut.text() !== answer).toBe(true)

    const second = await behind(proxy)
    const rest = await ask(proxy, '/sessions/b/events', undefined, { lastEventId: lastEventId(cut) })
    expect(rest.pieces.join('')).toContain('run.interrupted')

    const exited = once(second, 'exit')
    expect((await askDuring(proxy, '/sessions/b', second, 'SIGTERM')).text()).toBe(answer)
    expect(await exited).toEqual([0, null])
  })

  /** Starts the recipe's server, to which the proxy forwards. */
  async function behind(proxy: number) {
    const principal =
      "const signedIn = async (request) => ({ tenantId: 'acme', userId: String(request.headers.get('cookie')) })"
    const file = writeRecipe(app, 'behind-a-proxy', [principal, recipe('node', 'The server', 'ts')])
    const child = started(commandOf(tool), [file])
    await expect.poll(async () => (await ask(proxy, '/readyz')).status, { timeout: 30_000 }).toBe(200)
    return child
  }
})

describe.each(nodes)('the recipe "Several processes", on %s', (tool) => {
  const on = absent(tool) === undefined ? it : it.skip

  on('runs an agent on Postgres and Redis', async () => {
    const rest = `await store.ready()
const principal = { tenantId: 'acme', userId: 'ann' }
console.log((await agent.run('Hi', { session: { principal } })).text)
await agent.dispose()
await store.close()
process.exit(0)`
    const file = writeRecipe(app, 'several-processes', [recipe('several-processes', 'Several processes', 'ts'), rest])
    const child = started(commandOf(tool), [file])
    let printed = ''
    child.stdout?.on('data', (piece) => (printed += piece))
    expect([await once(child, 'close'), printed]).toEqual([[0, null], `${answer}\n`])
  })
})

describe('the recipe "Workers, Deno, Bun"', () => {
  it.each([
    ['Deno', ['serve', '--allow-all', '--host', '127.0.0.1', '--port']],
    ['Bun', []],
  ] as const)('serves on %s what a module exports', async (tool, args) => {
    const [command = ''] = commandOf(tool)
    const port = await freePort()
    const first = tool === 'Deno' ? [...args, `${port}`, 'served.js'] : ['served.js']
    started([command], first, { PORT: `${port}`, HOST: '127.0.0.1' })
    await expect
      .poll(
        () =>
          ask(port, '/healthz').then(
            ({ status }) => status,
            () => 0,
          ),
        { timeout: 30_000 },
      )
      .toBe(200)
    expect((await ask(port, '/sessions/a/runs', { input: 'Hi' })).text()).toBe('Hello from a Worker.')
  })
})

function started(command: readonly string[], args: readonly string[], more = {}) {
  return startIn(app, [...command, ...args], { ...env, ...more })
}

async function there(server: Promise<Server | undefined>, name: string): Promise<Server> {
  const found = await server
  if (found === undefined) throw new Error(`${name} is not installed here.`)
  return found
}

/** An nginx with the page's location, in a folder of its own. Returns its port. */
async function nginx(location: string): Promise<number> {
  const [port, folder] = [await freePort(), mkdtempSync(join(tmpdir(), 'allium-nginx-'))]
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const site = `server { listen 127.0.0.1:${port}; server_name api.acme.com; ${location} }`
  const rest = `error_log stderr; pid ${folder}/pid; daemon off; events {}`
  writeFileSync(join(folder, 'nginx.conf'), `${rest} http { access_log off; ${paths.join(' ')} ${site} }`)
  const child = spawn('nginx', ['-c', join(folder, 'nginx.conf'), '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  onTestFinished(async () => {
    child.kill('SIGQUIT')
    if (child.exitCode === null) await once(child, 'exit')
    rmSync(folder, { recursive: true, force: true })
  })
  await expect
    .poll(() =>
      ask(port, '/').then(
        () => true,
        () => false,
      ),
    )
    .toBe(true)
  return port
}
