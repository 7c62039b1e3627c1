import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { scriptedModel } from '@allium/testing'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { serveFetch } from '../../tools/test/mcp/serve-fetch.ts'
import { loadConfig } from '../src/config.ts'

const child = fileURLToPath(new URL('./mcp.child.mjs', import.meta.url))

function config(text: string): string {
  const root = mkdtempSync(join(tmpdir(), 'allium-mcp-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  writeFileSync(join(root, 'allium.config.yml'), text)
  return join(root, 'allium.config.yml')
}

/** The result of the one tool that the model of a config calls. */
async function called(path: string, name: string, args: Record<string, unknown>, env = {}) {
  const model = scriptedModel([{ toolCalls: [{ name, args }] }, 'Done.'])
  const agent = await loadConfig(path, { model, env })
  onTestFinished(() => agent.dispose())
  return (await agent.run('go')).toolCalls[0]?.result
}

describe('agent.mcp in a config', () => {
  const server = `agent:
  mcp:
    files:
      command: ${process.execPath}
      args: ['${child}']
      env: { GREETING: "\${WORD:-hello}" }
`

  test('starts a server, and names its tools after it', async () => {
    expect(await called(config(server), 'files__greet', { name: 'Ann' }, { WORD: 'hei' })).toMatchObject({
      content: 'hei, Ann',
      status: 'ok',
    })
  })

  test('checks the arguments by the schema of the server', async () => {
    expect(await called(config(server), 'files__greet', { name: 5 })).toMatchObject({
      content: expect.stringContaining('must be string'),
      isError: true,
    })
  })

  test('reaches a server by its URL, with headers', async () => {
    const path = config(`agent: { mcp: { web: { url: "${await webServer()}", headers: { x-name: "\${WHO}" } } } }\n`)
    expect(await called(path, 'web__who', {}, { WHO: 'Ann' })).toMatchObject({ content: 'Ann' })
  })

  test('takes more options under agent.use, as any pack', async () => {
    const use = `agent:\n  use:\n    - tools.mcp: { name: a, prefix: '', command: ${process.execPath}, args: ['${child}'], include: [greet] }\n`
    expect(await called(config(use), 'greet', { name: 'Ann' })).toMatchObject({ content: 'hello, Ann' })
  })

  test('starts nothing for a config from elsewhere, neither by agent.mcp nor by agent.use', async () => {
    const server = { command: process.execPath, args: [child] }
    const load = (agent: object) => loadConfig({ agent }, { model: scriptedModel([]) }).catch((error) => error)
    expect(await load({ mcp: { a: server } })).toMatchObject({ code: 'config.untrusted' })
    expect(await load({ use: [{ 'tools.mcp': { name: 'a', ...server } }] })).toMatchObject({
      code: 'config.invalid',
      message: expect.stringContaining('names the pack "tools.mcp", which is not known'),
    })
  })

  test('needs the SDK only where an agent with a server begins, and says so', () => {
    const hook = `export const resolve = (name, context, next) => {
  if (name.startsWith('@modelcontextprotocol/')) throw new Error('not installed')
  return next(name, context)
}`
    const script = `import { register } from 'node:module'
register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hook)}`)})
const { loadConfig } = await import('allium/config')
const { Agent } = await import('allium')
const tools = await import('allium/tools')
await (await loadConfig({ agent: { model: 'x/y' } })).init()
const agent = new Agent({ model: 'x/y' }).use(tools.mcp({ name: 'a', command: 'x' }))
console.log((await agent.init().catch((error) => error)).code)`
    const args = ['--conditions=@allium/source', '--import=tsx', '--input-type=module', '-e', script]
    const cwd = fileURLToPath(new URL('..', import.meta.url))
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' })
    expect([stdout.trim(), stderr]).toEqual(['mcp.not_installed', ''])
  })
})

/** A server that tells a header. */
async function webServer(): Promise<string> {
  const { fetch } = createMcpHandler(({ requestInfo }) => {
    const server = new McpServer({ name: 'web', version: '1.0.0' })
    server.registerTool('who', { description: 'Tells', inputSchema: z.object({ any: z.string().optional() }) }, () => ({
      content: [{ type: 'text', text: String(requestInfo?.headers.get('x-name')) }],
    }))
    return server
  })
  const { url, stop } = await serveFetch(fetch)
  onTestFinished(stop)
  return url
}
