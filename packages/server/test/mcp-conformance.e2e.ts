import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { server } from '../src/index.ts'
import { serve } from '../src/node.ts'
import { silent } from './kit.ts'
import { conformanceAgents } from './mcp/conformance-agents.ts'

// The suite needs a newer Node than this repository: it imports `globSync` of `fs`.
const runtimes = resolve('e2e/runtimes/node_modules')
const node22 = `${runtimes}/node22/bin/node`
const suite = `${runtimes}/@modelcontextprotocol/conformance`

const noResource = 'an agent has no resources: the list is empty'
const noPrompt = 'an agent has no prompts: the list is empty'
const noLog = 'the log of an agent is for those who run it: clients get its progress'
const shared = {
  'completion-complete': 'completes arguments of prompts and resources, of which an agent has none',
  'resources-list': noResource,
  'resources-read-text': noResource,
  'resources-read-binary': noResource,
  'resources-templates-read': noResource,
  'prompts-list': noPrompt,
  'prompts-get-simple': noPrompt,
  'prompts-get-with-args': noPrompt,
  'prompts-get-embedded-resource': noPrompt,
  'prompts-get-with-image': noPrompt,
}

/** Per revision: the scenarios that it requires and that are not run, with the reason; and the checks that the others pass. */
const revisions: [revision: string, leftOut: Record<string, string>, checks: number][] = [
  [
    '2025-11-25',
    {
      ...shared,
      'resources-subscribe': noResource,
      'resources-unsubscribe': noResource,
      'logging-set-level': noLog,
      'tools-call-with-logging': noLog,
    },
    28,
  ],
  [
    '2026-07-28',
    {
      ...shared,
      'sep-2164-resource-not-found': noResource,
      'input-required-result-non-tool-request': 'asks for the input of a prompt, of which an agent has none',
    },
    65,
  ],
]

interface Check {
  readonly id: string
  readonly status: string
  readonly errorMessage?: string
}

describe.each(revisions)('the server scenarios of the conformance suite of MCP for %s', (revision, leftOut, checks) => {
  const output = mkdtempSync(join(tmpdir(), 'allium-mcp-'))
  const required = requiredBy(revision)
  const run = required.filter((name) => !(name in leftOut))

  beforeAll(async () => {
    const made = server({
      agents: conformanceAgents(),
      principal: () => ({ userId: 'ann' }),
      logger: silent,
      mcp: { elicitation: true },
    })
    const { url, close } = await serve(made, { port: 0, signals: false, drainTimeout: 0 })
    const args = ['server', '--url', `${url}/mcp`, '--requirements', revision, '--output-dir', output]
    // It exits with 1, because of those that are left out.
    await promisify(execFile)(node22, [`${suite}/dist/index.js`, ...args], { cwd: output }).catch(() => {})
    await close()
  })
  afterAll(() => rmSync(output, { recursive: true }))

  test('are those that are run, and those that are left out with a reason', () => {
    expect(required.length).toBeGreaterThan(29)
    expect(required).toEqual(expect.arrayContaining(Object.keys(leftOut)))
  })

  test.each(run)('%s', (scenario) => {
    const found = checksOf(scenario, output)
    expect(found.filter(({ status }) => status === 'FAILURE' || status === 'WARNING')).toEqual([])
    // The suite ticks a scenario without a check.
    expect(passed(found)).not.toEqual([])
  })

  test('pass as many checks as before', () => {
    expect(run.flatMap((scenario) => passed(checksOf(scenario, output))).length).toBe(checks)
  })
})

/** The checks that passed, without that of the shape of all messages, which each scenario has. */
function passed(checks: readonly Check[]): Check[] {
  return checks.filter(({ id, status }) => status === 'SUCCESS' && id !== 'wire-schema-valid')
}

/** The names below `server:` in the list of what a revision requires. */
function requiredBy(revision: string): string[] {
  const yaml = readFileSync(`${suite}/requirements/${revision}.yaml`, 'utf8')
  const [, list = ''] = /^server:\n((?: {2}- .*\n)*)/m.exec(yaml) ?? []
  return [...list.matchAll(/- (\S+)/g)].map(([, name]) => String(name))
}

function checksOf(scenario: string, output: string): Check[] {
  const folder = readdirSync(output).find((name) => name.replace(/-\d{4}-\d{2}-\d{2}T.*/, '') === `server-${scenario}`)
  return JSON.parse(readFileSync(join(output, folder ?? scenario, 'checks.json'), 'utf8')) as Check[]
}
