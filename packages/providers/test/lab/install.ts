import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { ProviderPackage } from './row.ts'

const source = fileURLToPath(new URL('packages', import.meta.url))
const cache = fileURLToPath(new URL('../../../../.cache/providers', import.meta.url))

/**
 * Installs packages of `packages/package.json` outside of the workspace, in the versions of its lockfile, and returns an `import()`
 * of them. A folder that has them is used again.
 */
export async function installPackages(names?: readonly string[]): Promise<(name: string) => Promise<ProviderPackage>> {
  const manifest = JSON.parse(await readFile(join(source, 'package.json'), 'utf8'))
  const lock = await readFile(join(source, 'package-lock.json'), 'utf8')
  // The package `ai` and zod are there for others that import them.
  const wanted = names && [...names, 'zod', ...(names.some((name) => /ollama|workers/.test(name)) ? ['ai'] : [])]
  if (wanted !== undefined)
    manifest.dependencies = Object.fromEntries(
      Object.entries(manifest.dependencies).filter(([name]) => wanted.includes(name)),
    )
  const text = JSON.stringify(manifest)
  const folder = join(cache, createHash('sha256').update(text).update(lock).digest('hex').slice(0, 16))
  // In node_modules, so that no bundler or test runner changes its import().
  const loader = join(folder, 'node_modules/load.mjs')
  if (!existsSync(loader)) {
    await mkdir(folder, { recursive: true })
    await cp(source, folder, { recursive: true })
    await writeFile(join(folder, 'package.json'), text)
    // Most packages name a peer that only half of the others fit. Without scripts, because no provider needs one.
    const options = ['--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund', '--loglevel=error']
    await promisify(execFile)('npm', ['install', ...options], { cwd: folder })
    await writeFile(loader, 'export const load = (name) => import(name)\n')
  }
  const { load } = await import(/* @vite-ignore */ pathToFileURL(loader).href)
  return load
}

/** The exact version of each package of `packages/package.json`. */
export async function pinnedVersions(): Promise<Record<string, string>> {
  const { dependencies } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8'))
  return Object.fromEntries(
    Object.entries(dependencies as Record<string, string>).map(([name, range]) => [
      name,
      range.replace(/^npm:.*@/, ''),
    ]),
  )
}
