import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

/**
 * A folder in which the packages are installed as in `app`, and beside them what a user adds: packages that are there for a package
 * of this repository.
 */
export function copyOf(app: string, beside: Readonly<Record<string, string>>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'allium-app-')))
  execFileSync('cp', ['-al', join(app, 'node_modules'), folder])
  for (const [name, owner] of Object.entries(beside)) {
    const link = join(folder, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(resolve('packages', owner, 'node_modules', name), link)
    if (!existsSync(link)) throw new Error(`packages/${owner} does not have ${name}.`)
  }
  cpSync('e2e/app', folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  return folder
}

export function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
