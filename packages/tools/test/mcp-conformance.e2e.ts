import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { turnsFor } from './mcp/turns.ts'

// The suite needs a newer Node than this repository: it imports `globSync` of `fs`.
const runtimes = resolve('e2e/runtimes/node_modules')
const node = `${runtimes}/node22/bin/node`
const suite = `${runtimes}/@modelcontextprotocol/conformance/dist/index.js`

// Each scenario starts the client in a process. One file with all that it imports starts in a fraction of the time that its sources take.
const folder = mkdtempSync(join(tmpdir(), 'allium-mcp-client-'))
const client = join(folder, 'client.mjs')
await build({
  entryPoints: {
    client: fileURLToPath(new URL('./mcp/conformance-client.ts', import.meta.url)),
    turn: fileURLToPath(new URL('./mcp/conformance-turn.ts', import.meta.url)),
  },
  outdir: folder,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  format: 'esm',
  conditions: ['@allium/source'],
  // For packages in CommonJS.
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" },
  logLevel: 'error',
})
afterAll(() => rmSync(folder, { recursive: true }))
const command = [process.execPath, client].join(' ')

/** Scenarios beyond the required ones that are not run, and why. */
const leftOut: Record<string, string> = {
  'auth/enterprise-managed-authorization':
    'an application passes a CrossAppAccessProvider with its own identity provider',
  'auth/dpop': 'an application passes a provider with its own keys',
  'auth/dpop-nonce': 'an application passes a provider with its own keys',
  'auth/wif-jwt-bearer': 'an application passes a provider with the token of its platform',
  'json-schema-2020-12-preservation': 'the client would have to call a tool with the schema of another one',
}

/** Scenarios in which the client has to refuse: its process ends with 1. */
const refused = new Set([
  'auth/resource-mismatch',
  'auth/iss-supported-missing',
  'auth/iss-wrong-issuer',
  'auth/iss-unexpected',
  'auth/iss-normalized',
  'auth/metadata-issuer-mismatch',
])

/** How many scenarios each revision requires of clients. */
const required = { '2025-11-25': 18, '2026-07-28': 32 }

async function run(...args: string[]): Promise<string> {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'allium-mcp-')))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  return node22(args, cwd)
}

async function node22(args: string[], cwd: string, more: Record<string, string> = {}): Promise<string> {
  const env = { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1', ...more }
  const ended = promisify(execFile)(node, [suite, ...args], { cwd, env }).catch((error) => error)
  const { stdout, stderr } = (await ended) as { stdout: string; stderr: string }
  return stdout + stderr
}

/** The required scenarios of a revision for clients, and the others that the suite runs with them. */
async function scenariosOf(revision: string) {
  const listed = await node22(['list', '--client', '--requirements', revision], tmpdir())
  const [scored = '', others = ''] = listed.split('Run and reported, but never scored:')
  const [, clients = ''] = scored.split('Client scenarios')
  return {
    scored: [...clients.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => String(name)),
    others: [...others.matchAll(/^ {4}- (\S+) \[client\]/gm)].map(([, name]) => String(name)),
  }
}

/**
 * Runs all scenarios of a revision by one process of the suite, and returns those that passed with a client that ended as it should. The suite starts all clients
 * at once, and a process of it for each scenario takes more CPU time than the scenario. Two clients work at a time.
 */
async function passedTogether(revision: string): Promise<ReadonlySet<string>> {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'allium-mcp-')))
  const ends = join(cwd, 'ends')
  writeFileSync(ends, '')
  const turns = await turnsFor(2)
  const args = ['client', '--command', `${process.execPath} ${join(folder, 'turn.mjs')}`, '--requirements', revision]
  const env = { TURNS: `${turns.port}`, ENDS: ends, CLIENT: client }
  const output = await node22([...args, '--timeout', '170000'], cwd, env)
  turns.close()
  const ended = new Set(readFileSync(ends, 'utf8').split('\n'))
  rmSync(cwd, { recursive: true, force: true })
  // A scenario that checks nothing prints a pass, too.
  const passed = [...output.matchAll(/^✓ (\S+): [1-9]\d* passed, 0 failed$/gm)].map(([, name]) => String(name))
  return new Set(passed.filter((name) => ended.has(`${name} ${refused.has(name) ? 1 : 0}`)))
}

for (const revision of ['2025-11-25', '2026-07-28'] as const) {
  const { scored, others } = await scenariosOf(revision)

  describe(`the client scenarios of the conformance suite of MCP for ${revision}`, () => {
    let passed: ReadonlySet<string>
    beforeAll(async () => {
      passed = await passedTogether(revision)
    }, 600_000)

    test('are all those that it requires', () => {
      expect(scored).toHaveLength(required[revision])
      expect(scored.filter((name) => leftOut[name] !== undefined)).toEqual([])
      expect(others).toEqual(expect.arrayContaining(Object.keys(leftOut)))
    })

    // Some of them measure milliseconds: one that did not pass beside others is asked again, alone.
    test.each([...scored, ...others.filter((name) => leftOut[name] === undefined)])(
      '%s',
      { timeout: 90_000, retry: 2 },
      async (scenario) => {
        if (passed.has(scenario)) return
        console.log(`${scenario} runs alone.`)
        const isExtension = others.includes(scenario)
        const at = isExtension ? [] : ['--spec-version', revision]
        const output = await run('client', '--command', command, '--scenario', scenario, ...at)
        const [, checks, all] = /Passed: (\d+)\/(\d+), 0 failed/.exec(output) ?? []
        expect([Number(checks), output]).toEqual([Number(all), expect.stringContaining('OVERALL: PASSED')])
        expect(Number(checks)).toBeGreaterThan(0)
      },
    )
  })
}
