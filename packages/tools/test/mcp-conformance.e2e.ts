import { execFile } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'

// The suite needs a newer Node than this repository: it imports `globSync` of `fs`.
const runtimes = resolve('e2e/runtimes/node_modules')
const node = `${runtimes}/node22/bin/node`
const suite = `${runtimes}/@modelcontextprotocol/conformance/dist/index.js`

// Each scenario starts the client in a process. One file with all that it imports starts in a fraction of the time that its sources take.
const folder = mkdtempSync(join(tmpdir(), 'allium-mcp-client-'))
const client = join(folder, 'client.mjs')
await build({
  entryPoints: [fileURLToPath(new URL('./mcp/conformance-client.ts', import.meta.url))],
  outfile: client,
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

/** How many scenarios each revision requires of clients. */
const required = { '2025-11-25': 18, '2026-07-28': 32 }

async function run(...args: string[]): Promise<string> {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'allium-mcp-')))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  return node22(args, cwd)
}

async function node22(args: string[], cwd: string): Promise<string> {
  const env = { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1' }
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

for (const revision of ['2025-11-25', '2026-07-28'] as const) {
  const { scored, others } = await scenariosOf(revision)

  describe(`the client scenarios of the conformance suite of MCP for ${revision}`, () => {
    test('are all those that it requires', () => {
      expect(scored).toHaveLength(required[revision])
      expect(scored.filter((name) => leftOut[name] !== undefined)).toEqual([])
      expect(others).toEqual(expect.arrayContaining(Object.keys(leftOut)))
    })

    // One of them measures milliseconds: on a machine that has other work it may be asked again.
    test.each([...scored, ...others.filter((name) => leftOut[name] === undefined)])(
      '%s',
      { timeout: 90_000, retry: 2 },
      async (scenario) => {
        const isExtension = others.includes(scenario)
        const at = isExtension ? [] : ['--spec-version', revision]
        const output = await run('client', '--command', command, '--scenario', scenario, ...at)
        const [, passed, all] = /Passed: (\d+)\/(\d+), 0 failed/.exec(output) ?? []
        expect([Number(passed), output]).toEqual([Number(all), expect.stringContaining('OVERALL: PASSED')])
        // A scenario that checks nothing prints a pass, too.
        expect(Number(passed)).toBeGreaterThan(0)
      },
    )
  })
}
