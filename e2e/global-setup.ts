import { execFile, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder outside the clone, in which all packages are installed from their tarballs. */
    app: string
    /** Why the bundlers and runtimes are not there; undefined if they are. */
    noRuntimes: string | undefined
  }
}

/** Packs what is there now, installs it as a user does, and installs the bundlers and runtimes. */
export default async function setup(project: TestProject): Promise<() => void> {
  const noRuntimes = installRuntimes()
  const tarballs = resolve('.cache/tarballs')
  await run('npx', ['-y', 'pnpm@10.34.8', 'exec', 'node', 'scripts/build/pack.mjs', tarballs])
  process.env.ALLIUM_BUILT = '1'
  const app = realpathSync(mkdtempSync(join(tmpdir(), 'allium-app-')))
  const [pages] = await Promise.all([builtPages(), installPackages(app, tarballs)])
  process.env.SAAS_PAGES = pages
  project.provide('app', app)
  project.provide('noRuntimes', await noRuntimes)
  return () => rmSync(app, { recursive: true, force: true, maxRetries: 5 })
}

function installPackages(app: string, tarballs: string): Promise<void> {
  writeFileSync(join(app, 'package.json'), JSON.stringify({ name: 'app', private: true, type: 'module' }))
  const files = readdirSync(tarballs).map((name) => join(tarballs, name))
  return run('npm', ['install', '--no-audit', '--no-fund', '--silent', ...files, 'zod@4.6.7'], { cwd: app })
}

/** The pages of the SaaS, which nine starts of it would build again. */
async function builtPages(): Promise<string> {
  const folder = resolve('.cache/saas-pages')
  rmSync(folder, { recursive: true, force: true })
  // Vitest's own would build them for development.
  const env = { ...process.env, NODE_ENV: 'production' }
  await run(process.execPath, ['--import=tsx', 'examples/saas-backend/src/build-pages.ts', folder], { env })
  return folder
}

async function installRuntimes(): Promise<string | undefined> {
  const args = ['-y', 'pnpm@10.34.8', 'install', '--frozen-lockfile', '--silent']
  try {
    await promisify(execFile)('npx', args, { cwd: 'e2e/runtimes' })
    return undefined
  } catch (error) {
    return (error as Error).message.slice(0, 200)
  }
}

/** Runs a command whose output the reader of the tests sees. */
async function run(command: string, args: string[], options: SpawnOptions = {}): Promise<void> {
  const [status] = await once(spawn(command, args, { stdio: 'inherit', ...options }), 'exit')
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}.`)
}
