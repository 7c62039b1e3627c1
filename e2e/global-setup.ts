import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
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
export default function setup(project: TestProject): () => void {
  const tarballs = resolve('.cache/tarballs')
  execFileSync('npx', ['-y', 'pnpm@10.34.8', 'exec', 'node', 'scripts/build/pack.mjs', tarballs], { stdio: 'inherit' })
  process.env.ALLIUM_BUILT = '1'
  process.env.SAAS_PAGES = builtPages()
  const app = realpathSync(mkdtempSync(join(tmpdir(), 'allium-app-')))
  writeFileSync(join(app, 'package.json'), JSON.stringify({ name: 'app', private: true, type: 'module' }))
  const files = readdirSync(tarballs).map((name) => join(tarballs, name))
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--silent', ...files, 'zod@4.6.7'], { cwd: app })
  project.provide('app', app)
  project.provide('noRuntimes', installRuntimes())
  return () => rmSync(app, { recursive: true, force: true, maxRetries: 5 })
}

/** The pages of the SaaS, which nine starts of it would build again. */
function builtPages(): string {
  const folder = resolve('.cache/saas-pages')
  rmSync(folder, { recursive: true, force: true })
  const program = 'examples/saas-backend/src/build-pages.ts'
  // Vitest's own would build them for development.
  const env = { ...process.env, NODE_ENV: 'production' }
  execFileSync(process.execPath, ['--import=tsx', program, folder], { env, stdio: 'inherit' })
  return folder
}

function installRuntimes(): string | undefined {
  const args = ['-y', 'pnpm@10.34.8', 'install', '--frozen-lockfile', '--silent']
  try {
    execFileSync('npx', args, { cwd: 'e2e/runtimes', encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    return undefined
  } catch (error) {
    return (error as Error).message.slice(0, 200)
  }
}
