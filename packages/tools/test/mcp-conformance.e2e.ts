import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { programFlags } from '../../../e2e/program-flags.ts'

const runtimes = resolve('e2e/runtimes/node_modules')
const node22 = `${runtimes}/node22/bin/node`
const suite = `${runtimes}/@modelcontextprotocol/conformance/dist/index.js`
const client = fileURLToPath(new URL('./mcp/conformance-client.ts', import.meta.url))
const flags = programFlags.map((flag) => flag.replace(/tsx$/, import.meta.resolve('tsx')))
const command = [process.execPath, ...flags, client].join(' ')

/** Scenarios of the suite that are not run, and why. */
const leftOut: Record<string, string> = {
  'auth/cross-app-access-complete-flow': 'the SDK 1.32 has no OAuthClientProvider for it',
}

/** What the suite says of a scenario. Its results are files in its working folder. */
async function run(scenario: string): Promise<string> {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'allium-mcp-')))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  const env = { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1' }
  const args = [suite, 'client', '--command', command, '--scenario', scenario]
  const ended = promisify(execFile)(node22, args, { cwd, env }).catch((error) => error)
  const { stdout, stderr } = (await ended) as { stdout: string; stderr: string }
  return stdout + stderr
}

const scenarios = existsSync(suite) ? await listed() : []

async function listed(): Promise<string[]> {
  const { stdout } = await promisify(execFile)(node22, [suite, 'list', '--client'])
  return [...stdout.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => String(name))
}

describe('the client scenarios of the conformance suite of MCP', () => {
  test('are there, also those that are left out', () => {
    const some = ['initialize', 'tools_call', 'sse-retry', 'elicitation-sep1034-client-defaults', 'auth/scope-step-up']
    expect(scenarios).toEqual(expect.arrayContaining([...some, ...Object.keys(leftOut)]))
  })

  // One of them measures milliseconds: on a machine that has other work it may be asked again.
  test.each(scenarios.filter((name) => leftOut[name] === undefined))(
    '%s',
    { timeout: 60_000, retry: 2 },
    async (scenario) => {
      expect(await run(scenario)).toContain('OVERALL: PASSED')
    },
  )
})
