import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'

const runtimes = resolve('e2e/runtimes/node_modules')
const node22 = `${runtimes}/node22/bin/node`
const suite = `${runtimes}/@modelcontextprotocol/conformance/dist/index.js`
const client = fileURLToPath(new URL('./mcp/conformance-client.ts', import.meta.url))
const command = `${process.execPath} --conditions=@allium/source --import=${import.meta.resolve('tsx')} ${client}`

/** Scenarios of the suite that are not run, and why. */
const leftOut: Record<string, string> = {
  'auth/cross-app-access-complete-flow': 'LATER',
}

async function run(...args: string[]): Promise<string> {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'allium-mcp-')))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  const env = { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1' }
  try {
    const { stdout, stderr } = await promisify(execFile)(node22, [suite, ...args], { cwd, env })
    return stdout + stderr
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string }
    throw new Error(`${stdout}\n${stderr}`)
  }
}

const scenarios = existsSync(suite) ? await listed() : []

async function listed(): Promise<string[]> {
  const { stdout } = await promisify(execFile)(node22, [suite, 'list', '--client'])
  return [...stdout.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => String(name))
}

describe('the client scenarios of the conformance suite of MCP', () => {
  test('are all run, but for those that are left out by name', () => {
    expect(scenarios).toEqual(
      expect.arrayContaining(['initialize', 'tools_call', 'sse-retry', ...Object.keys(leftOut)]),
    )
  })

  test.each(scenarios.filter((name) => leftOut[name] === undefined))('%s', { timeout: 60_000 }, async (scenario) => {
    const said = await run('client', '--command', command, '--scenario', scenario)
    expect(said).toMatch(/OVERALL: PASSED|0 failed/)
  })
})
