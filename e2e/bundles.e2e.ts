import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, join } from 'node:path'
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { inPage } from './chromium.ts'
import { freePort } from './free-port.ts'
import { absent, end, run, start, type Tool } from './runtimes.ts'

const app = inject('app')

/** What app/turn.js finds. Wrong arguments are told by ajv, or by the interpreter where no code may be made. */
const found = (wrong = ["must have required property 'b'", 'of.0: must be number']) => ({
  status: 'completed',
  text: 'Sent to dana@example.com.',
  tools: ['ok: 42', `error: ${wrong[0]}`, 'ok: x', `error: ${wrong[1]}`],
  retried: 30,
  spent: true,
  hidden: true,
  audited: true,
  second: 'blocked',
})
/** The interpreter looks at the properties first. */
const withoutCode = found(['a: must be number', 'of.0: must be number'])

const elsewhere = ['--conditions=browser', '--main-fields=browser,module,main']
/** Each way to bundle: the tool, and its arguments for an entry and a folder. */
const bundlers: Record<string, readonly [Tool, (entry: string, to: string) => string[]]> = {
  'esbuild for Node': ['esbuild', esbuild('--platform=node')],
  'esbuild for Node, split': ['esbuild', esbuild('--platform=node', '--splitting')],
  'esbuild for nothing': ['esbuild', esbuild('--platform=neutral', ...elsewhere)],
  'esbuild for nothing, split': ['esbuild', esbuild('--platform=neutral', '--splitting', ...elsewhere)],
  'esbuild for browsers': ['esbuild', esbuild('--platform=browser')],
  'esbuild for browsers, split': ['esbuild', esbuild('--platform=browser', '--splitting')],
  'rolldown for Node': ['rolldown', rolldown('node')],
  'rolldown for browsers': ['rolldown', rolldown('browser')],
  'bun build for Node': ['Bun', bunBuild('node')],
  'bun build for Bun': ['Bun', bunBuild('bun')],
  'bun build for browsers, split': ['Bun', bunBuild('browser', '--splitting')],
  'Vite for browsers': ['vite', (entry, to) => ['build', '--config', config('vite.config.js', entry), '--outDir', to]],
  'Vite for servers': [
    'vite',
    (entry, to) => ['build', '--config', config('ssr.config.js'), '--ssr', entry, '--outDir', to],
  ],
}

beforeAll(() => {
  cpSync('e2e/app', app, { recursive: true })
  const rest = `logLevel: 'error'`
  writeFileSync(join(app, 'ssr.config.js'), `export default { ssr: { noExternal: true }, ${rest} }`)
  for (const entry of ['main', 'page']) {
    const lib = `lib: { entry: '${entry}.js', formats: ['es'], fileName: '${entry}' }`
    writeFileSync(join(app, `${entry}.vite.config.js`), `export default { build: { ${lib} }, ${rest} }`)
  }
})

describe('as it is installed', () => {
  for (const runtime of ['Node (this one)', 'Node 22', 'Node 24', 'Bun', 'Deno'] as const)
    on(runtime, 'a turn with every kind of layer', async () => {
      expect(JSON.parse(await run(runtime, ['main.js'], app))).toEqual(found())
    })
})

describe.each(Object.keys(bundlers))('bundled by %s', (name) => {
  const runtime = name.endsWith('for Bun') ? 'Bun' : 'Node (this one)'
  on(needs(name, runtime), 'a turn with every kind of layer', async () => {
    expect(JSON.parse(await run(runtime, [await bundle(name, 'main')], app))).toEqual(found())
  })

  if (!name.startsWith('Vite'))
    on(needs(name, runtime), 'has the layer that it uses, and no other of its pack', async () => {
      const text = readFileSync(await bundle(name, 'one-layer'), 'utf8')
      expect(new Set(text.match(/guard:\w+/g))).toEqual(new Set(['guard:maxToolCalls']))
    })

  if (!/Node|Bun|servers/.test(name)) return
  on(needs(name, runtime), 'asks a server, and tells that the SDK of MCP is not installed', async () => {
    const file = await bundle(name, 'fetch')
    expect(JSON.parse(await run(runtime, [file, await server()], app))).toEqual([
      expect.stringContaining('hello'),
      'mcp.not_installed',
    ])
  })
})

describe('a bundle', () => {
  for (const runtime of ['Node 22', 'Node 24', 'Bun', 'Deno'] as const)
    on(needs('esbuild for Node, split', runtime), 'for Node', async () => {
      const file = await bundle('esbuild for Node, split', 'main')
      expect(JSON.parse(await run(runtime, [file], app))).toEqual(found())
    })

  on('esbuild', 'where no code may be made from strings', async () => {
    const file = await bundle('esbuild for Node', 'main')
    const printed = await run('Node (this one)', ['--disallow-code-generation-from-strings', file], app)
    expect(JSON.parse(printed)).toEqual(withoutCode)
  })

  on(needs('esbuild for nothing', 'workerd'), 'in a worker of workerd', async () => {
    const file = await bundle('esbuild for nothing', 'worker')
    expect(await inWorkerd(file)).toEqual(withoutCode)
  })

  on(
    needs('esbuild for nothing', 'workerd'),
    'with a server at the top of its module, in a worker of workerd',
    async () => {
      const { url, first } = await serveByWorkerd(await bundle('esbuild for nothing', 'served'))
      await first.body?.cancel()
      const body = JSON.stringify({ input: 'Hi' })
      const headers = { authorization: 'ann', 'content-type': 'application/json' }
      const run = (accept: string) =>
        fetch(`${url}sessions/a/runs`, { method: 'POST', body, headers: { ...headers, accept } })
      const stream = await run('text/event-stream')
      expect([stream.status, await stream.text()]).toEqual([200, expect.stringContaining('"type":"turn:end"')])
      // A second request must not depend on anything that belongs to the first.
      expect(await (await run('application/json')).json()).toMatchObject({ text: 'Hello from a Worker.' })
      expect((await fetch(`${url}sessions/a/events`, { headers })).status).toBe(200)
    },
  )

  it.each([
    ['in a page', 'esbuild for browsers, split', undefined, found()],
    ['of Vite, in a page', 'Vite for browsers', undefined, found()],
    ['in a page that may make no code', 'esbuild for browsers', "script-src 'self'", withoutCode],
  ])('%s of Chromium', async (_, name, policy, expected) => {
    const file = await bundle(name, 'page')
    expect(await inPage({ dir: join(file, '..'), ...(policy !== undefined && { policy }) })).toEqual(expected)
  })
})

/** A test that needs tools; a visible skip, with the reason, where one cannot be installed. */
function on(tools: Tool | readonly Tool[], title: string, test: () => Promise<void>): void {
  const missing = [tools].flat().flatMap((tool) => (absent(tool) === undefined ? [] : [`${tool}: ${absent(tool)}`]))
  const why = [...missing, ...(missing.length > 0 ? [inject('noRuntimes')] : [])].join('; ')
  const name = `${title} (${[tools].flat().join(', ')})`
  if (why === '') it(name, test)
  else it.skip(`${name} — cannot be installed here: ${why}`, test)
}

function needs(name: string, runtime: Tool): Tool[] {
  return [(bundlers[name] as (typeof bundlers)[string])[0], runtime]
}

const bundles = new Map<string, Promise<string>>()

/** Bundles an entry of the app, once for all tests, and gives the file. */
function bundle(name: string, entry: string): Promise<string> {
  const key = `${entry} by ${name}`
  const made = bundles.get(key) ?? makeBundle(name, entry)
  bundles.set(key, made)
  return made
}

async function makeBundle(name: string, entry: string): Promise<string> {
  const to = join(app, 'out', name.replace(/\W+/g, '-'), entry)
  mkdirSync(to, { recursive: true })
  const [tool, args] = bundlers[name] as (typeof bundlers)[string]
  await run(tool, args(`${entry}.js`, to), app)
  return join(to, `${entry}.js`)
}

function esbuild(...options: string[]) {
  return (entry: string, to: string) => [
    entry,
    '--bundle',
    '--format=esm',
    '--log-level=error',
    ...options,
    `--outdir=${to}`,
  ]
}

function rolldown(platform: string) {
  return (entry: string, to: string) => [entry, '--platform', platform, '--dir', to, '--log-level', 'silent']
}

function bunBuild(target: string, ...options: string[]) {
  return (entry: string, to: string) => ['build', entry, `--target=${target}`, ...options, `--outdir=${to}`]
}

function config(file: string, entry = ''): string {
  return entry === '' ? file : `${entry.replace('.js', '')}.${file}`
}

/** A server that says hello, until the test ends. */
async function server(): Promise<string> {
  const greeter = createServer((_, response) => response.setHeader('content-type', 'text/plain').end('hello')).listen(
    0,
    '127.0.0.1',
  )
  onTestFinished(() => void greeter.close())
  await new Promise((resolve) => greeter.once('listening', resolve))
  return `http://127.0.0.1:${(greeter.address() as AddressInfo).port}/`
}

/** Asks a module worker once. */
async function inWorkerd(file: string): Promise<unknown> {
  return (await serveByWorkerd(file)).first.json()
}

/** Serves a module worker by workerd, without compatibility flags, and returns its address with its first answer. */
async function serveByWorkerd(file: string): Promise<{ url: string; first: Response }> {
  const url = `http://127.0.0.1:${await freePort()}/`
  const worker = `(modules = [(name = "worker", esModule = embed "${basename(file)}")], compatibilityDate = "2026-11-01")`
  const socket = `(name = "http", address = "127.0.0.1:${new URL(url).port}", http = (), service = "main")`
  const lines = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [(name = "main", worker = ${worker})], sockets = [${socket}]);`
  writeFileSync(join(file, '../config.capnp'), lines)
  const workerd = start('workerd', ['serve', 'config.capnp'], join(file, '..'))
  onTestFinished(() => end(workerd))
  for (;;) {
    const response = await fetch(url).catch(() => undefined)
    if (response !== undefined) return { url, first: response }
    if (workerd.exitCode !== null) throw new Error(`workerd ended with ${workerd.exitCode}.`)
  }
}
