import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A published MCP server, and a call that shows that it works. */
export interface PublishedServer {
  readonly name: string
  readonly version: string
  readonly args?: (folder: string) => string[]
  /** Nothing listens at port 9 of 127.0.0.1: services of servers are there. */
  readonly env?: Readonly<Record<string, string>>
  /** How it serves HTTP at a port. */
  readonly http?: { args?: (port: number) => string[]; env?: (port: number) => Record<string, string> }
  readonly call: readonly [tool: string, args: (folder: string) => Record<string, unknown>]
  /** Part of the answer. */
  readonly answer: RegExp
  /** The call needs a service, so its failure is passed on. */
  readonly fails?: boolean
}

const none = 'http://127.0.0.1:9'

/** Servers that list their tools without a key. Six of them answer without a network. */
export const publishedServers: readonly PublishedServer[] = [
  {
    name: '@modelcontextprotocol/server-everything',
    version: '2026.8.31',
    http: { args: () => ['streamableHttp'], env: (port) => ({ PORT: String(port) }) },
    call: ['get-sum', () => ({ a: 1, b: 2 })],
    answer: /The sum of 1 and 2 is 3/,
  },
  {
    name: '@modelcontextprotocol/server-filesystem',
    version: '2026.8.31',
    args: (folder) => [folder],
    call: ['read_text_file', (folder) => ({ path: join(folder, 'note.txt') })],
    answer: /^hello from a file$/,
  },
  {
    name: '@modelcontextprotocol/server-memory',
    version: '2026.8.31',
    call: ['search_nodes', () => ({ query: 'Ada' })],
    answer: /"name":\s*"Ada"/,
  },
  {
    name: '@modelcontextprotocol/server-sequential-thinking',
    version: '2026.8.31',
    call: [
      'sequentialthinking',
      () => ({ thought: 'Done.', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 }),
    ],
    answer: /"thoughtNumber":\s*1/,
  },
  {
    name: '@cyanheads/git-mcp-server',
    version: '2.15.3',
    http: { env: (port) => ({ MCP_TRANSPORT_TYPE: 'http', MCP_HTTP_PORT: String(port) }) },
    call: ['git_status', (folder) => ({ path: folder })],
    answer: /note\.txt/,
  },
  {
    name: '@coo-quack/calc-mcp',
    version: '2.1.1',
    call: ['math', () => ({ expression: '6 * 7' })],
    answer: /42/,
  },
  {
    name: '@antv/mcp-server-chart',
    version: '0.9.10',
    env: { VIS_REQUEST_SERVER: none },
    http: { args: (port) => ['--transport', 'streamable', '--port', String(port)] },
    call: ['generate_pie_chart', () => ({ data: [{ category: 'a', value: 1 }] })],
    answer: /refused the call: .*ECONNREFUSED/,
    fails: true,
  },
  {
    name: '@notionhq/notion-mcp-server',
    version: '2.5.2',
    env: { BASE_URL: none, NOTION_TOKEN: 'ntn_none' },
    http: { args: (port) => ['--transport', 'http', '--port', String(port), '--disable-auth'] },
    call: ['API-get-self', () => ({})],
    answer: /refused the call/,
    fails: true,
  },
]

/** Servers in a folder outside of the workspace, from the npm registry. */
export class Installed {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'allium-servers-')))

  /** @param servers by name and version */
  constructor(servers: readonly { name: string; version: string }[]) {
    writeFileSync(join(this.folder, 'package.json'), '{ "private": true }')
    const packages = servers.map(({ name, version }) => `${name}@${version}`)
    const flags = ['--no-audit', '--no-fund', '--silent', '--ignore-scripts', '--prefer-offline']
    execFileSync('npm', ['install', ...flags, ...packages], { cwd: this.folder })
  }

  /** The program of a package. */
  program(name: string): string {
    const folder = join(this.folder, 'node_modules', name)
    const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    return join(folder, String(typeof bin === 'string' ? bin : Object.values(bin)[0]))
  }

  /** A repository with a file and a memory in it, for one server. */
  work(name: string): string {
    const folder = join(this.folder, 'work', name.replaceAll(/\W/g, '-'))
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'note.txt'), 'hello from a file')
    writeFileSync(
      join(folder, 'memory.jsonl'),
      '{"type":"entity","name":"Ada","entityType":"person","observations":[]}',
    )
    execFileSync('git', ['init', '--quiet'], { cwd: folder })
    return folder
  }

  /** The command lines of programs from the folder that still run. */
  running(name: string): string[] {
    const lines = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8', maxBuffer: 1e8 }).split('\n')
    return lines.filter((line) => line.includes(join(this.folder, 'node_modules', name)))
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}
