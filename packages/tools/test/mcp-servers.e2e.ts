import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { relative } from 'node:path'
import { Agent } from '@allium/core'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { freePort } from '../../../e2e/free-port.ts'
import { type McpServer, mcp } from '../src/mcp.ts'
import { Installed, type PublishedServer, publishedServers } from './mcp/published-servers.ts'

let installed: Installed
beforeAll(() => {
  installed = new Installed(publishedServers)
})
afterAll(() => installed.remove())

const textIn = (content: unknown) => (typeof content === 'string' ? content : JSON.stringify(content))

function agentFor(server: McpServer) {
  const steps: ScriptedStep[] = []
  const warnings: string[] = []
  const note = (message: string) => void warnings.push(message)
  const agent = new Agent({ model: scriptedModel(steps), logger: { warn: note, error: note } })
  agent.use(mcp({ name: 'srv', prefix: '', ...server }))
  const start = (name: string, args: Record<string, unknown>, ...rest: ScriptedStep[]) => {
    steps.push({ toolCalls: [{ name, args }] }, ...rest)
    return agent.run('go')
  }
  return { agent, warnings, start }
}

/** Lists, calls, cancels a call, calls again and disposes. */
async function use(server: McpServer, { call: [tool, args], answer, fails = false }: PublishedServer, folder: string) {
  const { agent, warnings, start } = agentFor(server)
  const answers = async () => {
    const { result } = (await start(tool, args(folder), 'Done.')).toolCalls[0] ?? {}
    expect([result?.isError === true, textIn(result?.content)]).toEqual([fails, expect.stringMatching(answer)])
  }
  try {
    await agent.init()
    const tools = agent.inspect().tools
    expect(tools.map(({ name }) => name)).toContain(tool)
    expect(tools.every(({ tokens }) => tokens > 0)).toBe(true)
    await answers()
    const cancelled = start(tool, args(folder))
    agent.once('tool:start', () => cancelled.abort('The user left.'))
    await expect(cancelled).rejects.toMatchObject({ name: 'AbortError' })
    await answers()
  } finally {
    await agent.dispose()
  }
  // Only a failed call is a warning.
  expect(warnings.filter((warning) => !(fails && answer.test(warning)))).toEqual([])
}

describe.concurrent('a published server as a child process', () => {
  test.each(publishedServers.map((server) => [server.name, server] as const))(
    '%s lists, answers, is cancelled and leaves no process',
    async (name, server) => {
      const { args = () => [], env } = server
      const folder = installed.work(name)
      const command = { command: process.execPath, args: [installed.program(name), ...args(folder)] }
      await use({ ...command, env: { MEMORY_FILE_PATH: `${folder}/memory.jsonl`, ...env } }, server, folder)
      expect(installed.running(name)).toEqual([])
    },
  )
})

describe.concurrent('a published server over HTTP', () => {
  const served = publishedServers.flatMap(({ name, http, ...rest }) =>
    http === undefined ? [] : [[name, { name, http, ...rest }] as const],
  )
  test.each(served)('%s lists, answers and is cancelled', async (name, server) => {
    const folder = installed.work(`${name} over HTTP`)
    const port = await freePort()
    const { http, env } = server
    // A relative path, so that it is not counted among the child processes of agents.
    const program = relative(installed.folder, installed.program(name))
    const child = spawn(process.execPath, [program, ...(http.args?.(port) ?? [])], {
      cwd: installed.folder,
      env: { PATH: process.env.PATH, ...env, ...http.env?.(port) },
      stdio: 'ignore',
    })
    try {
      const url = `http://127.0.0.1:${port}/mcp`
      await vi.waitFor(() => fetch(url), { timeout: 30_000 })
      await use({ url }, server, folder)
    } finally {
      child.kill()
      await once(child, 'exit')
    }
  })
})
