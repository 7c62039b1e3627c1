import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { devRoutes } from './host/dev-routes.ts'
import { watchReports } from './host/evals/watch-reports.ts'
import { createJournal, type JournalEntry } from './host/journal.ts'
import { createLiveAgent } from './host/live-agent.ts'
import { servePage } from './host/page-server.ts'
import { replayInProcess } from './host/replay/replay-process.ts'
import { watchProject } from './host/watch-project.ts'

export interface InspectorOptions {
  /** The module or config of the agent, relative to `cwd`. */
  file: string
  /** The export with the agent, or with a function that returns it. @default 'default' */
  exportName?: string | undefined
  /** The folder of the project, which is watched for changes. @default the current folder */
  cwd?: string | undefined
  /** The port on 127.0.0.1; 0 picks a free one. @default 4111 */
  port?: number | undefined
  /** The SQLite file of the sessions, relative to `cwd`. @default '.allium/dev.db' */
  database?: string | undefined
  /** Receives each line of the agent's output and each change of its state. @default none */
  onEntry?: ((entry: JournalEntry) => void) | undefined
  /** The environment, for NODE_ENV. @default process.env */
  env?: Readonly<Record<string, string | undefined>> | undefined
}

/** A running inspector. */
export interface Inspector {
  /** The address of the page, with the token. */
  readonly url: string
  /** The address of the agent's API, without the token. */
  readonly api: string
  /** The token: commands send it as `authorization: Bearer`. */
  readonly token: string
  /** Starts the agent again, as after a change of its files. */
  reload(): Promise<void>
  /** Ends the agent's process and closes the page. */
  close(): Promise<void>
}

/**
 * Serves the inspector of an agent on 127.0.0.1, and reloads the agent when a file of the project changes.
 *
 * @throws Error if NODE_ENV is `production`, the file does not exist, or the port is in use
 * @example
 * const { url, close } = await startInspector({ file: 'src/agent.ts' })
 */
export async function startInspector(options: InspectorOptions): Promise<Inspector> {
  const { exportName = 'default', port = 4111, onEntry = () => {}, env = process.env } = options
  if (env.NODE_ENV === 'production')
    throw new Error(
      'The inspector is for development only: NODE_ENV is "production". Use @allium/server to serve the agent.',
    )
  const cwd = resolve(options.cwd ?? '.')
  const file = resolve(cwd, options.file)
  if (!existsSync(file))
    throw new Error(`There is no file ${file}. Name the module of your agent: allium dev src/agent.ts`)
  const database = resolve(cwd, options.database ?? '.allium/dev.db')
  createFolder(dirname(database))
  const [token, key] = [randomBytes(24).toString('base64url'), randomBytes(24).toString('base64url')]
  const journal = createJournal(onEntry)
  const child = { file, exportName, cwd, database, key }
  const agent = createLiveAgent(child, journal)
  const dev = devRoutes(cwd, replayInProcess(child))
  const { port: bound, server } = await servePage({ port, token, key, agent, journal, dev })
  const watches = await Promise.all([watchProject(cwd, () => void agent.reload()), watchReports(cwd, journal.evals)])
  void agent.reload()
  const address = `http://127.0.0.1:${bound}`
  return {
    url: `${address}/?token=${token}`,
    api: `${address}/api`,
    token,
    reload: () => agent.reload(),
    async close() {
      await Promise.all(watches.map((stop) => stop()))
      const closed = new Promise<void>((onClosed) => server.close(() => onClosed()))
      await agent.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** Creates the folder of the database, which version control ignores. */
function createFolder(folder: string): void {
  if (existsSync(folder)) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${folder}/.gitignore`, '*\n')
}
