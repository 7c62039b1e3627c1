import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Agent } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { mcp } from '../../src/mcp.ts'
import { Installed, type PublishedServer, publishedServers } from './published-servers.ts'

// Installs published MCP servers, lists and calls their tools, and writes the results to results.json beside this file. Not in CI:
// node --conditions=@allium/source --import=tsx packages/tools/test/mcp/try-servers.ts && npm run fix

interface Listed extends Omit<PublishedServer, 'call' | 'answer'> {
  readonly call?: PublishedServer['call']
  readonly answer?: RegExp
  readonly notes?: string
}

/** Servers that are only listed. Any key lists. */
const listedOnly: readonly Listed[] = [
  { name: '@playwright/mcp', version: '0.0.83', notes: 'calls need a browser' },
  {
    name: '@azure-devops/mcp',
    version: '2.10.0',
    args: () => ['contoso'],
    notes: 'not started: its native module keytar was not built',
  },
  { name: '@circleci/mcp-server-circleci', version: '0.20.0', notes: 'deprecated, by its own notice' },
  {
    name: '@brave/brave-search-mcp-server',
    version: '2.1.4',
    env: { BRAVE_API_KEY: 'key' },
    notes: 'needs a key to start',
  },
  { name: '@upstash/context7-mcp', version: '4.1.1', notes: 'failures come as successes' },
  {
    name: 'figma-developer-mcp',
    version: '0.13.2',
    args: () => ['--stdio'],
    env: { FIGMA_API_KEY: 'key' },
    notes: 'needs a key to start',
  },
  { name: 'firecrawl-mcp', version: '3.26.0', env: { FIRECRAWL_API_KEY: 'key' } },
  { name: 'mongodb-mcp-server', version: '3.0.4' },
  {
    name: '@sentry/mcp-server',
    version: '0.39.0',
    args: () => ['--access-token=key'],
    notes: 'needs a token to start',
  },
  {
    name: '@dangahagan/weather-mcp',
    version: '1.23.0',
    notes: 'does not end when its input closes, so dispose() takes 2 s',
  },
]
const notes: Record<string, string> = {
  '@modelcontextprotocol/server-everything': 'a cancelled call works on',
  '@modelcontextprotocol/server-filesystem': 'roots replace the directories',
  '@antv/mcp-server-chart': 'failures are JSON-RPC errors',
  '@notionhq/notion-mcp-server':
    'failures are JSON-RPC errors; nine definitions in each tool, of which the unused ones are dropped',
}
const servers: readonly Listed[] = [...publishedServers, ...listedOnly]
const installed = new Installed(servers)
const rows = []
for (const server of servers) rows.push(await tryServer(server))
installed.remove()
const file = fileURLToPath(new URL('results.json', import.meta.url))
const { title, about } = JSON.parse(readFileSync(file, 'utf8'))
const results = { title, about, date: new Date().toISOString().slice(0, 10), versions: {}, rows }
writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`)

async function tryServer({ name, version, args = () => [], env, http, call, answer, fails, notes: note }: Listed) {
  const folder = installed.work(name)
  const steps = call === undefined ? [] : [{ toolCalls: [{ name: call[0], args: call[1](folder) }] }, 'Done.']
  const agent = new Agent({ model: scriptedModel(steps), logger: { warn() {}, error() {} } })
  const program = { command: process.execPath, args: [installed.program(name), ...args(folder)] }
  agent.use(mcp({ name: 'srv', prefix: '', ...program, env: { MEMORY_FILE_PATH: `${folder}/memory.jsonl`, ...env } }))
  const transports = http === undefined ? 'stdio' : 'stdio and HTTP'
  try {
    await agent.init()
    const { tools } = agent.inspect()
    const tokens = tools.reduce((sum, tool) => sum + tool.tokens, 0)
    const content = call && JSON.stringify((await agent.run('go')).toolCalls[0]?.result.content)
    const works = content === undefined || fails ? 'listed' : answer?.test(String(JSON.parse(content))) ? 'yes' : 'no'
    const seen = { transports, tools: `${tools.length}`, tokens: tokens.toLocaleString('en'), calls: works }
    return { name, version, works: seen, notes: [notes[name] ?? note ?? []].flat() }
  } catch (error) {
    const seen = { transports, tools: 'none', tokens: 'none', calls: 'no' }
    return { name, version, works: seen, notes: [note ?? String(error).slice(0, 300)] }
  } finally {
    await agent.dispose()
  }
}
